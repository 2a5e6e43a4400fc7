package emhw

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

const (
	// otherCauses are delivered as OTHER with MSI-X (spec 1g 5.2 rule 4).
	otherCauses = emreg.ICRLSC | emreg.ICRRXSEQ | emreg.ICRRXO | emreg.ICRMDAC | emreg.ICRSRPD | emreg.ICRACK
	// vectorCauses are those that IVAR routes.
	vectorCauses   = emreg.ICRRXQ0 | emreg.ICRRXQ1 | emreg.ICRTXQ0 | emreg.ICRTXQ1 | emreg.ICROther
	vectorCauseBit = 20 // the first of them
	ivarNibbleBits = 4

	causeMask = 1<<31 - 1 // INT_ASSERTED is no cause
)

// interrupts are cause and mask and what follows from them (spec 1g 5.2).
type interrupts struct {
	icr, ims atomic.Uint32
	asserted atomic.Bool // the line, or the MSI message that stands for it

	mu   sync.Mutex // orders changes of the line, so that its level follows the last cause
	itr  *hw.Throttle
	eitr []*hw.Throttle // 82574 with MSI-X
}

func (n *nic) initInterrupts() {
	n.intr.itr = hw.NewThrottle(n.k, n.cfg.Name+" itr", n.faults, n.assertLine)
	for v := range n.chip.msix {
		n.intr.eitr = append(n.intr.eitr, hw.NewThrottle(n.k, n.cfg.Name+" eitr", n.faults, func() { n.sendMSIX(v) }))
	}
	n.delays.init(n)
}

func (n *nic) closeInterrupts() {
	n.intr.itr.Close()
	for _, t := range n.intr.eitr {
		t.Close()
	}
	n.delays.close()
}

// resetInterrupts forgets causes, mask and what waits for a timer.
func (n *nic) resetInterrupts() {
	in := &n.intr
	in.ims.Store(0)
	in.icr.Store(0)
	n.releaseLine()
	in.itr.Cancel()
	in.itr.SetInterval(0)
	for _, t := range in.eitr {
		t.Cancel()
		t.SetInterval(0)
	}
	n.delays.reset()
}

// msix reports whether interrupts go out as MSI-X.
func (n *nic) msix() bool {
	fn := n.fn.Load()
	return fn != nil && fn.MSIXEnabled()
}

// raise sets causes and lets what is unmasked go out. Any goroutine.
func (n *nic) raise(c uint32) {
	in := &n.intr
	msix := n.msix()
	if msix && c&otherCauses != 0 {
		c |= emreg.ICROther
	}
	if in.icr.Load()&c == c {
		// Not new: with MSI-X the message has gone or waits for its throttle.
		if !msix {
			n.deliverLine()
		}
		return
	}
	fresh := c &^ in.icr.Or(c)
	if p := n.k.Probes; p.On() {
		p.FireNote(probeCause, n.cfg.Name, -1, emreg.CauseNames(fresh), uint64(fresh), uint64(in.icr.Load()), uint64(in.ims.Load()))
	}
	if msix {
		n.deliverMSIX(fresh)
		return
	}
	n.deliverLine()
}

// deliverLine asks for the line if an unmasked cause is set and it is not asserted.
func (n *nic) deliverLine() {
	in := &n.intr
	if in.icr.Load()&in.ims.Load() != 0 && !in.asserted.Load() {
		in.itr.Request()
	}
}

// assertLine is what ITR lets through: INTx, or a message in its place.
func (n *nic) assertLine() {
	in := &n.intr
	fn := n.fn.Load()
	if fn == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.icr.Load()&in.ims.Load() == 0 || in.asserted.Load() || fn.MSIXEnabled() {
		return
	}
	in.asserted.Store(true)
	if !n.chip.lem {
		in.icr.Or(emreg.ICRIntAsserted)
	}
	if p := n.k.Probes; p.On() {
		p.Fire2(probeLine, n.cfg.Name, -1, boolBit(fn.MSIEnabled()), uint64(in.icr.Load()))
	}
	n.stats.Add(stat(emreg.IAC), 1)
	if fn.MSIEnabled() {
		fn.RaiseMSI(0)
	} else {
		fn.SetINTx(true)
	}
}

// releaseLine takes the line down, after a cause or mask bit was cleared, and looks
// again: a cause may have come meanwhile that saw it asserted.
func (n *nic) releaseLine() {
	in := &n.intr
	in.mu.Lock()
	if in.asserted.Load() {
		in.asserted.Store(false)
		in.icr.And(^uint32(emreg.ICRIntAsserted))
		if fn := n.fn.Load(); fn != nil {
			fn.SetINTx(false)
		}
	}
	in.mu.Unlock()
	n.deliverLine()
}

// vectorOf returns the vector of a cause, by its bit in ICR.
func (n *nic) vectorOf(bit int) (v int, ok bool) {
	nibble := n.reg(emreg.IVAR) >> ((bit - vectorCauseBit) * ivarNibbleBits) & emreg.IVARNibble
	v = int(nibble & emreg.IVARVector)
	return v, nibble&emreg.IVARValid != 0 && v < len(n.intr.eitr)
}

// deliverMSIX asks for the vectors of those of the causes c that are unmasked.
func (n *nic) deliverMSIX(c uint32) {
	in := &n.intr
	for c &= in.icr.Load() & in.ims.Load() & vectorCauses; c != 0; c &= c - 1 {
		if v, ok := n.vectorOf(bits.TrailingZeros32(c)); ok {
			in.eitr[v].Request()
		}
	}
}

// sendMSIX is what EITR lets through. Causes in EIAC are cleared and, unless IAME says
// otherwise, masked before the message goes out, so that what the driver does about it
// comes later.
func (n *nic) sendMSIX(v int) {
	in := &n.intr
	fn := n.fn.Load()
	if fn == nil {
		return
	}
	var mine uint32
	for c := in.icr.Load() & in.ims.Load() & vectorCauses; c != 0; c &= c - 1 {
		if w, ok := n.vectorOf(bits.TrailingZeros32(c)); ok && w == v {
			mine |= c & -c
		}
	}
	if mine == 0 {
		return
	}
	if auto := mine & n.reg(emreg.EIAC); auto != 0 {
		in.icr.And(^auto)
		if n.reg(emreg.CTRLExt)&emreg.CtrlExtIAME == 0 {
			in.ims.And(^auto)
		}
	}
	if p := n.k.Probes; p.On() {
		p.FireNote(probeVector, n.cfg.Name, -1, emreg.CauseNames(mine), uint64(v), uint64(mine), uint64(in.icr.Load()), uint64(in.ims.Load()))
	}
	n.stats.Add(stat(emreg.IAC), 1)
	fn.RaiseMSIX(v)
}

// readICR is the register with effects (spec 1g 5.2 rules 2 to 4).
func (n *nic) readICR() uint32 {
	in := &n.intr
	msix := n.msix()
	if n.chip.lem {
		v := in.icr.Swap(0)
		n.releaseLine()
		return v
	}
	v := in.icr.Load()
	ims := in.ims.Load()
	if msix && v&ims != 0 {
		v |= emreg.ICRIntAsserted
	}
	if !msix && ims != 0 && v&emreg.ICRIntAsserted == 0 {
		return v
	}
	in.icr.And(^v)
	if n.reg(emreg.CTRLExt)&emreg.CtrlExtIAME != 0 {
		in.ims.And(^n.reg(emreg.IAM))
	}
	n.releaseLine()
	return v
}

// clearICR is a write of ICR: ones clear.
func (n *nic) clearICR(v uint32) {
	n.intr.icr.And(^v)
	n.releaseLine()
}

// setIMS unmasks causes; one that waits goes out.
func (n *nic) setIMS(v uint32) {
	in := &n.intr
	in.ims.Or(v & causeMask)
	if n.msix() {
		n.deliverMSIX(vectorCauses)
		return
	}
	n.deliverLine()
}

// clearIMS masks causes.
func (n *nic) clearIMS(v uint32) {
	in := &n.intr
	in.ims.And(^v)
	if in.icr.Load()&in.ims.Load() == 0 {
		n.releaseLine()
	}
}

// writeICS sets causes by hand; what is set already goes out again.
func (n *nic) writeICS(v uint32) {
	v &= causeMask
	n.raise(v)
	if n.msix() {
		n.deliverMSIX(v)
	}
}

// writeIVAR routes causes to vectors.
func (n *nic) writeIVAR(v uint32) {
	n.setReg(emreg.IVAR, v)
	for s := 0; s <= emreg.IVAROtherShift; s += ivarNibbleBits {
		nibble := v >> s & emreg.IVARNibble
		if nibble&emreg.IVARValid != 0 && int(nibble&emreg.IVARVector) >= n.chip.msix {
			n.refuse(ruleVector, s/ivarNibbleBits, nibble)
		}
	}
}

// throttled is an interval register of a throttle.
func throttled(t *hw.Throttle, v uint32) {
	t.SetInterval(time.Duration(v&emreg.ITRMask) * emreg.ITRUnitNs)
}
