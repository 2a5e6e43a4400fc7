package emhw

import (
	"math/bits"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
)

const (
	// otherCauses are delivered as OTHER with MSI-X (spec 1g 5.2 rule 4).
	otherCauses = emreg.ICRLSC | emreg.ICRRXSEQ | emreg.ICRRXO | emreg.ICRMDAC | emreg.ICRSRPD | emreg.ICRACK
	// vectorCauses are those that IVAR routes.
	vectorCauses   = emreg.ICRRXQ0 | emreg.ICRRXQ1 | emreg.ICRTXQ0 | emreg.ICRTXQ1 | emreg.ICROther
	vectorCauseBit = 20 // the first of them
	ivarNibbleBits = 4
)

// interrupts are cause and mask and what follows from them (spec 1g 5.2).
type interrupts struct {
	causes e1000hw.Causes
	itr    *hw.Throttle
	eitr   []*hw.Throttle // 82574 with MSI-X
}

func (n *nic) initInterrupts() {
	in := &n.intr
	in.itr = hw.NewThrottle(n.K, n.Cfg.Name+" itr", n.Faults, in.causes.Assert)
	in.causes.Init(&n.Core, e1000hw.CausesConfig{Throttle: in.itr, Shows: !n.chip.lem, Vectors: n.MSIX})
	for v := range n.chip.msix {
		in.eitr = append(in.eitr, hw.NewThrottle(n.K, n.Cfg.Name+" eitr", n.Faults, func() { n.sendMSIX(v) }))
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
	in.causes.Reset()
	in.itr.Cancel()
	in.itr.SetInterval(0)
	for _, t := range in.eitr {
		t.Cancel()
		t.SetInterval(0)
	}
	n.delays.reset()
}

// raise sets causes and lets what is unmasked go out. With MSI-X only of what is new: the
// message of the rest has gone or waits for its throttle. Any goroutine.
func (n *nic) raise(c uint32) {
	if !n.MSIX() {
		n.intr.causes.Set(c)
		n.intr.causes.Deliver()
		return
	}
	if c&otherCauses != 0 {
		c |= emreg.ICROther
	}
	if fresh := n.intr.causes.Set(c); fresh != 0 {
		n.deliverMSIX(fresh)
	}
}

// rxEvents is what the receive unit raises: RXT0 after RDTR. RXQn exist with MSI-X only.
func (n *nic) rxEvents(queues, now uint32) {
	if now != 0 {
		n.raise(now)
	}
	if queues == 0 {
		return
	}
	later := uint32(emreg.ICRRXT0)
	if n.MSIX() {
		later |= queues * emreg.ICRRXQ0
	}
	n.delays.rx.event(later)
}

// txEvents is what a transmit queue raises. TXQn exist with MSI-X only.
func (n *nic) txEvents(t *e1000hw.TxQueue, e e1000hw.TxEvents) {
	done := uint32(emreg.ICRTXDW)
	if n.MSIX() {
		done |= emreg.ICRTXQ0 << t.Q
	}
	now := uint32(0)
	if e&e1000hw.TxDone != 0 {
		now = done
	}
	if e&e1000hw.TxEmpty != 0 {
		now |= emreg.ICRTXQE
		n.Stats.Add(e1000hw.Stat(emreg.ICTXQEC), 1)
	}
	if now != 0 {
		n.raise(now)
	}
	if e&e1000hw.TxDelayed != 0 {
		if p := n.Probes; p.On() {
			p.FireNote(points.Delay, n.Cfg.Name, t.Q, emreg.CauseNames(done), uint64(done), uint64(n.Reg(emreg.TIDV)))
		}
		n.delays.tx.event(done)
	}
}

// vectorOf returns the vector of a cause, by its bit in ICR.
func (n *nic) vectorOf(bit int) (v int, ok bool) {
	nibble := n.Reg(emreg.IVAR) >> ((bit - vectorCauseBit) * ivarNibbleBits) & emreg.IVARNibble
	v = int(nibble & emreg.IVARVector)
	return v, nibble&emreg.IVARValid != 0 && v < len(n.intr.eitr)
}

// deliverMSIX asks for the vectors of those of the causes c that are unmasked.
func (n *nic) deliverMSIX(c uint32) {
	in := &n.intr
	for c &= in.causes.ICR.Load() & in.causes.IMS.Load() & vectorCauses; c != 0; c &= c - 1 {
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
	fn := n.Fn()
	if fn == nil {
		return
	}
	var mine uint32
	for c := in.causes.ICR.Load() & in.causes.IMS.Load() & vectorCauses; c != 0; c &= c - 1 {
		if w, ok := n.vectorOf(bits.TrailingZeros32(c)); ok && w == v {
			mine |= c & -c
		}
	}
	if mine == 0 {
		return
	}
	if auto := mine & n.Reg(emreg.EIAC); auto != 0 {
		in.causes.ICR.And(^auto)
		if n.Reg(emreg.CTRLExt)&emreg.CtrlExtIAME == 0 {
			in.causes.IMS.And(^auto)
		}
	}
	if p := n.Probes; p.On() {
		p.FireNote(points.Vector, n.Cfg.Name, -1, emreg.CauseNames(mine), uint64(v), uint64(mine), uint64(in.causes.ICR.Load()), uint64(in.causes.IMS.Load()))
	}
	n.Stats.Add(e1000hw.Stat(emreg.IAC), 1)
	fn.RaiseMSIX(v)
}

// readICR is the register with effects (spec 1g 5.2 rules 2 to 4).
func (n *nic) readICR() uint32 { return n.intr.causes.Read(n.MSIX()) }

// setIMS unmasks causes; one that waits goes out.
func (n *nic) setIMS(v uint32) {
	in := &n.intr
	in.causes.IMS.Or(v & e1000hw.CauseMask)
	if n.MSIX() {
		n.deliverMSIX(vectorCauses)
		return
	}
	in.causes.Deliver()
}

// writeICS sets causes by hand; what is set already goes out again.
func (n *nic) writeICS(v uint32) {
	v &= e1000hw.CauseMask
	n.raise(v)
	if n.MSIX() {
		n.deliverMSIX(v)
	}
}

// writeIVAR routes causes to vectors.
func (n *nic) writeIVAR(v uint32) {
	n.SetReg(emreg.IVAR, v)
	for s := 0; s <= emreg.IVAROtherShift; s += ivarNibbleBits {
		nibble := v >> s & emreg.IVARNibble
		if nibble&emreg.IVARValid != 0 && int(nibble&emreg.IVARVector) >= n.chip.msix {
			n.Refuse(e1000hw.RuleVector, s/ivarNibbleBits, nibble)
		}
	}
}

// throttled is an interval register of a throttle.
func throttled(t *hw.Throttle, v uint32) {
	t.SetInterval(time.Duration(v&emreg.ITRMask) * emreg.ITRUnitNs)
}
