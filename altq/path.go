package altq

import (
	"fmt"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Enabled reports whether the queue shapes (ALTQ_IS_ENABLED), in one atomic load.
func (q *Queue) Enabled() bool { return q.onFlag.Load() }

// Len is the number of packets held, in one atomic load (ifq_len).
func (q *Queue) Len() int { return int(q.n.Load()) }

// MaxLen is the limit of the FIFO in packets while no discipline is enabled.
func (q *Queue) MaxLen() int { return q.env.MaxLen }

// Dropped is how many packets the queue has freed, for whatever reason.
func (q *Queue) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.drops.total.Packets
}

// TryDropped is Dropped for who must not wait; false if somebody has the lock.
func (q *Queue) TryDropped() (n uint64, ok bool) {
	if !q.mu.TryLock() {
		return 0, false
	}
	defer q.mu.Unlock()
	return q.drops.total.Packets, true
}

// Enqueue takes m in any case (IFQ_ENQUEUE). ErrDropped (ENOBUFS): a packet was
// dropped, m or, with CBQ, an older one. It does not call Start.
func (q *Queue) Enqueue(m *mbuf.Mbuf) error {
	q.mu.Lock()
	if q.closed {
		q.drops.total.Add(m)
		q.mu.Unlock()
		mbuf.FreeChain(m)
		return ErrDropped
	}
	now := q.env.Now()
	if q.n.Load() == 0 {
		q.since = now
	}
	w := q.watching(m)
	var ok bool
	if q.enabled {
		ok = q.disc.Enqueue(m, now, q.drops)
	} else {
		ok = Add(nil, &q.fifo, m, now, q.drops)
	}
	q.settle()
	if w.on {
		q.traceEnqueue(w, ok)
	}
	q.mu.Unlock()
	if !ok {
		return ErrDropped
	}
	return nil
}

// Dequeue removes the packet to send now, nil if there is none or it must wait
// (IFQ_DEQUEUE, tbr_dequeue).
func (q *Queue) Dequeue() *mbuf.Mbuf {
	q.mu.Lock()
	now := q.env.Now()
	w := q.watching(nil)
	if !q.pass(now) {
		if w.on {
			q.traceThrottle()
		}
		q.mu.Unlock()
		return nil
	}
	var m *mbuf.Mbuf
	if q.enabled {
		m = q.disc.Dequeue(now, q.drops)
	} else {
		m = q.fifo.Take()
	}
	if q.tbr != nil {
		q.tbr.polled = false
		if m != nil {
			q.tbr.charge(int(m.Pkt.Len))
		}
	}
	q.settle()
	if w.on {
		q.traceDequeue(w, m)
	}
	q.mu.Unlock()
	return m
}

// pass reports whether the regulator, if there is one, lets a packet go. The lock is
// held.
func (q *Queue) pass(now Time) bool {
	return !q.closed && (q.tbr == nil || q.tbr.pass(now, q.since))
}

// Poll is what Dequeue would return; it stays queued (IFQ_POLL). A Dequeue after a
// Poll that passed the regulator does not ask it again, however late (quirk Q13).
// With CoDel a Dequeue may drop the polled packet and return a later one.
func (q *Queue) Poll() *mbuf.Mbuf {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.env.Now()
	if !q.pass(now) {
		return nil
	}
	if q.tbr != nil {
		q.tbr.polled = true
	}
	if !q.enabled {
		return q.fifo.Head()
	}
	m := q.disc.Poll(now, q.drops)
	q.settle()
	return m
}

// Purge drops everything (IFQ_PURGE).
func (q *Queue) Purge(*mbuf.Cache) {
	q.mu.Lock()
	q.purge()
	q.mu.Unlock()
}

// purge is Purge with the lock held.
func (q *Queue) purge() {
	w := q.watching(nil)
	if q.enabled {
		q.disc.Purge(q.drops)
	}
	Purge(nil, &q.fifo, nil, q.drops)
	q.settle()
	if w.on {
		q.traceDrops(w)
	}
}

// settle publishes the length and sees to it that a tick comes if one is needed.
// The lock is held.
func (q *Queue) settle() {
	n := q.fifo.Len()
	if q.enabled {
		n += q.disc.Len()
	}
	q.n.Store(int32(n))
	q.arm()
}

// arm arms the tick while a regulator holds back packets, or the discipline has
// timers. The lock is held.
func (q *Queue) arm() {
	if q.armed || q.closed {
		return
	}
	if q.tbr != nil && q.n.Load() != 0 || q.enabled && q.timed != nil && q.timed.Waiting() {
		q.armed = true
		q.env.Arm()
	}
}

// Tick runs once a tick while it is armed (tbr_timeout and CBQ's callouts): it
// kicks a queue that holds packets. For the owner of Env.Arm.
func (q *Queue) Tick() {
	q.mu.Lock()
	q.armed = false
	kick := q.tbr != nil
	if q.enabled && q.timed != nil && q.timed.Waiting() {
		kick = q.timed.Expire(q.env.Now()) || kick
	}
	q.arm()
	q.mu.Unlock()
	if kick {
		q.Kick()
	}
}

// Kick calls Start if packets wait.
func (q *Queue) Kick() {
	if q.env.Start != nil && q.n.Load() != 0 {
		q.env.Start()
	}
}

// Holding implements [mbuf.Holder]: what the FIFO and the discipline hold.
func (q *Queue) Holding(v mbuf.Visit) {
	const place = "send queue"
	if !v.Try(q.mu.TryLock) {
		v.Busy(place)
		return
	}
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.fifo.Walk(0, func(_ QID, m *mbuf.Mbuf) { v.Chain(place, -1, m) })
	w, ok := q.disc.(Walker)
	if !q.enabled || !ok {
		return
	}
	w.Walk(func(qid QID, m *mbuf.Mbuf) {
		if qid == 0 {
			v.Chain(place+", "+q.disc.Type().String(), -1, m)
			return
		}
		v.Chain(fmt.Sprintf("%s, %s class %d", place, q.disc.Type(), qid), -1, m)
	})
}
