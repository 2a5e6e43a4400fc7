package probe

import (
	"sync"
	"sync/atomic"
	"time"
)

// Event is one firing of a point.
type Event struct {
	Seq   uint64        // 1, 2, ... in order of firing; dropped events leave gaps
	Time  time.Duration // kernel uptime
	ID    ID
	NArgs uint8 // arguments in use
	Queue int   // queue or CPU; negative when neither is meant
	Dev   string
	Args  [MaxArgs]uint64
	Note  string // text of FireNote
}

// Point returns the point that fired with the device as its module.
func (e *Event) Point() Point {
	p := e.ID.Point()
	p.Module = e.Dev
	return p
}

// Sink takes events as they fire, on the goroutine that fires and with whatever
// locks it holds. It must not block, and with the threaded executor it must be
// safe for concurrent calls.
type Sink func(Event)

// Set is the trace points of one kernel. Fire1 to Fire6, FireNote and On may be
// called from any goroutine, in critical sections too: they never block, and the
// numbered ones never allocate.
type Set struct {
	on    atomic.Uint32         // state is not nil: what every point reads
	state atomic.Pointer[state] // nil: off
	_     [48]byte              // both share their line with nothing that changes

	now     func() time.Duration
	nrings  int
	seq     atomic.Uint64
	dropped atomic.Uint64

	mu    sync.Mutex // serialises Enable, Disable and Drain
	rings []ring     // guarded by mu; made by the first Enable without a sink
}

// state is what Enable chose; constant once it is stored.
type state struct {
	sink  Sink
	rings []ring
	mask  []bool // by ID; nil: every point
}

// NewSet returns the points of a kernel with ncpu CPUs, all off. now is its uptime.
func NewSet(ncpu int, now func() time.Duration) *Set {
	return &Set{now: now, nrings: max(ncpu, 1)}
}

// On reports whether points fire. Call it before computing arguments. A path that
// passes many points keeps the *Set at hand, so that each costs two loads.
func (s *Set) On() bool { return s.on.Load() != 0 }

// Enable turns every point on. Events go to sink, or for a nil sink to the
// rings, from which Drain takes them.
func (s *Set) Enable(sink Sink) { s.enable(sink, nil) }

// EnableOnly turns on the points that match selects (by provider and name; the
// module is empty) and turns off the others.
func (s *Set) EnableOnly(sink Sink, match func(Point) bool) {
	points := Points()
	mask := make([]bool, len(points))
	for i, p := range points {
		mask[i] = match(p)
	}
	s.enable(sink, mask)
}

func (s *Set) enable(sink Sink, mask []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sink == nil && s.rings == nil {
		s.rings = make([]ring, s.nrings)
		for i := range s.rings {
			s.rings[i].init()
		}
	}
	s.state.Store(&state{sink: sink, rings: s.rings, mask: mask})
	s.on.Store(1)
}

// Disable turns every point off. Events in the rings stay for Drain. A firing
// that has begun may still arrive.
func (s *Set) Disable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on.Store(0)
	s.state.Store(nil)
}

// Dropped returns how many events found their ring full since the kernel started.
func (s *Set) Dropped() uint64 { return s.dropped.Load() }

// Fire1 fires a point with one argument. The Fire functions are kept out of their
// callers, which ask On first on a path that matters. dev is the device's name ("em0"),
// queue the queue or CPU it concerns, negative for none.
//
//go:noinline
func (s *Set) Fire1(id ID, dev string, queue int, a uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, 1, [MaxArgs]uint64{a})
	}
}

// Fire2 fires a point with two arguments; see Fire1.
//
//go:noinline
func (s *Set) Fire2(id ID, dev string, queue int, a, b uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, 2, [MaxArgs]uint64{a, b})
	}
}

// Fire3 fires a point with three arguments; see Fire1.
//
//go:noinline
func (s *Set) Fire3(id ID, dev string, queue int, a, b, c uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, 3, [MaxArgs]uint64{a, b, c})
	}
}

// Fire4 fires a point with four arguments; see Fire1.
//
//go:noinline
func (s *Set) Fire4(id ID, dev string, queue int, a, b, c, d uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, 4, [MaxArgs]uint64{a, b, c, d})
	}
}

// Fire5 fires a point with five arguments; see Fire1.
//
//go:noinline
func (s *Set) Fire5(id ID, dev string, queue int, a, b, c, d, e uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, 5, [MaxArgs]uint64{a, b, c, d, e})
	}
}

// Fire6 fires a point with six arguments; see Fire1.
//
//go:noinline
func (s *Set) Fire6(id ID, dev string, queue int, a, b, c, d, e, f uint64) {
	if s.on.Load() != 0 {
		s.fire(id, dev, queue, MaxArgs, [MaxArgs]uint64{a, b, c, d, e, f})
	}
}

// FireNote fires a point with a text, such as a decoded descriptor. It is for
// callers that have seen On: making the text allocates. Arguments beyond MaxArgs
// are left out.
func (s *Set) FireNote(id ID, dev string, queue int, note string, args ...uint64) {
	st := s.state.Load()
	if st == nil || !st.wants(id) {
		return
	}
	e := Event{ID: id, Dev: dev, Queue: queue, Note: note}
	e.NArgs = uint8(copy(e.Args[:], args))
	s.deliver(st, &e)
}

func (s *Set) fire(id ID, dev string, queue int, n uint8, args [MaxArgs]uint64) {
	st := s.state.Load()
	if st == nil || !st.wants(id) {
		return
	}
	e := Event{ID: id, Dev: dev, Queue: queue, NArgs: n, Args: args}
	s.deliver(st, &e)
}

func (st *state) wants(id ID) bool {
	return st.mask == nil || int(id) < len(st.mask) && st.mask[id]
}

func (s *Set) deliver(st *state, e *Event) {
	e.Time = s.now()
	e.Seq = s.seq.Add(1)
	if st.sink != nil {
		st.sink(*e)
		return
	}
	// A queue has its CPU, so its number spreads the CPUs over the rings.
	if !st.rings[uint(e.Queue)%uint(len(st.rings))].put(e) {
		s.dropped.Add(1)
	}
}
