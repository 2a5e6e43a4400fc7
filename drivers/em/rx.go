package em

import (
	"fmt"
	"sync/atomic"
	"syscall"

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

// rxRing is a receive ring (struct rx_ring). Its owner is the receive task of the
// queue; others read only what is stored relaxed.
type rxRing struct {
	desc    []uint64
	mask    uint32
	bufSize int    // of the posted buffers
	csum    bool   // IFCAP_RXCSUM is enabled
	tags    bool   // IFCAP_VLAN_HWTAGGING is enabled
	tail    uint64 // RDT
	load    e1000.Load
	addr    iflib.Addr
}

func (r *rxRing) init(mem iflib.QueueMem, n, id int) {
	r.desc = mem.Words64()[:n*e1000.DescWords]
	r.mask = uint32(n - 1)
	r.tail = emreg.RDT + uint64(id)*emreg.RingStride
	r.addr = mem.Addr
}

func (r *rxRing) bytes() uint32 { return (r.mask + 1) * emreg.DescSize }

// slot is descriptor i of the ring.
func (r *rxRing) slot(i uint32) *[e1000.DescWords]uint64 {
	return (*[e1000.DescWords]uint64)(r.desc[(i&r.mask)*e1000.DescWords:])
}

// What is wrong with a packet. iflib resets the interface (spec 1g 4.6 step 2).
var (
	errFrame        = fmt.Errorf("frame with errors: %w", syscall.EBADMSG)
	errBadWriteback = fmt.Errorf("descriptor out of bounds: %w", syscall.EBADMSG)
)

// rxFormat is where a descriptor format has what a packet is taken out by.
type rxFormat struct {
	done, last, errors, clear uint64
	lenShift                  uint
}

var (
	extFormat    = rxFormat{extDone, extLast, extErrors, extClear, highDword}
	legacyFormat = rxFormat{legacyDone, legacyLast, legacyErrors, legacyClear, 0}
)

// take collects the buffers of the packet at ri.Cidx and returns its last descriptor
// with the second word. What the part wrote is believed only within bounds: every
// descriptor done, no more of them than a packet may have, no more bytes than a buffer
// holds.
func (p *dataPath) take(r *rxRing, ri *iflib.RxdInfo, f *rxFormat) (*[e1000.DescWords]uint64, uint64, error) {
	i := uint32(ri.Cidx) & r.mask
	total := 0
	for n := range ri.Frags {
		d := r.slot(i)
		w := atomic.LoadUint64(&d[1])
		length := int(uint16(w >> f.lenShift))
		switch {
		case w&f.done == 0 || length > r.bufSize:
			p.badWriteback.Add(1)
			return nil, 0, errBadWriteback
		case w&f.errors != 0:
			p.dropped.Add(1)
			return nil, 0, errFrame
		}
		ri.Frags[n] = iflib.RxdFrag{Idx: iflib.QIdx(i), Len: uint16(length)}
		total += length
		iflib.StoreRelaxed64(&d[1], w&^f.clear)
		if w&f.last != 0 {
			ri.NFrags, ri.Len = n+1, total
			iflib.StoreRelaxed64(&r.load.Bytes, r.load.Bytes+uint64(total))
			iflib.StoreRelaxed64(&r.load.Packets, r.load.Packets+1)
			return d, w, nil
		}
		i = (i + 1) & r.mask
	}
	p.badWriteback.Add(1)
	return nil, 0, errBadWriteback
}

// describe tells what the part found out about a packet: checksums and tag. status and
// errors are those of its last descriptor (em_receive_checksum; spec 1g 4.6 steps 3 and
// 4).
func (r *rxRing) describe(ri *iflib.RxdInfo, status, errors uint32, tag uint16) {
	const badSum = emreg.RxdErrTCPE | emreg.RxdErrIPE
	if r.csum && status&emreg.RxdStatIXSM == 0 && errors&badSum == 0 {
		if status&emreg.RxdStatIPCS != 0 {
			ri.CsumFlags = mbuf.CsumIPChecked | mbuf.CsumIPValid
		}
		if status&(emreg.RxdStatTCPCS|emreg.RxdStatUDPCS) != 0 {
			ri.CsumFlags |= mbuf.CsumDataValid | mbuf.CsumPseudoHdr
			ri.CsumData = mbuf.CsumDataGood
		}
	}
	if r.tags && status&emreg.RxdStatVP != 0 {
		ri.VTag = tag
		ri.Flags |= mbuf.FlagVLANTag
	}
}

// RxdAvailable counts received packets (em_isc_rxd_available; spec 1g 4.5).
func (p emTxRx) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	return e1000.Available(p.rx[qid].desc, int(cidx), budget, extDone, extLast)
}

// RxdPktGet takes a packet in extended format (em_isc_rxd_pkt_get; spec 1g 4.6). The
// hash is in the first word, over the address that iflib knows.
func (p emTxRx) RxdPktGet(ri *iflib.RxdInfo) error {
	r := &p.rx[ri.QSIdx]
	d, w, err := p.take(r, ri, &extFormat)
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
	return e1000.Available(p.rx[qid].desc, int(cidx), budget, legacyDone, legacyLast)
}

// RxdPktGet takes a packet in legacy format (lem_isc_rxd_pkt_get; spec 1g 4.6).
func (p lemTxRx) RxdPktGet(ri *iflib.RxdInfo) error {
	r := &p.rx[ri.QSIdx]
	_, w, err := p.take(r, ri, &legacyFormat)
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
	r := &p.rx[iru.QSIdx]
	i := uint32(iru.Pidx)
	for _, addr := range iru.PAddrs {
		d := r.slot(i)
		iflib.StoreRelaxed64(&d[0], uint64(addr))
		iflib.StoreRelaxed64(&d[1], 0)
		i++
	}
}

// RxdFlush rings the receive doorbell (em_isc_rxd_flush).
func (p *dataPath) RxdFlush(qid, _ int, pidx iflib.QIdx) {
	p.bar.Write32(p.rx[qid].tail, uint32(pidx))
}
