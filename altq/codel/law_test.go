package codel

import (
	"slices"
	"testing"

	"github.com/ifsim/ifsim/altq"
)

// Vector V7 of spec altq 6.1: one Newton step a drop, from a fresh start.
func TestControlLaw(t *testing.T) {
	p := NewPolicy(0, 0)
	p.count, p.rec = 1, recOne
	var recs []uint16
	var gaps []altq.Time
	for {
		recs = append(recs, p.rec)
		gaps = append(gaps, p.law(0)>>altq.MachClkShift)
		if len(recs) == 10 {
			break
		}
		p.count++
		p.newton()
	}
	if want := []uint16{65535, 32769, 36864, 31968, 28935, 26481, 24588, 23037, 21746, 20647}; !slices.Equal(recs, want) {
		t.Errorf("rec %d, want %d", recs, want)
	}
	want := []altq.Time{99998, 50002, 56250, 48779, 44151, 40407, 37518, 35152, 33182, 31505}
	for i := range want {
		if d := int64(gaps[i]) - int64(want[i]); d < -1 || d > 1 {
			t.Errorf("gaps %d us, want %d", gaps, want)
			break
		}
	}
}

// A first drop before an uptime of 16 intervals does not stop the law for ever, as it
// does in FreeBSD (spec altq 2.6, step 5).
func TestLawSurvivesALongIntervalAtBoot(t *testing.T) {
	p := NewPolicy(0, 2000)
	p.start(10 * altq.MachClkFreq)
	if p.rec == 0 || p.dropNext <= 10*altq.MachClkFreq {
		t.Errorf("rec %d, next drop at %d", p.rec, p.dropNext)
	}
}
