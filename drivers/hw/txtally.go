package hw

import (
	"encoding/binary"
	"math/bits"
)

// SizeBins is the number of size classes that NICs count frames in.
const SizeBins = 6

const (
	smallestBin  = 64 // bytes with FCS
	smallBinBits = 7  // bits.Len of the frames in the second class
)

// SizeBin returns the class of a frame of n bytes without FCS: 64, 65-127, 128-255, ...
// 1024 and more (PRC64..PRC1522).
func SizeBin(n int) int {
	n += crcBytes
	if n <= smallestBin {
		return 0
	}
	return min(bits.Len(uint(n))-smallBinBits+1, SizeBins-1)
}

// Tally counts frames that went to the port, per frame on the wire. The owner of the
// queue reads it after Send and zeroes it.
type Tally struct {
	Frames, Bytes        uint64 // bytes without FCS
	Multicast, Broadcast uint64
	TSOPackets           uint64 // packets that were cut
	Bins                 [SizeBins]uint64
}

// Cast is whom a frame is for.
type Cast uint8

// The casts.
const (
	Unicast Cast = iota
	Multicast
	Broadcast
)

// CastOf returns whom the frame that begins with b is for; a frame without a whole
// address is unicast.
func CastOf(b []byte) Cast {
	if len(b) < EtherAddrLen || b[0]&1 == 0 {
		return Unicast
	}
	if binary.LittleEndian.Uint32(b) == 0xffff_ffff && binary.LittleEndian.Uint16(b[4:]) == 0xffff {
		return Broadcast
	}
	return Multicast
}

// Count counts a frame of n bytes given as a gather list of one
// piece or more.
func (t *Tally) Count(segs [][]byte, n int) {
	head := segs[0]
	if len(head) < EtherAddrLen {
		var addr [EtherAddrLen]byte
		head = Linear(segs, addr[:], EtherAddrLen)
	}
	t.Frames++
	t.Bytes += uint64(n)
	t.Bins[SizeBin(n)]++
	switch CastOf(head) {
	case Broadcast:
		t.Broadcast++
	case Multicast:
		t.Multicast++
	}
}
