package hw

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

const (
	sumStride  = 64 // bytes summed in one turn of Sum's loop
	wordBytes  = 8
	ipv4AddrSz = 4
	ipv6AddrSz = 16
)

// Sum returns the one's complement sum of b (RFC 1071) as a number in host order, not
// complemented; an odd last byte counts as the high half of a word. It is 0 only if
// every byte is. Pure.
func Sum(b []byte) uint16 {
	var acc, carry uint64
	for len(b) >= sumStride {
		p := (*[sumStride]byte)(b) // one bounds check a turn
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[0:8]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[8:16]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[16:24]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[24:32]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[32:40]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[40:48]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[48:56]), carry)
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(p[56:64]), carry)
		b = b[sumStride:]
	}
	for len(b) >= wordBytes {
		acc, carry = bits.Add64(acc, binary.LittleEndian.Uint64(b), carry)
		b = b[wordBytes:]
	}
	var last uint64
	for i, v := range b {
		last |= uint64(v) << (8 * i)
	}
	acc, carry = bits.Add64(acc, last, carry)
	acc, carry = bits.Add64(acc, 0, carry)
	acc += carry
	return bits.ReverseBytes16(fold(acc))
}

// fold brings a sum of 16-bit words down to one, carries added back in.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffff_ffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}

// AddSum adds two one's complement sums.
func AddSum(a, b uint16) uint16 {
	s := uint32(a) + uint32(b)
	return uint16(s) + uint16(s>>16)
}

// SubSum takes b out of the sum a.
func SubSum(a, b uint16) uint16 { return AddSum(a, ^b) }

// SumGather sums n bytes of a gather list from offset off; it stops where the list
// ends. Segments may have any length, odd and empty ones too.
func SumGather(segs [][]byte, off, n int) uint16 {
	var sum uint16
	odd := false
	for _, s := range segs {
		if off >= len(s) {
			off -= len(s)
			continue
		}
		s = s[off:]
		off = 0
		if len(s) > n {
			s = s[:n]
		}
		part := Sum(s)
		if odd {
			part = bits.ReverseBytes16(part)
		}
		sum = AddSum(sum, part)
		odd = odd != (len(s)&1 != 0)
		n -= len(s)
		if n <= 0 {
			break
		}
	}
	return sum
}

// PseudoIPv4 returns the sum of the pseudo header (RFC 9293 3.1) of an IPv4 packet. ip
// is its header, 20 bytes or more; n the length of the upper-layer packet, 0 to leave
// the length out, as iflib's seed for segmentation does (spec 1g 5.3).
func PseudoIPv4(ip []byte, proto uint8, n int) uint16 {
	const src = 12
	sum := Sum(ip[src : src+2*ipv4AddrSz])
	return AddSum(AddSum(sum, uint16(proto)), fold(uint64(n)))
}

// PseudoIPv6 is PseudoIPv4 for an IPv6 header of 40 bytes (RFC 8200 8.1).
func PseudoIPv6(ip []byte, proto uint8, n int) uint16 {
	const src = 8
	sum := Sum(ip[src : src+2*ipv6AddrSz])
	return AddSum(AddSum(sum, uint16(proto)), fold(uint64(n)))
}

// castagnoli is the polynomial of SCTP's checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32cGather returns SCTP's checksum (RFC 9260 appendix A) over n bytes of a gather
// list from off, with the four bytes at field (from the start of the list) taken as
// zero. It stops where the list ends.
func CRC32cGather(segs [][]byte, off, n, field int) uint32 {
	var crc uint32
	pos := 0
	end := off + n
	for _, s := range segs {
		from, to := max(off-pos, 0), min(end-pos, len(s))
		if from < to {
			crc = crcPart(crc, s[from:to], field-pos-from)
		}
		pos += len(s)
	}
	return crc
}

// crcPart continues crc over b, in which up to four bytes from index hole on count as
// zero; hole may lie outside.
func crcPart(crc uint32, b []byte, hole int) uint32 {
	lo, hi := min(max(hole, 0), len(b)), min(max(hole+crcBytes, 0), len(b))
	crc = crc32.Update(crc, castagnoli, b[:lo])
	crc = crc32.Update(crc, castagnoli, zeros[:hi-lo])
	return crc32.Update(crc, castagnoli, b[hi:])
}

// crcBytes is the size of a CRC-32 in a frame.
const crcBytes = 4

// FCS returns the frame check sequence of a frame given as a gather list (IEEE 802.3
// 3.2.9); on the wire and in memory it stands least significant byte first.
func FCS(segs ...[]byte) uint32 {
	var crc uint32
	for _, s := range segs {
		crc = crc32.Update(crc, crc32.IEEETable, s)
	}
	return crc
}
