package bench

import (
	"sync/atomic"
	"time"
)

// calibrationRounds makes a calibration last some 100 us on an unshared core.
const calibrationRounds = 50_000

// calibrate times a loop that a busy neighbour on the same core slows down as it
// slows the data path, and returns nanoseconds a round. The result of the loop
// is stored in sink so that it is not optimized away.
func calibrate(sink *uint64) float64 {
	a, b, c, d := *sink|1, uint64(2), uint64(3), uint64(4)
	begin := time.Now()
	for range calibrationRounds {
		a = a*6364136223846793005 + 1
		b = b ^ a>>7 + b<<3
		c += b ^ c>>5
		d = d*2862933555777941757 + c
	}
	elapsed := time.Since(begin)
	*sink = a ^ b ^ c ^ d
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
