// Package quiet tells whether somebody shares the core that a measurement runs on. The
// other thread of the core, which on a virtual machine belongs to a stranger, makes all
// that is limited by throughput, as a data path is, up to twice as slow, for seconds or
// microseconds, and nothing reports it (spec budget 0).
//
// FreeBSD has no counterpart.
package quiet

import "time"

// Rounds makes a Loop last some 100 us on an unshared core.
const Rounds = 40_000

// Cycles is what a round of Loop takes of an unshared x86-64 core: eight multiplications,
// one at a time, and what the compiler puts between them.
const Cycles = 11

const mul, add = 6364136223846793005, 1442695040888963407

// Loop times rounds of eight independent multiplications, enough to keep the multiplier
// busy, so that another thread on the core makes the loop as much slower as it makes the
// data path. It returns nanoseconds a round. The result of the loop is stored in sink so
// that it is not optimized away.
func Loop(sink *uint64, rounds int) float64 {
	a, b, c, d := *sink, *sink+1, *sink+2, *sink+3
	e, f, g, h := *sink+4, *sink+5, *sink+6, *sink+7
	begin := time.Now()
	for range rounds {
		a, b, c, d = a*mul+add, b*mul+add, c*mul+add, d*mul+add
		e, f, g, h = e*mul+add, f*mul+add, g*mul+add, h*mul+add
	}
	elapsed := time.Since(begin)
	*sink = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
	return float64(elapsed.Nanoseconds()) / float64(rounds)
}

// Cycle times a chain of steps that wait for each other, four cycles each, which another
// thread on the core hardly slows down. It returns nanoseconds a cycle, on x86-64.
func Cycle(sink *uint64, steps int) float64 {
	const stepCycles = 4 // a multiplication and an addition
	x := *sink
	begin := time.Now()
	for range steps {
		x = x*mul + add
	}
	elapsed := time.Since(begin)
	*sink = x
	return float64(elapsed.Nanoseconds()) / float64(steps*stepCycles)
}
