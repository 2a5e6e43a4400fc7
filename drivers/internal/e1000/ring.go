package e1000

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// TxRing is what a transmit ring of any descriptor format has (struct tx_ring). Its
// owner is whoever owns the iflib queue; others read only what is stored relaxed.
type TxRing struct {
	Desc []uint64
	Mask uint32
	Tail pci.Register // TDT
	Addr iflib.Addr
	RSQ  ReportQueue
	Load Load // stored relaxed
}

// Init takes over the memory of a ring of n descriptors, a power of two, whose TDT is
// tail.
func (r *TxRing) Init(mem iflib.QueueMem, n int, tail pci.Register) {
	*r = TxRing{Desc: mem.Words64()[:n*DescWords], Mask: uint32(n - 1), Tail: tail, Addr: mem.Addr}
	r.RSQ.Init(r.Desc)
}

// Bytes is the size of the ring as TDLEN has it.
func (r *TxRing) Bytes() uint32 { return ringBytes(r.Mask) }

// Write fills descriptor i and returns the index after it. The doorbell orders the
// stores.
func (r *TxRing) Write(i uint32, w0, w1 uint64) uint32 {
	at := uint(i&r.Mask) * DescWords
	iflib.StoreRelaxed64(&r.Desc[at+1], w1)
	iflib.StoreRelaxed64(&r.Desc[at], w0)
	return (i + 1) & r.Mask
}

// Trace shows the descriptors of the packet that was written, in the words of the
// datasheet: one event of point id each.
func (r *TxRing) Trace(s *probe.Set, id probe.ID, dev string, pi *iflib.PktInfo, decode func([DescWords]uint64) string) {
	for i := uint32(pi.Pidx); i != uint32(pi.NewPidx); i = (i + 1) & r.Mask {
		at := i * DescWords
		w := [DescWords]uint64{atomic.LoadUint64(&r.Desc[at]), atomic.LoadUint64(&r.Desc[at+1])}
		s.FireNote(id, dev, pi.QSIdx, decode(w), uint64(i), w[0], w[1])
	}
}

// CreditsUpdate counts the descriptors that the part is done with; without clear it only
// says whether there are any (em_isc_txd_credits_update, igb_isc_txd_credits_update;
// spec 1g 4.4).
func (r *TxRing) CreditsUpdate(clear bool) int {
	if clear {
		return r.RSQ.Credits()
	}
	if r.RSQ.Done() {
		return 1
	}
	return 0
}

// RxRing is what a receive ring of any descriptor format has (struct rx_ring). Its owner
// is the receive task of the queue; others read only what is stored relaxed.
type RxRing struct {
	Desc    []uint64
	Mask    uint32
	Tail    uint64 // offset of RDT
	Addr    iflib.Addr
	BufSize int  // of the posted buffers
	Csum    bool // IFCAP_RXCSUM is enabled
	Load    Load // stored relaxed
}

// Init takes over the memory of a ring of n descriptors, a power of two.
func (r *RxRing) Init(mem iflib.QueueMem, n int, tail uint64) {
	*r = RxRing{Desc: mem.Words64()[:n*DescWords], Mask: uint32(n - 1), Tail: tail, Addr: mem.Addr}
}

// Bytes is the size of the ring as RDLEN has it.
func (r *RxRing) Bytes() uint32 { return ringBytes(r.Mask) }

// Slot is descriptor i of the ring.
func (r *RxRing) Slot(i uint32) *[DescWords]uint64 {
	return (*[DescWords]uint64)(r.Desc[(i&r.Mask)*DescWords:])
}

// Refill posts buffers: in all formats an address and nothing done yet
// (em_isc_rxd_refill, igb_isc_rxd_refill; spec 1g 4.7).
func (r *RxRing) Refill(iru *iflib.RxdUpdate) {
	i := uint32(iru.Pidx)
	for _, addr := range iru.PAddrs {
		d := r.Slot(i)
		iflib.StoreRelaxed64(&d[0], uint64(addr))
		iflib.StoreRelaxed64(&d[1], 0)
		i++
	}
}

// Bytes of a descriptor, and the alignment and unit of rings (EM_DBA_ALIGN).
const (
	descBytes = DescWords * 8
	ringAlign = 128
)

func ringBytes(mask uint32) uint32 { return (mask + 1) * descBytes }

// RingBytes is the memory of n descriptors, a multiple of what the parts want
// (roundup2(n * 16, EM_DBA_ALIGN)).
func RingBytes(n int) uint64 {
	return (uint64(n)*descBytes + ringAlign - 1) &^ (ringAlign - 1)
}

// RxFormat is where a descriptor format has what a packet is taken out by, in the
// second word of a descriptor.
type RxFormat struct {
	Done, Last, Errors uint64
	Clear              uint64 // what Take takes back of the status
	LenShift           uint
	ErrorsAtEnd        bool // only the last descriptor of a packet has errors
}

// RxErrors are the packets that are dropped because of their descriptors. Any goroutine.
type RxErrors struct {
	Dropped      atomic.Uint64 // frames with errors (dropped_pkts)
	BadWriteback atomic.Uint64
}

// What is wrong with a packet. iflib resets the interface (spec 1g 4.6 step 2).
var (
	errFrame        = fmt.Errorf("frame with errors: %w", syscall.EBADMSG)
	errBadWriteback = fmt.Errorf("descriptor out of bounds: %w", syscall.EBADMSG)
)

// Take collects the buffers of the packet at ri.Cidx and returns its last descriptor
// with the second word. What the part wrote is believed only within bounds: every
// descriptor done, no more of them than a packet may have, no more bytes than a buffer
// holds.
func (r *RxRing) Take(ri *iflib.RxdInfo, f *RxFormat, e *RxErrors) (*[DescWords]uint64, uint64, error) {
	i := uint32(ri.Cidx) & r.Mask
	total := 0
	for n := range ri.Frags {
		d := r.Slot(i)
		w := atomic.LoadUint64(&d[1])
		length := int(uint16(w >> f.LenShift))
		switch {
		case w&f.Done == 0 || length > r.BufSize:
			e.BadWriteback.Add(1)
			return nil, 0, errBadWriteback
		case w&f.Errors != 0 && (w&f.Last != 0 || !f.ErrorsAtEnd):
			e.Dropped.Add(1)
			return nil, 0, errFrame
		}
		ri.Frags[n] = iflib.RxdFrag{Idx: iflib.QIdx(i), Len: uint16(length)}
		total += length
		iflib.StoreRelaxed64(&d[1], w&^f.Clear)
		if w&f.Last != 0 {
			ri.NFrags, ri.Len = n+1, total
			iflib.StoreRelaxed64(&r.Load.Bytes, r.Load.Bytes+uint64(total))
			iflib.StoreRelaxed64(&r.Load.Packets, r.Load.Packets+1)
			return d, w, nil
		}
		i = (i + 1) & r.Mask
	}
	e.BadWriteback.Add(1)
	return nil, 0, errBadWriteback
}

// Receive status and errors, which all formats have in this order (spec 1g 3.2, 3.3,
// 3.5).
const (
	statIXSM  = 1 << 2 // RXD_STAT_IXSM: ignore what follows
	statUDPCS = 1 << 4 // RXD_STAT_UDPCS
	statTCPCS = 1 << 5 // RXD_STAT_TCPCS, L4CS
	statIPCS  = 1 << 6 // RXD_STAT_IPCS
	errTCPE   = 1 << 5 // RXD_ERR_TCPE
	errIPE    = 1 << 6 // RXD_ERR_IPE
)

// Checksum tells which checksums the part found right. status and errors are those of
// the packet's last descriptor (em_receive_checksum, igb_rx_checksum; spec 1g 4.6
// step 3).
func (r *RxRing) Checksum(ri *iflib.RxdInfo, status, errors uint32) {
	if !r.Csum || status&statIXSM != 0 || errors&(errTCPE|errIPE) != 0 {
		return
	}
	if status&statIPCS != 0 {
		ri.CsumFlags = mbuf.CsumIPChecked | mbuf.CsumIPValid
	}
	if status&(statTCPCS|statUDPCS) != 0 {
		ri.CsumFlags |= mbuf.CsumDataValid | mbuf.CsumPseudoHdr
		ri.CsumData = mbuf.CsumDataGood
	}
}
