package e1000hw

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// CauseMask are the bits of ICR that are causes: INT_ASSERTED is none.
const CauseMask = 1<<31 - 1

// CausesConfig says how the causes of a part become an interrupt.
type CausesConfig struct {
	Throttle *hw.Throttle // of the line; it calls Assert
	Shows    bool         // ICR has INT_ASSERTED, and a read may clear nothing
	Vectors  func() bool  // vectors take the place of the line
}

// Causes are ICR and IMS, and the line that follows from them: INTx, or the message that
// stands for it (spec 1g 5.2). Any goroutine.
type Causes struct {
	ICR, IMS atomic.Uint32

	c        *Core
	cfg      CausesConfig
	asserted atomic.Bool // the line, or the message that stands for it
	mu       sync.Mutex  // orders changes of the line, so that its level follows the last cause
}

// Init makes the causes of c.
func (in *Causes) Init(c *Core, cfg CausesConfig) { in.c, in.cfg = c, cfg }

// Reset forgets causes and mask.
func (in *Causes) Reset() {
	in.IMS.Store(0)
	in.ICR.Store(0)
	in.Release()
}

// Set sets causes and returns those that were not set.
func (in *Causes) Set(c uint32) (fresh uint32) {
	if in.ICR.Load()&c == c {
		return 0
	}
	fresh = c &^ in.ICR.Or(c)
	if p := in.c.Probes; p.On() {
		t := in.c.Points
		p.FireNote(t.Cause, in.c.Cfg.Name, -1, t.CauseNames(fresh), uint64(fresh), uint64(in.ICR.Load()), uint64(in.IMS.Load()))
	}
	return fresh
}

// Unmasked reports whether a cause is set that IMS lets through.
func (in *Causes) Unmasked() bool { return in.ICR.Load()&in.IMS.Load() != 0 }

// Deliver asks for the line if an unmasked cause is set and it is not asserted.
func (in *Causes) Deliver() {
	if in.Unmasked() && !in.asserted.Load() {
		in.cfg.Throttle.Request()
	}
}

// Assert is what the throttle lets through: INTx, or a message in its place.
func (in *Causes) Assert() {
	fn := in.c.Fn()
	if fn == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.Unmasked() || in.asserted.Load() || in.cfg.Vectors() {
		return
	}
	in.asserted.Store(true)
	if in.cfg.Shows {
		in.ICR.Or(emreg.ICRIntAsserted)
	}
	if p := in.c.Probes; p.On() {
		p.Fire2(in.c.Points.Line, in.c.Cfg.Name, -1, boolBit(fn.MSIEnabled()), uint64(in.ICR.Load()))
	}
	in.c.Stats.Add(Stat(emreg.IAC), 1)
	switch {
	case fn.MSIXEnabled():
		fn.RaiseMSIX(0)
	case fn.MSIEnabled():
		fn.RaiseMSI(0)
	default:
		fn.SetINTx(true)
	}
}

// Release takes the line down, after a cause or mask bit was cleared, and looks again: a
// cause may have come meanwhile that saw it asserted.
func (in *Causes) Release() {
	in.mu.Lock()
	if in.asserted.Load() {
		in.asserted.Store(false)
		in.ICR.And(^uint32(emreg.ICRIntAsserted))
		if fn := in.c.Fn(); fn != nil {
			fn.SetINTx(false)
		}
	}
	in.mu.Unlock()
	if !in.cfg.Vectors() {
		in.Deliver()
	}
}

// Read is a read of ICR (spec 1g 5.2 rules 2 to 5). It clears what it returns if all is
// set, if an interrupt was asserted, or if nothing is enabled; IAME then masks IAM.
func (in *Causes) Read(all bool) uint32 {
	v, ims := in.ICR.Load(), in.IMS.Load()
	if in.cfg.Shows {
		if in.cfg.Vectors() && v&ims != 0 {
			v |= emreg.ICRIntAsserted
		}
		if !all && ims != 0 && v&emreg.ICRIntAsserted == 0 {
			return v
		}
		if in.c.Reg(emreg.CTRLExt)&emreg.CtrlExtIAME != 0 {
			in.IMS.And(^in.c.Reg(emreg.IAM))
		}
	}
	in.ICR.And(^v)
	in.Release()
	return v
}

// Peek is a read of ICS, IMS or IMC, which changes nothing: the causes or the mask.
func (in *Causes) Peek(off uint64) uint32 {
	if off == emreg.ICS {
		return in.ICR.Load()
	}
	return in.IMS.Load()
}

// Clear is a write of ICR: ones clear.
func (in *Causes) Clear(v uint32) {
	in.ICR.And(^v)
	in.Release()
}

// Mask is a write of IMC: ones mask.
func (in *Causes) Mask(v uint32) {
	in.IMS.And(^v)
	if !in.Unmasked() {
		in.Release()
	}
}

// After returns what ICR or IMS is and what a write of v to one of their registers makes
// of it, but for what that brings about; ok is false for other registers.
func (in *Causes) After(off uint64, v uint32) (old, after uint32, ok bool) {
	switch off {
	case emreg.ICR:
		old = in.ICR.Load()
		return old, old &^ v, true
	case emreg.ICS:
		old = in.ICR.Load()
		return old, old | v&CauseMask, true
	case emreg.IMS:
		old = in.IMS.Load()
		return old, old | v&CauseMask, true
	case emreg.IMC:
		old = in.IMS.Load()
		return old, old &^ v, true
	}
	return 0, 0, false
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
