// Package quietbench keeps to the moments of a benchmark in which nobody shared the core.
//
// FreeBSD has no counterpart.
package quietbench

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/quiet"
)

const (
	sliceOps    = 500  // operations between two looks at the core
	sliceRounds = 3000 // of quiet.Loop, before and after
	tolerance   = 1.04 // a quiet.Loop this much slower than the fastest: somebody else is there
)

// sample is a slice of a benchmark.
type sample struct {
	ns   float64 // an operation
	loop float64 // the slower of the loops around it
}

// Measure runs fn, which does n operations, for b.N operations in short slices and
// reports the median of those during which the core was not shared ("unshared-ns/op"),
// the share of such slices in percent, the fastest slice, and the cycles of a round of
// the fastest quiet.Loop: well above quiet.Cycles, the core was shared all the time and the first
// figure says nothing.
func Measure(b *testing.B, fn func(n int)) {
	b.ReportAllocs()
	samples := make([]sample, 0, b.N/sliceOps+1)
	var sink uint64
	fastest := math.Inf(1)
	b.ResetTimer()
	before := quiet.Loop(&sink, sliceRounds)
	for left := b.N; left > 0; left -= sliceOps {
		start := time.Now()
		fn(sliceOps)
		took := time.Since(start)
		after := quiet.Loop(&sink, sliceRounds)
		samples = append(samples, sample{float64(took) / sliceOps, max(before, after)})
		fastest = min(fastest, before, after)
		before = after
	}
	b.StopTimer()
	perCycle := math.Inf(1)
	for range 100 {
		perCycle = min(perCycle, quiet.Cycle(&sink, sliceRounds))
	}
	median, share := unshared(samples, fastest)
	b.ReportMetric(median, "unshared-ns/op")
	b.ReportMetric(share*100, "unshared-%")
	b.ReportMetric(fastest/perCycle, "loop-cycles")
	b.ReportMetric(slices.MinFunc(samples, func(x, y sample) int { return int(math.Copysign(1, x.ns-y.ns)) }).ns, "min-ns/op")
}

// unshared is the median of the samples whose loops were as fast as the fastest, and
// their share of all.
func unshared(samples []sample, fastest float64) (median, share float64) {
	var own []float64
	for _, s := range samples {
		if s.loop <= fastest*tolerance {
			own = append(own, s.ns)
		}
	}
	if len(own) == 0 {
		return math.NaN(), 0
	}
	slices.Sort(own)
	return own[len(own)/2], float64(len(own)) / float64(len(samples))
}
