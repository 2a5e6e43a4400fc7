package port

import "sync/atomic"

const cacheLine = 64

// Completions counts finished and refused frames per transmit queue until the client
// takes them: what a port needs to implement Completed and TakeErrors. Safe for
// concurrent use. The zero value is ready.
type Completions struct {
	queues [MaxQueues]completion
}

type completion struct {
	done, errors atomic.Uint32
	_            [cacheLine - 8]byte // queues of different CPUs do not share a line
}

// Add reports n more frames of queue q finished, bad of which were refused for good.
// q outside 0..MaxQueues-1 panics.
func (c *Completions) Add(q, n, bad int) {
	p := &c.queues[q]
	p.done.Add(uint32(n))
	if bad != 0 {
		p.errors.Add(uint32(bad))
	}
}

// Take returns the finished frames of queue q since the last call.
func (c *Completions) Take(q int) int { return take(&c.queues[q].done) }

// TakeErrors returns the refused frames of queue q since the last call.
func (c *Completions) TakeErrors(q int) int { return take(&c.queues[q].errors) }

func take(n *atomic.Uint32) int {
	if n.Load() == 0 {
		return 0
	}
	return int(n.Swap(0))
}
