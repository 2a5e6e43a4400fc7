// Package stat has the statistics that experiments report: quartiles, ratios of
// paired runs, and verdicts that are given only when two samples differ beyond
// chance and by enough to matter.
package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Verdict thresholds.
const (
	Alpha     = 0.01 // Mann-Whitney p below which a difference is not chance
	MinEffect = 0.03 // relative difference of medians below which it does not matter
)

// Summary is a sample in five numbers.
type Summary struct {
	Median float64 `json:"median"`
	P25    float64 `json:"p25"`
	P75    float64 `json:"p75"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Summarize returns the summary of values, all NaN if there are none. values is
// not changed.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		nan := math.NaN()
		return Summary{nan, nan, nan, nan, nan}
	}
	v := slices.Sorted(slices.Values(values))
	return Summary{Median: quantile(v, 0.5), P25: quantile(v, 0.25), P75: quantile(v, 0.75), Min: v[0], Max: v[len(v)-1]}
}

// Median returns the median of values, NaN if there are none.
func Median(values []float64) float64 { return Summarize(values).Median }

// quantile interpolates between the order statistics of a sorted sample.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Ratios returns a[i]/b[i] of paired samples, as far as both go. Pairs whose
// denominator is 0 are left out.
func Ratios(a, b []float64) []float64 {
	var r []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			r = append(r, a[i]/b[i])
		}
	}
	return r
}

// Verdict says which of two samples is better.
type Verdict string

// Undecided is the verdict on samples that do not differ, or not by enough.
const Undecided Verdict = "undecided"

// Decide compares sample a, called nameA, with b, called nameB. A name wins if
// the Mann-Whitney test gives p below Alpha and the medians are at least
// MinEffect apart; higher tells whether higher values are better.
func Decide(nameA string, a []float64, nameB string, b []float64, higher bool) Verdict {
	if len(a) == 0 || len(b) == 0 {
		return Undecided
	}
	ma, mb := Median(a), Median(b)
	if math.Abs(ma-mb) < MinEffect*math.Max(math.Abs(ma), math.Abs(mb)) || P(a, b) >= Alpha {
		return Undecided
	}
	if (ma > mb) == higher {
		return Verdict(nameA)
	}
	return Verdict(nameB)
}

// P is how likely samples of one distribution differ as a and b do (Mann-Whitney), 1 if
// one is empty.
func P(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	sa := benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds)
	sb := benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Compare(sa, sb).P
}
