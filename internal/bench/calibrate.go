package bench

import (
	"sync/atomic"
	"time"
)

// calibrationRounds makes a calibration last some 100 us on an unshared core.
const calibrationRounds = 40_000

// chains is how many independent multiplications a round has: enough to keep the
// multiplier busy, so that another thread on the core makes the loop as much
// slower as it makes the data path. A loop that waits for latencies would not
// notice.
const chains = 8

// calibrate times that loop and returns nanoseconds a round. The result of the
// loop is stored in sink so that it is not optimized away.
func calibrate(sink *uint64) float64 {
	const mul, add = 6364136223846793005, 1442695040888963407
	var x [chains]uint64
	for i := range x {
		x[i] = *sink + uint64(i)
	}
	begin := time.Now()
	a, b, c, d, e, f, g, h := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
	for range calibrationRounds {
		a, b, c, d = a*mul+add, b*mul+add, c*mul+add, d*mul+add
		e, f, g, h = e*mul+add, f*mul+add, g*mul+add, h*mul+add
	}
	elapsed := time.Since(begin)
	*sink = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
	return float64(elapsed.Nanoseconds()) / calibrationRounds
}

// pingPongRounds is how often the line crosses in one measurement, and
// pingPongPatience how many looks one side takes before it gives up.
const (
	pingPongRounds   = 500
	pingPongPatience = 20_000
)

// line is a cache line that two threads bounce.
type line struct {
	_ [128]byte
	n atomic.Uint32
	_ [128]byte
}

// serve is one side's turn: it waits for the other's number and answers, for all
// rounds. It gives up if the other side is not running.
func (l *line) serve(odd uint32) bool {
	for want := odd; want < 2*pingPongRounds; want += 2 {
		looks := 0
		for l.n.Load() != want {
			if looks++; looks > pingPongPatience {
				return false
			}
		}
		l.n.Store(want + 1)
	}
	return true
}

// time measures the crossing in nanoseconds as the side that begins; 0 if the
// other side did not answer.
func (l *line) time() float64 {
	begin := time.Now()
	if !l.serve(0) {
		return 0
	}
	return float64(time.Since(begin).Nanoseconds()) / (2 * pingPongRounds)
}
