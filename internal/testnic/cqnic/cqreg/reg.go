// Package cqreg holds the registers, descriptor formats and limits of the CQ-1
// network controller: constants only, shared by its driver (cqnic) and its model
// (cqhw). What the other test NIC has too is in package nicreg. Section numbers are
// those of the datasheet in package cqnic. FreeBSD has no counterpart.
package cqreg

// Identity (datasheet 1). The vendor is not assigned to anybody.
const (
	VendorID = 0xfffe
	DeviceID = 0xc901
	Revision = 1
)

// Resources (datasheet 1).
const (
	BARRegs     = 0       // index of the register BAR
	BARMSIX     = 3       // index of the MSI-X table BAR
	BARSize     = 0x10000 // bytes of the register BAR
	MaxQueues   = 8       // queue pairs
	AdminVector = 0       // MSI-X vector of the link event
	MSIXVectors = 2*MaxQueues + 1
)

// Global registers (datasheet 2): byte offsets. All are 32 bits wide except the
// statistics.
const (
	CTRL   = 0x0000 // RW control
	STATUS = 0x0004 // RO link and reset state
	HWCAP  = 0x0008 // RO 7:0 transmit queues, 15:8 receive queues
	ICR    = 0x000c // RC interrupt causes of the legacy modes
	IMS    = 0x0010 // R: mask; W: sets mask bits
	IMC    = 0x0014 // W: clears mask bits
	MACLO  = 0x0020 // RW bytes 0..3 of the station address, byte 0 lowest
	MACHI  = 0x0024 // RW bytes 4, 5
	MAXFRM = 0x0028 // RW longest received frame, bytes without FCS and tag
	RSSCTL = 0x002c // RW 0: spread by hash
	MCHLO  = 0x0030 // RW multicast hash filter, buckets 0..31
	MCHHI  = 0x0034 // RW multicast hash filter, buckets 32..63
	RSSKEY = 0x0040 // RW 10 registers, key byte 0 in the low byte of the first
	RETA   = 0x0080 // RW 16 registers, 4 entries of 8 bits each, entry 0 lowest

	RSSKeyRegs = 10
	RETARegs   = 16
)

// Bits of CTRL.
const (
	CtrlReset    = 1 << 0 // self-clearing
	CtrlRxEnable = 1 << 1
	CtrlTxEnable = 1 << 2
	CtrlPromisc  = 1 << 3
	CtrlAllMulti = 1 << 4
	CtrlVLANTake = 1 << 5 // take 802.1Q tags out of received frames
	CtrlRxCsum   = 1 << 6 // check received checksums
	CtrlMSIX     = 1 << 7 // completion queues signal their vectors; else ICR and INTx or MSI
	CtrlMSI      = 1 << 8 // without CtrlMSIX: MSI instead of INTx
)

// Bits of STATUS.
const (
	StatusLinkUp     = 1 << 0
	StatusFullDuplex = 1 << 1
	StatusHalted     = 1 << 2 // a transmit queue is halted
	StatusSpeedShift = 8      // 31:8 Mbit/s
)

// Interrupt causes: bits of ICR, IMS and IMC. A completion queue that is masked
// keeps its event.
const (
	CauseRx0  = 1 << 0 // receive queue n is bit n
	CauseTx0  = 1 << 8 // transmit queue n is bit 8+n
	CauseLink = 1 << 16
	CauseAll  = 1<<17 - 1

	CauseTxShift = 8
)

// Queue blocks (datasheet 3, 4): queue n starts at QueueBase + n*QueueStride.
const (
	QueueBase   = 0x1000
	QueueStride = 0x0100

	TXBASELO  = 0x00 // RW transmit ring address
	TXBASEHI  = 0x04
	TXLEN     = 0x08 // RW entries
	TXCQLO    = 0x0c // RW transmit completion queue address
	TXCQHI    = 0x10
	TXCQLEN   = 0x14 // RW entries
	TXCTL     = 0x18 // RW QCtl bits
	TXDB      = 0x1c // W packets added since the last write
	TXCQCONS  = 0x20 // W completion entries consumed since enable
	TXCQARM   = 0x24 // W consumed count; arms the queue's event
	TXVEC     = 0x28 // RW MSI-X vector
	RXCQLO    = 0x40 // RW receive completion queue address
	RXCQHI    = 0x44
	RXCQLEN   = 0x48 // RW entries
	RXFL0LO   = 0x4c // RW free list 0 address
	RXFL0HI   = 0x50
	RXFL0LEN  = 0x54 // RW entries
	RXFL1LO   = 0x58 // RW free list 1 address
	RXFL1HI   = 0x5c
	RXFL1LEN  = 0x60 // RW entries
	RXCTL     = 0x64 // RW QCtl bits
	RXFL0TAIL = 0x68 // W index after the last filled descriptor
	RXFL1TAIL = 0x6c
	RXCQCONS  = 0x70 // W completion entries consumed since enable
	RXCQARM   = 0x74 // W consumed count; arms the queue's event
	RXVEC     = 0x78 // RW MSI-X vector
	QueueRegs = 0x7c // end of the block
)

// Bits of TXCTL and RXCTL.
const (
	QCtlEnable = 1 << 0 // RW; setting it starts the queue at entry 0
	QCtlHalted = 1 << 1 // RO; transmit: a chain could not be followed
)

// Ring limits in entries, powers of two (datasheet 3).
const (
	MinRing   = 16
	MaxRing   = 32768
	EntrySize = 16 // bytes of every descriptor and completion entry
	Words     = 2  // 64-bit words of an entry
	RingAlign = 64 // alignment of a ring in bytes
)

// First word 1 of a transmit descriptor (datasheet 3.1). Word 0 is the buffer's
// bus address.
const (
	TxdLenMask    = 0xffff  // bytes of the buffer, 1..TxMaxBuf
	TxdFirst      = 1 << 16 // first descriptor of a packet
	TxdLast       = 1 << 17 // last descriptor of a packet
	TxdReport     = 1 << 18 // first only: write a completion entry
	TxdExt        = 1 << 19 // first only: an extension descriptor follows
	TxdCountShift = 24      // first only: descriptors of the packet, extension included
	TxdCountMask  = 0xff
	TxMaxBuf      = 16384
	TxMaxDescs    = 64    // descriptors of one packet
	TxMaxPacket   = 65553 // bytes of a packet before segmentation: 64 KiB of IP datagram and a tagged Ethernet header
	TxMaxFrame    = 9234  // bytes of a frame on the wire, without FCS
)

// Extension descriptor (datasheet 3.2). Word 0.
const (
	TxxVLAN     = 1 << 0 // insert TCI
	TxxIPCsum   = 1 << 1 // IPv4 header checksum
	TxxL4Csum   = 1 << 2 // TCP or UDP checksum
	TxxTSO      = 1 << 3 // cut into segments of MSS
	TxxUDP      = 1 << 4 // layer 4 is UDP, else TCP
	TxxIPv6     = 1 << 5 // layer 3 is IPv6, else IPv4
	TxxTCIShift = 16     // 31:16
	TxxMSSShift = 32     // 47:32
)

// Extension descriptor, word 1: header lengths in bytes.
const (
	TxxL2Shift = 0  // 7:0
	TxxL3Shift = 8  // 15:8, up to 60 (40 for IPv6)
	TxxL4Shift = 24 // 31:24; between them FIRST and LAST
	TxxLenMask = 0xff
)

// Completion entries (datasheet 5). Word 1 is written last, bit 0 is the phase:
// 1 on the first pass over the queue, inverted by each wrap.
const (
	CqePhase     = 1 << 0
	CqeTypeShift = 1 // 3:1
	CqeTypeMask  = 7
	CqeTypeTx    = 1
	CqeTypeRx    = 2
	CqeTypeAgg   = 3
	CqeTypeNote  = 4 // free list ran dry; no packet
)

// Transmit completion, word 0.
const (
	TxcNextMask    = 0xffff // index after the last descriptor done
	TxcErrorsShift = 16     // 31:16 packets refused since the last entry, saturating
	TxcErrorsMask  = 0xffff
	TxcHalted      = 1 << 32 // the queue is halted at NEXT
)

// Receive completion, word 0.
const (
	RxcLenMask   = 0xffff // bytes of the packet
	RxcSlotShift = 16     // 31:16 slot tag of the free list 0 buffer
	RxcSlotMask  = 0xffff
	RxcHashShift = 32 // 63:32
)

// Receive completion, word 1.
const (
	RxcAggShift    = 4 // 7:4 aggregation entries that follow
	RxcAggMask     = 0xf
	RxcFlagsShift  = 8  // 12:8 nicreg.Rx bits
	RxcHashTyShift = 16 // 19:16 RSS type
	RxcHashTyMask  = 0xf
	RxcTCIShift    = 32 // 47:32
	RxcFirstShift  = 48 // 63:48 bytes in the free list 0 buffer
	RxcFirstMask   = 0xffff
)

// Aggregation entry, word 0: 15:0 bytes, 31:16 slot tag of the free list 1 buffer.
const (
	RxaLenMask   = 0xffff
	RxaSlotShift = 16
	RxaSlotMask  = 0xffff
)

// Free list descriptor (datasheet 4.1). Word 0 is the buffer's bus address.
const (
	FldSlotMask  = 0xffff // word 1, 15:0: slot tag, returned in the completion
	FldSizeShift = 16     // word 1, 31:16: bytes of the buffer
	FldSizeMask  = 0xffff
	MinBuf       = 256 // least buffer size
	MaxAgg       = 15  // aggregation buffers of one packet
)
