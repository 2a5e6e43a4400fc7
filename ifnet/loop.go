package ifnet

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// loopLimit is the number of looped packets that wait at most (net.isr.defaultqlimit).
const loopLimit = 256

// loopQueue holds packets that go back to the protocols of this machine. They are
// queued, not delivered at once, so that an answer to an answer does not recurse.
type loopQueue struct {
	s    *stack
	task *kern.Task

	mu   sync.Mutex
	ring [loopLimit]loopedPacket
	head int
	n    int
}

type loopedPacket struct {
	m     *mbuf.Mbuf
	ifp   *Ifnet
	etype uint16
}

func (q *loopQueue) init(s *stack) {
	q.s = s
	q.task = s.tq.NewTask("simloop", q.run)
}

// put queues a packet; false if the queue is full.
func (q *loopQueue) put(p loopedPacket) bool {
	q.mu.Lock()
	if q.n == loopLimit {
		q.mu.Unlock()
		return false
	}
	q.ring[(q.head+q.n)%loopLimit] = p
	q.n++
	q.mu.Unlock()
	q.task.Enqueue()
	return true
}

func (q *loopQueue) get() (p loopedPacket, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return p, false
	}
	p, q.ring[q.head] = q.ring[q.head], loopedPacket{}
	q.head = (q.head + 1) % loopLimit
	q.n--
	return p, true
}

// run delivers what waits, at most a queue's worth at a time.
func (q *loopQueue) run() {
	c := q.s.zones.Borrow()
	defer q.s.zones.Return(c)
	for range loopLimit {
		p, ok := q.get()
		if !ok {
			return
		}
		q.s.dispatch(c, p.ifp, p.etype, p.m)
	}
	q.task.Enqueue()
}

// purge frees what waits.
func (q *loopQueue) purge() {
	for p, ok := q.get(); ok; p, ok = q.get() {
		mbuf.FreeChain(p.m)
	}
}

// simloop is if_simloop: the packet comes in on ifp without having been on the wire.
// With hdrlen the Ethernet header is still in front: listeners see it, then it goes.
// ENOBUFS: too many wait; counted as IQDROPS.
func (ifp *Ifnet) simloop(c *mbuf.Cache, m *mbuf.Mbuf, etype uint16, hdrlen int) error {
	if t := m.Pkt.SndTag(); t != nil {
		t.Release()
		m.Pkt.CsumFlags &^= mbuf.CsumSndTag
	}
	m.Pkt.RcvIf = ifp
	for m.Pkt.Tags != nil {
		c.TagDelete(m, m.Pkt.Tags)
	}
	if hdrlen > 0 {
		if ifp.TapOn() {
			ifp.Tap(m)
		}
		c.Adj(m, hdrlen)
	}
	if !ifp.stack.loop.put(loopedPacket{m, ifp, etype}) {
		ifp.IncCounter(CounterIQDrops, 1)
		c.FreeChain(m)
		return fmt.Errorf("looping a packet back on %s: %w", ifp.Name(), syscall.ENOBUFS)
	}
	return nil
}
