package iflib

import (
	"syscall"

	"github.com/ifsim/ifsim/iflib/mpring"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// errNoDesc is encap's ENOBUFS: no descriptors, the packet was not consumed.
var errNoDesc error = syscall.ENOBUFS

// transmitMPRing is iflib_if_transmit: the sender puts the packet into the
// queue's mp_ring and, unless somebody drains it or tx_abdicate says
// otherwise, drains it into the hardware ring (spec iflib 3.1).
func (ctx *Ctx) transmitMPRing(m *mbuf.Mbuf) error {
	if p := ctx.k.Probes; p.On() {
		ctx.traceTransmit(p, m)
	}
	if !ctx.txAdmitted() {
		return ctx.dropDown(m)
	}
	q, m, err := ctx.selectTxq(m)
	if err != nil {
		return err
	}
	if p := ctx.k.Probes; p.On() {
		ctx.traceSelect(p, q, m)
	}
	q.ledger.in.Add(1)
	return q.enqueueMPRing(m)
}

// enqueueMPRing puts a packet that the ledger has into the queue's mp_ring and
// drains the ring unless somebody else does. ENOBUFS: the ring is full.
func (q *Txq) enqueueMPRing(m *mbuf.Mbuf) error {
	ctx := q.ctx
	if d := q.dbg; d != nil {
		d.txSeen.Add(1)
	}
	abdicate := ctx.knobs.txAbdicate.Load() != 0
	ok := q.br.Enqueue(m, txBatchSize, abdicate)
	if abdicate {
		q.task.Enqueue()
		if ctx.admit.Load()&admitRunning == 0 {
			q.br.CheckDrainage(txBatchSize) // the task may have gone with the device
		}
	}
	if ok {
		return nil
	}
	if !abdicate {
		q.task.Enqueue()
	}
	q.br.CheckDrainage(txBatchSize)
	q.ledger.ringFull.Add(1)
	ctx.ifp.IncCounter(ifnet.CounterOQDrops, 1)
	mbuf.FreeChain(m)
	return syscall.ENOBUFS
}

// dropDown frees a packet that came while the interface is down or has no link.
func (ctx *Ctx) dropDown(m *mbuf.Mbuf) error {
	ctx.txqs[0].ledger.in.Add(1)
	return ctx.freeDown(m)
}

// freeDown is dropDown for a packet that the ledger has.
func (ctx *Ctx) freeDown(m *mbuf.Mbuf) error {
	ctx.txqs[0].ledger.down.Add(1)
	if d := ctx.g.dbg; d != nil {
		d.txFrees.Add(1)
	}
	mbuf.FreeChain(m)
	return syscall.ENETDOWN
}

// selectTxq chooses the packet's queue: the driver's choice if it makes one,
// else by flow among several queues, else queue 0. An interface that shapes
// uses queue 0 only. A packet whose headers the driver's choice needs but that
// cannot be parsed is freed and the error returned.
func (ctx *Ctx) selectTxq(m *mbuf.Mbuf) (*Txq, *mbuf.Mbuf, error) {
	if ctx.txqSelect != nil {
		return ctx.driverTxq(m)
	}
	if n := uint32(len(ctx.txqs)); n > 1 && m.Pkt.RSSType != mbuf.HashNone && !ctx.ifp.Snd().Enabled() {
		return ctx.txqs[m.Pkt.FlowID&uint32(ctx.scctx.RSSTableMask)%n], m, nil
	}
	return ctx.txqs[0], m, nil
}

// txDrain is the mp_ring's consumer of one queue: whoever owns BUSY runs it and
// owns the hardware ring (iflib_txq_drain and iflib_txq_can_drain, spec iflib
// 3.3).
type txDrain struct{ q *Txq }

var _ mpring.Consumer = txDrain{}

// CanDrain reports whether a stalled ring is worth another try. Any goroutine.
func (d txDrain) CanDrain(*mpring.Ring) bool {
	q := d.q
	return q.publishedAvail() > int(q.maxDesc) || q.txrx.TxdCreditsUpdate(q.id, false) != 0
}

// Drain sends items from cidx on and returns how many it consumed. On an
// interface that was attached with simple_tx and shapes since, the queue belongs
// to the holder of its mutex.
func (d txDrain) Drain(r *mpring.Ring, cidx, pidx uint32) uint32 {
	if d.q.ctx.simple {
		d.q.mtx.Lock()
		defer d.q.mtx.Unlock()
	}
	return d.q.drain(r, cidx, pidx)
}

// drain is Drain for the owner of the hardware ring.
func (q *Txq) drain(r *mpring.Ring, cidx, pidx uint32) uint32 {
	if q.ctx.admit.Load()&admitTx != admitTx {
		return q.drainNotReady(r, cidx, pidx)
	}
	q.watch()
	reclaimed := q.reclaim() != 0
	rang := q.doorbell(reclaimed && q.own.dbPending != 0)
	avail := r.Distance(cidx, pidx)
	switch {
	case q.ctx.flags.Load()&uint32(ctxQFlush) != 0:
		q.flushItems(r, cidx, avail)
		q.publish()
		return avail
	case q.ctx.admit.Load()&admitOActive != 0:
		if d := q.dbg; d != nil {
			d.txqDrainOActive.Add(1)
		}
		q.timer.Stop()
		q.publish()
		return 0
	}
	n := q.drainItems(r, cidx, min(avail, txBatchSize), rang)
	q.publish()
	return n
}

// drainNotReady is the drain of a ring that may not send: the items wait, but
// not for a device that is going; a sender that looked before detach began may
// come when nobody purges the ring any more. The queue's cache is not used, it
// may have gone.
func (q *Txq) drainNotReady(r *mpring.Ring, cidx, pidx uint32) uint32 {
	if d := q.dbg; d != nil {
		d.txqDrainNotReady.Add(1)
	}
	if q.ctx.flags.Load()&uint32(ctxInDetach) == 0 {
		return 0
	}
	n := r.Distance(cidx, pidx)
	for range n {
		if m := r.Take(cidx); m != &q.sentinel {
			q.ledger.stopped.Add(1)
			mbuf.FreeChain(m)
		}
		cidx = r.Next(cidx)
	}
	return n
}

// drainItems encapsulates up to count items and settles the doorbell.
func (q *Txq) drainItems(r *mpring.Ring, cidx, count uint32, rang bool) uint32 {
	var lastErr error
	var consumed uint32
	force := false
	for consumed < count && q.avail() >= int(q.maxDesc) {
		m := r.Take(cidx)
		if m == &q.sentinel {
			force = q.kick.Swap(false) || force
			cidx, consumed = r.Next(cidx), consumed+1
			continue
		}
		m, err := q.encap(m)
		if err != nil {
			if err == errNoDesc {
				r.Put(cidx, m)
				lastErr = err
				break
			}
			cidx, consumed, lastErr = r.Next(cidx), consumed+1, err
			continue
		}
		cidx, consumed, lastErr = r.Next(cidx), consumed+1, nil
		if d := q.dbg; d != nil {
			d.txSent.Add(1)
		}
		if q.ctx.admit.Load()&admitRunning == 0 {
			break
		}
		if q.ifp.TapOn() {
			q.ifp.Tap(m)
		}
		rang = q.doorbell(false)
	}
	if !rang && (force || lastErr != nil || q.g.minTxLatency.Load() != 0 || q.reclaimThresh.Load() != 0) {
		q.doorbell(true)
	} else {
		q.doorbell(false)
	}
	return consumed
}

// flushItems frees n items from cidx on, for if_qflush.
func (q *Txq) flushItems(r *mpring.Ring, cidx, n uint32) {
	if d := q.dbg; d != nil {
		d.txqDrainFlushing.Add(1)
	}
	for range n {
		if m := r.Take(cidx); m != &q.sentinel {
			q.ledger.flushed.Add(1)
			q.cache.FreeChain(m)
		}
		cidx = r.Next(cidx)
	}
}

// txPurge is the consumer that empties a ring at stop (iflib_txq_drain_free).
type txPurge struct{ q *Txq }

// CanDrain always wants the ring emptied.
func (txPurge) CanDrain(*mpring.Ring) bool { return true }

// Drain frees everything.
func (p txPurge) Drain(r *mpring.Ring, cidx, pidx uint32) uint32 {
	n := r.Distance(cidx, pidx)
	p.q.timer.Stop()
	for range n {
		if m := r.Take(cidx); m != &p.q.sentinel {
			p.q.ledger.stopped.Add(1)
			p.q.cache.FreeChain(m)
		}
		cidx = r.Next(cidx)
	}
	return n
}

// taskMPRing is the transmit task's work on a queue with an mp_ring: it sees to
// it that waiting descriptors get their doorbell and a ring that stalled or was
// abdicated is drained (spec iflib 3.8; the exact rule matters, hazard 9).
func (q *Txq) taskMPRing() {
	abdicate := q.ctx.knobs.txAbdicate.Load() != 0
	if q.State().DBPending != 0 {
		q.br.Enqueue(&q.sentinel, txBatchSize, abdicate)
	} else if !abdicate {
		q.br.CheckDrainage(txBatchSize)
	}
	if abdicate {
		q.br.CheckDrainage(txBatchSize)
	}
}
