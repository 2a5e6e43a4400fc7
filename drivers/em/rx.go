package em

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Receive status in the second word of a descriptor. The extended format has it in
// dword 2, the legacy format in dword 3 (spec 1g 3.2, 3.3).
const (
	extDone   = emreg.RxdStatDD
	extLast   = emreg.RxdStatEOP
	extErrors = uint64(emreg.RxdExtErrFrameMask)
	extClear  = 0xff // what PktGet takes back of the status

	legacyShift  = highDword + emreg.RxdLegacyStatShift
	legacyDone   = uint64(emreg.RxdStatDD) << legacyShift
	legacyLast   = uint64(emreg.RxdStatEOP) << legacyShift
	legacyErrors = uint64(emreg.RxdErrFrameMask) << (highDword + emreg.RxdLegacyErrShift)
	legacyClear  = uint64(0xff) << legacyShift
)

// rxRing is a receive ring. Its owner is the receive task of the queue.
type rxRing struct {
	e1000.RxRing
	tags bool // IFCAP_VLAN_HWTAGGING is enabled
}

var (
	extFormat    = e1000.RxFormat{Done: extDone, Last: extLast, Errors: extErrors, Clear: extClear, LenShift: highDword}
	legacyFormat = e1000.RxFormat{Done: legacyDone, Last: legacyLast, Errors: legacyErrors, Clear: legacyClear}
)

// describe tells what the part found out about a packet: checksums and tag. status and
// errors are those of its last descriptor (em_receive_checksum; spec 1g 4.6 steps 3 and
// 4).
func (r *rxRing) describe(ri *iflib.RxdInfo, status, errors uint32, tag uint16) {
	r.Checksum(ri, status, errors)
	if r.tags && status&emreg.RxdStatVP != 0 {
		ri.VTag = tag
		ri.Flags |= mbuf.FlagVLANTag
	}
}

// RxdAvailable counts received packets (em_isc_rxd_available; spec 1g 4.5).
func (p *dataPath) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	return e1000.Available(p.rx[qid].Desc, int(cidx), budget, extDone, extLast)
}

// RxdPktGet takes a packet in extended format (em_isc_rxd_pkt_get; spec 1g 4.6). The
// hash is in the first word, over the address that iflib knows.
func (p *dataPath) RxdPktGet(ri *iflib.RxdInfo) error {
	r := &p.rx[ri.QSIdx]
	d, w, err := r.Take(ri, &extFormat, p.errs)
	if err != nil {
		return err
	}
	r.describe(ri, uint32(w), uint32(w)>>emreg.RxdExtErrShift, uint16(w>>(highDword+emreg.RxdExtVLANShift)))
	hash := atomic.LoadUint64(&d[0])
	ri.FlowID = uint32(hash >> highDword)
	ri.RSSType = e1000.HashType(uint32(hash), mbuf.HashOpaque, false)
	return nil
}

// RxdAvailable counts received packets (lem_isc_rxd_available; spec 1g 4.5).
func (p lemTxRx) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	return e1000.Available(p.rx[qid].Desc, int(cidx), budget, legacyDone, legacyLast)
}

// RxdPktGet takes a packet in legacy format (lem_isc_rxd_pkt_get; spec 1g 4.6).
func (p lemTxRx) RxdPktGet(ri *iflib.RxdInfo) error {
	r := &p.rx[ri.QSIdx]
	_, w, err := r.Take(ri, &legacyFormat, p.errs)
	if err != nil {
		return err
	}
	r.describe(ri, uint32(w>>legacyShift), uint32(uint8(w>>(highDword+emreg.RxdLegacyErrShift))),
		uint16(w>>(highDword+emreg.RxdLegacyVLANShift)))
	return nil
}

// RxdRefill posts buffers: in both formats an address and nothing done yet
// (em_isc_rxd_refill, lem_isc_rxd_refill).
func (p *dataPath) RxdRefill(iru *iflib.RxdUpdate) {
	p.rx[iru.QSIdx].Refill(iru)
}

// RxdFlush rings the receive doorbell (em_isc_rxd_flush).
func (p *dataPath) RxdFlush(qid, _ int, pidx iflib.QIdx) {
	p.bar.Write32(p.rx[qid].Tail, uint32(pidx))
}
