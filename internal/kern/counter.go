package kern

import (
	"runtime"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// counterPad keeps the word of each P on a pair of cache lines of its own, since
// the adjacent line prefetcher fetches two.
const counterPad = 128 - 8

// Counter is a statistic that many CPUs add to (counter(9)): a word a P, so that
// an Add shares no cache line with another and needs no locked instruction. Made
// by NewCounter; any goroutine.
type Counter struct {
	shards []counterShard
	rest   atomic.Uint64 // Ps that GOMAXPROCS added later
}

type counterShard struct {
	n uint64
	_ [counterPad]byte
}

// NewCounter returns a counter that reads 0 (counter_u64_alloc).
func NewCounter() *Counter {
	return &Counter{shards: make([]counterShard, runtime.GOMAXPROCS(0))}
}

// Add adds n (counter_u64_add). No allocation, no locked instruction.
func (c *Counter) Add(n uint64) {
	p := CriticalEnter()
	if p < len(c.shards) {
		w := &c.shards[p].n
		physmem.StoreRelaxed64(w, atomic.LoadUint64(w)+n)
		CriticalExit()
		return
	}
	CriticalExit()
	c.rest.Add(n)
}

// Load returns the sum (counter_u64_fetch). What is being added meanwhile may or
// may not be in it.
func (c *Counter) Load() uint64 {
	sum := c.rest.Load()
	for i := range c.shards {
		sum += atomic.LoadUint64(&c.shards[i].n)
	}
	return sum
}

// Zero makes the counter read 0 (counter_u64_zero). An Add that runs at the same
// time may survive or undo it for its CPU.
func (c *Counter) Zero() {
	c.rest.Store(0)
	for i := range c.shards {
		atomic.StoreUint64(&c.shards[i].n, 0)
	}
}
