package adv

import (
	"math/bits"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// setFormat tells the receive side of a part's peculiarities. Errors count on the last
// descriptor of a packet only, and all of the status is taken back (spec 1g 4.6).
func (p *Path) setFormat(f Format) {
	p.format = e1000.RxFormat{Done: emreg.RxdStatDD, Last: emreg.RxdStatEOP, Errors: uint64(f.Errors),
		Clear: 1<<highDword - 1, LenShift: highDword, ErrorsAtEnd: true}
	p.hashDefault, p.udpHash, p.swapLB = f.HashDefault, f.UDPHash, f.SwapLB
}

// RxdAvailable counts received packets (igb_isc_rxd_available; spec 1g 4.5).
func (p *Path) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	return e1000.Available(p.rx[qid].Desc, int(cidx), budget, emreg.RxdStatDD, emreg.RxdStatEOP)
}

// tagShift is where the second word of a descriptor has the tag.
const tagShift = highDword + e1000reg.RxdVLANShift

// RxdPktGet takes a packet (igb_isc_rxd_pkt_get; spec 1g 4.6). Packet type, RSS type and
// hash are in the first word, over the address that iflib knows.
func (p *Path) RxdPktGet(ri *iflib.RxdInfo) error {
	r := &p.rx[ri.QSIdx]
	d, w, err := r.Take(ri, &p.format, p.errs)
	if err != nil {
		return err
	}
	first := atomic.LoadUint64(&d[0])
	status := uint32(w)
	r.Checksum(ri, status, status>>emreg.RxdExtErrShift)
	if first&(e1000reg.RxdPktSCTP|e1000reg.RxdPktETQF) == e1000reg.RxdPktSCTP && ri.CsumFlags&mbuf.CsumDataValid != 0 {
		// CSUM_SCTP_VALID is CSUM_DATA_VALID: a checksum without a pseudo-header.
		ri.CsumFlags &^= mbuf.CsumPseudoHdr
		ri.CsumData = 0
	}
	if status&emreg.RxdStatVP != 0 {
		ri.VTag = uint16(w >> tagShift)
		if p.swapLB && status&e1000reg.RxdStatLB != 0 {
			ri.VTag = bits.ReverseBytes16(ri.VTag)
		}
		ri.Flags |= mbuf.FlagVLANTag
	}
	ri.FlowID = uint32(first >> highDword)
	ri.RSSType = e1000.HashType(uint32(first), p.hashDefault, p.udpHash)
	return nil
}

// RxdRefill posts buffers (igb_isc_rxd_refill).
func (p *Path) RxdRefill(iru *iflib.RxdUpdate) { p.rx[iru.QSIdx].Refill(iru) }

// RxdFlush rings the receive doorbell (igb_isc_rxd_flush).
func (p *Path) RxdFlush(qid, _ int, pidx iflib.QIdx) { p.bar.Write32(p.rx[qid].Tail, uint32(pidx)) }
