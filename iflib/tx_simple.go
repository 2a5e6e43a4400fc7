package iflib

import (
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// simple_tx in its newest form (spec iflib 3.11c): a sender that finds the
// queue mutex free sends at once. Only contending senders defer, through a
// bounded buf_ring that the holder drains:
//
//	sender                      holder of ift_mtx
//	------                      -----------------
//	TryLock ok  -> tenure       drain ring (quota), send own packet, drain ring,
//	failed: enqueue             one doorbell, one reclaim, publish, unlock,
//	  ring full -> spin, Lock   free what was deferred,
//	TryLock ok  -> tenure       look again: a packet that came between the last
//	failed: the holder sends it drain and the unlock is drained by another tenure
//
// The ring is for contention, not for capacity: what the hardware ring has no
// room for is dropped. Long tenures are the point: what moves between CPUs with
// the lock is paid once for many packets.

// fullRingSpins bounds how often a sender retries a full ring before it waits
// for the lock: with one pause between tries, some 25 us.
const fullRingSpins = 800

// transmitSimple is iflib_simple_transmit.
func (ctx *Ctx) transmitSimple(m *mbuf.Mbuf) error {
	p := ctx.k.Probes
	trace := p.On()
	if trace {
		ctx.traceTransmit(p, m)
	}
	if !ctx.txAdmitted() {
		return ctx.dropDown(m)
	}
	q, m, err := ctx.selectSimpleTxq(m)
	if err != nil {
		return err
	}
	if trace {
		ctx.traceSelect(p, q, m)
	}
	if q.mtx.TryLock() {
		return q.simpleTenure(m)
	}
	return q.simpleContended(m)
}

// selectSimpleTxq is selectTxq for simple_tx, where a packet without a hash
// goes to the last queue.
func (ctx *Ctx) selectSimpleTxq(m *mbuf.Mbuf) (*Txq, *mbuf.Mbuf, error) {
	if ctx.txqSelect != nil {
		return ctx.driverTxq(m)
	}
	n := uint32(len(ctx.txqs))
	if n > 1 && m.Pkt.RSSType != mbuf.HashNone {
		return ctx.txqs[m.Pkt.FlowID&uint32(ctx.scctx.RSSTableMask)%n], m, nil
	}
	return ctx.txqs[n-1], m, nil
}

// simpleContended hands the packet to the holder of the lock, or becomes the
// holder.
func (q *Txq) simpleContended(m *mbuf.Mbuf) error {
	q.schedPoint()
	limit := q.g.maxProducers.Load()
	if limit >= 0 && q.producers.Add(1) > limit {
		q.producers.Add(-1)
		q.mtx.Lock()
		return q.simpleTenure(m)
	}
	ok, locked := q.deferPacket(m)
	if limit >= 0 {
		q.producers.Add(-1)
	}
	switch {
	case locked:
		return q.simpleTenure(m)
	case !ok:
		q.mtx.Lock()
		return q.simpleTenure(m)
	}
	q.ledger.in.Add(1)
	q.schedPoint()
	// The holder may have looked for the last time before the packet got in.
	if q.mtx.TryLock() {
		return q.simpleTenure(nil)
	}
	return nil
}

// deferPacket puts the packet into the ring, retrying a full one for a bounded
// time, since the holder is draining it. It reports whether the packet is in,
// or whether the lock was taken instead.
func (q *Txq) deferPacket(m *mbuf.Mbuf) (in, locked bool) {
	size := uint64(m.Pkt.Len) // once it is in, the packet is the holder's
	for range fullRingSpins {
		if q.sbr.TryEnqueue(m) {
			if p := q.probes; p.On() {
				p.Fire1(probeDefer, q.ctx.name, q.id, size)
			}
			return true, false
		}
		if q.mtx.TryLock() {
			return false, true
		}
		kern.SpinWait()
	}
	return false, false
}

// simpleTenure runs one tenure of the queue mutex, which the caller holds, and
// releases it: deferred packets first, so that a thread's packets keep their
// order, then m, the caller's own packet, unless it is nil. It returns what
// became of m.
func (q *Txq) simpleTenure(m *mbuf.Mbuf) error {
	q.watch()
	if p := q.probes; q.own.trace {
		p.Fire1(probeMtx, q.ctx.name, q.id, boolBit(q.sbr.Ready()))
	}
	quota := q.g.simpleDrainQuota.Load()
	quota = q.drainDeferred(quota)
	var err error
	if m != nil {
		q.own.in++
		err = q.simpleSend(m)
	}
	q.drainAndRelease(quota)
	return err
}

// drainAndRelease ends a tenure. A packet may come between the last drain and the
// unlock, whose sender then finds the mutex taken: it is looked for afterwards.
// With the quota used up the load that used it brings the next drainer.
func (q *Txq) drainAndRelease(quota int32) {
	quota = q.drainDeferred(quota)
	next := q.sbr.Next()
	q.simpleRelease()
	for quota > 0 && next.Ready() && q.mtx.TryLock() {
		quota = q.drainDeferred(quota)
		next = q.sbr.Next()
		q.simpleRelease()
	}
}

// drainDeferred sends up to quota packets of the ring and returns what is left
// of the quota.
func (q *Txq) drainDeferred(quota int32) int32 {
	for quota > 0 {
		m := q.sbr.Dequeue()
		if m == nil {
			break
		}
		quota--
		q.own.deferred++
		// The sender is gone: the drop is counted, there is nobody to tell.
		_ = q.simpleSend(m)
	}
	return quota
}

// simpleSend encapsulates one packet under the queue mutex. The packet is
// consumed in any case. The interface may have stopped since the sender looked
// (hazard 29).
func (q *Txq) simpleSend(m *mbuf.Mbuf) error {
	if !q.ctx.txAdmitted() {
		q.ledger.down.Add(1)
		mbuf.FreeChain(m) // the queue's own cache may have gone with the device
		return syscall.ENETDOWN
	}
	m, err := q.encap(m)
	if err != nil {
		if err == errNoDesc {
			q.ledger.noDesc.Add(1)
			q.cache.FreeChain(m)
			q.ifp.IncCounter(ifnet.CounterOQDrops, 1)
		} else {
			q.ifp.IncCounter(ifnet.CounterOErrors, 1)
		}
		return err
	}
	if q.ifp.TapOn() {
		q.ifp.Tap(m)
	}
	if q.avail() <= int(q.maxDesc) {
		q.doorbell(true)
	}
	return nil
}

// simpleRelease ends a tenure: the doorbell, the reclaim, the unlock, and the
// frees that tx_defer_mfree keeps out of the lock.
func (q *Txq) simpleRelease() {
	if q.ctx.admit.Load()&admitRunning == 0 {
		// Stop is about to take the ring, or has done it: the device may be gone.
		q.publish()
		q.mtx.Unlock()
		return
	}
	if q.own.dbPending != 0 {
		q.doorbell(true)
	}
	q.schedPoint()
	n := q.canReclaim()
	if n != 0 && q.deferMfree.Load() {
		if batch := q.mDefer.Swap(nil); batch != nil {
			*batch = (*batch)[:0]
			q.freeDescs(n, batch)
			q.publish()
			q.mtx.Unlock()
			q.freeDeferred(batch)
			return
		}
	}
	if n != 0 {
		q.freeDescs(n, nil)
	}
	q.publish()
	if p := q.probes; q.own.trace {
		p.Fire1(probeMtxRelease, q.ctx.name, q.id, uint64(q.own.dbPending))
	}
	q.mtx.Unlock()
}

// schedPoint lets the stepped executor switch senders where the protocol has to
// hold: between a failed try of the lock and the enqueue, between the enqueue and
// the second try, and between the holder's last drain and its unlock.
func (q *Txq) schedPoint() {
	if q.stepped {
		q.ctx.k.SchedPoint()
	}
}

// freeDeferred frees a claimed batch and gives the array back.
func (q *Txq) freeDeferred(batch *[]*mbuf.Mbuf) {
	for i, m := range *batch {
		mbuf.FreeChain(m)
		(*batch)[i] = nil
	}
	q.mDefer.Store(batch)
}

// taskSimple is the transmit task's work on a simple_tx queue.
func (q *Txq) taskSimple() {
	q.mtx.Lock()
	q.watch()
	if p := q.probes; q.own.trace {
		p.Fire1(probeMtx, q.ctx.name, q.id, 0)
	}
	q.drainAndRelease(q.g.simpleDrainQuota.Load())
}

// purgeDeferred frees everything in the ring; the caller holds the queue mutex.
func (q *Txq) purgeDeferred() {
	for m := q.sbr.Dequeue(); m != nil; m = q.sbr.Dequeue() {
		q.ledger.stopped.Add(1)
		q.cache.FreeChain(m)
	}
}
