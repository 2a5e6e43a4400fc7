package conf

import "github.com/ifsim/ifsim/altq"

// curveSum is the sum of service curves (struct gen_sc).
type curveSum struct{ curves []altq.Curve }

// add adds a curve.
func (s *curveSum) add(c altq.Curve) {
	if !c.IsZero() {
		s.curves = append(s.curves, c)
	}
}

// at is the sum's value after x milliseconds, in thousandths of bits.
func (s *curveSum) at(x float64) (y float64) {
	for _, c := range s.curves {
		y += curveAt(c, x)
	}
	return y
}

// curveAt is what the curve gives in x milliseconds, in thousandths of bits.
func curveAt(c altq.Curve, x float64) float64 {
	d := float64(c.D)
	if x <= d {
		return x * float64(c.M1)
	}
	return d*float64(c.M1) + (x-d)*float64(c.M2)
}

// under reports whether the sum is nowhere above a limit (is_gsc_under_sc; spec altq
// 4.2): it is compared where it bends, in its last slope, and where the limit bends.
func (s *curveSum) under(limit altq.Curve) bool {
	if limit.IsZero() {
		return len(s.curves) == 0
	}
	var last, slope float64
	for _, c := range s.curves {
		x := float64(c.D)
		if s.at(x) > curveAt(limit, x) {
			return false
		}
		last = max(last, x)
		slope += float64(c.M2)
	}
	if slope > float64(limit.M2) {
		return false
	}
	bend := float64(limit.D)
	return !(last < bend && slope > float64(limit.M1) && s.at(bend) > curveAt(limit, bend))
}
