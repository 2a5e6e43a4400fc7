package iflib

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// ALTQ sits in front of the mp_ring of queue 0 (spec iflib 3.10, 3.11c step 9):
//
//	sender     transmitALTQ: discipline.Enqueue, start
//	tick       altq.Queue.Tick: start, while a regulator holds packets back
//	completion txTask: start
//	start      while the descriptor ring has room: discipline.Dequeue, mp_ring
//
// FreeBSD's start looks at no ring: it empties the discipline until that gives
// nothing, and what the rings below have no room for is dropped after the
// discipline has counted it as sent. Here what cannot be sent stays where the
// discipline can still choose.

// startRounds bounds how often one caller of startALTQ looks again for others; then
// the task of queue 0 goes on.
const startRounds = 32

// newSnd gives the interface a send queue that can shape (IFQ_SET_READY).
func (ctx *Ctx) newSnd() {
	ctx.snd = altq.NewQueue(altq.Env{
		Kernel: ctx.k, Name: ctx.name, MaxLen: ctx.ifp.Snd().MaxLen(),
		Start: ctx.startALTQ, Switched: ctx.altqSwitched,
	})
	ctx.ifp.SetSendQueue(ctx.snd)
}

// altqSwitched follows ALTQ being enabled or disabled. An interface with simple_tx
// says which path it takes from now on.
func (ctx *Ctx) altqSwitched(on bool) {
	ctx.ifp.SetSndEnabled(on)
	switch {
	case ctx.simple && on:
		ctx.printf("ALTQ prevents using simple if_transmit\n")
	case ctx.simple:
		ctx.printf("using simple if_transmit\n")
	}
}

// transmitter is the interface's if_transmit: the discipline if its send queue
// shapes, else the path chosen at attach.
func (ctx *Ctx) transmitter() func(m *mbuf.Mbuf) error {
	return func(m *mbuf.Mbuf) error {
		switch {
		case ctx.ifp.SndEnabled():
			return ctx.transmitALTQ(m)
		case ctx.simple:
			return ctx.transmitSimple(m)
		}
		return ctx.transmitMPRing(m)
	}
}

// transmitALTQ is iflib_altq_if_transmit: it gives the packet to the discipline
// and then sends what the discipline releases. ENOBUFS: the discipline dropped a
// packet.
func (ctx *Ctx) transmitALTQ(m *mbuf.Mbuf) error {
	ctx.txqs[0].ledger.in.Add(1)
	if err := ctx.ifp.Snd().Enqueue(m); err != nil {
		return err
	}
	ctx.startALTQ()
	return nil
}

// startALTQ is iflib_altq_if_start: what the discipline releases now goes out
// through queue 0. One caller at a time does it, so that packets keep the order in
// which the discipline gave them; it serves those who come meanwhile, and they do
// not wait. Any goroutine.
func (ctx *Ctx) startALTQ() {
	if ctx.sndStarts.Add(1) != 1 {
		return
	}
	q := ctx.txqs[0]
	for range startRounds {
		n := ctx.sndStarts.Load()
		ctx.sendReleased(q)
		q.schedPoint()
		if ctx.sndStarts.CompareAndSwap(n, 0) {
			return
		}
	}
	ctx.sndStarts.Store(0)
	q.task.Enqueue()
}

// sendReleased sends what the discipline releases while there is room for it.
func (ctx *Ctx) sendReleased(q *Txq) {
	snd := ctx.ifp.Snd()
	for q.roomForALTQ() {
		m := snd.Dequeue()
		if m == nil {
			return
		}
		if p := ctx.k.Probes; p.On() {
			ctx.traceTransmit(p, m)
			ctx.traceSelect(p, q, m)
		}
		if !ctx.txAdmitted() {
			_ = ctx.freeDown(m) // counted; the sender has been told that it was queued
			continue
		}
		_ = q.enqueueMPRing(m) // likewise
	}
}

// roomForALTQ reports whether a packet given to the queue now gets descriptors
// soon: the mp_ring has not stalled, nor is it far behind. If not, somebody comes
// again: a stalled ring is what completions wake the task for, and for a busy one
// the task is called. An interface that is down takes everything, to drop it.
func (q *Txq) roomForALTQ() bool {
	if !q.ctx.txAdmitted() || q.nearlyIdle() {
		return true
	}
	if q.ctx.knobs.txAbdicate.Load() == 0 {
		q.br.CheckDrainage(txBatchSize)
		if q.nearlyIdle() {
			return true
		}
	}
	if !q.br.IsStalled() {
		q.task.Enqueue()
	}
	return false
}

// nearlyIdle reports whether the mp_ring flows and holds less than a batch.
func (q *Txq) nearlyIdle() bool { return q.br.Len() < txBatchSize && !q.br.IsStalled() }
