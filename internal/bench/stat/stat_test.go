package stat

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSummarize(t *testing.T) {
	got := Summarize([]float64{5, 1, 4, 2, 3})
	if want := (Summary{Median: 3, P25: 2, P75: 4, Min: 1, Max: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := Summarize([]float64{1, 2}); s.Median != 1.5 || s.P25 != 1.25 {
		t.Errorf("two values: %+v", s)
	}
	if s := Summarize(nil); !math.IsNaN(s.Median) {
		t.Errorf("no values: %+v", s)
	}
}

func TestSummaryIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 50).Draw(t, "values")
		before := slices.Clone(v)
		s := Summarize(v)
		if !slices.IsSorted([]float64{s.Min, s.P25, s.Median, s.P75, s.Max}) {
			t.Fatalf("%+v is not ordered", s)
		}
		if !slices.Equal(v, before) {
			t.Fatal("the sample was changed")
		}
	})
}

func TestRatiosPairAndSkipZero(t *testing.T) {
	got := Ratios([]float64{2, 3, 4}, []float64{1, 0, 8, 9})
	if d := cmp.Diff([]float64{2, 0.5}, got); d != "" {
		t.Error(d)
	}
}

// spread is n values from base up in steps.
func spread(base, step float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = base + step*float64(i)
	}
	return v
}

// Exact probabilities for samples that do not overlap: 2 of all orders are as extreme.
func TestP(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{spread(1, 1, 3), spread(11, 1, 3), 2.0 / 20},
		{spread(11, 1, 5), spread(1, 1, 5), 2.0 / 252},
		{spread(1, 2, 3), spread(2, 2, 3), 14.0 / 20},
		{nil, spread(1, 1, 3), 1},
	} {
		if got := P(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v %v: %g, want %g", c.a, c.b, got, c.want)
		}
	}
}

func TestDecide(t *testing.T) {
	low, high := spread(100, 0.1, 12), spread(120, 0.1, 12)
	for _, tt := range []struct {
		name   string
		a, b   []float64
		higher bool
		want   Verdict
	}{
		{"higher is better", high, low, true, "a"},
		{"lower is better", high, low, false, "b"},
		{"the other way", low, high, true, "b"},
		{"same sample", low, low, true, Undecided},
		{"significant but small", low, spread(102, 0.1, 12), true, Undecided},
		{"far apart but too few", low[:3], high[:3], true, Undecided},
		{"overlapping", spread(100, 5, 12), spread(104, 5, 12), true, Undecided},
		{"empty", nil, low, true, Undecided},
	} {
		if got := Decide("a", tt.a, "b", tt.b, tt.higher); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
