package iflib

import "github.com/ifsim/ifsim/ifnet/mbuf"

// creditsUpdate asks the driver how many descriptors completed (spec iflib
// 3.7). A driver bounds what the device reports, so more credits than
// descriptors were handed over is its broken contract.
func (q *Txq) creditsUpdate() {
	o := &q.own
	n := q.txrx.TxdCreditsUpdate(q.id, true)
	if n == 0 {
		return
	}
	if owed := int64(o.inUse) - int64(o.processed-o.cleaned); n < 0 || int64(n) > owed {
		q.broken("txd_credits_update: %d credits on queue %d, %d descriptors outstanding", n, q.id, owed)
		return
	}
	o.processed += uint64(n)
	if o.cidxProcessed += uint32(n); o.cidxProcessed >= q.size {
		o.cidxProcessed -= q.size
	}
	if p := q.probes; q.own.trace {
		p.Fire3(probeCredits, q.ctx.name, q.id, uint64(n), o.processed, uint64(o.cidxProcessed))
	}
}

// canReclaim returns how many descriptors a reclaim would free now. The last
// reserve completed ones are always kept back; with a reclaim threshold the
// driver is asked only when enough descriptors are in use or enough time has
// passed.
func (q *Txq) canReclaim() uint32 {
	o := &q.own
	thresh := q.reclaimThresh.Load()
	if thresh != 0 && o.inUse < thresh && q.ctx.k.Ticks() <= o.lastReclaim+int64(q.reclaimTicks.Load()) {
		return 0
	}
	q.creditsUpdate()
	if n := int64(o.processed-o.cleaned) - int64(q.reserve); n > int64(thresh) {
		return uint32(n)
	}
	if p := q.probes; q.own.trace {
		p.Fire4(probeReclaimNone, q.ctx.name, q.id, o.processed-o.cleaned, uint64(q.reserve), uint64(thresh), uint64(o.inUse))
	}
	return 0
}

// reclaim frees what canReclaim allows and returns the count
// (iflib_completed_tx_reclaim).
func (q *Txq) reclaim() uint32 {
	n := q.canReclaim()
	if n != 0 {
		q.freeDescs(n, nil)
	}
	return n
}

// forceReclaim frees every completed descriptor above the reserve, whatever the
// thresholds say; encap calls it when the ring is short. A negative count frees
// nothing (hazard 34).
func (q *Txq) forceReclaim() {
	o := &q.own
	q.creditsUpdate()
	if n := int64(o.processed-o.cleaned) - int64(q.reserve); n > 0 {
		q.freeDescs(uint32(n), nil)
	}
}

// freeDescs takes back the packets of the n descriptors from cidx on: it frees
// them, or adds them to later, unless that is nil, for the caller to free after it
// let the queue go (tx_defer_mfree).
func (q *Txq) freeDescs(n uint32, later *[]*mbuf.Mbuf) {
	o := &q.own
	q.noteReclaim()
	if p := q.probes; q.own.trace {
		q.traceFree(p, n)
	}
	cidx := o.cidx
	for range n {
		if s := &q.slots[cidx]; s.m != nil {
			if s.mp != nil {
				q.unload(s, s.m)
			}
			if later == nil {
				q.cache.FreeChain(s.m)
			} else {
				*later = append(*later, s.m)
			}
			s.m = nil
		}
		if cidx++; cidx == q.size {
			cidx = 0
			o.gen = 0
		}
	}
	q.cleanedTo(cidx, n)
}

// noteReclaim remembers when this reclaim was, if a knob wants to know.
func (q *Txq) noteReclaim() {
	if q.reclaimThresh.Load() != 0 {
		q.own.lastReclaim = q.ctx.k.Ticks()
	}
}

// cleanedTo books n descriptors as cleaned up to cidx.
func (q *Txq) cleanedTo(cidx, n uint32) {
	o := &q.own
	if p := q.probes; q.own.trace {
		p.Fire3(probeReclaim, q.ctx.name, q.id, uint64(o.cidx), uint64(cidx), uint64(n))
	}
	o.cidx = cidx
	o.cleaned += uint64(n)
	o.inUse -= n
}
