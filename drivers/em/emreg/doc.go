// Package emreg holds the register offsets, register bits, descriptor fields, PHY
// registers and NVM words of the parts that the em driver drives: 8254x (the lem class)
// and 82571 and later up to the pch parts. Constants only; driver and hardware model
// share them and nothing else.
//
// The comment of each constant gives its name in FreeBSD's e1000_regs.h, e1000_defines.h
// or e1000_hw.h (sys/dev/e1000) without the prefix E1000_ where that differs only in
// case, and what it means; numbers are those of spec 1g. Registers are 32 bits wide,
// little-endian, at byte offsets into BAR 0; bit 0 is the least significant.
package emreg

// BAR layout (spec 1g 1).
const (
	BARSize   = 0x20000 // bytes of BAR 0
	IOBARSize = 64      // bytes of the I/O BAR of 8254x
	IOAddr    = 0       // I/O BAR: offset of the register that IOData reaches (IOADDR)
	IOData    = 4       // I/O BAR: that register (IODATA)
)

// Strides between the registers of a queue and the next one's.
const (
	RingStride = 0x100 // RDBAL(n), TDBAL(n), TARC(n)
	RAStride   = 8     // RAL(n), RAH(n)
	RegStride  = 4     // tables of dwords: MTA, VFTA, RETA, RSSRK, EITR
)

// Sizes of tables and rings.
const (
	RARCount     = 15      // receive addresses of 8254x and 8257x (mac.rar_entry_count)
	MTACount     = 128     // dwords of the multicast table
	VFTACount    = 128     // dwords of the VLAN table (VLAN_FILTER_TBL_SIZE)
	RETACount    = 32      // dwords of the redirection table
	RSSRKCount   = 10      // dwords of the RSS key
	EITRCount    = 5       // EITR_82574 registers
	DescSize     = 16      // bytes of any descriptor
	RingAlign    = 128     // alignment and unit of rings in bytes (EM_DBA_ALIGN)
	RingLenMask  = 0xfff80 // RDLEN, TDLEN: bits that are there
	MaxFrameSize = 16384   // frame with FCS that a part with LPE takes (spec 1g 5.3)
)
