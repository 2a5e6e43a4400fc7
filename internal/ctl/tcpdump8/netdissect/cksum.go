package netdissect

import (
	"encoding/binary"
	"net"
)

// cksum is the Internet checksum of parts: 0 if it is right, when it is among them.
func cksum(parts ...[]byte) uint16 {
	var sum uint32
	odd := false
	for _, part := range parts {
		for _, c := range part {
			v := uint32(c)
			if !odd {
				v <<= 8
			}
			sum += v
			odd = !odd
			sum = sum&0xffff + sum>>16
		}
	}
	return ^uint16(sum)
}

// shouldBe is the checksum a header needs that has got one with which the sum is not 0
// (in_cksum_shouldbe).
func shouldBe(got, sum uint16) uint16 {
	v := uint32(got) + uint32(sum)
	v = v&0xffff + v>>16
	return uint16(v)
}

// pseudo is the header that TCP, UDP and ICMPv6 add to their sums.
func pseudo(src, dst net.IP, proto byte, length int) []byte {
	b := append(append([]byte{}, src...), dst...)
	if len(src) == net.IPv4len {
		b = append(b, 0, proto)
		return binary.BigEndian.AppendUint16(b, uint16(length))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(length))
	return append(b, 0, 0, 0, proto)
}
