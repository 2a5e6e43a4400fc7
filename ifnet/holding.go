package ifnet

import "github.com/ifsim/ifsim/ifnet/mbuf"

var _ mbuf.Holder = (*stack)(nil)

// Holding implements [mbuf.Holder]: looped packets, and the send queues of all interfaces.
func (s *stack) Holding(v mbuf.Visit) {
	s.loop.holding(v)
	if !v.Try(s.mu.TryRLock) {
		v.Busy("send queues")
		return
	}
	list := append([]*Ifnet(nil), s.list...)
	s.mu.RUnlock()
	for _, ifp := range list {
		h, ok := ifp.Snd().(mbuf.Holder)
		if !ok {
			continue
		}
		h.Holding(v.Below(ifp.Name()))
	}
}

// holding shows what waits.
func (q *loopQueue) holding(v mbuf.Visit) {
	const place = "looped packets"
	if !v.Try(q.mu.TryLock) {
		v.Busy(place)
		return
	}
	defer q.mu.Unlock()
	for i := range q.n {
		slot := (q.head + i) % loopLimit
		v.Chain(place, slot, q.ring[slot].m)
	}
}
