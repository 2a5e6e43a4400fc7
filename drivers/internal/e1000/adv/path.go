package adv

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// highDword is the shift of d1 and d3 in the words of a descriptor, which are d1:d0 and
// d3:d2.
const highDword = 32

// What needs a context descriptor (IGB_CSUM_OFFLOAD) and, by protocol, what a context can
// ask for.
const (
	csumTCP     = mbuf.CsumIPTCP | mbuf.CsumIP6TCP
	csumUDP     = mbuf.CsumIPUDP | mbuf.CsumIP6UDP
	csumSCTP    = mbuf.CsumIPSCTP | mbuf.CsumIP6SCTP
	csumOffload = mbuf.CsumIP | csumTCP | csumUDP | csumSCTP
)

// IP protocol numbers and EtherTypes.
const (
	protoTCP  = 6
	protoUDP  = 17
	protoSCTP = 132

	etherTypeIPv4 = 0x0800
)

// Format is in what the receive side of parts differs.
type Format struct {
	Errors      uint32        // of dword 2: errors that make a frame bad
	HashDefault mbuf.HashType // of packets whose RSS type has no name
	UDPHash     bool          // the RSS types of UDP have names
	SwapLB      bool          // tags of packets from virtual functions are in network order
}

// Path is the data path of a device (igb_txrx, igc_txrx). Its fields are constant from
// the allocation of the queues on.
type Path struct {
	bar    e1000.BAR
	intr   func() iflib.FilterResult // of INTx and MSI
	probes *probe.Set
	name   string // of the device, for trace events
	tx     []txRing
	rx     []rxRing

	format      e1000.RxFormat
	hashDefault mbuf.HashType
	udpHash     bool
	swapLB      bool
	errs        *e1000.RxErrors
}

type txRing struct {
	e1000.TxRing
	idx uint32 // of the context, in place: 82575 has one a queue
}

type rxRing struct{ e1000.RxRing }

var (
	_ iflib.TxRx       = (*Path)(nil)
	_ iflib.LegacyIntr = (*Path)(nil)
)

// What cannot be sent.
var (
	errNoSegments = fmt.Errorf("packet without data: %w", syscall.EINVAL)
	errNotIP      = fmt.Errorf("segmentation of a packet that is not IP: %w", syscall.EINVAL)
)

// LegacyIntr is the filter of INTx and MSI.
func (p *Path) LegacyIntr() iflib.FilterResult { return p.intr() }

// TxdEncap writes the descriptors of a packet (igb_isc_txd_encap; spec 1g 4.2, whose
// steps the numbers are).
func (p *Path) TxdEncap(pi *iflib.PktInfo) error {
	n := len(pi.Segs) - 1
	if n < 0 {
		return errNoSegments
	}
	r := &p.tx[pi.QSIdx]
	i := uint32(pi.Pidx)
	cmd := uint32(e1000reg.TxdDtypData | e1000reg.TxdIFCS | e1000reg.TxdDEXT) // 1
	tagged := pi.MFlags&mbuf.FlagVLANTag != 0
	if tagged {
		cmd |= e1000reg.TxdVLE
	}
	olinfo := uint32(pi.Len) << e1000reg.TxdPayLenShift
	bytes, packets := uint64(pi.Len), uint64(1)
	switch {
	case pi.CsumFlags&mbuf.CsumTSO != 0: // 2
		if pi.Flags&(iflib.PktIPv4|iflib.PktIPv6) == 0 {
			return errNotIP
		}
		i, olinfo = r.tsoContext(pi, i)
		cmd |= e1000reg.TxdTSE
		bytes, packets = wireLoad(pi) // 7
	case tagged || pi.CsumFlags&csumOffload != 0: // 3
		var sum uint32
		i, sum = r.context(pi, i)
		olinfo |= sum
	}
	w := uint64(olinfo|r.idx)<<highDword | uint64(cmd) // 4
	for k := range pi.Segs[:n] {                       // 5
		s := &pi.Segs[k]
		i = r.Write(i, uint64(s.Addr), w|s.Len)
	}
	w |= e1000reg.TxdEOP // 6
	if pi.Flags&iflib.PktTxIntr != 0 {
		w |= e1000reg.TxdRS
		r.RSQ.Push(i)
	}
	i = r.Write(i, uint64(pi.Segs[n].Addr), w|pi.Segs[n].Len)
	pi.NewPidx = iflib.QIdx(i)
	if t := p.probes; t.On() {
		r.Trace(t, probeWrite, p.name, pi, e1000reg.DecodeTxDesc)
	}
	iflib.StoreRelaxed64(&r.Load.Bytes, r.Load.Bytes+bytes)
	iflib.StoreRelaxed64(&r.Load.Packets, r.Load.Packets+packets)
	return nil
}

// headers is the first dword of a context: tag and lengths.
func headers(pi *iflib.PktInfo) uint32 {
	d0 := uint32(pi.EHdrLen)<<e1000reg.CtxMACLenShift | uint32(pi.IPHLen)
	if pi.MFlags&mbuf.FlagVLANTag != 0 {
		d0 |= uint32(pi.VTag) << e1000reg.CtxVLANShift
	}
	return d0
}

// tsoContext tells the part how to cut a packet (igb_tso_setup). It returns the index
// after the context and what the data descriptors say.
func (r *txRing) tsoContext(pi *iflib.PktInfo, i uint32) (next, olinfo uint32) {
	d2 := uint32(e1000reg.TxdDEXT | e1000reg.TxdDtypCtxt | e1000reg.CtxL4TCP)
	d3 := uint32(pi.TSOSegSz)<<e1000reg.CtxMSSShift | uint32(pi.TCPHLen)<<e1000reg.CtxL4LenShift | r.idx
	olinfo = uint32(pi.Len-hdrLen(pi))<<e1000reg.TxdPayLenShift | e1000reg.TxdTXSM
	if pi.Flags&iflib.PktIPv4 != 0 {
		d2 |= e1000reg.CtxIPv4
		olinfo |= e1000reg.TxdIXSM
	}
	return r.Write(i, uint64(headers(pi)), uint64(d3)<<highDword|uint64(d2)), olinfo
}

// context tells the part of a packet's tag and of the checksum that it is to compute
// (igb_tx_ctx_setup); the header checksum of IPv4 it is never asked for. It returns the
// index after the context and what the data descriptors say beside the length.
func (r *txRing) context(pi *iflib.PktInfo, i uint32) (next, olinfo uint32) {
	d2 := uint32(e1000reg.TxdDEXT | e1000reg.TxdDtypCtxt)
	if pi.EType == etherTypeIPv4 {
		d2 |= e1000reg.CtxIPv4
	}
	switch {
	case pi.IPProto == protoTCP && pi.CsumFlags&csumTCP != 0:
		d2 |= e1000reg.CtxL4TCP
		olinfo = e1000reg.TxdTXSM
	case pi.IPProto == protoUDP && pi.CsumFlags&csumUDP != 0:
		d2 |= e1000reg.CtxL4UDP
		olinfo = e1000reg.TxdTXSM
	case pi.IPProto == protoSCTP && pi.CsumFlags&csumSCTP != 0:
		d2 |= e1000reg.CtxL4SCTP
		olinfo = e1000reg.TxdTXSM
	}
	return r.Write(i, uint64(headers(pi)), uint64(r.idx)<<highDword|uint64(d2)), olinfo
}

func hdrLen(pi *iflib.PktInfo) int { return int(pi.EHdrLen) + int(pi.IPHLen) + int(pi.TCPHLen) }

// wireLoad is what a packet that the part cuts becomes: moderation looks at the wire.
func wireLoad(pi *iflib.PktInfo) (bytes, packets uint64) {
	hdr := hdrLen(pi)
	mss := int(pi.TSOSegSz)
	if pi.Len <= hdr || mss == 0 {
		return uint64(pi.Len), 1
	}
	n := (pi.Len - hdr + mss - 1) / mss
	return uint64(pi.Len + (n-1)*hdr), uint64(n)
}

// TxdFlush rings the doorbell (igb_isc_txd_flush).
func (p *Path) TxdFlush(qid int, value uint32) { p.tx[qid].Tail.Write(value) }

// TxdCreditsUpdate counts the descriptors that the part is done with
// (igb_isc_txd_credits_update; spec 1g 4.4).
func (p *Path) TxdCreditsUpdate(qid int, clear bool) int { return p.tx[qid].CreditsUpdate(clear) }

// txLoad is the traffic of the transmit queues that use a vector; rxLoad that of its
// receive queue.
func (p *Path) txLoad(vec, vectors int) (sum e1000.Load) {
	for i := vec; i < len(p.tx); i += vectors {
		sum = sum.Plus(&p.tx[i].Load)
	}
	return sum
}

func (p *Path) rxLoad(vec int) e1000.Load { return e1000.Load{}.Plus(&p.rx[vec].Load) }
