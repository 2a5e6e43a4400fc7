package mpring

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// counts are kept by whoever owns BUSY, as plain words; others read what it
// published. Items enqueued are not counted by producers, who would share the
// word: they are the items consumed and those still in the ring.
type counts struct {
	consumed, starts, stalls, restarts, abdications uint64

	pub [numCounts]uint64
}

// Indices of counts.pub.
const (
	countConsumed = iota
	countStarts
	countStalls
	countRestarts
	countAbdications
	numCounts
)

func (c *counts) publish() {
	physmem.StoreRelaxed64(&c.pub[countConsumed], c.consumed)
	physmem.StoreRelaxed64(&c.pub[countStarts], c.starts)
	physmem.StoreRelaxed64(&c.pub[countStalls], c.stalls)
	physmem.StoreRelaxed64(&c.pub[countRestarts], c.restarts)
	physmem.StoreRelaxed64(&c.pub[countAbdications], c.abdications)
}

// leave books a drain that ends with flag f after prev; delta is 1, or -1 to
// take it back.
func (c *counts) leave(f, prev flag, delta uint64) {
	if f == abdicated {
		c.abdications += delta
	}
	if f != busy && prev == stalled {
		c.restarts += delta
	}
}

// baseline is what the counters were at the last reset.
type baseline struct {
	enqueues atomic.Uint64
	counts   [numCounts]atomic.Uint64
	drops    atomic.Uint64
}

func (r *Ring) count(i int) uint64 {
	return atomic.LoadUint64(&r.own.pub[i]) - r.base.counts[i].Load()
}

func (r *Ring) enqueued() uint64 {
	return atomic.LoadUint64(&r.own.pub[countConsumed]) + uint64(r.Len())
}

// Enqueues is how many items were accepted (r_enqueues). Exact when the ring is
// quiet.
func (r *Ring) Enqueues() uint64 { return r.enqueued() - r.base.enqueues.Load() }

// Drops is how many items were refused because the ring was full (r_drops).
func (r *Ring) Drops() uint64 { return r.drops.Load() - r.base.drops.Load() }

// Starts is how often a producer found the ring idle and drained it (r_starts).
func (r *Ring) Starts() uint64 { return r.count(countStarts) }

// Stalls is how often a drain ended with the ring STALLED (r_stalls).
func (r *Ring) Stalls() uint64 { return r.count(countStalls) }

// Restarts is how often a drain of a stalled ring consumed something
// (r_restarts).
func (r *Ring) Restarts() uint64 { return r.count(countRestarts) }

// Abdications is how often a drain left because its budget was used up and
// another producer was coming (r_abdications).
func (r *Ring) Abdications() uint64 { return r.count(countAbdications) }

// ResetStats zeroes the counters (ifmp_ring_reset_stats).
func (r *Ring) ResetStats() {
	r.base.enqueues.Store(r.enqueued())
	r.base.drops.Store(r.drops.Load())
	for i := range r.base.counts {
		r.base.counts[i].Store(atomic.LoadUint64(&r.own.pub[i]))
	}
}
