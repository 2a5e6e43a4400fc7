package iflib

import (
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// QIdx is an index into a hardware ring (qidx_t).
type QIdx = uint16

// QIdxInvalid is no index (QIDX_INVALID).
const QIdxInvalid QIdx = 0xffff

// TxRx is the driver's data path (struct if_txrx, spec iflib 1.9). The methods
// run without a lock of the framework: for one queue the Txd methods are called
// only by the goroutine that owns the transmit queue (mp_ring BUSY, or the
// queue mutex), the Rxd methods only by the receive task of the queue, with two
// exceptions, the peeks: TxdCreditsUpdate with clear false and RxdAvailable may
// be called by an interrupt filter, a timer or can_drain while the owner works.
// Peeks read only atomics that the driver published and descriptor words by
// atomic load.
type TxRx interface {
	// TxdEncap writes the descriptors of pi's packet and sets pi.NewPidx and
	// pi.NDescs. EFBIG means too many segments: iflib defragments and tries
	// again. Any other error frees the packet. (ift_txd_encap)
	TxdEncap(pi *PktInfo) error

	// TxdFlush rings the doorbell: value is the doorbell units written since
	// the last one, or, if the driver counts none, the producer index.
	// (ift_txd_flush)
	TxdFlush(qid int, value uint32)

	// TxdCreditsUpdate returns how many descriptors completed. With clear
	// false it peeks: non-zero when something completed, nothing changes.
	// (ift_txd_credits_update)
	TxdCreditsUpdate(qid int, clear bool) int

	// RxdAvailable returns the packets ready from cidx on, counting no
	// further than budget needs. (ift_rxd_available)
	RxdAvailable(qid int, cidx QIdx, budget int) int

	// RxdPktGet takes one packet. An error makes iflib reset the interface.
	// (ift_rxd_pkt_get)
	RxdPktGet(ri *RxdInfo) error

	// RxdRefill writes buffer addresses into free list descriptors, starting
	// at iru.Pidx. (ift_rxd_refill)
	RxdRefill(iru *RxdUpdate)

	// RxdFlush publishes the free list's producer index to the hardware.
	// (ift_rxd_flush)
	RxdFlush(qid, flid int, pidx QIdx)
}

// FilterResult is what an interrupt filter returns (FILTER_*).
type FilterResult uint8

// Filter results. They may be combined.
const (
	FilterStray          FilterResult = 1 // FILTER_STRAY: not ours
	FilterHandled        FilterResult = 2 // FILTER_HANDLED: done, schedule nothing
	FilterScheduleThread FilterResult = 4 // FILTER_SCHEDULE_THREAD: run the task
)

// LegacyIntr is implemented by a TxRx whose device can run on one shared
// interrupt (ift_legacy_intr). It runs in filter context: it must not block.
type LegacyIntr interface {
	LegacyIntr() FilterResult
}

// TxqSelector is implemented by a TxRx that chooses the transmit queue itself
// (ift_txq_select). It runs on the sender's goroutine.
type TxqSelector interface {
	TxqSelect(m *mbuf.Mbuf) int
}

// TxqSelectorV2 is TxqSelector with parsed headers; it wins over TxqSelector
// (ift_txq_select_v2).
type TxqSelectorV2 interface {
	TxqSelectV2(m *mbuf.Mbuf, pi *PktInfo) int
}

// PktFlags are ipi_flags.
type PktFlags uint8

// Packet flags.
const (
	PktTxIntr PktFlags = 0x1 // IPI_TX_INTR: ask the hardware to report completion
	PktIPv4   PktFlags = 0x2 // IPI_TX_IPV4
	PktIPv6   PktFlags = 0x4 // IPI_TX_IPV6
)

// PktInfo describes one packet to TxdEncap (struct if_pkt_info). It belongs to
// the queue and is valid only during the call.
type PktInfo struct {
	Segs    []busdma.Seg // ipi_segs, ipi_nsegs
	Len     int          // ipi_len: bytes of the packet
	QSIdx   int          // ipi_qsidx: transmit queue
	Flags   PktFlags     // ipi_flags
	Pidx    QIdx         // ipi_pidx: first free slot
	NewPidx QIdx         // ipi_new_pidx, set by the driver: slot after the last used
	NDescs  uint32       // ipi_ndescs, set by the driver: doorbell units, 0 for index doorbells

	EHdrLen  uint8  // ipi_ehdrlen: Ethernet header bytes, 14 or 18
	IPHLen   uint8  // ipi_ip_hlen
	TCPHLen  uint8  // ipi_tcp_hlen
	IPProto  uint8  // ipi_ipproto
	IPTOS    uint8  // ipi_ip_tos
	EType    uint16 // ipi_etype, host order
	VTag     uint16 // ipi_vtag: tag control information, with mbuf.FlagVLANTag in MFlags
	TSOSegSz uint16 // ipi_tso_segsz

	TCPHFlags uint16 // ipi_tcp_hflags
	TCPSeq    uint32 // ipi_tcp_seq, network byte order

	CsumFlags mbuf.CsumFlags // ipi_csum_flags
	MFlags    mbuf.Flags     // ipi_mflags: VLANTAG, BCAST and MCAST bits of the packet
	Mbuf      *mbuf.Mbuf     // ipi_mbuf: only with CSUM_SND_TAG
}

// MaxRxSegs is the number of fragments a received packet may have
// (IFLIB_MAX_RX_SEGS).
const MaxRxSegs = 64

// MaxTxSegs is the number of DMA segments a sent packet may have
// (IFLIB_MAX_TX_SEGS).
const MaxTxSegs = 128

// RxdFrag is one buffer of a received packet (if_rxd_frag).
type RxdFrag struct {
	FLID uint8  // irf_flid: free list
	Idx  QIdx   // irf_idx: slot in the free list
	Len  uint16 // irf_len: bytes used, without leading pad
}

// RxdInfo is filled by RxdPktGet (struct if_rxd_info). iflib zeroes it and sets
// QSIdx, Cidx, Ifp and Frags; the driver sets the rest, and advances Cidx when
// the set has a completion queue. It belongs to the queue.
type RxdInfo struct {
	QSIdx     int
	Cidx      QIdx
	Ifp       *ifnet.Ifnet
	Frags     *[MaxRxSegs]RxdFrag
	NFrags    int
	Len       int            // iri_len: bytes of the packet, leading pad included
	Pad       int            // iri_pad: leading bytes to skip
	VTag      uint16         // iri_vtag
	FlowID    uint32         // iri_flowid
	CsumFlags mbuf.CsumFlags // iri_csum_flags
	CsumData  uint32         // iri_csum_data
	Flags     mbuf.Flags     // iri_flags: mbuf flags such as FlagVLANTag
	RSSType   mbuf.HashType  // iri_rsstype
}

// MaxRxRefresh is the most buffers one RxdRefill call carries
// (IFLIB_MAX_RX_REFRESH).
const MaxRxRefresh = 32

// RxdUpdate is one batch of buffers for a free list (struct if_rxd_update).
type RxdUpdate struct {
	PAddrs  []Addr // iru_paddrs: bus addresses, at most MaxRxRefresh
	Idxs    []QIdx // iru_idxs: free list slots of the buffers
	Pidx    QIdx   // iru_pidx: first ring index to write
	QSIdx   int    // iru_qsidx
	FLIdx   int    // iru_flidx
	BufSize int    // iru_buf_size
}
