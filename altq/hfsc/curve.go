package hfsc

import (
	"math"
	"math/bits"

	"github.com/ifsim/ifsim/altq"
)

// Fixed points of the slopes (SM_SHIFT, ISM_SHIFT; spec altq 2.3).
const (
	smShift  = 24
	ismShift = 14
)

const (
	bitsPerByte   = 8
	millisPerSec  = 1000
	infinity      = math.MaxUint64 // HT_INFINITY
	ismNumerator  = altq.MachClkFreq << ismShift * bitsPerByte
	bitsPerSecond = altq.MachClkFreq * bitsPerByte // of one byte a clock unit
)

// serviceCurve is an altq.Curve in clock units and bytes (struct internal_sc).
type serviceCurve struct {
	sm1, ism1 uint64 // first slope in bytes a unit << smShift, its inverse << ismShift
	dx, dy    uint64 // extent of the first slope
	sm2, ism2 uint64 // second slope
}

// newServiceCurve converts (sc2isc).
func newServiceCurve(c altq.Curve) serviceCurve {
	s := serviceCurve{
		sm1: slope(c.M1), ism1: inverseSlope(c.M1),
		dx:  uint64(c.D) * altq.MachClkFreq / millisPerSec,
		sm2: slope(c.M2), ism2: inverseSlope(c.M2),
	}
	s.dy = segX2Y(s.dx, s.sm1)
	return s
}

// curve converts back, quantised by the fixed point as FreeBSD's statistics are (sm2m, dx2d).
func (s *serviceCurve) curve() altq.Curve {
	return altq.Curve{M1: rate(s.sm1), D: uint32(s.dx * millisPerSec / altq.MachClkFreq), M2: rate(s.sm2)}
}

// concave curves start steeper than they go on.
func (s *serviceCurve) concave() bool { return s.sm1 > s.sm2 }

// slope is m2sm, with a product too wide for 64 bits above 1 Tb/s.
func slope(m uint64) uint64 {
	hi, lo := bits.Mul64(m, 1<<smShift)
	q, _ := bits.Div64(hi, lo, bitsPerSecond)
	return q
}

// inverseSlope is m2ism.
func inverseSlope(m uint64) uint64 {
	if m == 0 {
		return infinity
	}
	return ismNumerator / m
}

// rate is sm2m.
func rate(sm uint64) uint64 { return mulShift(sm, bitsPerSecond, smShift) }

// segX2Y is the bytes served in x units at slope sm (seg_x2y).
func segX2Y(x, sm uint64) uint64 { return mulShift(x, sm, smShift) }

// segY2X is the units that y bytes take at inverse slope ism (seg_y2x).
func segY2X(y, ism uint64) uint64 {
	switch {
	case y == 0:
		return 0
	case ism == infinity:
		return infinity
	}
	return mulShift(y, ism, ismShift)
}

// mulShift is a*b >> shift, infinity if that does not fit.
func mulShift(a, b uint64, shift uint) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi>>shift != 0 {
		return infinity
	}
	return hi<<(64-shift) | lo>>shift
}

// add is a+b, infinity if that does not fit.
func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return infinity
	}
	return sum
}

// sub is a-b, 0 if b is larger.
func sub(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
