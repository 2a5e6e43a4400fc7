package iflib

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// IntrMode is how a device interrupts (isc_intr).
type IntrMode uint8

// Interrupt modes (IFLIB_INTR_*).
const (
	IntrLegacy IntrMode = iota
	IntrMSI
	IntrMSIX
)

// MSIXBARTrustDriver in SoftcCtx.MSIXBAR says that there is MSI-X but no table
// to map (isc_msix_bar of -1).
const MSIXBARTrustDriver = -1

// SoftcCtx is what iflib and the driver's AttachPre agree on for one device
// (struct if_softc_ctx, spec iflib 1.4). It is written only under the ctx lock
// during attach, except for the fields marked otherwise.
type SoftcCtx struct {
	Vectors     int // isc_vectors: vectors obtained, set by iflib
	NRxQSets    int // isc_nrxqsets: receive queue sets
	NTxQSets    int // isc_ntxqsets: transmit queue sets
	NRxQSetsMax int // isc_nrxqsets_max, set by the driver
	NTxQSetsMax int // isc_ntxqsets_max, set by the driver
	TxPad       int // isc_tx_pad: descriptors a transmit ring keeps unused, 2 unless the driver says otherwise
	MSIXBAR     int // isc_msix_bar: 0 no MSI-X, MSIXBARTrustDriver, or the BAR's config register
	DisableMSIX bool

	TxNSegments    int // isc_tx_nsegments: segments of a normal packet, also the reclaim reserve
	NTxd, NRxd     [MaxQueuesPerSet]int
	TxQSizes       [MaxQueuesPerSet]uint64 // isc_txqsizes: bytes of each ring's memory, set by the driver
	RxQSizes       [MaxQueuesPerSet]uint64 // isc_rxqsizes
	TxdSize        [MaxQueuesPerSet]int    // isc_txd_size: bytes of a descriptor
	RxdSize        [MaxQueuesPerSet]int    // isc_rxd_size
	TSOSegmentsMax int                     // isc_tx_tso_segments_max
	TSOSizeMax     int                     // isc_tx_tso_size_max
	TSOSegSizeMax  int                     // isc_tx_tso_segsize_max
	TxCsumFlags    mbuf.CsumFlags          // isc_tx_csum_flags: what the hardware can do

	Capabilities ifnet.Caps // isc_capabilities
	Capenable    ifnet.Caps // isc_capenable; changed later under the ctx lock

	RSSTableSize int // isc_rss_table_size: 0 becomes 64
	RSSTableMask int // isc_rss_table_mask: size minus one, set by iflib
	Intr         IntrMode

	RxdBufSize   [MaxQueuesPerSet]int // isc_rxd_buf_size by ring index; 0 lets iflib choose
	MaxFrameSize int                  // isc_max_frame_size; set before init, selects the receive buffer size
	MinFrameSize int                  // isc_min_frame_size: pad target without CRC
	DMAWidth     int                  // isc_dma_width: address bits, 0 is unlimited

	// PauseFrames (isc_pause_frames) is raised by the driver from any
	// goroutine when XOFF frames were seen and cleared by the queue timer.
	PauseFrames atomic.Bool

	TxRx  TxRx         // isc_txrx: chosen in AttachPre
	Media *ifnet.Media // isc_media, with FlagDriverMedia
}
