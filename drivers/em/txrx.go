package em

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// Shifts within the second word of a descriptor: dword 2 is its low half, dword 3 its
// high one.
const highDword = 32

// csumOffload are the requests that need a checksum context (EM_CSUM_OFFLOAD).
const csumOffload = mbuf.CsumIP | mbuf.CsumIPUDP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP | mbuf.CsumIP6TCP

const (
	csumL4  = mbuf.CsumIPUDP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP | mbuf.CsumIP6TCP
	csumTCP = mbuf.CsumIPTCP | mbuf.CsumIP6TCP
)

// Offsets of checksum fields in their headers.
const (
	ipSumAt  = 10
	tcpSumAt = 16
	udpSumAt = 6
)

// sentinelLen is what the last descriptor of a segmented packet holds: the hardware may
// report a packet's end while it still reads its last descriptor (TSO_WORKAROUND).
const (
	sentinelLen    = 4
	sentinelMinLen = 8 // a shorter last segment is left whole
)

// txRing is a transmit ring. Its owner is whoever owns the iflib queue.
type txRing struct {
	e1000.TxRing

	// The context that the part has for packets without TSO: it need not be written
	// again for a packet that wants the same (csum_lhlen, csum_iphlen, csum_flags).
	ctxEHdrLen, ctxIPHLen uint8
	ctxFlags              mbuf.CsumFlags
	ctxUpper, ctxLower    uint32
	reuse                 bool // the device has one transmit queue

	tso bool // the last packet was segmented (tx_tso)
}

// reset begins again with an empty ring; the part has forgotten its context.
func (r *txRing) reset() {
	r.RSQ.Reset()
	r.ctxEHdrLen, r.ctxIPHLen, r.ctxFlags = 0, 0, 0
	r.tso = false
}

// dataPath is the data path of 82571 and later (em_txrx).
type dataPath struct {
	bar        e1000.BAR
	legacyIntr func() iflib.FilterResult
	probes     *probe.Set
	name       string // of the device, for trace events
	tx         []txRing
	rx         []rxRing
	cmd        atomic.Uint32 // txd_cmd: IDE or nothing

	errs *e1000.RxErrors
}

// lemTxRx is that of 8254x (lem_txrx), which differs in the receive descriptors.
type lemTxRx struct{ *dataPath }

var (
	_ iflib.TxRx       = (*dataPath)(nil)
	_ iflib.TxRx       = lemTxRx{}
	_ iflib.LegacyIntr = (*dataPath)(nil)
	_ iflib.LegacyIntr = lemTxRx{}
)

var errNoSegments = fmt.Errorf("packet without data: %w", syscall.EINVAL)

// LegacyIntr is the filter of INTx and MSI.
func (p *dataPath) LegacyIntr() iflib.FilterResult { return p.legacyIntr() }

// TxdEncap writes the descriptors of a packet (em_isc_txd_encap; spec 1g 4.1, whose
// steps the numbers are).
func (p *dataPath) TxdEncap(pi *iflib.PktInfo) error {
	n := len(pi.Segs) - 1
	if n < 0 {
		return errNoSegments
	}
	r := &p.tx[pi.QSIdx]
	ide := p.cmd.Load()
	i := uint32(pi.Pidx)
	var upper, lower uint32
	sentinel := false
	if pi.CsumFlags&mbuf.CsumTSO != 0 { // 3
		i, upper, lower = r.tsoContext(pi, i, ide)
		r.tso, sentinel = true, true
	} else {
		if r.tso { // 2
			r.tso = false
			sentinel = n == 0
		}
		if pi.CsumFlags&csumOffload != 0 { // 4
			i, upper, lower = r.csumContext(pi, i, ide)
		}
	}
	if pi.MFlags&mbuf.FlagVLANTag != 0 { // 5
		upper |= uint32(pi.VTag) << emreg.TxdVLANShift
		lower |= emreg.TxdCmdVLE
	}
	cmd := uint64(upper)<<highDword | uint64(emreg.TxdCmdIFCS|ide|lower) // 6
	segs := pi.Segs
	for k := range n {
		i = r.Write(i, uint64(segs[k].Addr), cmd|segs[k].Len)
	}
	s := segs[n]
	if sentinel && s.Len > sentinelMinLen {
		s.Len -= sentinelLen
		i = r.Write(i, uint64(s.Addr), cmd|s.Len)
		s.Addr, s.Len = s.Addr+iflib.Addr(s.Len), sentinelLen
	}
	cmd |= emreg.TxdCmdEOP // 8
	if pi.Flags&iflib.PktTxIntr != 0 {
		cmd |= emreg.TxdCmdRS
		r.RSQ.Push(i) // 7
	}
	i = r.Write(i, uint64(s.Addr), cmd|s.Len)
	pi.NewPidx = iflib.QIdx(i)
	if t := p.probes; t.On() {
		r.Trace(t, probeWrite, p.name, pi, emreg.DecodeTxDesc)
	}
	iflib.StoreRelaxed64(&r.Load.Bytes, r.Load.Bytes+uint64(pi.Len))
	iflib.StoreRelaxed64(&r.Load.Packets, r.Load.Packets+1)
	return nil
}

// tsoContext tells the part how to cut a packet (em_tso_setup; spec 1g 3.1, 4.1 step 3).
// It returns the index after the context and what the data descriptors say.
func (r *txRing) tsoContext(pi *iflib.PktInfo, i, ide uint32) (next, upper, lower uint32) {
	ip := uint32(pi.EHdrLen)
	l4 := ip + uint32(pi.IPHLen)
	hdr := l4 + uint32(pi.TCPHLen)
	cmd := uint32(emreg.TxdCmdDEXT|emreg.CtxCmdTSE|emreg.CtxCmdTCP) | ide
	var ipEnd uint32
	upper = emreg.TxdPoptsTXSM << emreg.TxdPoptsShift
	if pi.Flags&iflib.PktIPv4 != 0 {
		ipEnd = l4 - 1
		cmd |= emreg.CtxCmdIP
		upper |= emreg.TxdPoptsIXSM << emreg.TxdPoptsShift
	}
	payload := uint32(pi.Len) - hdr
	next = r.Write(i, sums(ip, ip+ipSumAt, ipEnd, l4, l4+tcpSumAt),
		uint64(uint32(pi.TSOSegSz)<<emreg.CtxMSSShift|hdr<<emreg.CtxHdrLenShift)<<highDword|
			uint64(cmd|payload&emreg.CtxPayLenMask))
	return next, upper, emreg.TxdCmdDEXT | emreg.TxdDtypD | emreg.TxdCmdTSE
}

// csumContext tells the part where checksums go (em_transmit_checksum_setup; spec 1g
// 4.1 step 4). A packet like the last one needs no context, unless there is another
// queue: 82574 has one context for both, and the last one written counts.
func (r *txRing) csumContext(pi *iflib.PktInfo, i, ide uint32) (next, upper, lower uint32) {
	flags := pi.CsumFlags
	if r.reuse && pi.EHdrLen == r.ctxEHdrLen && pi.IPHLen == r.ctxIPHLen && flags == r.ctxFlags {
		return i, r.ctxUpper, r.ctxLower
	}
	ip := uint32(pi.EHdrLen)
	hdr := ip + uint32(pi.IPHLen)
	cmd := uint32(emreg.TxdCmdIFCS|emreg.TxdCmdDEXT) | ide
	var ipEnd, l4, l4Sum uint32
	if flags&mbuf.CsumIP != 0 {
		upper |= emreg.TxdPoptsIXSM << emreg.TxdPoptsShift
		ipEnd = hdr - 1
		cmd |= emreg.CtxCmdIP
	}
	if flags&csumL4 != 0 {
		upper |= emreg.TxdPoptsTXSM << emreg.TxdPoptsShift
		lower = emreg.TxdCmdDEXT | emreg.TxdDtypD
		l4, l4Sum = hdr, hdr+udpSumAt
		if flags&csumTCP != 0 {
			l4Sum = hdr + tcpSumAt
			cmd |= emreg.CtxCmdTCP
		}
	}
	r.ctxEHdrLen, r.ctxIPHLen, r.ctxFlags = pi.EHdrLen, pi.IPHLen, flags
	r.ctxUpper, r.ctxLower = upper, lower
	return r.Write(i, sums(ip, ip+ipSumAt, ipEnd, l4, l4Sum), uint64(cmd)), upper, lower
}

// sums is the first word of a context: the IP fields in dword 0, those of the transport
// in dword 1, whose checksum always reaches to the packet's end.
func sums(ip, ipSum, ipEnd, l4, l4Sum uint32) uint64 {
	d0 := ip | ipSum<<emreg.CtxCSOShift | ipEnd<<emreg.CtxCSEShift
	d1 := l4 | l4Sum<<emreg.CtxCSOShift
	return uint64(d1)<<highDword | uint64(d0)
}

// TxdFlush rings the doorbell (em_isc_txd_flush).
func (p *dataPath) TxdFlush(qid int, value uint32) {
	p.tx[qid].Tail.Write(value)
}

// TxdCreditsUpdate counts the descriptors that the part is done with
// (em_isc_txd_credits_update; spec 1g 4.4).
func (p *dataPath) TxdCreditsUpdate(qid int, clear bool) int {
	return p.tx[qid].CreditsUpdate(clear)
}

// txLoad is the traffic of the transmit queues that use a vector; rxLoad that of its
// receive queue.
func (p *dataPath) txLoad(vec, vectors int) (sum e1000.Load) {
	for i := vec; i < len(p.tx); i += vectors {
		sum = sum.Plus(&p.tx[i].Load)
	}
	return sum
}

func (p *dataPath) rxLoad(vec int) e1000.Load { return e1000.Load{}.Plus(&p.rx[vec].Load) }
