// Package nicreg holds what the CQ-1 and the HWB-1 have in common: constants only, said
// once where the datasheets (packages cqnic and hwbnic) say the same. FreeBSD has no
// counterpart.
package nicreg

// Statistics (datasheet 7): 64-bit, read only, wrapping, cleared by reset. The
// high half read alone belongs to the low half last read.
const (
	StatTxFrames  = 0x0200 // frames handed to the wire
	StatTxBytes   = 0x0208
	StatTxErrors  = 0x0210 // packets refused or lost on the way out
	StatRxFrames  = 0x0218 // frames delivered
	StatRxBytes   = 0x0220
	StatRxMissed  = 0x0228 // no descriptor, buffer or completion entry
	StatRxFilter  = 0x0230 // not for this station, or receiver off
	StatRxErrors  = 0x0238 // too long, too short, DMA error
	StatRefused   = 0x0240 // register writes, commands and descriptors refused
	StatFirst     = StatTxFrames
	StatCount     = 9
	StatRegisters = 8 // bytes of one
)

// Sizes of the spreading by hash.
const (
	RSSKeyBytes = 40
	RETAEntries = 64
)

// What the receive unit found out about a packet: a group of bits in the last word of
// its descriptor or completion, from bit RxcFlagsShift or RxdFlagsShift on.
const (
	RxVLAN      = 1 << 0 // TCI is valid, the tag was taken out
	RxIPChecked = 1 << 1
	RxIPBad     = 1 << 2
	RxL4Checked = 1 << 3
	RxL4Bad     = 1 << 4
)

// RSS types of a received packet.
const (
	RSSNone = iota
	RSSIPv4
	RSSTCPIPv4
	RSSUDPIPv4
	RSSIPv6
	RSSTCPIPv6
	RSSUDPIPv6
	NumRSSTypes
)
