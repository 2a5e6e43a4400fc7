package inet

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
)

// rateLimit allows a number of events a second (ppsratecheck, badport_bandlim). Made by
// initLimits; any goroutine. It reads the clock: not for packets that are forwarded.
type rateLimit struct {
	k     *kern.Kernel
	limit *atomic.Int32 // a second; negative: none, and 0 too if there is a text
	what  string        // of the console line that tells of suppression; empty: none
	start atomic.Int64  // tick of the present second
	seen  atomic.Int64  // events in it
}

// allow reports whether one more event may happen now.
func (l *rateLimit) allow() bool {
	limit := int64(l.limit.Load())
	if limit == 0 && l.what != "" {
		limit = -1
	}
	now, start := l.k.Ticks(), l.start.Load()
	if now-start >= int64(l.k.Hz()) && l.start.CompareAndSwap(start, now) {
		if n := l.seen.Swap(0); l.what != "" && limit >= 0 && n > limit {
			l.k.Printf("Limiting %s response from %d to %d packets/sec\n", l.what, n, limit)
		}
	}
	return l.seen.Add(1) <= limit || limit < 0
}

func (s *stack) initLimits() {
	s.arpLog = rateLimit{k: s.k, limit: &s.knobs.arpMaxLog}
	s.icmpErrs = rateLimit{k: s.k, limit: &s.knobs.icmpLimit, what: "icmp unreach"}
	s.icmpEchoes = rateLimit{k: s.k, limit: &s.knobs.icmpLimit, what: "icmp ping"}
	s.icmp6Errs = rateLimit{k: s.k, limit: &s.knobs.icmp6ErrLimit}
}
