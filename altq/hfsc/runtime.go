package hfsc

import "math/bits"

// runtimeCurve is a service curve placed at a time and an amount of service (struct runtime_sc).
type runtimeCurve struct {
	x, y uint64 // where it starts
	serviceCurve
}

// newRuntimeCurve places s at (x, y) (rtsc_init).
func newRuntimeCurve(s *serviceCurve, x, y uint64) runtimeCurve {
	return runtimeCurve{x: x, y: y, serviceCurve: *s}
}

// y2x is when the service reaches y (rtsc_y2x).
func (r *runtimeCurve) y2x(y uint64) uint64 {
	if y < r.y {
		return r.x
	}
	served := y - r.y
	switch {
	case served > r.dy:
		return add(add(r.x, r.dx), segY2X(served-r.dy, r.ism2))
	case r.dy == 0:
		return add(r.x, r.dx)
	}
	return add(r.x, segY2X(served, r.ism1))
}

// x2y is the service reached at x (rtsc_x2y).
func (r *runtimeCurve) x2y(x uint64) uint64 {
	if x <= r.x {
		return r.y
	}
	passed := x - r.x
	if passed <= r.dx {
		return add(r.y, segX2Y(passed, r.sm1))
	}
	return add(add(r.y, r.dy), segX2Y(passed-r.dx, r.sm2))
}

// min makes r the lower of itself and s placed at (x, y) (rtsc_min). r has the slopes of s.
func (r *runtimeCurve) min(s *serviceCurve, x, y uint64) {
	y1 := r.x2y(x)
	if !s.concave() {
		if y1 >= y {
			r.x, r.y, r.dx, r.dy = x, y, s.dx, s.dy
		}
		return
	}
	if y1 <= y {
		return
	}
	if y2 := r.x2y(add(x, s.dx)); y2 >= add(y, s.dy) {
		r.x, r.y, r.dx, r.dy = x, y, s.dx, s.dy
		return
	}
	// They cross where the steeper one from y has made up for the lead that the flatter one has.
	dx := divShift(y1-y, s.sm1-s.sm2, smShift)
	if end := add(r.x, r.dx); end > x {
		dx = add(dx, end-x)
	}
	r.x, r.y, r.dx, r.dy = x, y, dx, segX2Y(dx, s.sm1)
}

// divShift is (a << shift) / b, infinity if that does not fit.
func divShift(a, b uint64, shift uint) uint64 {
	hi, lo := a>>(64-shift), a<<shift
	if hi >= b {
		return infinity
	}
	q, _ := bits.Div64(hi, lo, b)
	return q
}
