package iflib

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// look looks at a transmit queue, which is the caller's with mine.
func (q *Txq) look(v mbuf.Visit, mine bool) TxqSight {
	s := TxqSight{Busy: true, Size: int(q.size)}
	name := fmt.Sprintf("%s transmit queue %d", q.ctx.name, q.id)
	below := v.Below(name)
	show := func(cidx, pidx uint32) {
		s.Busy, s.State = false, q.ownState()
		q.show(below, cidx, pidx)
	}
	if mine {
		q.showOwn(below, show)
	} else {
		v.Try(func() bool { return q.hold(show) })
	}
	if s.Busy {
		s.State = q.State()
		v.Busy(name)
	}
	s.Soft = q.br.State()
	if q.sbr != nil {
		s.Deferred = q.sbr.Len()
	}
	sc := &q.ctx.scctx
	for i, mem := range q.mem.rings {
		out := outstanding{completions: true}
		if i == q.ctx.sctx.txRing() {
			out = s.State.outstanding()
		}
		s.Rings = append(s.Rings, q.ctx.ring(RingID{Tx: true, Queue: q.id, Index: i}, mem, sc.NTxd[i], sc.TxdSize[i], out))
	}
	return s
}

// showOwn has show run for the owner of the queue, who may be in the middle of its work.
// With simple_tx that is the holder of the mutex, and the mp_ring may be somebody else's.
func (q *Txq) showOwn(v mbuf.Visit, show func(cidx, pidx uint32)) {
	if !q.ctx.simple {
		show(q.br.Span())
		return
	}
	held, more := q.br.Hold(show)
	if more {
		q.task.Enqueue()
	}
	if !held {
		v.Busy("mp_ring")
		show(0, 0)
	}
}

// outstanding tells whose descriptors are, by the indices.
func (s *TxqState) outstanding() outstanding {
	done := int(s.Processed - s.Cleaned)
	held := int(s.DBPending)
	return outstanding{cidx: int(s.Cidx), done: done, held: held, given: max(int(s.InUse)-done-held, 0)}
}

// hold makes the caller the owner of the queue while show runs, as a sender is: of the
// mp_ring, whose slots from cidx to pidx show may see, and of the hardware ring. It does
// not wait; false, and show did not run: somebody else is.
func (q *Txq) hold(show func(cidx, pidx uint32)) (shown bool) {
	_, more := q.br.Hold(func(cidx, pidx uint32) {
		// With simple_tx the mutex makes the owner; stop has it while it frees slots.
		if !q.mtx.TryLock() {
			return
		}
		show(cidx, pidx)
		shown = true
		q.mtx.Unlock()
	})
	if more || q.sbr != nil && q.sbr.Ready() {
		q.task.Enqueue() // senders have left packets to their consumer
	}
	return shown
}

// ownState is State for the owner.
func (q *Txq) ownState() TxqState {
	o := &q.own
	return TxqState{
		Pidx: QIdx(o.pidx), Cidx: QIdx(o.cidx), CidxProcessed: QIdx(o.cidxProcessed), Gen: uint8(o.gen),
		InUse: uint16(o.inUse), RSPending: uint16(o.rsPending), DBPending: uint16(o.dbPending),
		Processed: o.processed, Cleaned: o.cleaned,
	}
}

// show shows what the queue holds. Owner only.
func (q *Txq) show(v mbuf.Visit, cidx, pidx uint32) {
	for i := range q.slots {
		if m := q.slots[i].m; m != nil {
			v.Chain("ring", i, m)
		}
	}
	for ; cidx != pidx; cidx = q.br.Next(cidx) {
		if m := q.br.Peek(cidx); m != nil && m != &q.sentinel {
			v.Chain("mp_ring", int(cidx), m)
		}
	}
	if q.sbr != nil {
		q.sbr.Walk(func(slot int, m *mbuf.Mbuf) { v.Chain("simple_tx ring", slot, m) })
	}
}

// look looks at a receive queue, which is the caller's with mine. locked says that the
// caller has the ctx lock, so that only the task is in the way.
func (q *Rxq) look(v mbuf.Visit, mine, locked bool) RxqSight {
	s := RxqSight{Busy: true}
	name := fmt.Sprintf("%s receive queue %d", q.ctx.name, q.id)
	below := v.Below(name)
	show := func() {
		s.Busy, s.State = false, q.ownState()
		q.show(below)
	}
	switch {
	case mine:
		show()
	case locked && v.Patient:
		q.besideTask(show)
	}
	if s.Busy {
		s.State = q.State()
		v.Busy(name)
	}
	sc := &q.ctx.scctx
	for i, mem := range q.rings {
		out := outstanding{completions: true}
		if fl := i - q.flOffset; fl >= 0 && fl < len(s.State.FreeLists) {
			l := &s.State.FreeLists[fl]
			out = outstanding{cidx: int(l.Cidx), given: int(l.Credits)}
		}
		s.Rings = append(s.Rings, q.ctx.ring(RingID{Queue: q.id, Index: i}, mem, sc.NRxd[i], sc.RxdSize[i], out))
	}
	return s
}

// ownState is State for the owner.
func (q *Rxq) ownState() RxqState {
	s := RxqState{CQCidx: q.cidx(), FreeLists: make([]FreeListState, len(q.fls))}
	for i := range q.fls {
		s.FreeLists[i] = unpackFreeList(q.fls[i].pack())
	}
	return s
}

// show shows the buffers of the free lists. Owner only.
func (q *Rxq) show(v mbuf.Visit) {
	for i := range q.fls {
		fl := &q.fls[i]
		posted := fmt.Sprintf("free list %d", i)
		kept := posted + ", not posted"
		for slot := range fl.slots {
			m := fl.slots[slot].m
			switch {
			case m == nil:
			case fl.isPosted(QIdx(slot)):
				v.Chain(posted, slot, m)
			default:
				v.Chain(kept, slot, m)
			}
		}
	}
}

// besideWait is how long somebody waits for the CPU of a queue.
const besideWait = 100 * time.Millisecond

// besideTask runs fn on the CPU of the receive task, where it cannot run then. The caller
// has the ctx lock. If the CPU does not come to it in a while, fn does not run.
func (q *Rxq) besideTask(fn func()) {
	k := q.ctx.k
	done := make(chan struct{})
	var begun atomic.Bool
	t := k.NewTask(q.task.Name()+" look", func() {
		if !begun.Swap(true) {
			fn()
			close(done)
		}
	})
	t.Bind(q.task.CPU())
	t.Enqueue()
	if k.Stepped() {
		t.Drain()
		return
	}
	timer := time.NewTimer(besideWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		if begun.Swap(true) {
			<-done // it has just begun
		}
	}
}
