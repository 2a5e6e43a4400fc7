package iflib

import (
	"errors"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// Trace points of the receive path.
var (
	probeRxdPktGet = probe.Define("iflib", "rxd-pkt-get", "cidx", "nfrags", "len", "flags")
	probeRxdRefill = probe.Define("iflib", "rxd-refill", "fl", "pidx", "count")
	probeRxBad     = probe.Define("iflib", "rx-bad-writeback", "cidx", "nfrags", "len", "pad")
)

// Constants of the receive path (spec iflib 1.1).
const (
	rxCopyThresh    = 128 // IFLIB_RX_COPY_THRESH
	rxDefaultBudget = 16  // packets of a pass when rx_budget is 0

	// rxCopyLimit is the longest packet that is copied instead of giving
	// its buffer away.
	rxCopyLimit = min(rxCopyThresh, mbuf.MHLen)

	// rxMbufFlags are the flags that a driver may set on a packet.
	rxMbufFlags = mbuf.CopyFlags &^ (mbuf.FlagPktHdr | mbuf.FlagRdonly)
)

// rxResult is what a pass of rxeof tells the task.
type rxResult uint8

const (
	rxMore  rxResult = 1 // IFLIB_RXEOF_MORE: packets are left
	rxEmpty rxResult = 2 // IFLIB_RXEOF_EMPTY: a free list could not be refilled
)

// rxList is a list of packets through NextPkt.
type rxList struct{ head, tail *mbuf.Mbuf }

func (l *rxList) add(m *mbuf.Mbuf) {
	if l.head == nil {
		l.head = m
	} else {
		l.tail.NextPkt = m
	}
	l.tail = m
}

// rxeof takes up to budget packets from the hardware and hands them up in one
// list (iflib_rxeof, spec iflib 4.3). Completion-only entries cost no budget;
// their number is bounded by the completion ring (hazard 36).
func (q *Rxq) rxeof(budget int) rxResult {
	avail := q.txrx.RxdAvailable(q.id, q.cidx(), budget)
	if avail <= 0 {
		q.own.stat.unavail++
		res := q.refillAll()
		q.publish()
		return res
	}
	lro := q.lro
	if lro != nil && q.ctx.ifp.Capenable()&ifnet.CapLRO == 0 {
		lro = nil
	}
	var list rxList
	for left, entries := budget, q.cqSize; left > 0 && avail > 0; {
		if q.ctx.admit.Load()&admitRunning == 0 {
			q.own.stat.inactive++
			break
		}
		m, got := q.next()
		if got == rxGotError {
			return q.abort(&list)
		}
		if got == rxGotEntry {
			if entries--; entries == 0 {
				break
			}
			continue
		}
		left--
		if avail--; avail == 0 && left > 0 {
			avail = q.txrx.RxdAvailable(q.id, q.cidx(), left)
		}
		if m == nil {
			continue
		}
		q.own.ledger.handed++
		if lro == nil || !lro.Queue(m) {
			list.add(m)
		}
	}
	return q.finish(&list, avail > 0)
}

// finish ends a pass: buffers first, so that the hardware is not short while
// the stack works, then the packets.
func (q *Rxq) finish(list *rxList, more bool) rxResult {
	res := q.refillAll()
	if list.head != nil {
		q.own.stat.inputs++
	}
	q.publish()
	if list.head != nil {
		q.ctx.ifp.InputCache(q.cache, list.head)
	}
	if q.lro != nil {
		q.lro.Flush()
	}
	if more || q.txrx.RxdAvailable(q.id, q.cidx(), 1) > 0 {
		res |= rxMore
	}
	return res
}

// abort ends a pass after an error: the interface is reset, and what the pass
// collected is dropped (hazard 14).
func (q *Rxq) abort(list *rxList) rxResult {
	for m := list.head; m != nil; {
		next := m.NextPkt
		m.NextPkt = nil
		q.cache.FreeChain(m)
		q.own.ledger.handed--
		q.own.ledger.reset++
		m = next
	}
	if q.lro != nil {
		q.lro.Flush()
	}
	q.publish()
	q.ctx.RequestReset()
	q.ctx.AdminIntrDeferred()
	return 0
}

// refillAll refills every free list.
func (q *Rxq) refillAll() rxResult {
	var res rxResult
	for i := range q.fls {
		if !q.fls[i].refillAll() {
			res = rxEmpty
		}
	}
	return res
}

// rxGot is what next found.
type rxGot uint8

const (
	rxGotPacket rxGot = iota // a packet; its mbuf is nil if it was dropped
	rxGotEntry               // a completion without packet
	rxGotError               // the rings cannot be trusted any more
)

// next takes one packet from the driver and makes an mbuf of it.
func (q *Rxq) next() (*mbuf.Mbuf, rxGot) {
	o := &q.own
	ri := &o.ri
	cidx := q.cidx()
	ri.Cidx = cidx
	ri.NFrags, ri.Len, ri.Pad = 0, 0, 0
	ri.VTag, ri.RSSType, ri.FlowID = 0, 0, 0
	ri.CsumFlags, ri.CsumData, ri.Flags = 0, 0, 0
	if err := q.txrx.RxdPktGet(ri); err != nil {
		q.tell(err)
		return nil, rxGotError
	}
	if p := q.ctx.k.Probes; p.On() {
		p.Fire4(probeRxdPktGet, q.ctx.name, q.id, uint64(cidx), uint64(ri.NFrags), uint64(ri.Len), uint64(ri.Flags))
	}
	if q.hasCQ {
		if o.cqCidx = uint32(ri.Cidx); o.cqCidx >= q.cqSize {
			o.cqCidx %= q.cqSize
		}
		if ri.NFrags == 0 {
			if ri.Cidx == cidx {
				q.broken("rxd_pkt_get: nothing taken at cidx %d of queue %d", cidx, q.id)
				return nil, rxGotError
			}
			o.stat.cqOnly++
			return nil, rxGotEntry
		}
	}
	o.ledger.taken++
	if uint(ri.NFrags-1) >= MaxRxSegs {
		o.ledger.badWriteback++
		q.broken("rxd_pkt_get: %d fragments on queue %d", ri.NFrags, q.id)
		return nil, rxGotError
	}
	o.ipackets++
	o.ibytes += uint64(max(ri.Len, 0))
	var m *mbuf.Mbuf
	var got rxGot
	if ri.NFrags == 1 {
		m, got = q.single(ri)
	} else {
		m, got = q.chain(ri)
	}
	if m == nil {
		return nil, got
	}
	return q.describe(m, ri), rxGotPacket
}

// describe puts what the device found out about the packet into its header,
// and shows it to the packet filters of the driver's head. nil if they took it.
func (q *Rxq) describe(m *mbuf.Mbuf, ri *RxdInfo) *mbuf.Mbuf {
	m.Flags |= ri.Flags & rxMbufFlags
	h := &m.Pkt
	h.Len = int32(ri.Len - ri.Pad)
	h.RcvIf = q.rcvIf
	h.EtherVtag = ri.VTag
	h.FlowID = ri.FlowID
	h.RSSType = ri.RSSType
	h.CsumFlags = ri.CsumFlags
	h.CsumData = ri.CsumData
	if head := &q.ctx.pfil; head.Hooked() {
		var res ifnet.PfilResult
		if m, res = head.Run(q.cache, q.ctx.ifp, ifnet.PfilIn, ifnet.AFLink, m); res != ifnet.PfilPass || m == nil {
			q.own.ledger.pfil++
			return nil
		}
	}
	return m
}

// list is the free list of a fragment whose slot is posted; nil if there is no
// such slot.
func (q *Rxq) list(f *RxdFrag) *freeList {
	if int(f.FLID) >= len(q.fls) {
		return nil
	}
	fl := &q.fls[f.FLID]
	if !fl.isPosted(f.Idx) {
		return nil
	}
	return fl
}

// single makes an mbuf of a packet in one buffer. A short one is copied, and the
// buffer stays in its slot to be posted again.
func (q *Rxq) single(ri *RxdInfo) (*mbuf.Mbuf, rxGot) {
	f := &q.own.frags[0]
	fl := q.list(f)
	if fl == nil {
		return nil, q.bad(ri, rxGotError)
	}
	s := fl.take(f.Idx)
	n, pad := int(f.Len), ri.Pad
	switch {
	case n+pad != ri.Len || uint(pad) > uint(ri.Len) || ri.Len > fl.bufSize:
		return nil, q.bad(ri, rxGotPacket)
	case n == 0:
		q.own.ledger.zeroFrag++
		return nil, rxGotPacket
	}
	if n <= rxCopyLimit && ri.Len <= mbuf.MHLen {
		return q.copyOut(s, n, pad), rxGotPacket
	}
	return q.giveBuffer(s, n, pad), rxGotPacket
}

// copyOut copies a packet of n bytes behind pad bytes out of a slot's buffer,
// which stays mapped (hazard 16). nil in a famine.
func (q *Rxq) copyOut(s *rxSlot, n, pad int) *mbuf.Mbuf {
	m := q.cache.GetHdr()
	if m == nil {
		q.own.ledger.noMbuf++
		return nil
	}
	if s.mp != nil {
		s.mp.Sync(busdma.PostRead)
	}
	copy(m.Room(), s.m.Bytes()[:pad+n])
	if s.mp != nil {
		s.mp.Sync(busdma.PreRead)
	}
	if pad != 0 {
		m.ShiftData(pad)
	}
	m.SetLen(n)
	return m
}

// giveBuffer takes the buffer out of a slot: n bytes behind pad bytes.
func (q *Rxq) giveBuffer(s *rxSlot, n, pad int) *mbuf.Mbuf {
	q.maps.unload(s)
	m := s.m
	s.m = nil
	m.SetLen(n)
	if pad != 0 {
		m.ShiftData(pad)
	}
	return m
}

// errNoFit says of a packet that it is not in the buffers where it is said to be.
var errNoFit = errors.New("packet that does not fit its buffers")

// tell logs the first garbage of a queue; all is counted.
func (q *Rxq) tell(err error) {
	if !q.told {
		q.told = true
		q.ctx.printf("RX(%d): %v\n", q.id, err)
	}
}

// bad books a packet whose description does not fit the buffers.
func (q *Rxq) bad(ri *RxdInfo, got rxGot) rxGot {
	q.own.ledger.badWriteback++
	q.tell(errNoFit)
	if p := q.ctx.k.Probes; p.On() {
		p.Fire4(probeRxBad, q.ctx.name, q.id, uint64(ri.Cidx), uint64(ri.NFrags), uint64(ri.Len), uint64(ri.Pad))
	}
	return got
}

// chain makes a chain of mbufs of a packet in several buffers, which may lie in
// several free lists (assemble_segments, spec iflib 4.4). All are taken back
// from the hardware before the lengths are believed.
func (q *Rxq) chain(ri *RxdInfo) (*mbuf.Mbuf, rxGot) {
	frags := q.own.frags[:ri.NFrags]
	total := ri.Pad
	fits := uint(ri.Pad) <= uint(ri.Len)
	for i := range frags {
		f := &frags[i]
		fl := q.list(f)
		if fl == nil {
			return nil, q.bad(ri, rxGotError)
		}
		fl.take(f.Idx)
		n := int(f.Len)
		total += n
		if i == 0 {
			n += ri.Pad
		}
		fits = fits && n <= fl.bufSize
	}
	if !fits || total != ri.Len {
		return nil, q.bad(ri, rxGotPacket)
	}
	if frags[0].Len == 0 {
		q.own.ledger.zeroFrag++
		return nil, rxGotPacket
	}
	var head, tail *mbuf.Mbuf
	for i := range frags {
		f := &frags[i]
		if f.Len == 0 {
			continue // the buffer stays in the slot
		}
		s := &q.fls[f.FLID].slots[f.Idx]
		if head == nil {
			head = q.giveBuffer(s, int(f.Len), ri.Pad)
			tail = head
			continue
		}
		m := q.giveBuffer(s, int(f.Len), 0)
		q.cache.Demote(m, false)
		tail.Next = m
		tail = m
	}
	return head, rxGotPacket
}
