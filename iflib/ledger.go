package iflib

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
)

// txLedger counts what became of a queue's packets, each at the place where it
// happens; a TSO packet is one. It survives stop, unlike FreeBSD's counters. in
// and ringFull are counted by senders and therefore sharded; what came with the
// queue mutex held and what was handed to the hardware are counted by the owner
// (txOwner.in and handed).
type txLedger struct {
	in       *kern.Counter // came to Transmit without owning the queue
	ringFull *kern.Counter // dropped: mp_ring full
	down     atomic.Uint64 // dropped: interface down or no link
	noDesc   atomic.Uint64 // dropped: no descriptor (simple_tx)
	encap    atomic.Uint64 // dropped: could not be encapsulated
	flushed  atomic.Uint64 // dropped: if_qflush
	stopped  atomic.Uint64 // dropped: in a ring at stop
}

// Ledger is the account of an interface's outgoing packets. At a quiet moment
// In = Handed + Dropped() + what a walk of the queues finds (Queued).
type Ledger struct {
	In, Handed              uint64
	Down, NoDesc, RingFull  uint64
	Encap, Flushed, Stopped uint64
	ALTQ                    uint64
	Queued                  uint64 // in soft rings and the send queue, counted by walking them
}

// Dropped is the sum of the drops.
func (l Ledger) Dropped() uint64 {
	return l.Down + l.NoDesc + l.RingFull + l.Encap + l.Flushed + l.Stopped + l.ALTQ
}

// Balanced reports whether every packet is accounted for. Meaningful only at a
// quiet moment.
func (l Ledger) Balanced() bool { return l.In == l.Handed+l.Dropped()+l.Queued }

// String is the text of dev.X.N.ifsim.ledger.
func (l Ledger) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "in %d handed %d queued %d", l.In, l.Handed, l.Queued)
	for _, d := range []struct {
		name string
		n    uint64
	}{
		{"down", l.Down}, {"no_desc", l.NoDesc}, {"ring_full", l.RingFull}, {"encap", l.Encap},
		{"flushed", l.Flushed}, {"stopped", l.Stopped}, {"altq", l.ALTQ},
	} {
		fmt.Fprintf(&b, " %s %d", d.name, d.n)
	}
	return b.String()
}

// Ledger sums the account over the queues; any goroutine.
func (ctx *Ctx) Ledger() Ledger { return ctx.ledger(ctx.ifp.Snd().Dropped()) }

// ledger is Ledger without a lock; altq is what the send queue dropped.
func (ctx *Ctx) ledger(altq uint64) Ledger {
	l := Ledger{ALTQ: altq}
	for _, q := range ctx.txqs {
		l.In += q.ledger.in.Load() + atomic.LoadUint64(&q.pub.in)
		l.RingFull += q.ledger.ringFull.Load()
		l.Handed += atomic.LoadUint64(&q.pub.handed)
		l.Down += q.ledger.down.Load()
		l.NoDesc += q.ledger.noDesc.Load()
		l.Encap += q.ledger.encap.Load()
		l.Flushed += q.ledger.flushed.Load()
		l.Stopped += q.ledger.stopped.Load()
		l.Queued += uint64(q.br.Len())
		if q.sbr != nil {
			l.Queued += uint64(q.sbr.Len())
		}
	}
	l.Queued += uint64(ctx.ifp.Snd().Len())
	return l
}
