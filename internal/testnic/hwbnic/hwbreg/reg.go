// Package hwbreg holds the registers, descriptor formats and limits of the HWB-1
// network controller: constants only, shared by its driver (hwbnic) and its model
// (hwbhw). What the other test NIC has too is in package nicreg. Section numbers are
// those of the datasheet in package hwbnic. FreeBSD has no counterpart.
package hwbreg

// Identity (datasheet 1). The vendor is not assigned to anybody.
const (
	VendorID = 0xfffe
	DeviceID = 0x4b01
	Revision = 1
	Firmware = 0x00010002 // answer to OpVersion: 1.2
)

// Resources (datasheet 1).
const (
	BARRegs     = 0       // index of the register BAR
	BARMSIX     = 3       // index of the MSI-X table BAR
	BARSize     = 0x10000 // bytes of the register BAR
	MaxQueues   = 8       // queue pairs
	MSIXVectors = MaxQueues + 1
)

// Global registers (datasheet 2): byte offsets. All are 32 bits wide except the
// statistics.
const (
	CTRL   = 0x0000 // RW control
	STATUS = 0x0004 // RO
	CAPS   = 0x0008 // RO 7:0 queue pairs
	ICR    = 0x000c // RC interrupt causes without MSI-X
	VCTL0  = 0x0300 // RW one a vector, 4 bytes apart; 0 enable
)

// Bits of CTRL.
const (
	CtrlReset    = 1 << 0 // self-clearing
	CtrlRxEnable = 1 << 1
	CtrlTxEnable = 1 << 2
	CtrlMSIX     = 1 << 3 // vectors are MSI-X messages
	CtrlMSI      = 1 << 4 // without CtrlMSIX: MSI instead of INTx
)

// Bits of STATUS.
const (
	StatusLinkUp = 1 << 0
	StatusHalted = 1 << 1 // a transmit queue is halted
)

// VctlEnable in a vector's control register: an event disables the vector again.
const VctlEnable = 1 << 0

// Bits of ICR: queue pair n is bit n.
const CauseAdmin = 1 << 16

// Admin queue registers (datasheet 6).
const (
	ACQLO   = 0x0400 // RW command ring address
	ACQHI   = 0x0404
	ACQLEN  = 0x0408 // RW entries
	ACQHEAD = 0x040c // RO index after the last command taken
	ACQTAIL = 0x0410 // RW index after the last command written
	ARQLO   = 0x0414 // RW response ring address
	ARQHI   = 0x0418
	ARQLEN  = 0x041c // RW entries
	ARQCONS = 0x0420 // W response entries consumed since enable
	ADMCTL  = 0x0424 // RW 0 enable
)

// AdmEnable in ADMCTL starts both admin rings at entry 0.
const AdmEnable = 1 << 0

// Admin rings.
const (
	MinAdmin      = 4
	MaxAdmin      = 256
	AdmEntrySize  = 32 // bytes of a command or response
	AdmEntryWords = 4
)

// Admin commands and events: bits 15:0 of word 0. Bits 63:32 are the cookie, which
// the response repeats; bits 31:16 of a response are its status.
const (
	OpVersion  = 0x0001 // response 1: firmware, 2: queue pairs
	OpGetMAC   = 0x0002 // response 1: address, byte 0 lowest
	OpSetMAC   = 0x0003 // 1: address
	OpRxMode   = 0x0004 // 1: RxMode bits
	OpMcast    = 0x0005 // 1: bus address of the list, 2: entries of 8 bytes
	OpRSS      = 0x0006 // 1: bus address of key and table, 2: bytes, 0 switches off
	OpGetLink  = 0x0007 // response 1: Link bits
	OpMaxFrame = 0x0008 // 1: longest received frame, without FCS and tag

	EventLink   = 0x8001 // 1: Link bits
	EventHalted = 0x8002 // 1: transmit queue

	OpMask      = 0xffff
	StatusShift = 16
	StatusMask  = 0xffff
	CookieShift = 32
)

// Status of a response.
const (
	AdmOK       = 0
	AdmBadOp    = 1
	AdmBadParam = 2
	AdmDMAError = 3
)

// AdmPhase is bit 0 of word 3 of a response, written last: 1 on the first pass
// over the ring, inverted by each wrap.
const AdmPhase = 1 << 0

// Parameters of OpRxMode.
const (
	RxModePromisc  = 1 << 0
	RxModeAllMulti = 1 << 1
	RxModeVLANTake = 1 << 2 // take 802.1Q tags out of received frames
	RxModeCsum     = 1 << 3 // check received checksums
	RxModeAll      = 1<<4 - 1
)

// Link word of OpGetLink and EventLink.
const (
	LinkUp         = 1 << 0
	LinkFullDuplex = 1 << 1
	LinkSpeedShift = 32 // 63:32 Mbit/s
)

// Sizes of command buffers.
const (
	MaxMcast      = 128
	McastEntry    = 8   // bytes
	RSSBytes      = 104 // key and table of OpRSS
	AdmBufferSize = MaxMcast * McastEntry
)

// Queue blocks (datasheet 3, 4): queue pair n starts at QueueBase + n*QueueStride.
const (
	QueueBase   = 0x1000
	QueueStride = 0x0100

	TXBASELO  = 0x00 // RW transmit ring address
	TXBASEHI  = 0x04
	TXLEN     = 0x08 // RW entries
	TXHWBLO   = 0x0c // RW address of the head word, 8-byte aligned
	TXHWBHI   = 0x10
	TXCTL     = 0x14 // RW QCtl bits
	TXTAIL    = 0x18 // RW index after the last descriptor
	TXHEAD    = 0x1c // RO index of the next descriptor
	RXBASELO  = 0x40 // RW receive ring address
	RXBASEHI  = 0x44
	RXLEN     = 0x48 // RW entries
	RXBUF     = 0x4c // RW bytes of a buffer
	RXCTL     = 0x50 // RW QCtl bits
	RXTAIL    = 0x54 // RW index after the last filled descriptor
	RXHEAD    = 0x58 // RO index of the next descriptor
	QVEC      = 0x5c // RW vector of both directions
	QueueRegs = 0x60 // end of the block
)

// Bits of TXCTL and RXCTL.
const (
	QCtlEnable = 1 << 0 // RW; setting it starts the queue at entry 0
	QCtlHalted = 1 << 1 // RO; transmit: a descriptor could not be understood
)

// Ring limits in entries, powers of two (datasheet 3).
const (
	MinRing   = 16
	MaxRing   = 32768
	EntrySize = 16 // bytes of a descriptor
	Words     = 2  // 64-bit words of a descriptor
	RingAlign = 64 // alignment of a ring in bytes
	HeadAlign = 8
	HeadBytes = 64 // what the driver reserves behind the ring for the head word
	MinBuf    = 256
	MaxBuf    = 16384
)

// Transmit descriptors, word 1 (datasheet 3.1). Word 0 of a data descriptor is the
// buffer's bus address.
const (
	TxdLenMask   = 0xffff // data: bytes of the buffer, 1..TxMaxBuf
	TxdTypeShift = 16     // 19:16
	TxdTypeMask  = 0xf
	TxdTypeData  = 1
	TxdTypeCtx   = 2
	TxdEOP       = 1 << 20 // last of the packet
	TxdRS        = 1 << 21 // with EOP: write the head back and signal
	TxdVLAN      = 1 << 22 // first data descriptor: insert the context's TCI
	TxdIPCsum    = 1 << 23 // first: IPv4 header checksum
	TxdL4Csum    = 1 << 24 // first: TCP or UDP checksum
	TxdTSO       = 1 << 25 // first: cut into segments of the context's MSS
	TxdUDP       = 1 << 26 // context: layer 4 is UDP, else TCP
	TxdIPv6      = 1 << 27 // context: layer 3 is IPv6, else IPv4
	TxdOffloads  = TxdVLAN | TxdIPCsum | TxdL4Csum | TxdTSO
	TxMaxBuf     = 16384
	TxMaxDescs   = 64    // data descriptors of one packet
	TxMaxPacket  = 65553 // bytes of a packet before segmentation
	TxMaxFrame   = 9234  // bytes of a frame on the wire, without FCS
)

// Context descriptor, word 0: header lengths in bytes, MSS and TCI.
const (
	TxcL2Shift  = 0  // 7:0
	TxcL3Shift  = 8  // 15:8
	TxcL4Shift  = 16 // 23:16
	TxcLenMask  = 0xff
	TxcMSSShift = 32 // 47:32
	TxcTCIShift = 48 // 63:48
)

// HeadMask covers the index in the head word (datasheet 3.2).
const HeadMask = 0xffff

// Receive descriptor after write-back (datasheet 4.1). Word 1 is written last.
const (
	RxdHashMask    = 0xffffffff // word 0, 31:0
	RxdTCIShift    = 32         // word 0, 47:32
	RxdHashTyShift = 48         // word 0, 51:48
	RxdHashTyMask  = 0xf

	RxdLenMask    = 0xffff // word 1, 15:0: bytes in this buffer
	RxdDone       = 1 << 16
	RxdEOP        = 1 << 17
	RxdFlagsShift = 18 // 22:18, with EOP: nicreg.Rx bits
)
