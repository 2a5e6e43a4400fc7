package e1000hw

import (
	"math/bits"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

func eitr(v int) uint64 { return e1000reg.EITR + uint64(v)*emreg.RegStride }

func (a *advanced) initInterrupts() {
	for v := range a.chip.Vectors {
		a.throttles = append(a.throttles, hw.NewThrottle(a.K, a.Cfg.Name+" eitr", a.Faults, func() { a.release(v) }))
	}
	a.causes.Init(&a.Core, CausesConfig{Throttle: a.throttles[0], Shows: true, Vectors: a.routed})
}

func (a *advanced) closeInterrupts() {
	for _, t := range a.throttles {
		t.Close()
	}
}

// resetInterrupts forgets causes, masks and what waits for a timer. Intervals are what
// the registers say, which may have survived.
func (a *advanced) resetInterrupts() {
	a.eims.Store(0)
	a.eicr.Store(0)
	a.causes.Reset()
	for v, t := range a.throttles {
		t.Cancel()
		t.SetInterval(interval(a.Reg(eitr(v))))
	}
}

// interval is what an EITR register says.
func interval(v uint32) time.Duration {
	return time.Duration(v&e1000reg.EITRMask>>e1000reg.EITRShift) * e1000reg.EITRUnitNs
}

// writeEITR sets the interval of a vector. Without CNT_IGNR the counter starts anew, so
// that what waits goes out.
func (a *advanced) writeEITR(v int, val uint32) {
	a.SetReg(eitr(v), val&^e1000reg.EITRCntIgnr)
	if val&e1000reg.EITRCntIgnr == 0 {
		a.throttles[v].SetInterval(0)
	}
	a.throttles[v].SetInterval(interval(val))
}

// routed reports whether causes go to vectors by IVAR.
func (a *advanced) routed() bool { return a.Reg(e1000reg.GPIE)&e1000reg.GPIEMSIXMode != 0 }

// ivarOf is where the vector of a queue stands.
func (a *advanced) ivarOf(q int, tx bool) (off uint64, shift uint32) {
	k, high := q/2, q&1 != 0
	if a.chip.IVAR82576 {
		k, high = q&(e1000reg.IVAR82576-1), q >= e1000reg.IVAR82576
	}
	if high {
		shift = e1000reg.IVAROdd
	}
	if tx {
		shift += e1000reg.IVARTx
	}
	return e1000reg.IVAR0 + uint64(k)*emreg.RegStride, shift
}

// vectorBit is the bit in EICR of the vector that a byte of IVAR names, 0 for none.
func (a *advanced) vectorBit(entry uint32) uint32 {
	if entry&e1000reg.IVARValid == 0 {
		return 0
	}
	return 1 << (entry & e1000reg.IVARVector) & a.vectors
}

// queueEvent is something that happened to a queue.
func (a *advanced) queueEvent(q int, tx bool) {
	off, shift := a.ivarOf(q, tx)
	if bit := a.vectorBit(a.Reg(off) >> shift); bit != 0 {
		a.extended(bit)
	}
}

// txEvents is TxFormat.Raise.
func (a *advanced) txEvents(t *TxQueue, _ TxEvents) {
	if a.routed() {
		a.queueEvent(t.Q, true)
		return
	}
	a.raise(emreg.ICRTXDW)
}

// rxEvents is RxConfig.Raise.
func (a *advanced) rxEvents(queues, causes uint32) {
	if !a.routed() {
		if queues != 0 {
			causes |= emreg.ICRRXT0
		}
		a.raise(causes)
		return
	}
	for ; queues != 0; queues &= queues - 1 {
		a.queueEvent(bits.TrailingZeros32(queues), false)
	}
	if causes != 0 {
		a.raise(causes)
	}
}

// raise sets causes of ICR and lets what is unmasked go out. Any goroutine.
func (a *advanced) raise(c uint32) {
	a.causes.Set(c)
	a.deliver()
}

// deliver lets unmasked causes of ICR go out: by the line, or the vector of IVAR_MISC.
func (a *advanced) deliver() {
	if !a.routed() {
		a.causes.Deliver()
		return
	}
	if a.causes.Unmasked() {
		if bit := a.vectorBit(a.Reg(e1000reg.IVARMisc) >> e1000reg.IVAROther); bit != 0 {
			a.extended(bit)
		}
	}
}

// extended sets bits of EICR and lets what is unmasked go out. Of what was set before
// the message has gone, or waits; but what clears itself with its message has not got
// out if it is still there.
func (a *advanced) extended(set uint32) {
	fresh := set
	if old := a.eicr.Load(); old&set != set {
		fresh &^= a.eicr.Or(set)
	} else {
		fresh = 0
	}
	a.deliverVectors(fresh | set&a.Reg(e1000reg.EIAC))
}

// deliverVectors asks for those of the vectors that are set and unmasked.
func (a *advanced) deliverVectors(set uint32) {
	for c := set & a.eicr.Load() & a.eims.Load() & a.vectors; c != 0; c &= c - 1 {
		a.throttles[bits.TrailingZeros32(c)].Request()
	}
}

// release is what EITR(v) lets through.
func (a *advanced) release(v int) {
	if v == 0 && !a.routed() {
		a.causes.Assert()
		return
	}
	a.sendVector(v)
}

// sendVector sends the message of a vector. What EIAC and EIAM have of it is cleared and
// masked before the message goes out, so that what the driver does about it comes later
// (spec 1g 5.2 rule 5).
func (a *advanced) sendVector(v int) {
	fn, bit := a.Fn(), uint32(1)<<v
	if fn == nil || a.eicr.Load()&a.eims.Load()&bit == 0 {
		return
	}
	if a.Reg(e1000reg.EIAC)&bit != 0 {
		a.eicr.And(^bit)
	}
	if a.Reg(e1000reg.GPIE)&e1000reg.GPIEEIAME != 0 && a.Reg(e1000reg.EIAM)&bit != 0 {
		a.eims.And(^bit)
	}
	if p := a.Probes; p.On() {
		p.FireNote(a.Points.Vector, a.Cfg.Name, -1, "", uint64(v), uint64(bit), uint64(a.eicr.Load()), uint64(a.eims.Load()))
	}
	a.Stats.Add(Stat(emreg.IAC), 1)
	fn.RaiseMSIX(v)
}

// readICR is a read of ICR: with NSICR, and without vectors, it always clears.
func (a *advanced) readICR() uint32 {
	return a.causes.Read(!a.routed() || a.Reg(e1000reg.GPIE)&e1000reg.GPIENSICR != 0)
}

// writeIVAR routes queues or other causes to vectors.
func (a *advanced) writeIVAR(off uint64, v uint32) {
	a.SetReg(off, v)
	for i := 0; i < 32; i += e1000reg.IVARByte {
		entry := v >> i & (1<<e1000reg.IVARByte - 1)
		if entry&e1000reg.IVARValid != 0 && a.vectorBit(entry) == 0 {
			a.Refuse(RuleVector, i/e1000reg.IVARByte, entry)
		}
	}
}
