package hw

import "encoding/binary"

// SizeBins is the number of size classes that NICs count frames in.
const SizeBins = 6

// sizeLimits are the largest frames of the classes, FCS included; the last has none.
var sizeLimits = [SizeBins - 1]int{64, 127, 255, 511, 1023}

// SizeBin returns the class of a frame of n bytes without FCS: 64, 65-127, ... 1024 and
// more (PRC64..PRC1522).
func SizeBin(n int) int {
	n += crcBytes
	for i, limit := range sizeLimits {
		if n <= limit {
			return i
		}
	}
	return SizeBins - 1
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

// Count counts a frame of n bytes given as a gather list.
func (t *Tally) Count(segs [][]byte, n int) {
	var addr [EtherAddrLen]byte
	t.Frames++
	t.Bytes += uint64(n)
	t.Bins[SizeBin(n)]++
	switch CastOf(Linear(segs, addr[:], EtherAddrLen)) {
	case Broadcast:
		t.Broadcast++
	case Multicast:
		t.Multicast++
	}
}
