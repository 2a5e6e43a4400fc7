package cqnic

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// cq is a completion queue as its consumer sees it. Entries are named by a count
// since the queue was enabled: entry n lies at n modulo size and is valid when its
// phase is that of the pass that n belongs to.
type cq struct {
	mem   iflib.QueueMem
	words []uint64
	size  uint32
	shift uint32 // log2 of size

	// done is the count of entries consumed. The owner of the queue stores it,
	// peeks load it.
	done atomic.Uint32
}

func (c *cq) bind(mem iflib.QueueMem) {
	c.mem = mem
	c.words = mem.Words64()
	c.size = uint32(len(c.words) / cqreg.Words)
	for c.shift = 0; 1<<c.shift < c.size; c.shift++ {
	}
}

// entry loads entry n. ok is false while the device has not written it; word 1 is
// loaded first, so that word 0 is complete when ok is true.
func (c *cq) entry(n uint32) (w0, w1 uint64, ok bool) {
	i := n & (c.size - 1) * cqreg.Words
	w1 = atomic.LoadUint64(&c.words[i+1])
	pass := uint64(n >> c.shift)
	if w1&cqreg.CqePhase != (pass+1)&cqreg.CqePhase {
		return 0, 0, false
	}
	return atomic.LoadUint64(&c.words[i]), w1, true
}

// typeAt is the type of entry n, 0 if it is not valid yet.
func (c *cq) typeAt(n uint32) uint64 {
	_, w1, ok := c.entry(n)
	if !ok {
		return 0
	}
	return entryType(w1)
}

// countAt is the count of the entry at index i: the next one to come there.
func (c *cq) countAt(i uint32) uint32 {
	done := c.done.Load()
	return done + (i-done)&(c.size-1)
}

func entryType(w1 uint64) uint64 { return w1 >> cqreg.CqeTypeShift & cqreg.CqeTypeMask }
