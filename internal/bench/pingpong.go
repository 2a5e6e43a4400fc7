package bench

import (
	"sync/atomic"
	"time"
)

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
