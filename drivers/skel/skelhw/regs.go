package skelhw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

// load returns a register as it was written.
func (n *nic) load(off uint64) uint32 { return n.regs[off/4].Load() }

func (n *nic) store(off uint64, v uint32) { n.regs[off/4].Store(v) }

// load64 joins the halves of a register of 64 bits.
func (n *nic) load64(off uint64) uint64 { return uint64(n.load(off+4))<<32 | uint64(n.load(off)) }

// qreg is the offset of register r of queue pair q.
func qreg(q int, r uint64) uint64 { return skelreg.QueueBase + uint64(q)*skelreg.QueueStride + r }

// Read32 reads a register; what is not there reads 0.
func (n *nic) Read32(off uint64) uint32 {
	switch off {
	case skelreg.STATUS:
		return n.status()
	case skelreg.ICAUSE:
		return n.events.take()
	case skelreg.IENABLE:
		return n.events.enabledBits()
	}
	if v, ok := n.stats.read(off); ok {
		return v
	}
	return n.load(off)
}

func (n *nic) status() (v uint32) {
	n.link.Poll()
	s := n.link.State()
	if !s.Up {
		return 0
	}
	v = skelreg.StatusLinkUp | uint32(s.Speed)<<skelreg.StatusSpeedShift
	if s.FullDuplex {
		v |= skelreg.StatusFullDuplex
	}
	return v
}

// Write32 writes a register, and does what port callbacks have left for the outermost
// register access.
func (n *nic) Write32(off uint64, v uint32) {
	if q, r, ok := queueReg(off); ok {
		n.writeQueue(q, r, v)
	} else if !n.writeGlobal(off, v) {
		n.stats.refuse("writing %#x to register %#04x, which cannot be written", v, off)
	}
	n.engine.Drain()
}

// queueReg splits an offset; ok is false outside the queue pairs.
func queueReg(off uint64) (q int, r uint64, ok bool) {
	if off < skelreg.QueueBase {
		return 0, 0, false
	}
	q, r = int((off-skelreg.QueueBase)/skelreg.QueueStride), (off-skelreg.QueueBase)%skelreg.QueueStride
	return q, r, q < skelreg.QueuePairs && r < skelreg.QueueEnd
}

// writeGlobal writes a global register (datasheet 2); false if there is none to write.
func (n *nic) writeGlobal(off uint64, v uint32) bool {
	switch off {
	case skelreg.CTRL:
		n.writeCtrl(v)
	case skelreg.IENABLE:
		n.events.enable(v & skelreg.EventAll)
	case skelreg.IDISABLE:
		n.events.disable(v & skelreg.EventAll)
	case skelreg.RXMODE:
		n.store(off, v&skelreg.RxModeAll)
	case skelreg.MACLO, skelreg.MACHI, skelreg.MAXFRAME, skelreg.GROUPLO, skelreg.GROUPHI:
		n.store(off, v)
	default:
		return false
	}
	return true
}

func (n *nic) writeCtrl(v uint32) {
	if v&skelreg.CtrlReset != 0 {
		n.reset()
		return
	}
	n.store(skelreg.CTRL, v&(skelreg.CtrlRxOn|skelreg.CtrlTxOn))
	if v&skelreg.CtrlTxOn != 0 {
		for q := range n.tx {
			n.engine.Kick(q)
		}
	}
}

// writeQueue writes a register of queue pair q (datasheet 3, 4).
func (n *nic) writeQueue(q int, r uint64, v uint32) {
	switch r {
	case skelreg.TXBELL:
		n.engine.Kick(q)
		return
	case skelreg.RXBELL:
		n.rx.rings[q].awake.Store(true)
		return
	}
	n.ctl.Lock()
	defer n.ctl.Unlock()
	length := uint64(skelreg.TXLEN)
	if r >= skelreg.RXBASELO {
		length = skelreg.RXLEN
	}
	switch {
	case r == skelreg.TXLEN:
		n.setLength(qreg(q, r), v, q, &n.tx[q])
	case r == skelreg.RXLEN:
		n.setLength(qreg(q, r), v, rxWork, &n.rx.rings[q])
	case n.load(qreg(q, length)) != 0:
		n.stats.refuse("writing %#x to register %#04x while its queue runs", v, qreg(q, r))
	default:
		n.store(qreg(q, r), v)
	}
}

// startStopper is a queue of one direction. Both run while its work is paused.
type startStopper interface {
	start(entries uint32) error
	stop()
}

// setLength starts or stops a queue. Called with ctl held.
func (n *nic) setLength(off uint64, v uint32, work int, q startStopper) {
	n.engine.Pause(work)
	defer n.engine.Resume(work)
	q.stop()
	n.store(off, 0)
	if v == 0 {
		return
	}
	if err := q.start(v); err != nil {
		n.stats.refuse("writing %d to register %#04x: %v", v, off, err)
		return
	}
	n.store(off, v)
}

// reset is CTRL.RESET (datasheet 2).
func (n *nic) reset() {
	n.ctl.Lock()
	defer n.ctl.Unlock()
	for q := range skelreg.QueuePairs {
		n.setLength(qreg(q, skelreg.TXLEN), 0, q, &n.tx[q])
		n.setLength(qreg(q, skelreg.RXLEN), 0, rxWork, &n.rx.rings[q])
	}
	for i := range n.regs {
		n.regs[i].Store(0)
	}
	n.events.reset()
	n.stats.reset()
	n.loadMAC()
}

// loadMAC reads the station address from the NVM, which holds it in words of 16 bits.
func (n *nic) loadMAC() {
	var v uint64
	for i := 0; i < hw.EtherAddrLen; i += 2 {
		w := n.faults.NVMWord(binary.LittleEndian.Uint16(n.cfg.MAC[i:]))
		v |= uint64(w) << (8 * i)
	}
	n.store(skelreg.MACLO, uint32(v))
	n.store(skelreg.MACHI, uint32(v>>32))
}

// ringAddr is the ring that a base register names.
func (n *nic) ringAddr(off uint64) iflib.Addr { return iflib.Addr(n.load64(off)) }
