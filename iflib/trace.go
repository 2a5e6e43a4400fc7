package iflib

import (
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// What is only done while somebody watches. Each function is called behind Set.On.

// traceTransmit shows a packet as if_transmit gets it.
func (ctx *Ctx) traceTransmit(p *probe.Set, m *mbuf.Mbuf) {
	p.Fire6(probeTransmit, ctx.name, -1, uint64(m.Pkt.Len), uint64(chainLen(m)), uint64(m.Pkt.FlowID),
		uint64(m.Pkt.RSSType), uint64(m.Pkt.CsumFlags), boolBit(ctx.simple))
}

// chainLen is the number of mbufs in a packet.
func chainLen(m *mbuf.Mbuf) (n int) {
	for ; m != nil; m = m.Next {
		n++
	}
	return n
}

// traceSelect shows which queue a packet got, and why.
func (ctx *Ctx) traceSelect(p *probe.Set, q *Txq, m *mbuf.Mbuf) {
	p.FireNote(probeSelect, ctx.name, q.id, ctx.whyTxq(m), uint64(q.id), uint64(len(ctx.txqs)), uint64(m.Pkt.FlowID))
}

func (ctx *Ctx) whyTxq(m *mbuf.Mbuf) string {
	switch {
	case ctx.ifp.SndEnabled():
		return "ALTQ shapes the interface: queue 0"
	case ctx.txqSelect != nil:
		return "the driver chose it (ift_txq_select)"
	case len(ctx.txqs) == 1:
		return "it is the only one"
	case m.Pkt.RSSType == mbuf.HashNone && ctx.simple:
		return "the packet has no flow hash: simple_tx takes the last queue"
	case m.Pkt.RSSType == mbuf.HashNone:
		return "the packet has no flow hash: queue 0"
	}
	return "by the packet's flow hash"
}

// traceSegments shows what busdma made of a packet.
func (q *Txq) traceSegments(p *probe.Set, segs []busdma.Seg) {
	for i := range segs {
		p.Fire4(probeSegment, q.ctx.name, q.id, uint64(i), uint64(len(segs)), uint64(segs[i].Addr), segs[i].Len)
	}
}

// traceFree shows the packets that the next n descriptors hold, before they go.
func (q *Txq) traceFree(p *probe.Set, n uint32) {
	for i := range n {
		slot := (q.own.cidx + i) % q.size
		if m := q.slots[slot].m; m != nil {
			p.Fire3(probeFree, q.ctx.name, q.id, uint64(slot), uint64(chainLen(m)), uint64(m.Pkt.Len))
		}
	}
}
