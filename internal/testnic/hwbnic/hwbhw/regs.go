package hwbhw

import (
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

const vctlEnd = hwbreg.VCTL0 + 4*hwbreg.MSIXVectors

// Read32 reads a register (datasheet 2 to 7); what is not there reads 0.
func (n *nic) Read32(off uint64) uint32 {
	switch {
	case off >= hwbreg.QueueBase:
		if q, r, ok := queueReg(off); ok {
			return n.pairs[q].read(r)
		}
		return 0
	case off >= hwbreg.ACQLO && off <= hwbreg.ADMCTL:
		return n.admin.read(off)
	case off >= hwbreg.VCTL0 && off < vctlEnd:
		return n.intr.readVector(uint32(off-hwbreg.VCTL0) / 4)
	}
	if v, ok := n.stats.Read(off); ok {
		return v
	}
	switch off {
	case hwbreg.CTRL:
		return n.ctrl.Load()
	case hwbreg.STATUS:
		return n.status()
	case hwbreg.CAPS:
		return hwbreg.MaxQueues
	case hwbreg.ICR:
		return n.intr.readICR(n)
	}
	return 0
}

func (n *nic) status() (v uint32) {
	n.link.Poll()
	if n.link.Up() {
		v |= hwbreg.StatusLinkUp
	}
	for i := range n.pairs {
		if n.pairs[i].tx.state.Load() == queueHalted {
			v |= hwbreg.StatusHalted
		}
	}
	return v
}

// Write32 writes a register, and does what others have left for the outermost access.
func (n *nic) Write32(off uint64, v uint32) {
	switch {
	case off >= hwbreg.QueueBase:
		if q, r, ok := queueReg(off); !ok || !n.pairs[q].write(r, v) {
			n.stats.Refuse("writing %#x to register %#x", v, off)
		}
	case off >= hwbreg.ACQLO && off <= hwbreg.ADMCTL:
		if !n.admin.write(off, v) {
			n.stats.Refuse("writing %#x to register %#x", v, off)
		}
	case off >= hwbreg.VCTL0 && off < vctlEnd:
		n.intr.setVector(n, uint32(off-hwbreg.VCTL0)/4, v)
	case off == hwbreg.CTRL:
		n.writeCtrl(v)
	default:
		n.stats.Refuse("writing %#x to register %#x", v, off)
	}
	n.engine.Drain()
}

const ctrlBits = hwbreg.CtrlRxEnable | hwbreg.CtrlTxEnable | hwbreg.CtrlMSIX | hwbreg.CtrlMSI

func (n *nic) writeCtrl(v uint32) {
	n.ctl.Lock()
	if v&hwbreg.CtrlReset != 0 {
		n.reset()
		n.ctl.Unlock()
		return
	}
	old := n.ctrl.Swap(v & ctrlBits)
	n.change(func(*settings) {})
	n.ctl.Unlock()
	if (old^v)&(hwbreg.CtrlMSIX|hwbreg.CtrlMSI) != 0 {
		n.intr.mode(n)
	}
	if v&^old&hwbreg.CtrlTxEnable != 0 {
		for i := range n.pairs {
			n.engine.Kick(i)
		}
	}
}

// queueReg splits an offset; ok is false outside the queue blocks.
func queueReg(off uint64) (q int, r uint64, ok bool) {
	q = int((off - hwbreg.QueueBase) / hwbreg.QueueStride)
	r = (off - hwbreg.QueueBase) % hwbreg.QueueStride
	return q, r, q < hwbreg.MaxQueues && r < hwbreg.QueueRegs && (r <= hwbreg.TXHEAD || r >= hwbreg.RXBASELO)
}
