package e1000reg

// Where the registers of a queue are (spec 1g 5.3). The first four queues have them
// where em has its rings; all have them at the new place, those of the first four being
// aliases.
const (
	RxQueues    = 0x2800 // first receive queue, OldStride apart
	TxQueues    = 0x3800 // first transmit queue
	RxQueuesNew = 0xc000 // receive queue 0 at the new place, NewStride apart
	TxQueuesNew = 0xe000
	OldQueues   = 4 // that have registers at the old place
	OldStride   = 0x100
	NewStride   = 0x40
)

// Registers of a queue, from RxQueue(n) or TxQueue(n).
const (
	BAL    = 0x00 // RDBAL, TDBAL: descriptor base address low
	BAH    = 0x04 // RDBAH, TDBAH: descriptor base address high
	LEN    = 0x08 // RDLEN, TDLEN: descriptor ring in bytes
	SRRCTL = 0x0c // receive: split and replication control
	HEAD   = 0x10 // RDH, TDH: descriptor head
	DCA    = 0x14 // RXCTL, TXCTL: direct cache access
	TAIL   = 0x18 // RDT, TDT: descriptor tail
	DCTL   = 0x28 // RXDCTL, TXDCTL: descriptor control
	RQDPC  = 0x30 // receive: packets dropped, cleared by reading
	WBAL   = 0x38 // TDWBAL, transmit: head write-back address low
	WBAH   = 0x3c // TDWBAH
)

// RxQueue returns where the registers of receive queue n begin, 0 <= n < MaxQueues
// (RDBAL(n)).
func RxQueue(n int) uint64 { return queue(RxQueues, RxQueuesNew, n) }

// TxQueue returns where the registers of transmit queue n begin, 0 <= n < MaxQueues
// (TDBAL(n)).
func TxQueue(n int) uint64 { return queue(TxQueues, TxQueuesNew, n) }

func queue(old, later uint64, n int) uint64 {
	if n < OldQueues {
		return old + uint64(n)*OldStride
	}
	return later + uint64(n)*NewStride
}

// Fields of SRRCTL.
const (
	SRRCTLPktMask     = 0x7f     // SRRCTL_BSIZEPKT: buffer size in KiB, 0: RCTL's
	SRRCTLPktUnit     = 1 << 10  // bytes (SRRCTL_BSIZEPKT_SHIFT)
	SRRCTLHdrMask     = 0xf << 8 // SRRCTL_BSIZEHDR: header buffer size
	SRRCTLRDMTSMask   = 0x1f << 20
	SRRCTLRDMTSShift  = 20      // minimum threshold in units of SRRCTLRDMTSUnit descriptors
	SRRCTLRDMTSUnit   = 16      // descriptors
	SRRCTLDescMask    = 7 << 25 // SRRCTL_DESCTYPE_MASK
	SRRCTLDescLegacy  = 0 << 25 // SRRCTL_DESCTYPE_LEGACY
	SRRCTLDescOneBuf  = 1 << 25 // SRRCTL_DESCTYPE_ADV_ONEBUF
	SRRCTLDescHdrRepl = 3 << 25 // SRRCTL_DESCTYPE_HDR_REPLICATION
	SRRCTLDescHdrSplt = 5 << 25 // SRRCTL_DESCTYPE_HDR_SPLIT_ALWAYS
	SRRCTLTimestamp   = 1 << 30 // SRRCTL_TIMESTAMP
	SRRCTLDropEn      = 1 << 31 // SRRCTL_DROP_EN: drop when there is no descriptor
)

// Fields of RXDCTL and TXDCTL beside the thresholds, which are emreg.DCTL*.
const (
	DCTLEnable     = 1 << 25 // RXDCTL_QUEUE_ENABLE, TXDCTL_QUEUE_ENABLE
	DCTLFlush      = 1 << 26 // RXDCTL_SWFLUSH, TXDCTL_SWFLSH: write back now, self-clearing
	TXDCTLPriority = 1 << 27 // TXDCTL_PRIORITY

	WBALEnable = 1 << 0 // TX_HEAD_WB_ENABLE in TDWBAL
	WBALMask   = 0xfffffffc
)
