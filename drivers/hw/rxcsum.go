package hw

import "encoding/binary"

// Verdict is what a receive unit says of a checksum.
type Verdict uint8

// Verdicts.
const (
	NotChecked Verdict = iota // not there, or not one that hardware checks
	CsumGood
	CsumBad
)

// CheckIP verifies the IPv4 header checksum of a parsed frame; NotChecked without an
// IPv4 header that makes sense.
func (h *Headers) CheckIP(frame []byte) Verdict {
	if h.Kind&IPv4 == 0 || h.Kind&BadIP != 0 {
		return NotChecked
	}
	hlen := int(frame[h.L3]&0xf) * 4
	return verdict(Sum(frame[h.L3:h.L3+hlen]) == 0xffff)
}

// CheckL4 verifies the TCP, UDP or SCTP checksum of a parsed frame that is whole.
// Fragments and UDP without a checksum are NotChecked (spec 1g 5.3); without one over
// IPv6 too, as the parts do not judge it.
func (h *Headers) CheckL4(frame []byte) Verdict {
	if h.L4 == 0 || h.L3End > len(frame) {
		return NotChecked
	}
	data := frame[h.L4:h.L3End]
	switch {
	case h.Has(SCTP):
		return h.checkSCTP(data)
	case h.Has(UDP):
		udpLen := int(binary.BigEndian.Uint16(data[udpLength:]))
		if data[udpCsum]|data[udpCsum+1] == 0 {
			return NotChecked
		}
		if udpLen < UDPHdrLen || udpLen > len(data) {
			return CsumBad
		}
		data = data[:udpLen]
	}
	return verdict(AddSum(h.pseudo(frame, len(data)), Sum(data)) == 0xffff)
}

func (h *Headers) checkSCTP(data []byte) Verdict {
	crc := crcPart(0, data, sctpCsum)
	return verdict(crc == binary.LittleEndian.Uint32(data[sctpCsum:]))
}

// pseudo is the pseudo header's sum for n bytes of upper layer. Of a source route the
// final destination does not count: hardware takes the header's.
func (h *Headers) pseudo(frame []byte, n int) uint16 {
	if h.Kind&IPv4 != 0 {
		return PseudoIPv4(frame[h.L3:], h.Proto, n)
	}
	return PseudoIPv6(frame[h.L3:], h.Proto, n)
}

func verdict(good bool) Verdict {
	if good {
		return CsumGood
	}
	return CsumBad
}
