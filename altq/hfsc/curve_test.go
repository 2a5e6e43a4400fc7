package hfsc

import (
	"math/big"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"pgregory.net/rapid"
)

const (
	kbit = 1_000
	mbit = 1_000_000
	gbit = 1_000_000_000
)

// Spec altq 6.1, V3.
func TestSlopesAreScaledAsFreeBSDsAre(t *testing.T) {
	for _, v := range []struct{ m, sm, ism uint64 }{
		{10 * mbit, 81_920, 3_355_443},
		{mbit, 8_192, 33_554_432},
		{64 * kbit, 524, 524_288_000},
		{400 * gbit, 3_276_800_000, 83},
		{0, 0, infinity},
	} {
		if sm, ism := slope(v.m), inverseSlope(v.m); sm != v.sm || ism != v.ism {
			t.Errorf("%d b/s: sm %d, ism %d; want %d, %d", v.m, sm, ism, v.sm, v.ism)
		}
	}
}

// Spec altq 6.1, V4.
func TestCurveIsConvertedAsInFreeBSD(t *testing.T) {
	got := newServiceCurve(altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit})
	want := serviceCurve{sm1: 57_344, ism1: 4_793_490, dx: 25_600_000, dy: 87_500, sm2: 16_384, ism2: 16_777_216}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The statistics read rates back in steps of 122 b/s.
func TestCurveReadBackIsQuantised(t *testing.T) {
	for _, v := range []struct{ in, out altq.Curve }{
		{altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit}, altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit}},
		{altq.Curve{M2: 64 * kbit}, altq.Curve{M2: 63_964}},
		{altq.Curve{M2: 400 * gbit, D: 7}, altq.Curve{M2: 400 * gbit, D: 7}},
	} {
		s := newServiceCurve(v.in)
		if got := s.curve(); got != v.out {
			t.Errorf("%+v reads back as %+v, want %+v", v.in, got, v.out)
		}
	}
}

// What the arithmetic in 64 bits must equal: the same in integers without a limit.
func TestProductsAndQuotientsAreExactOrInfinite(t *testing.T) {
	limit := new(big.Int).SetUint64(infinity)
	check := func(t *rapid.T, what string, got uint64, want *big.Int) {
		if want.Cmp(limit) > 0 {
			want = limit
		}
		if want.Cmp(new(big.Int).SetUint64(got)) != 0 {
			t.Fatalf("%s is %d, want %s", what, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		x, y := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		product := new(big.Int).Mul(x, y)
		check(t, "product", mulShift(a, b, smShift), new(big.Int).Rsh(product, smShift))
		check(t, "sum", add(a, b), new(big.Int).Add(x, y))
		if b != 0 {
			check(t, "quotient", divShift(a, b, smShift), new(big.Int).Div(new(big.Int).Lsh(x, smShift), y))
		}
		sm := new(big.Int).Div(new(big.Int).Lsh(x, smShift), big.NewInt(bitsPerSecond))
		if sm.IsUint64() {
			check(t, "slope", slope(a), sm)
		}
	})
}

func TestRuntimeCurveFollowsItsTwoSlopes(t *testing.T) {
	s := newServiceCurve(altq.Curve{M1: 8 * mbit, D: 100, M2: 2 * mbit})
	r := newRuntimeCurve(&s, 1000, 50)
	const ms = altq.MachClkFreq / millisPerSec
	for _, v := range []struct{ x, y uint64 }{
		{0, 50}, {1000, 50},
		{1000 + 10*ms, 50 + 10_000},
		{1000 + 100*ms, 50 + 100_000},
		{1000 + 140*ms, 50 + 110_000},
	} {
		if y := r.x2y(v.x); y != v.y {
			t.Errorf("at %d: %d bytes, want %d", v.x, y, v.y)
		}
		if v.x < 1000 {
			continue
		}
		if x := r.y2x(v.y); x != v.x {
			t.Errorf("%d bytes at %d, want %d", v.y, x, v.x)
		}
	}
	if x := r.y2x(7); x != 1000 {
		t.Errorf("before the start: %d, want the start", x)
	}
}

func TestConvexCurveWaitsForItsDelay(t *testing.T) {
	s := newServiceCurve(altq.Curve{D: 10, M2: 8 * mbit})
	r := newRuntimeCurve(&s, 5, 0)
	const delay = 10 * altq.MachClkFreq / millisPerSec
	if x := r.y2x(0); x != 5+delay {
		t.Errorf("the first byte at %d, want %d", x, 5+delay)
	}
	if y := r.x2y(5 + 2*delay); y != 10_000 {
		t.Errorf("after twice the delay %d bytes, want 10000", y)
	}
}

// The envelope is below both curves of which it is made, and touches the lower one.
func TestMinimumIsTheLowerEnvelope(t *testing.T) {
	rates := rapid.Uint64Range(8*kbit, gbit)
	rapid.Check(t, func(t *rapid.T) {
		c := altq.Curve{M1: rates.Draw(t, "m1"), D: rapid.Uint32Range(1, 1000).Draw(t, "d"), M2: rates.Draw(t, "m2")}
		if c.M1 < c.M2 {
			c.M1 = 0
		}
		s := newServiceCurve(c)
		old := newRuntimeCurve(&s, rapid.Uint64Range(0, altq.MachClkFreq).Draw(t, "x0"), 0)
		x, y := old.x+rapid.Uint64Range(0, 2*altq.MachClkFreq).Draw(t, "x"), rapid.Uint64Range(0, 1<<24).Draw(t, "y")
		fresh := newRuntimeCurve(&s, x, y)
		env := old
		env.min(&s, x, y)
		if !s.concave() { // FreeBSD keeps one of both whole
			if env != old && env != fresh {
				t.Fatalf("%+v is neither %+v nor %+v", env, old, fresh)
			}
			return
		}
		at := x + rapid.Uint64Range(0, 4*altq.MachClkFreq).Draw(t, "at")
		low := min(old.x2y(at), fresh.x2y(at))
		got := env.x2y(at)
		// The crossing is found in whole units and bytes, the slopes have 24 bits of fraction.
		slack := 3 + s.sm1>>smShift
		if got > low+slack || got+slack < low {
			t.Fatalf("at %d: envelope %d, lower curve %d\nold %+v\nnew %+v\nenv %+v", at, got, low, old, fresh, env)
		}
	})
}

func FuzzCurveArithmetic(f *testing.F) {
	f.Add(uint64(7*mbit), uint32(100), uint64(2*mbit), uint64(1<<44), uint64(1<<50), uint64(0), uint64(0))
	f.Add(uint64(400*gbit), uint32(1), uint64(1), uint64(infinity), uint64(infinity), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, m1 uint64, d uint32, m2, x, y, x0, y0 uint64) {
		s := newServiceCurve(altq.Curve{M1: m1, D: d, M2: m2})
		r := newRuntimeCurve(&s, x0, y0)
		r.min(&s, x, y)
		if at := r.y2x(y); at < r.x {
			t.Fatalf("%d bytes at %d, before the start %d", y, at, r.x)
		}
		if got := r.x2y(x); got < r.y {
			t.Fatalf("at %d: %d bytes, fewer than at the start: %d", x, got, r.y)
		}
	})
}
