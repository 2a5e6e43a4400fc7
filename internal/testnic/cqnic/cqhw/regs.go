package cqhw

import (
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// Read32 reads a register (datasheet 2 to 4, 7); what is not there reads 0.
func (n *nic) Read32(off uint64) uint32 {
	if off >= cqreg.QueueBase {
		return n.readQueue(off)
	}
	if v, ok := n.stats.Read(off); ok {
		return v
	}
	switch off {
	case cqreg.CTRL:
		return n.ctrl.Load()
	case cqreg.STATUS:
		return n.status()
	case cqreg.HWCAP:
		return cqreg.MaxQueues | cqreg.MaxQueues<<8
	case cqreg.ICR:
		return n.intr.readICR(n)
	case cqreg.IMS:
		return n.intr.mask.Load()
	}
	n.ctl.Lock()
	defer n.ctl.Unlock()
	if r := n.plain(off); r != nil {
		return *r
	}
	return 0
}

func (n *nic) status() uint32 {
	n.link.Poll()
	l := n.link.State()
	v := uint32(l.Speed) << cqreg.StatusSpeedShift
	if l.Up {
		v |= cqreg.StatusLinkUp
	}
	if l.FullDuplex {
		v |= cqreg.StatusFullDuplex
	}
	for i := range n.tx {
		if n.tx[i].state.Load() == queueHalted {
			v |= cqreg.StatusHalted
		}
	}
	return v
}

// plain is the storage of a global register, nil if off is none. Called with ctl held.
func (n *nic) plain(off uint64) *uint32 {
	g := &n.glob
	switch off {
	case cqreg.MACLO:
		return &g.maclo
	case cqreg.MACHI:
		return &g.machi
	case cqreg.MAXFRM:
		return &g.maxfrm
	case cqreg.RSSCTL:
		return &g.rssctl
	case cqreg.MCHLO:
		return &g.mchlo
	case cqreg.MCHHI:
		return &g.mchhi
	}
	switch {
	case off >= cqreg.RSSKEY && off < cqreg.RSSKEY+4*cqreg.RSSKeyRegs:
		return &g.key[(off-cqreg.RSSKEY)/4]
	case off >= cqreg.RETA && off < cqreg.RETA+4*cqreg.RETARegs:
		return &g.reta[(off-cqreg.RETA)/4]
	}
	return nil
}

// Write32 writes a register, and does what others have left for the outermost access.
func (n *nic) Write32(off uint64, v uint32) {
	if off >= cqreg.QueueBase {
		n.writeQueue(off, v)
	} else {
		n.writeGlobal(off, v)
	}
	n.engine.Drain()
}

func (n *nic) writeGlobal(off uint64, v uint32) {
	switch off {
	case cqreg.IMS:
		n.intr.mask.Or(v & cqreg.CauseAll)
		n.unmasked(v & cqreg.CauseAll)
		return
	case cqreg.IMC:
		n.intr.mask.And(^v)
		n.intr.update(n, 0)
		return
	}
	if off == cqreg.CTRL {
		n.writeCtrl(v)
		return
	}
	n.ctl.Lock()
	defer n.ctl.Unlock()
	r := n.plain(off)
	if r == nil {
		n.stats.Refuse("writing %#x to register %#x", v, off)
		return
	}
	*r = v
	n.configure()
}

const ctrlBits = cqreg.CtrlRxEnable | cqreg.CtrlTxEnable | cqreg.CtrlPromisc | cqreg.CtrlAllMulti |
	cqreg.CtrlVLANTake | cqreg.CtrlRxCsum | cqreg.CtrlMSIX | cqreg.CtrlMSI

// writeCtrl is a write to CTRL.
func (n *nic) writeCtrl(v uint32) {
	n.ctl.Lock()
	if v&cqreg.CtrlReset != 0 {
		n.reset()
		n.ctl.Unlock()
		return
	}
	old := n.ctrl.Swap(v & ctrlBits)
	n.configure()
	n.ctl.Unlock()
	n.intr.update(n, 0)
	if v&^old&cqreg.CtrlTxEnable != 0 {
		for i := range n.tx {
			n.engine.Kick(i)
		}
	}
}

// queueReg splits an offset; ok is false outside the queue blocks.
func queueReg(off uint64) (q int, r uint64, ok bool) {
	q = int((off - cqreg.QueueBase) / cqreg.QueueStride)
	r = (off - cqreg.QueueBase) % cqreg.QueueStride
	return q, r, q < cqreg.MaxQueues && r < cqreg.QueueRegs && (r <= cqreg.TXVEC || r >= cqreg.RXCQLO)
}

func (n *nic) readQueue(off uint64) uint32 {
	q, r, ok := queueReg(off)
	if !ok {
		return 0
	}
	if r < cqreg.RXCQLO {
		return n.tx[q].read(r)
	}
	return n.rx[q].read(r)
}

func (n *nic) writeQueue(off uint64, v uint32) {
	q, r, ok := queueReg(off)
	if !ok {
		n.stats.Refuse("writing %#x to register %#x", v, off)
		return
	}
	switch r {
	case cqreg.TXDB:
		n.tx[q].doorbell(v)
	case cqreg.TXCQCONS:
		if n.tx[q].cq.consume(v) {
			n.engine.Kick(q)
		} else {
			n.stats.Refuse("transmit queue %d: consumed count %d", q, v)
		}
	case cqreg.TXCQARM:
		n.tx[q].cq.arm(v)
	case cqreg.RXFL0TAIL:
		n.rx[q].fl[0].setTail(n, q, v)
	case cqreg.RXFL1TAIL:
		n.rx[q].fl[1].setTail(n, q, v)
	case cqreg.RXCQCONS:
		if !n.rx[q].cq.consume(v) {
			n.stats.Refuse("receive queue %d: consumed count %d", q, v)
		}
	case cqreg.RXCQARM:
		n.rx[q].cq.arm(v)
	default:
		n.ctl.Lock()
		defer n.ctl.Unlock()
		if r < cqreg.RXCQLO {
			n.tx[q].write(r, v)
		} else {
			n.rx[q].write(r, v)
		}
	}
}
