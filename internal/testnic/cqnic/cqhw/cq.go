package cqhw

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// cq is a completion queue as its producer (datasheet 5, 6). Counts are since the
// queue was enabled; entry c lies at c modulo size.
type cq struct {
	n     *nic
	cause uint32

	mu      sync.Mutex // guards what follows; never held while signalling
	words   []uint64   // nil while disabled
	size    uint32
	shift   uint32
	prod    uint32
	cons    uint32
	vector  uint32
	armed   bool
	armedAt uint32
}

// start begins at entry 0, not armed.
func (c *cq) start(words []uint64, vector uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words = words
	c.size = uint32(len(words) / cqreg.Words)
	c.shift = uint32(bits.TrailingZeros32(c.size))
	c.prod, c.cons, c.vector, c.armed = 0, 0, vector, false
}

// stop disables the queue.
func (c *cq) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words, c.size, c.armed = nil, 0, false
}

// room is the number of free entries, 0 while disabled.
func (c *cq) room() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size - (c.prod - c.cons)
}

// post writes one entry, if there is room; w1 has no phase bit. The event is left to
// poll.
func (c *cq) post(w0, w1 uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.prod-c.cons >= c.size {
		return
	}
	i := c.prod & (c.size - 1) * cqreg.Words
	phase := uint64(c.prod>>c.shift+1) & cqreg.CqePhase
	atomic.StoreUint64(&c.words[i], w0)
	atomic.StoreUint64(&c.words[i+1], w1|phase)
	c.prod++
}

// poll fires the armed event if it is due and not masked.
func (c *cq) poll() {
	c.mu.Lock()
	c.fire()
}

// arm arms the event at a consumed count; it fires at once if it is due.
func (c *cq) arm(count uint32) {
	c.mu.Lock()
	c.armed, c.armedAt = c.words != nil, count
	c.fire()
}

// fire ends poll and arm. Called with mu held, unlocks it.
func (c *cq) fire() {
	due := c.armed && c.prod != c.armedAt && c.n.intr.mask.Load()&c.cause != 0
	if due {
		c.armed = false
	}
	vector := c.vector
	c.mu.Unlock()
	if due {
		c.n.signal(c.cause, vector)
	}
}

// consume moves the consumer to count; false if that is not between where it was and
// what was produced.
func (c *cq) consume(count uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil || count-c.cons > c.prod-c.cons {
		return false
	}
	c.cons = count
	return true
}
