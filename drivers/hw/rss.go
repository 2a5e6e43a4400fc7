package hw

// RSSTypes is a set of packet types that are hashed; bit n stands for value n of
// RSSType, so that one mask fits every part (spec 1g 3.6, MRQC fields).
type RSSTypes uint16

// RSSType is what a hash was computed over, in the numbering of Intel's descriptors.
type RSSType uint8

// Hash types.
const (
	RSSNone    RSSType = iota
	RSSTCPIPv4         // addresses and ports
	RSSIPv4            // addresses
	RSSTCPIPv6
	RSSIPv6Ex // addresses, extension headers allowed
	RSSIPv6
	RSSTCPIPv6Ex
	RSSUDPIPv4
	RSSUDPIPv6
	RSSUDPIPv6Ex
)

// Set returns the set of t alone; RSSNone is in no set that matters.
func (t RSSType) Set() RSSTypes { return 1 << t }

// rssType chooses the most special of the enabled types that fits the frame.
func (h *Headers) rssType(enabled RSSTypes) RSSType {
	var l4, l4ex, l3, l3ex RSSType
	switch {
	case h.Kind&BadIP != 0:
		return RSSNone
	case h.Has(IPv4):
		l3 = RSSIPv4
		if h.Has(TCP) {
			l4 = RSSTCPIPv4
		} else if h.Has(UDP) {
			l4 = RSSUDPIPv4
		}
	case h.Has(IPv6):
		l3ex = RSSIPv6Ex
		if h.Has(TCP) {
			l4, l4ex = RSSTCPIPv6, RSSTCPIPv6Ex
		} else if h.Has(UDP) {
			l4, l4ex = RSSUDPIPv6, RSSUDPIPv6Ex
		}
		if h.Has(IPv6Ext) {
			l4 = RSSNone // with extension headers only the EX types
		} else {
			l3 = RSSIPv6
		}
	}
	for _, t := range [...]RSSType{l4, l4ex, l3, l3ex} {
		if t != RSSNone && enabled&t.Set() != 0 {
			return t
		}
	}
	return RSSNone
}

// Hash computes the RSS hash of a parsed frame: over the 4-tuple if the TCP or UDP type
// of the frame is enabled, else over the addresses if the IP type is. Fragments have no
// ports. RSSNone and 0 if no enabled type fits. "EX" types hash the addresses of the
// IPv6 header itself.
func (t *Toeplitz) Hash(frame []byte, h *Headers, enabled RSSTypes) (uint32, RSSType) {
	typ := h.rssType(enabled)
	if typ == RSSNone {
		return 0, RSSNone
	}
	const v4Addrs, v6Addrs, ports = 12, 8, 4
	off, size := h.L3+v4Addrs, 2*ipv4AddrSz
	if h.Has(IPv6) {
		off, size = h.L3+v6Addrs, 2*ipv6AddrSz
	}
	hash := t.sumAt(0, frame[off:off+size])
	switch typ {
	case RSSIPv4, RSSIPv6, RSSIPv6Ex:
	default:
		hash ^= t.sumAt(size, frame[h.L4:h.L4+ports])
	}
	return hash, typ
}
