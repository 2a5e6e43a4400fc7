// Package bufring is buf_ring: a bounded ring with many producers and one
// consumer (FreeBSD sys/buf_ring.h, spec iflib 3.11). simple_tx lets contending
// senders leave packets in it for the holder of the queue lock.
//
// FreeBSD's producer reserves a slot and then waits for those before it to
// publish. Here every slot has a sequence number, so nobody waits: slot i is
// free for position p when its sequence is p, and holds p's item when it is p+1.
// A producer between reservation and publication only hides the items behind its
// own from the consumer for that long.
//
//	r, err := bufring.New(256)
//	if !r.TryEnqueue(m) { /* full: m is still ours */ }
//	for m := r.Dequeue(); m != nil; m = r.Dequeue() { ... } // the consumer
package bufring

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Bounds of a ring's size.
const (
	minSize   = 2
	maxSize   = 1 << 20
	cacheLine = 64
)

type slot struct {
	seq atomic.Uint32
	m   *mbuf.Mbuf
}

// Ring is a buf_ring (struct buf_ring). Producers may be any goroutines. The
// consumer is one at a time: in simple_tx the holder of the queue lock.
type Ring struct {
	slots []slot
	mask  uint32

	_     [cacheLine]byte
	prod  atomic.Uint32 // br_prod_head: next position to reserve
	drops atomic.Uint64 // br_drops

	_    [cacheLine]byte
	cons uint32 // br_cons_head: next position to consume; the consumer's, stored relaxed
	next Mark   // where cons is; the consumer's
}

// Mark is a position in a ring: an item that may be there or come there.
type Mark struct {
	slot *slot
	seq  uint32 // of the slot when the item is in it
}

// Ready reports whether the item is there: not after it was consumed. Any goroutine.
func (m Mark) Ready() bool { return m.slot.seq.Load() == m.seq }

// New returns an empty ring of size slots, of which it fills size-1. The error
// wraps EINVAL for a size that is not a power of two from 2 to 2^20.
func New(size int) (*Ring, error) {
	if size < minSize || size > maxSize || bits.OnesCount(uint(size)) != 1 {
		return nil, fmt.Errorf("bufring: size %d: %w", size, syscall.EINVAL)
	}
	r := &Ring{slots: make([]slot, size), mask: uint32(size - 1)}
	for i := range r.slots {
		r.slots[i].seq.Store(uint32(i))
	}
	r.next = Mark{&r.slots[0], 1}
	return r, nil
}

// Enqueue puts m into the ring. It returns false and counts a drop if the ring
// is full (ENOBUFS): m is still the caller's. (buf_ring_enqueue)
func (r *Ring) Enqueue(m *mbuf.Mbuf) bool {
	if r.TryEnqueue(m) {
		return true
	}
	r.drops.Add(1)
	return false
}

// TryEnqueue is Enqueue without a count, for a caller who will try again.
func (r *Ring) TryEnqueue(m *mbuf.Mbuf) bool {
	for {
		pos := r.prod.Load()
		// The ring is full when the slot after this one still holds an item:
		// one slot stays empty. Slots are freed in order, so if that one is
		// free this one is.
		if r.slots[(pos+1)&r.mask].seq.Load() != pos+1 {
			if r.prod.Load() == pos {
				return false
			}
			continue
		}
		if r.prod.CompareAndSwap(pos, pos+1) {
			s := &r.slots[pos&r.mask]
			s.m = m
			s.seq.Store(pos + 1)
			return true
		}
	}
}

// Dequeue takes the oldest item, or returns nil if there is none, or if its
// producer has not published it yet. Consumer only. (buf_ring_dequeue_sc)
func (r *Ring) Dequeue() *mbuf.Mbuf {
	if !r.next.Ready() {
		return nil
	}
	return r.take()
}

// take is Dequeue of an item that is there.
func (r *Ring) take() *mbuf.Mbuf {
	s, cons := r.next.slot, r.next.seq
	m := s.m
	s.m = nil
	s.seq.Store(cons + r.mask)
	physmem.StoreRelaxed32(&r.cons, cons)
	r.next = Mark{&r.slots[cons&r.mask], cons + 1}
	return m
}

// Next is the position of the item that Dequeue would take. Consumer only.
func (r *Ring) Next() Mark { return r.next }

// Peek returns the oldest item and leaves it, or nil. Consumer only.
// (buf_ring_peek)
func (r *Ring) Peek() *mbuf.Mbuf {
	if r.next.Ready() {
		return r.next.slot.m
	}
	return nil
}

// Walk shows the items that could be dequeued, with their slots, oldest first; they stay.
// Consumer only.
func (r *Ring) Walk(show func(slot int, m *mbuf.Mbuf)) {
	for pos := r.cons; ; pos++ {
		s := &r.slots[pos&r.mask]
		if s.seq.Load() != pos+1 {
			return
		}
		show(int(pos&r.mask), s.m)
	}
}

// AdvanceSC drops the item that Peek returned; nothing happens to an empty ring.
// Consumer only. (buf_ring_advance_sc)
func (r *Ring) AdvanceSC() { r.Dequeue() }

// PutbackSC replaces the oldest item, which must exist. Consumer only.
// (buf_ring_putback_sc)
func (r *Ring) PutbackSC(m *mbuf.Mbuf) {
	if !r.next.Ready() {
		panic("bufring: putback into an empty ring")
	}
	r.next.slot.m = m
}

// Ready reports whether the oldest item could be dequeued now. Any goroutine.
func (r *Ring) Ready() bool {
	cons := atomic.LoadUint32(&r.cons)
	return r.slots[cons&r.mask].seq.Load() == cons+1
}

// Len is how many slots are taken, those in flight included
// (buf_ring_count). Any goroutine; while others work it is an estimate.
func (r *Ring) Len() int {
	cons := atomic.LoadUint32(&r.cons)
	return int(min(r.prod.Load()-cons, r.mask))
}

// Empty reports whether no slot is taken (buf_ring_empty). Any goroutine.
func (r *Ring) Empty() bool { return r.Len() == 0 }

// Full reports whether an enqueue would fail (buf_ring_full). Any goroutine.
func (r *Ring) Full() bool { return r.Len() == int(r.mask) }

// Cap is how many items the ring holds, its size less one.
func (r *Ring) Cap() int { return int(r.mask) }

// Drops is how many items Enqueue refused. Any goroutine.
func (r *Ring) Drops() uint64 { return r.drops.Load() }
