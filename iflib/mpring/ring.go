package mpring

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Bounds of a ring's size, and how many items a drain takes before it publishes
// its progress.
const (
	minSize      = 2
	maxSize      = 65536
	publishAfter = 64
	cacheLine    = 64
)

// Consumer takes items out of a ring.
type Consumer interface {
	// Drain consumes items from cidx up to but not including pidx, with
	// Take, and returns how many; 0 stalls the ring. Only one goroutine is
	// in it at a time, and it owns whatever the ring feeds. (mp_ring_drain_t)
	Drain(r *Ring, cidx, pidx uint32) uint32
	// CanDrain reports whether a stalled ring is worth draining. Any
	// goroutine, at any time. (mp_ring_can_drain_t)
	CanDrain(r *Ring) bool
}

// Ring is an mp_ring (struct ifmp_ring). All methods may be called from any
// goroutine, except those that say that they belong to the consumer.
type Ring struct {
	k       *kern.Kernel
	c       Consumer
	size    uint32
	stepped bool
	slots   []*mbuf.Mbuf

	_     [cacheLine]byte
	state atomic.Uint64
	_     [cacheLine]byte

	own counts // consumer's
	_   [cacheLine]byte

	drops *kern.Counter
	base  baseline
	dev   string // of trace events; constant once in use
	queue int
}

// New returns an empty, idle ring of size slots, of which it fills at most
// size-2. The error wraps EINVAL for a size outside 2..65536.
func New(k *kern.Kernel, size int, c Consumer) (*Ring, error) {
	if size < minSize || size > maxSize {
		return nil, fmt.Errorf("mpring: size %d: %w", size, syscall.EINVAL)
	}
	return &Ring{
		k: k, c: c, size: uint32(size), stepped: k.Stepped(),
		slots: make([]*mbuf.Mbuf, size),
		drops: kern.NewCounter(),
	}, nil
}

func (r *Ring) load() state { return state(r.state.Load()) }

func (r *Ring) cas(old, new state) bool {
	return r.state.CompareAndSwap(uint64(old), uint64(new))
}

// Next is the slot after i.
func (r *Ring) Next(i uint32) uint32 {
	if i++; i == r.size {
		return 0
	}
	return i
}

// Distance is how many slots lie from cidx up to pidx.
func (r *Ring) Distance(cidx, pidx uint32) uint32 {
	if pidx >= cidx {
		return pidx - cidx
	}
	return r.size - cidx + pidx
}

// advance is the slot n after i; n is at most the size.
func (r *Ring) advance(i, n uint32) uint32 {
	if i += n; i >= r.size {
		i -= r.size
	}
	return i
}

// space is what may be reserved, plus one (space_available).
func (r *Ring) space(s state) uint32 {
	return r.size - 1 - r.Distance(s.cidx(), s.head())
}

// Enqueue puts m into the ring (ifmp_ring_enqueue). If nobody drains it and
// abdicate is false, the caller does, until the ring is empty or stalls, or it
// has drained budget items and another producer is about to arrive. It returns
// false if the ring is full (ENOBUFS): m is still the caller's.
func (r *Ring) Enqueue(m *mbuf.Mbuf, budget uint32, abdicate bool) bool {
	var s state
	for {
		if r.stepped {
			r.k.SchedPoint()
		}
		s = r.load()
		if r.space(s) <= 1 {
			r.full(s, 1)
			return false
		}
		r.enter()
		if r.cas(s, s.withHead(r.Next(s.head()))) {
			break
		}
		r.exit()
	}
	if p := r.k.Probes; p.On() {
		p.Fire2(probeReserve, r.dev, r.queue, uint64(s), uint64(s.withHead(r.Next(s.head()))))
	}
	next := r.Next(s.head())
	if s.head() != s.tail() {
		r.put(s.head(), m)
		r.exit()
		r.publish(budget, abdicate)
		return true
	}
	r.fill(s.head(), m)
	r.exit()
	if !r.publishTo(s.withHead(next), next, budget, abdicate) {
		r.publish(budget, abdicate)
	}
	return true
}

// publishTo publishes up to tail if the word is still s, and drains if nobody
// else does. A producer with nobody before it need not look at the slots.
func (r *Ring) publishTo(s state, tail, budget uint32, abdicate bool) bool {
	f := publishFlag(s, abdicate)
	new := s.published(tail, f)
	if !r.cas(s, new) {
		return false
	}
	if p := r.k.Probes; p.On() {
		p.Fire2(probePublish, r.dev, r.queue, uint64(s), uint64(new))
	}
	if !abdicate && s.flag() != busy {
		r.drain(r.c, new, s.flag(), budget)
	}
	return true
}

// publishFlag is what a publication makes of the flag.
func publishFlag(s state, abdicate bool) flag {
	if !abdicate {
		return busy
	}
	if f := s.flag(); f != idle {
		return f
	}
	return abdicated
}

// EnqueueN is Enqueue for several items, all or none, in order.
func (r *Ring) EnqueueN(ms []*mbuf.Mbuf, budget uint32, abdicate bool) bool {
	n := uint32(len(ms))
	if n == 0 {
		return true
	}
	var s state
	for {
		if r.stepped {
			r.k.SchedPoint()
		}
		s = r.load()
		if n >= r.space(s) {
			r.full(s, n)
			return false
		}
		r.enter()
		if r.cas(s, s.withHead(r.advance(s.head(), n))) {
			break
		}
		r.exit()
	}
	for i, m := range ms {
		r.put(r.advance(s.head(), uint32(i)), m)
	}
	r.exit()
	r.publish(budget, abdicate)
	return true
}

// enter begins the window between reservation and store, in which the Go
// scheduler must not take the producer off its CPU: those behind it would stay
// unpublished. The stepped executor switches there on purpose.
func (r *Ring) enter() {
	if !r.stepped {
		kern.CriticalEnter()
	}
}

func (r *Ring) exit() {
	if !r.stepped {
		kern.CriticalExit()
		return
	}
	r.k.SchedPoint()
}

// full refuses n items. A stalled ring gets a chance to move.
func (r *Ring) full(s state, n uint32) {
	r.drops.Add(uint64(n))
	if s.flag() == stalled {
		r.CheckDrainage(0)
	}
}

// publish moves pidx_tail over every slot that is ready. If it published
// anything into a ring that nobody drains, it drains. If the first slot is not
// ready, its producer will publish this one's items too: it stores its item and
// then looks, as this one did, and one of the two sees the other.
func (r *Ring) publish(budget uint32, abdicate bool) {
	for {
		if r.stepped {
			r.k.SchedPoint()
		}
		s := r.load()
		tail := s.tail()
		for tail != s.head() && r.ready(tail) {
			tail = r.Next(tail)
		}
		if tail == s.tail() {
			if tail == s.head() || s.samePublication(r.load()) {
				return
			}
			continue // the tail moved while we looked
		}
		if r.publishTo(s, tail, budget, abdicate) {
			return
		}
	}
}

// drain consumes until the ring is empty or stalls, or until budget is used up
// and another producer is in flight (drain_ring_lockless). The caller owns BUSY;
// prev is the flag that BUSY replaced.
func (r *Ring) drain(c Consumer, s state, prev flag, budget uint32) {
	cidx, pidx := s.cidx(), s.tail()
	if p := r.k.Probes; p.On() {
		p.Fire4(probeDrain, r.dev, r.queue, uint64(cidx), uint64(pidx), uint64(budget), uint64(prev))
	}
	if prev == idle {
		r.own.starts++
	}
	var pending, total uint32
	for cidx != pidx {
		n := c.Drain(r, cidx, pidx)
		if n == 0 {
			r.stall(s, cidx, prev, total)
			return
		}
		if n > r.Distance(cidx, pidx) {
			panic(fmt.Sprintf("mpring: drain consumed %d of %d", n, r.Distance(cidx, pidx)))
		}
		cidx = r.advance(cidx, n)
		pending += n
		total += n
		r.own.consumed += uint64(n)
		if cidx != pidx && pending < publishAfter && total < budget {
			continue
		}
		s = r.settle(s, cidx, prev, total >= budget)
		if s.flag() != busy {
			return
		}
		pidx = s.tail()
		pending = 0
	}
}

// stall publishes cidx and leaves the ring STALLED.
func (r *Ring) stall(s state, cidx uint32, prev flag, total uint32) {
	switch {
	case prev != stalled:
		r.own.stalls++
	case total > 0:
		r.own.restarts++
		r.own.stalls++
	}
	r.own.publish()
	for !r.cas(s, s.withCidx(cidx).withFlag(stalled)) {
		s = r.load()
	}
	if p := r.k.Probes; p.On() {
		p.Fire2(probeStall, r.dev, r.queue, uint64(s), uint64(s.withCidx(cidx).withFlag(stalled)))
	}
}

// settle publishes cidx and decides how to go on: IDLE when everything is
// consumed, ABDICATED when the budget is used up and another producer is
// mid-enqueue, since that one takes over, else BUSY. s is what the word was when
// last seen; the word that replaced it is returned.
//
// The counters are published before the word that lets the next consumer in.
func (r *Ring) settle(s state, cidx uint32, prev flag, overBudget bool) state {
	for {
		if r.stepped {
			r.k.SchedPoint()
		}
		f := busy
		switch {
		case cidx == s.tail():
			f = idle
		case overBudget && s.tail() != s.head():
			f = abdicated
		}
		r.own.leave(f, prev, 1)
		r.own.publish()
		new := s.withCidx(cidx).withFlag(f)
		if r.cas(s, new) {
			if p := r.k.Probes; p.On() {
				p.Fire2(probeSettle, r.dev, r.queue, uint64(s), uint64(new))
			}
			return new
		}
		r.own.leave(f, prev, ^uint64(0))
		s = r.load()
	}
}

// CheckDrainage drains a ring that is STALLED and can drain, or ABDICATED, if no
// producer is in flight (ifmp_ring_check_drainage).
func (r *Ring) CheckDrainage(budget uint32) {
	s := r.load()
	f := s.flag()
	if f != stalled && f != abdicated || s.head() != s.tail() {
		return
	}
	if f == stalled && !r.c.CanDrain(r) {
		return
	}
	if new := s.withFlag(busy); r.cas(s, new) {
		r.drain(r.c, new, f, budget)
	}
}

// Hold makes the caller the ring's consumer while look runs, which may Peek at the slots
// from cidx up to but not including pidx and at what the ring feeds. held is false, and
// look did not run, if somebody drains the ring or a producer is in flight: Hold does not
// wait. Producers that come meanwhile leave their items to the consumer; then the ring is
// left ABDICATED, and more tells the caller to have it drained (CheckDrainage).
func (r *Ring) Hold(look func(cidx, pidx uint32)) (held, more bool) {
	s := r.load()
	if s.flag() == busy || s.head() != s.tail() || !r.cas(s, s.withFlag(busy)) {
		return false, false
	}
	look(s.cidx(), s.tail())
	for {
		now, f := r.load(), s.flag()
		if more = !now.samePublication(s); more {
			f = abdicated
		}
		if r.cas(now, now.withFlag(f)) {
			return true, more
		}
	}
}

// Span is what the consumer has not been seen to consume, from cidx up to but not
// including pidx. Consumer only.
func (r *Ring) Span() (cidx, pidx uint32) {
	s := r.load()
	return s.cidx(), s.tail()
}

// purgeWait is how long Purge sleeps between looks at a ring that is in use.
const purgeWait = 20 * time.Microsecond

// Purge has c consume everything in the ring, once the present consumer and the
// producers in flight have left (ifmp_purge; FreeBSD gives up instead of
// waiting, hazard 30). The ring's own consumer must be about to stop, so that it
// leaves. c must not return 0.
func (r *Ring) Purge(c Consumer) {
	for {
		s := r.load()
		switch {
		case s.flag() == busy || s.head() != s.tail():
			r.wait()
			continue
		case s.cidx() == s.tail():
			return
		}
		if new := s.withFlag(busy); r.cas(s, new) {
			r.drain(c, new, s.flag(), r.size)
		}
	}
}

// wait lets those go on who hold the ring.
func (r *Ring) wait() {
	if r.stepped {
		r.k.SchedPoint()
		return
	}
	runtime.Gosched()
	time.Sleep(purgeWait)
}

// IsIdle reports whether the ring is empty and nobody drains it.
func (r *Ring) IsIdle() bool {
	s := r.load()
	return s.head() == s.tail() && s.tail() == s.cidx() && s.flag() == idle
}

// IsStalled reports whether the ring is stalled with no producer in flight.
func (r *Ring) IsStalled() bool {
	s := r.load()
	return s.head() == s.tail() && s.flag() == stalled
}

// Busy reports whether somebody drains the ring.
func (r *Ring) Busy() bool { return r.load().flag() == busy }

// Len is how many items are in the ring, those in flight included.
func (r *Ring) Len() int {
	s := r.load()
	return int(r.Distance(s.cidx(), s.head()))
}

// Size is the number of slots.
func (r *Ring) Size() int { return int(r.size) }

// State is the text of the sysctl ring_state.
func (r *Ring) State() string { return r.load().String() }

// Flag is the last word of State: IDLE, BUSY, STALLED or ABDICATED.
func (r *Ring) Flag() string { return flagNames[r.load().flag()] }
