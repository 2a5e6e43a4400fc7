package iflib

import "github.com/ifsim/ifsim/iflib/pci"

// MaxQueuesPerSet is the number of hardware rings one queue set may have
// (the array bound of isc_ntxd and its relatives).
const MaxQueuesPerSet = 8

// SharedFlags are isc_flags (spec iflib 1.3).
type SharedFlags uint32

// Flags of a driver's shared context.
const (
	FlagHasRxCQ           SharedFlags = 0x1      // IFLIB_HAS_RXCQ: queue 0 of a receive set is a completion queue
	FlagSkipMSIX          SharedFlags = 0x2      // IFLIB_SKIP_MSIX: the driver allocated the vectors
	FlagIsVF              SharedFlags = 0x4      // IFLIB_IS_VF: skip work of physical functions
	FlagHasTxCQ           SharedFlags = 0x8      // IFLIB_HAS_TXCQ: the transmit descriptor ring is queue 1
	FlagNeedScratch       SharedFlags = 0x10     // IFLIB_NEED_SCRATCH: the parser must own a writable mbuf
	FlagTSOInitIP         SharedFlags = 0x20     // IFLIB_TSO_INIT_IP: TSO zeroes ip_sum and sets ip_len to one segment
	FlagDoRxFixup         SharedFlags = 0x40     // IFLIB_DO_RX_FIXUP: declared, no effect here
	FlagNeedZeroCsum      SharedFlags = 0x80     // IFLIB_NEED_ZERO_CSUM: zero ip_sum when CSUM_IP is asked for
	FlagNeedEtherPad      SharedFlags = 0x100    // IFLIB_NEED_ETHER_PAD: pad frames below MinFrameSize
	FlagI2CPageBank       SharedFlags = 0x200    // IFLIB_I2C_PAGE_BANK: the driver understands page and bank
	FlagAdminAlwaysRun    SharedFlags = 0x10000  // IFLIB_ADMIN_ALWAYS_RUN: the admin task runs on a downed interface
	FlagDriverMedia       SharedFlags = 0x20000  // IFLIB_DRIVER_MEDIA: the driver supplies SoftcCtx.Media
	FlagSingleIRQRxOnly   SharedFlags = 0x40000  // IFLIB_SINGLE_IRQ_RX_ONLY: one interrupt schedules only the RX task
	FlagHasAdminCQ        SharedFlags = 0x100000 // IFLIB_HAS_ADMINCQ: the admin task calls AdminCompletionHandle
	FlagPreserveTxIndices SharedFlags = 0x200000 // IFLIB_PRESERVE_TX_INDICES: stop sets cidx to pidx instead of zeroing both
)

// VendorInfo is one row of a driver's identity table (pci_vendor_info_t).
// Zero in SubVendor, SubDevice or Revision matches anything.
type VendorInfo struct {
	Vendor, Device       uint16
	SubVendor, SubDevice uint16
	Revision             uint8
	Name                 string // device description, shown as dev.X.N.%desc
}

// SharedCtx is what a driver states once for all its devices (struct
// if_shared_ctx, spec iflib 1.2). It is constant after registration.
type SharedCtx struct {
	QAlign uint64 // isc_q_align: DMA alignment of descriptor rings, non-zero

	TxMaxSize     uint64 // isc_tx_maxsize: bytes of a whole packet in the normal map
	TxMaxSegSize  uint64 // isc_tx_maxsegsize
	TSOMaxSize    uint64 // isc_tso_maxsize: at least the TSO size limit (+18 with VLAN_MTU)
	TSOMaxSegSize uint64 // isc_tso_maxsegsize
	RxMaxSize     uint64 // isc_rx_maxsize
	RxMaxSegSize  uint64 // isc_rx_maxsegsize
	RxNSegments   int    // isc_rx_nsegments

	AdminIntrCnt int          // isc_admin_intrcnt: admin or link vectors
	VendorInfo   []VendorInfo // isc_vendor_info
	Version      string       // isc_driver_version

	// ParseDevInfo, if set, rewrites the identity before it is matched
	// (isc_parse_devinfo).
	ParseDevInfo func(id *pci.Identity)

	NRxdMin, NRxdDefault, NRxdMax [MaxQueuesPerSet]int // isc_nrxd_*: powers of two for the queues in use
	NTxdMin, NTxdDefault, NTxdMax [MaxQueuesPerSet]int // isc_ntxd_*

	NFL   int // isc_nfl: free lists of a receive set, at least 1
	NTxQs int // isc_ntxqs: rings of a transmit set, 1..8
	NRxQs int // isc_nrxqs: rings of a receive set, 1..8, at least NFL plus one with FlagHasRxCQ
	Flags SharedFlags
}
