// Package skelreg holds the registers, descriptor formats and limits of the SKEL-1
// network controller: constants only, shared by its driver (skel) and its hardware
// (skelhw). Section numbers are those of the datasheet in package skel. FreeBSD's
// counterpart is a driver's register header, if_emreg.h for one.
package skelreg

// Identity (datasheet 1). The vendor is not assigned to anybody.
const (
	VendorID = 0xfffe
	DeviceID = 0x5ce1
)

// Resources (datasheet 1).
const (
	BARRegs     = 0      // index of the register BAR
	BARMSIX     = 2      // index of the MSI-X table BAR
	RegsSize    = 0x1000 // bytes of the register BAR
	MSIXSize    = 0x4000 // bytes of the MSI-X table BAR
	QueuePairs  = 2
	MSIXVectors = QueuePairs + 1 // one an event
)

// Global registers (datasheet 2): byte offsets, 32 bits each.
const (
	CTRL     = 0x0000 // RW
	STATUS   = 0x0004 // RO
	ICAUSE   = 0x0008 // RC events that are due; reading clears and disables them
	IENABLE  = 0x000c // W1 events to enable; reads the enabled ones
	IDISABLE = 0x0010 // W1 events to disable
	MACLO    = 0x0014 // RW station address, first byte lowest
	MACHI    = 0x0018
	RXMODE   = 0x001c // RW
	MAXFRAME = 0x0020 // RW longest frame received, in bytes without FCS and tag
	GROUPLO  = 0x0024 // RW group filter, 64 bits
	GROUPHI  = 0x0028
)

// Bits of CTRL.
const (
	CtrlReset = 1 << 0 // self-clearing
	CtrlRxOn  = 1 << 1
	CtrlTxOn  = 1 << 2
)

// Bits of STATUS.
const (
	StatusLinkUp     = 1 << 0
	StatusFullDuplex = 1 << 1
	StatusSpeedShift = 16 // 31:16 Mbit/s
)

// Bits of RXMODE.
const (
	RxPromisc  = 1 << 0 // take every frame
	RxAllMulti = 1 << 1 // take every frame to a group
	RxTakeTag  = 1 << 2 // take 802.1Q tags out
	RxCheck    = 1 << 3 // check checksums
	RxSpread   = 1 << 4 // spread over the queue pairs by the hash
	RxModeAll  = 1<<5 - 1
)

// Events (datasheet 5): event n is bit n of the three interrupt registers and vector n.
// Queue pair n is event n.
const (
	EventLink = QueuePairs
	EventAll  = 1<<MSIXVectors - 1
)

// GroupBits is the number of bits in the group filter: a power of two.
const GroupBits = 64

// Statistics (datasheet 6): 64 bits each, low half first.
const (
	StatTxFrames = 0x0040 // frames sent
	StatTxErrors = 0x0048 // packets lost on the way out
	StatRxFrames = 0x0050 // frames received
	StatRxErrors = 0x0058 // frames too long, or lost to a DMA error
	StatRxMissed = 0x0060 // frames that found no buffer
	StatRxFilter = 0x0068 // frames for others, or while the receiver was off
	StatRefused  = 0x0070 // things done to the part that the datasheet forbids
	StatFirst    = StatTxFrames
	StatBytes    = 8 // of one
	StatCount    = 7
)

// Queue pair n has its registers at QueueBase + n*QueueStride (datasheet 3, 4).
const (
	QueueBase   = 0x0100
	QueueStride = 0x0040

	TXBASELO = 0x00 // RW ring address
	TXBASEHI = 0x04
	TXLEN    = 0x08 // RW entries; starts the queue, 0 stops it
	TXBELL   = 0x0c // W look at the ring
	RXBASELO = 0x10 // RW ring address
	RXBASEHI = 0x14
	RXLEN    = 0x18 // RW entries; starts the queue, 0 stops it
	RXBUF    = 0x1c // RW bytes of a buffer
	RXBELL   = 0x20 // W look at the ring
	QueueEnd = 0x24
)

// Limits of rings and buffers (datasheet 3, 4). Ring lengths are powers of two.
const (
	MinRing   = 64 // entries
	MaxRing   = 4096
	DescBytes = 16
	DescWords = 2  // 64-bit words of a descriptor
	RingAlign = 64 // bytes
	MinBuf    = 256
	MaxBuf    = 16384
	MaxChain  = 16   // descriptors of a packet sent
	MaxFrame  = 9234 // bytes of a frame on the wire, without FCS
)

// Descriptors (datasheet 3.1, 4.1): word 0 is an address, word 1 is this. Not every bit
// has a meaning in both directions.
const (
	DescLenMask  = 0xffff  // 15:0 bytes in the buffer
	DescTagShift = 16      // 31:16 tag control information
	DescEnd      = 1 << 32 // last of its packet
	DescNotify   = 1 << 33 // sent: with End, the pair's event when it is done
	DescTag      = 1 << 34 // sent: put the tag in; received: it was taken out
	DescIPSum    = 1 << 35 // sent: fill in the IPv4 checksum; received: it is right
	DescL4Sum    = 1 << 36 // sent: fill in TCP's or UDP's checksum; received: it is right
	DescHash     = 1 << 37 // received: word 0 is the hash
	DescOwn      = 1 << 63 // the part's
	DescAll      = DescLenMask | 0xffff<<DescTagShift | DescEnd | DescNotify | DescTag | DescIPSum | DescL4Sum | DescHash | DescOwn
)
