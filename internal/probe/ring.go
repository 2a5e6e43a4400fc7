package probe

import (
	"slices"
	"sync/atomic"
)

// ringSize is the number of events a ring holds, a power of two.
const ringSize = 8192

// ring is a bounded queue of events with many writers and one reader at a time.
// Nobody waits: a writer that finds it full drops its event, and a slot whose
// writer has not finished ends what the reader sees.
//
// A slot's turn says whose it is. For the lap that begins at position p:
//
//	turn == p     free, for the writer that takes position p
//	turn == p+1   full, for the reader
//	turn == p+ringSize   free for the next lap
type ring struct {
	head  atomic.Uint64 // next position to write
	_     [56]byte      // head belongs to writers, tail to the reader
	tail  uint64        // next position to read; guarded by Set.mu
	slots []slot
}

type slot struct {
	turn  atomic.Uint64
	event Event
}

func (r *ring) init() {
	r.slots = make([]slot, ringSize)
	for i := range r.slots {
		r.slots[i].turn.Store(uint64(i))
	}
}

// put stores a copy of e; false when the ring is full. Each failed turn of the
// loop means that another writer advanced.
func (r *ring) put(e *Event) bool {
	for {
		pos := r.head.Load()
		sl := &r.slots[pos%ringSize]
		switch turn := sl.turn.Load(); {
		case turn == pos:
			if r.head.CompareAndSwap(pos, pos+1) {
				sl.event = *e
				sl.turn.Store(pos + 1)
				return true
			}
		case turn < pos:
			return false
		}
	}
}

// drain appends the events that are ready and frees their slots.
func (r *ring) drain(events []Event) []Event {
	for range ringSize {
		sl := &r.slots[r.tail%ringSize]
		if sl.turn.Load() != r.tail+1 {
			break
		}
		events = append(events, sl.event)
		sl.event = Event{}
		sl.turn.Store(r.tail + ringSize)
		r.tail++
	}
	return events
}

// Drain takes the events out of the rings and calls fn with each in order of Seq.
// Events that fire meanwhile may wait for the next Drain. fn runs on the
// caller's goroutine, after the rings are free again.
func (s *Set) Drain(fn func(Event)) {
	var events []Event
	s.mu.Lock()
	for i := range s.rings {
		events = s.rings[i].drain(events)
	}
	s.mu.Unlock()
	slices.SortFunc(events, func(a, b Event) int {
		if a.Seq < b.Seq {
			return -1
		}
		return 1
	})
	for _, e := range events {
		fn(e)
	}
}
