package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Reset implements pci.Device: everything as after power on.
func (n *nic) Reset() {
	n.phy.reset()
	n.pch.hung.Store(false)
	n.reset(nil)
}

// reset puts the registers into their reset state, except for those in keep, and drops
// what is in flight (spec 1g 5.3, Reset). The PHY is left alone.
func (n *nic) reset(keep []uint64) {
	n.resetting.Lock()
	for q := 0; q <= n.rxWork(); q++ {
		n.engine.Pause(q)
	}
	var kept [8]uint32
	for i, off := range keep {
		kept[i] = n.reg(off)
	}
	for i := range n.regs {
		physmem.StoreRelaxed32(&n.regs[i], 0)
	}
	for _, r := range n.chip.reset {
		n.setReg(r.off, r.value)
	}
	for i, off := range keep {
		n.setReg(off, kept[i])
	}
	n.autoload()
	n.resetInterrupts()
	n.stats.reset()
	for _, q := range n.tx {
		q.reset()
	}
	n.shared.reset()
	n.rx.reset()
	if n.chip.pch != nil {
		n.resetPCHState()
	}
	for q := 0; q <= n.rxWork(); q++ {
		n.engine.Resume(q)
	}
	n.resetting.Unlock()
	n.wantLink()
}

// autoload takes what the NVM has for registers: the address (spec 1g 5.3).
func (n *nic) autoload() {
	w := n.nvm.address()
	n.setReg(emreg.RAL, uint32(w[0])|uint32(w[1])<<16)
	n.setReg(emreg.RAH, uint32(w[2])|emreg.RAHAV)
}

// reg returns the word at off. Any goroutine.
func (n *nic) reg(off uint64) uint32 { return atomic.LoadUint32(&n.regs[off/4]) }

// setReg stores the word at off. Any goroutine.
func (n *nic) setReg(off uint64, v uint32) { atomic.StoreUint32(&n.regs[off/4], v) }

// changed has transmit queues look at the registers again; 0 is kept for never seen.
func (n *nic) changed() {
	if n.changes.Add(1) == 0 {
		n.changes.Add(1)
	}
}
