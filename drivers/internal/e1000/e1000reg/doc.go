// Package e1000reg holds what the gigabit parts with advanced descriptors, those of igb
// and igc, have beside or instead of the registers that emreg names: the registers of a
// queue, vectors, moderation, steering, and the descriptor formats. Offsets and bits
// that are the same in the whole family (CTRL, RCTL, MDIC, statistics, ...) are emreg's
// alone; what only one of the two drivers has is in igbreg or igcreg. Constants and the
// text that traces show them with.
//
// The comment of each constant gives its name in FreeBSD's e1000_regs.h,
// e1000_defines.h or e1000_82575.h (sys/dev/e1000; igc has the same with IGC_) without
// the prefix E1000_ where that differs only in case, and what it means; numbers are
// those of spec 1g. Registers are 32 bits wide, little-endian, at byte offsets into
// BAR 0; bit 0 is the least significant.
package e1000reg

// Sizes of tables.
const (
	MaxQueues = 16  // queues that the largest part has (82576)
	MaxVector = 25  // MSI-X vectors of the largest part
	UTACount  = 128 // dwords of the unicast table
	DescSize  = 16  // bytes of any descriptor
)
