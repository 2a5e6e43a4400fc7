package hw

import "encoding/binary"

// EtherTypes and protocol numbers that the parser knows.
const (
	EtherIPv4 = 0x0800
	EtherIPv6 = 0x86dd

	ProtoTCP  = 6
	ProtoUDP  = 17
	ProtoSCTP = 132

	protoHopOpts  = 0
	protoRouting  = 43
	protoFragment = 44
	protoESP      = 50
	protoAH       = 51
	protoDestOpts = 60
)

// Sizes of headers in bytes.
const (
	IPv4HdrLen = 20
	IPv6HdrLen = 40
	TCPHdrLen  = 20
	UDPHdrLen  = 8
	sctpHdrLen = 12
	ip6ExtLen  = 8 // smallest extension header, and the unit of their length fields

	maxTags       = 2 // tags skipped in front of the EtherType
	maxExtHeaders = 8 // IPv6 extension headers followed
)

// Kind says what Parse found, as bits.
type Kind uint16

// What a frame holds.
const (
	IPv4     Kind = 1 << iota
	IPv4Opts      // IPv4 with options
	IPv6
	IPv6Ext // IPv6 with extension headers
	TCP
	UDP
	SCTP
	ESP
	AH
	Fragment // any fragment but a whole packet: no layer 4 is reported
	BadIP    // version, header length or total length of the IP header are wrong
)

// Headers is where the headers of a frame are. Offsets are from the start of the
// frame; those of layers that are absent are 0.
type Headers struct {
	Kind      Kind
	Tags      uint8  // VLAN tags in front of the EtherType, at most 2
	Proto     uint8  // protocol behind IP and its extension headers
	TCPFlags  uint8  // FIN is bit 0, CWR bit 7
	EtherType uint16 // behind the tags
	L3        int    // IP header
	L3End     int    // end of the IP packet by its length field, never behind the frame
	L4        int    // TCP, UDP or SCTP header; 0 if it is not whole
	Payload   int    // behind the layer 4 header
}

// Has reports whether all bits of k are set.
func (h *Headers) Has(k Kind) bool { return h.Kind&k == k }

// Parse finds the headers of a frame, or of the first part of one: of a layer that is
// not whole nothing is reported. It accepts any bytes. frameLen is the length of the
// whole frame, of which b may be the beginning.
func (h *Headers) Parse(b []byte, frameLen int) {
	*h = Headers{}
	off := etherAddrs
	for {
		if len(b) < off+2 {
			return
		}
		h.EtherType = binary.BigEndian.Uint16(b[off:])
		off += 2
		tag := h.EtherType == TPID8021Q || h.EtherType == TPID8021AD
		if !tag || h.Tags == maxTags {
			break
		}
		h.Tags++
		off += 2
	}
	switch h.EtherType {
	case EtherIPv4:
		h.ipv4(b, off, frameLen)
	case EtherIPv6:
		h.ipv6(b, off, frameLen)
	}
}

func (h *Headers) ipv4(b []byte, off, frameLen int) {
	if len(b) < off+IPv4HdrLen {
		return
	}
	ip := b[off:]
	hlen, total := int(ip[0]&0xf)*4, int(binary.BigEndian.Uint16(ip[2:]))
	h.Kind, h.L3 = IPv4, off
	if ip[0]>>4 != 4 || hlen < IPv4HdrLen || total < hlen || len(ip) < hlen || off+total > frameLen {
		h.Kind |= BadIP
		return
	}
	if hlen > IPv4HdrLen {
		h.Kind |= IPv4Opts
	}
	h.L3End = off + total
	h.Proto = ip[9]
	const moreOrOffset = 0x3fff
	if binary.BigEndian.Uint16(ip[6:])&moreOrOffset != 0 {
		h.Kind |= Fragment
		return
	}
	h.layer4(b, off+hlen)
}

func (h *Headers) ipv6(b []byte, off, frameLen int) {
	if len(b) < off+IPv6HdrLen {
		return
	}
	ip := b[off:]
	total := IPv6HdrLen + int(binary.BigEndian.Uint16(ip[4:]))
	h.Kind, h.L3 = IPv6, off
	if ip[0]>>4 != 6 || off+total > frameLen {
		h.Kind |= BadIP
		return
	}
	h.L3End = off + total
	h.Proto = ip[6]
	if off, ok := h.extensions(b, off+IPv6HdrLen); ok {
		h.layer4(b, off)
	}
}

// extensions walks IPv6 extension headers from off to the upper layer. ok is false
// when that is out of reach: a fragment, too many headers, or not in b.
func (h *Headers) extensions(b []byte, off int) (next int, ok bool) {
	for range maxExtHeaders {
		switch h.Proto {
		case protoHopOpts, protoRouting, protoDestOpts, protoFragment, protoAH:
		default:
			return off, true
		}
		if off+ip6ExtLen > min(len(b), h.L3End) {
			return 0, false
		}
		h.Kind |= IPv6Ext
		size := (int(b[off+1]) + 1) * ip6ExtLen
		switch h.Proto {
		case protoFragment:
			const moreOrOffset = 0xfff9
			if binary.BigEndian.Uint16(b[off+2:])&moreOrOffset != 0 {
				h.Kind |= Fragment
				h.Proto = b[off]
				return 0, false
			}
			size = ip6ExtLen
		case protoAH:
			h.Kind |= AH
			size = (int(b[off+1]) + 2) * 4
		}
		h.Proto = b[off]
		off += size
	}
	return 0, false
}

// layer4 notes the transport header at off if it is whole.
func (h *Headers) layer4(b []byte, off int) {
	end := min(len(b), h.L3End)
	size := 0
	switch h.Proto {
	case ProtoTCP:
		const dataOffset, flags = 12, 13
		if off+TCPHdrLen > end {
			return
		}
		size = int(b[off+dataOffset]>>4) * 4
		if size < TCPHdrLen || off+size > end {
			return
		}
		h.Kind |= TCP
		h.TCPFlags = b[off+flags]
	case ProtoUDP:
		size = UDPHdrLen
		if off+size > end {
			return
		}
		h.Kind |= UDP
	case ProtoSCTP:
		size = sctpHdrLen
		if off+size > end {
			return
		}
		h.Kind |= SCTP
	case protoESP:
		h.Kind |= ESP
		return
	case protoAH:
		h.Kind |= AH
		return
	default:
		return
	}
	h.L4, h.Payload = off, off+size
}
