package inet

import (
	"encoding/binary"
	"math/bits"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// sumBytes is the ones' complement sum of b as 16-bit words, not folded; a last odd byte
// is a high one.
func sumBytes(b []byte) uint64 {
	const (
		long  = 8
		short = 4
		high  = 8
		half  = 32
	)
	var sum, carry uint64
	for len(b) >= long {
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), carry)
		b = b[long:]
	}
	// the carry of each addition is worth one, and so is the last
	sum = sum>>half + sum&0xffffffff + carry
	if len(b) >= short {
		sum += uint64(binary.BigEndian.Uint32(b))
		b = b[short:]
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) > 0 {
		sum += uint64(b[0]) << high
	}
	return sum
}

// fold brings a sum to 16 bits.
func fold(sum uint64) uint16 {
	const word = 16
	for sum>>word != 0 {
		sum = sum>>word + sum&0xffff
	}
	return uint16(sum)
}

// sumChain is the folded sum of n bytes of a chain from offset off (in_cksum_skip without
// the complement). The chain holds them.
func sumChain(m *mbuf.Mbuf, off, n int) uint64 {
	var sum uint64
	odd := false
	for ; m != nil && n > 0; m = m.Next {
		b := m.Bytes()
		if off >= len(b) {
			off -= len(b)
			continue
		}
		b = b[off:min(len(b), off+n)]
		off = 0
		part := fold(sumBytes(b))
		if odd {
			part = bits.ReverseBytes16(part)
		}
		sum += uint64(part)
		odd = odd != (len(b)%2 == 1)
		n -= len(b)
	}
	return sum
}

// headerSum is the checksum field's value for a header whose field is 0; for a header
// with its checksum it is 0 when that is right.
func headerSum(h []byte) uint16 { return ^fold(sumBytes(h)) }

// pseudo6 is the sum of the pseudo header of an IPv6 packet (RFC 8200 8.1).
func pseudo6(ip []byte, n int, next uint8) uint64 {
	return uint64(fold(sumBytes(ip[ip6SrcOff:ip6HdrLen]))) + uint64(n) + uint64(next)
}
