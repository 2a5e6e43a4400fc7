package iflib

import (
	"errors"
	"syscall"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Constants of the transmit path (spec iflib 1.1).
const (
	txBatchSize    = 32 // TX_BATCH_SIZE: packets per drain call, and the mp_ring budget
	restartBudget  = 8  // IFLIB_RESTART_BUDGET: budget when the admin task kicks rings
	txUpdateFreq   = 16 // IFLIB_DEFAULT_TX_UPDATE_FREQ: divides the ring in the thresholds
	mpringSize     = 2048
	maxPacketShare = 12 // MAX_SINGLE_PACKET_FRACTION: one packet may use a twelfth of the ring
	defaultTxPad   = 2
)

// inUse returns the descriptors between cidx and pidx; gen tells a full ring
// from an empty one.
func inUse(size, cidx, pidx, gen uint32) uint32 {
	switch {
	case pidx > cidx:
		return pidx - cidx
	case pidx < cidx:
		return size - cidx + pidx
	case gen != 0:
		return size
	}
	return 0
}

// avail is TXQ_AVAIL: free descriptors by the indices, less the pad. It may be
// negative. Owner only.
func (q *Txq) avail() int {
	o := &q.own
	return int(q.size) - int(q.pad) - int(inUse(q.size, o.cidx, o.pidx, o.gen))
}

// publishedAvail is avail for everybody else.
func (q *Txq) publishedAvail() int {
	s := q.State()
	return int(q.size) - int(q.pad) - int(inUse(q.size, uint32(s.Cidx), uint32(s.Pidx), uint32(s.Gen)))
}

// doorbellLimit is how many descriptors may wait for a doorbell (spec iflib
// 3.6).
func (q *Txq) doorbellLimit() uint32 {
	const lightShare, idle = 8, 0
	return q.deferral(lightShare, idle)
}

// reportLimit is how many descriptors may wait for a completion report (spec
// iflib 3.6).
func (q *Txq) reportLimit() uint32 {
	const lightShare, idle = 4, 2
	return q.deferral(lightShare, idle)
}

// deferral is how many descriptors may wait, by how full the ring is: all of
// notify, half of it, its lightShare, or, with an eighth of the ring or less in
// use, idle.
func (q *Txq) deferral(lightShare, idle uint32) uint32 {
	switch used, m := q.own.inUse, q.size/8; {
	case used > 4*m:
		return q.notify
	case used > 2*m:
		return q.notify / 2
	case used > m:
		return q.notify / lightShare
	}
	return idle
}

// doorbell is iflib_txd_db_check: it rings if it must, and reports whether it
// rang. With a limit of 0 it rings on every call, also with nothing pending,
// as FreeBSD does; those rings are counted.
func (q *Txq) doorbell(force bool) bool {
	o := &q.own
	if p := q.probes; q.own.trace {
		p.Fire5(probeDoorbell, q.ctx.name, q.id, uint64(o.dbPending), uint64(q.doorbellLimit()), boolBit(force), uint64(o.inUse), uint64(q.avail()))
	}
	if !force && o.dbPending < q.doorbellLimit() && q.avail() > int(q.maxDesc) {
		return false
	}
	v := o.npending
	if v == 0 {
		v = o.pidx
	}
	if o.dbPending == 0 {
		o.emptyDoorbells++
	}
	if p := q.probes; q.own.trace {
		p.Fire2(probeTxdFlush, q.ctx.name, q.id, uint64(v), uint64(o.dbPending))
	}
	q.txrx.TxdFlush(q.id, v)
	o.dbPending, o.npending = 0, 0
	return true
}

// encap turns one packet into descriptors (iflib_encap, spec iflib 3.5). The
// packet may change on the way, so the caller goes on with the one returned.
//
// On success the hardware owns it. On errNoDesc (ENOBUFS) it still belongs to
// the caller, who may try again later. On any other error it has been freed.
func (q *Txq) encap(m *mbuf.Mbuf) (*mbuf.Mbuf, error) {
	o := &q.own
	pi := &o.pi
	if p := q.probes; q.own.trace {
		p.Fire5(probeEncap, q.ctx.name, q.id, uint64(m.Pkt.Len), uint64(o.pidx), uint64(q.avail()), uint64(m.Pkt.CsumFlags), uint64(m.Flags))
	}
	if q.padTo != 0 && int(m.Pkt.Len) < q.padTo {
		var err error
		if m, err = q.etherPad(m); err != nil {
			return nil, err
		}
	}
	q.fillPktInfo(m)
	if pi.CsumFlags != 0 || pi.MFlags&mbuf.FlagVLANTag != 0 {
		var err error
		var pulled int
		if m, pulled, err = parseHeader(q.ctx, q.cache, m, pi); pulled != 0 {
			q.stat.pullups.Add(uint64(pulled))
		}
		if p := q.probes; q.own.trace && err == nil {
			p.Fire6(probeParse, q.ctx.name, q.id, uint64(pi.EHdrLen), uint64(pi.IPHLen), uint64(pi.TCPHLen), uint64(pi.IPProto), uint64(pi.EType), uint64(pulled))
		}
		if err != nil {
			return nil, q.dropEncap(nil, err)
		}
	}
	slot := &q.slots[o.pidx]
	m, n, err := q.load(m, slot, 0)
	if err != nil {
		return nil, err
	}
	return q.fill(m, slot, n)
}

// fillPktInfo starts the packet's description. The header fields of the last
// parsed packet are cleared only if there were any.
func (q *Txq) fillPktInfo(m *mbuf.Mbuf) {
	pi := &q.own.pi
	if pi.EHdrLen != 0 {
		*pi = PktInfo{QSIdx: q.id}
	}
	pi.Len = int(m.Pkt.Len)
	pi.Flags = 0
	pi.Pidx = QIdx(q.own.pidx)
	pi.NDescs = 0
	pi.CsumFlags = m.Pkt.CsumFlags
	pi.MFlags = m.Flags & (mbuf.FlagVLANTag | mbuf.FlagBcast | mbuf.FlagMcast)
	pi.VTag = 0
	if pi.MFlags&mbuf.FlagVLANTag != 0 {
		pi.VTag = m.Pkt.EtherVtag
	}
	pi.Mbuf = nil
	if pi.CsumFlags&mbuf.CsumSndTag != 0 {
		pi.Mbuf = m
	}
}

// remapTries bounds the recovery from too many segments: one collapse, one
// defragmentation.
const remapTries = 2

// load loads the packet's DMA segments into the queue's segment list. remap
// tells how far the recovery from EFBIG has come: 0 collapses first, 1
// defragments, more gives up. The packet is freed on error.
func (q *Txq) load(m *mbuf.Mbuf, slot *txSlot, remap int) (*mbuf.Mbuf, int, error) {
	maps := q.mapsOf(m)
	segs := q.own.segs[:maps.maxSegs]
	if n, ok := maps.tag.LoadPlain(m, segs); ok {
		if p := q.probes; q.own.trace {
			q.traceSegments(p, segs[:n])
		}
		q.own.remap = remap
		return m, n, nil
	}
	for {
		n, err := maps.tag.LoadMbuf(maps.spare, m, segs, busdma.ToDevice)
		if err == nil {
			if p := q.probes; q.own.trace {
				q.traceSegments(p, segs[:n])
			}
			q.own.remap = remap
			q.bind(slot, maps)
			return m, n, nil
		}
		if !errors.Is(err, syscall.EFBIG) {
			q.stat.noTxDMASetup.Add(1)
			q.stat.mapFailed.Add(1)
			if d := q.dbg; d != nil {
				d.encapLoadMbufFail.Add(1)
			}
			return nil, 0, q.dropEncap(m, err)
		}
		var ok bool
		if m, remap, ok = q.shrink(m, len(segs), remap); !ok {
			return nil, 0, q.failEncap(m)
		}
	}
}

// shrink makes a packet of fewer buffers: by collapsing the chain, or, when
// that failed or did not help, by copying it.
func (q *Txq) shrink(m *mbuf.Mbuf, maxSegs, remap int) (*mbuf.Mbuf, int, bool) {
	if remap == 0 {
		if n := q.cache.Collapse(m, maxSegs); n != nil {
			return n, 1, true
		}
		remap = 1
	}
	if remap < remapTries {
		q.stat.mbufDefrag.Add(1)
		if n := q.cache.Defrag(m); n != nil {
			return n, remapTries, true
		}
	}
	return m, remapTries, false
}

// fill reserves descriptors for n segments, has the driver write them, and
// records the packet at its first slot.
func (q *Txq) fill(m *mbuf.Mbuf, slot *txSlot, n int) (*mbuf.Mbuf, error) {
	o := &q.own
	if n > q.avail() {
		q.forceReclaim()
		if n > q.avail() {
			q.stat.noDescAvail.Add(1)
			if d := q.dbg; d != nil {
				d.encapTxqAvailFail.Add(1)
				d.encapTxdEncapFail.Add(1)
			}
			q.unload(slot, m)
			if !q.task.Queued() {
				q.task.Enqueue()
			}
			return m, errNoDesc
		}
	}
	o.pi.Segs = o.segs[:n]
	o.rsPending += uint32(n) + 1
	if p := q.probes; q.own.trace {
		p.Fire3(probeReport, q.ctx.name, q.id, uint64(o.rsPending), uint64(q.reportLimit()), boolBit(o.rsPending > q.reportLimit()))
	}
	if o.rsPending > q.reportLimit() || q.g.noTxBatch.Load() != 0 || q.avail()-n <= int(q.maxDesc) {
		o.pi.Flags |= PktTxIntr
		o.rsPending = 0
	}
	if err := q.txrx.TxdEncap(&o.pi); err != nil {
		q.unload(slot, m)
		return q.refused(m, slot, err)
	}
	if !q.advance() {
		q.unload(slot, m)
		return nil, q.dropEncap(m, syscall.EIO)
	}
	slot.m = m
	q.account(m)
	if d := q.dbg; d != nil {
		d.txEncap.Add(1)
	}
	return m, nil
}

// advance moves the producer over the descriptors that the driver wrote. It
// reports false if the driver broke the contract of TxdEncap.
func (q *Txq) advance() bool {
	o := &q.own
	next := uint32(o.pi.NewPidx)
	ndesc := next - o.pidx
	wrapped := next < o.pidx
	if wrapped {
		ndesc += q.size
	}
	if next >= q.size || ndesc == 0 || ndesc > uint32(len(o.pi.Segs))+q.pad {
		q.broken("txd_encap: %d segments at pidx %d left new_pidx %d (ring of %d, pad %d)",
			len(o.pi.Segs), o.pidx, next, q.size, q.pad)
		return false
	}
	if wrapped {
		o.gen = 1
	}
	if p := q.probes; q.own.trace {
		p.Fire6(probeTxdEncap, q.ctx.name, q.id, uint64(o.pidx), uint64(ndesc), uint64(len(o.pi.Segs)), uint64(o.pi.Len), uint64(o.pi.Flags), uint64(next))
	}
	o.inUse += ndesc
	o.dbPending += ndesc
	o.pidx = next
	o.npending += o.pi.NDescs
	return true
}

// account adds the packet to the queue's totals, a TSO packet as the frames it
// becomes (spec iflib 3.3).
func (q *Txq) account(m *mbuf.Mbuf) {
	o := &q.own
	o.handed++
	pkts, bytes := uint64(1), uint64(o.pi.Len)
	if o.pi.CsumFlags&mbuf.CsumTSO != 0 && o.pi.TSOSegSz != 0 {
		hlen := uint64(o.pi.EHdrLen) + uint64(o.pi.IPHLen) + uint64(o.pi.TCPHLen)
		payload := uint64(o.pi.Len) - hlen
		pkts = max((payload+uint64(o.pi.TSOSegSz)-1)/uint64(o.pi.TSOSegSz), 1) // headers alone are a frame
		bytes = payload + pkts*hlen
	}
	o.opackets += pkts
	o.obytes += bytes
	if m.Flags&mbuf.FlagMcast != 0 {
		o.omcasts += pkts
	}
}

// refused handles a driver that did not take the packet: too many segments are
// defragmented and tried once more, everything else frees it. A refused packet
// keeps what it did to rs_pending.
func (q *Txq) refused(m *mbuf.Mbuf, slot *txSlot, err error) (*mbuf.Mbuf, error) {
	if errors.Is(err, syscall.EFBIG) {
		q.stat.encapEFBIG.Add(1)
		if q.own.remap < remapTries {
			m, n, err := q.load(m, slot, 1)
			if err != nil {
				return nil, err
			}
			return q.fill(m, slot, n)
		}
		return nil, q.failEncap(m)
	}
	q.stat.mapFailed.Add(1)
	if errors.Is(err, syscall.ENOBUFS) {
		err = syscall.ENOMEM // ENOBUFS would say that the packet was not consumed
	}
	return nil, q.dropEncap(m, err)
}

// failEncap gives up on a packet that cannot be made to fit.
func (q *Txq) failEncap(m *mbuf.Mbuf) error {
	q.stat.mbufDefragFailed.Add(1)
	q.stat.mapFailed.Add(1)
	return q.dropEncap(m, syscall.ENOMEM)
}

// dropEncap frees a packet (nil: already freed) that failed in encap and books
// it. It returns err.
func (q *Txq) dropEncap(m *mbuf.Mbuf, err error) error {
	if m != nil {
		q.cache.FreeChain(m)
	}
	q.ledger.encap.Add(1)
	if d := q.dbg; d != nil {
		d.encapTxdEncapFail.Add(1)
	}
	return err
}

// padStep is how many zeros one padding append adds.
const padStep = 18

// padding is the source of padding bytes.
var padding [padStep]byte

// etherPad appends zeros up to the device's minimum frame size. On failure the
// packet is freed and ENOMEM returned.
func (q *Txq) etherPad(m *mbuf.Mbuf) (*mbuf.Mbuf, error) {
	if !m.Writable() {
		d := q.cache.Dup(m)
		q.cache.FreeChain(m)
		if d == nil {
			return nil, q.padFailed(nil, "cannot pad short frame, m_dup() failed\n")
		}
		m = d
	}
	for short := q.padTo - int(m.Pkt.Len); short > 0; short -= padStep {
		if !q.cache.Append(m, padding[:min(short, padStep)]) {
			return nil, q.padFailed(m, "cannot pad short frame\n")
		}
	}
	return m, nil
}

func (q *Txq) padFailed(m *mbuf.Mbuf, why string) error {
	q.ctx.printf("%s", why)
	if d := q.dbg; d != nil {
		d.encapPadMbufFail.Add(1)
	}
	return q.dropEncap(m, syscall.ENOMEM)
}
