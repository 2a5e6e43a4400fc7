package rig

import (
	"slices"
	"testing"
	"time"
)

const sliceOps = 1000 // operations between two looks at the clock

// MinNs runs fn, which does n operations, for b.N operations in slices of a few
// microseconds, and reports the fastest slice and the one that 5 % are faster than. A
// neighbour on the host's core slows all others down, so the mean says nothing.
func MinNs(b *testing.B, fn func(n int)) {
	b.ReportAllocs()
	slow := make([]time.Duration, 0, b.N/sliceOps+1)
	b.ResetTimer()
	for left := b.N; left > 0; left -= sliceOps {
		start := time.Now()
		fn(sliceOps)
		slow = append(slow, time.Since(start))
	}
	b.StopTimer()
	slices.Sort(slow)
	perOp := func(d time.Duration) float64 { return float64(d) / sliceOps }
	b.ReportMetric(perOp(slow[0]), "min-ns/op")
	b.ReportMetric(perOp(slow[len(slow)/20]), "p5-ns/op")
}
