package red

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Offsets in a frame and in IP headers, and the codepoints of ECN (RFC 3168).
const (
	etherTypeOff = 12
	etherHdr     = 14
	vlanTag      = 4
	typeVLAN     = 0x8100
	typeIPv4     = 0x0800
	typeIPv6     = 0x86dd
	ipv4Hdr      = 20
	ipv6Hdr      = 40
	tosOff       = 1
	sumOff       = 10
	ecnMask      = 3
	ecnNotECT    = 0
	ecnCE        = 3
	ecnShiftV6   = 4 // of the traffic class's low bits in the second byte
)

// markECN sets Congestion Experienced in a frame and reports whether it stands
// there (mark_ecn). Only frames that pf gave a queue can be marked, as in FreeBSD,
// where the place of the IP header is in pf's tag; here it follows from the
// EtherType. A header that is shared with another packet is left alone.
func markECN(m *mbuf.Mbuf) bool {
	b := m.Bytes()
	if m.QID == 0 || len(b) < etherHdr {
		return false
	}
	off := etherTypeOff
	if binary.BigEndian.Uint16(b[off:]) == typeVLAN && len(b) >= etherHdr+vlanTag {
		off += vlanTag
	}
	ip := b[off+2:]
	switch binary.BigEndian.Uint16(b[off:]) {
	case typeIPv4:
		return len(ip) >= ipv4Hdr && markIPv4(m, ip)
	case typeIPv6:
		return len(ip) >= ipv6Hdr && markBits(m, &ip[tosOff], ecnShiftV6)
	}
	return false
}

// markIPv4 marks and corrects the header checksum (RFC 1624, equation 3).
func markIPv4(m *mbuf.Mbuf, ip []byte) bool {
	old := ip[tosOff]
	if !markBits(m, &ip[tosOff], 0) {
		return false
	}
	sum := uint32(^binary.BigEndian.Uint16(ip[sumOff:])) + uint32(ip[tosOff]-old)
	binary.BigEndian.PutUint16(ip[sumOff:], ^uint16(sum+sum>>16))
	return true
}

// markBits sets CE in the two bits at shift, if they say that the sender listens.
func markBits(m *mbuf.Mbuf, b *byte, shift uint) bool {
	switch *b >> shift & ecnMask {
	case ecnNotECT:
		return false
	case ecnCE:
		return true
	}
	if !m.Writable() {
		return false
	}
	*b |= ecnCE << shift
	return true
}
