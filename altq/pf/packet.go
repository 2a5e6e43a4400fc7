package pf

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Protocols.
const (
	protoHopOpts  = 0
	protoICMP     = 1
	protoTCP      = 6
	protoUDP      = 17
	protoRouting  = 43
	protoFragment = 44
	protoAH       = 51
	protoICMPv6   = 58
	protoDstOpts  = 60
)

// Sizes of headers in bytes.
const (
	ip4HeaderLen = 20
	ip6HeaderLen = 40
	tcpHeaderLen = 20
	portsLen     = 8 // of UDP, and what is looked at of ICMP
	extHeaderLen = 8 // at least
	maxExtension = 8 // headers that are followed
)

// Flags of TCP.
const (
	tcpFIN = 0x01
	tcpSYN = 0x02
	tcpRST = 0x04
	tcpACK = 0x10
)

// lowDelay is the bit of the type of service that asks for the second queue
// (IPTOS_LOWDELAY).
const lowDelay = 0x10

// packet is what rules and states look at (struct pf_pdesc).
type packet struct {
	family       conf.Family
	dir          conf.Direction
	proto        uint8
	tos          uint8
	flags        uint8 // of TCP
	fragment     bool  // and not the first: the protocol's header is elsewhere
	icmpError    bool  // about the packet at inner
	quoted       bool  // in an ICMP error, which may have no more than the ports
	src, dst     addr128
	sport, dport uint16 // of ICMP queries both are the identifier
	length       int    // of the packet
	payload      int    // of TCP
	inner        int    // offset
}

// pureAck reports whether the packet only acknowledges.
func (pd *packet) pureAck() bool {
	return pd.proto == protoTCP && pd.flags&tcpACK != 0 && pd.payload == 0 && !pd.fragment
}

// header is n bytes of a packet from offset off, in buf if they are not together. nil:
// there are not so many.
func header(m *mbuf.Mbuf, off, n int, buf *[ip6HeaderLen]byte) []byte {
	if b := m.Bytes(); off >= 0 && off+n <= len(b) {
		return b[off : off+n]
	}
	if off < 0 || off+n > m.Length() {
		return nil
	}
	m.CopyData(off, buf[:n])
	return buf[:n]
}

// parse reads the headers of a packet whose network header is at off. False: they are
// cut off.
func (pd *packet) parse(m *mbuf.Mbuf, off int, af ifnet.AF) bool {
	if af == ifnet.AFInet {
		return pd.parse4(m, off)
	}
	return pd.parse6(m, off)
}

// Fields of the IPv4 header.
const (
	ip4TOS, ip4Length, ip4Fragment, ip4Proto, ip4Src, ip4Dst = 1, 2, 6, 9, 12, 16

	ip4OffsetMask = 0x1fff
	ip4WordLen    = 4 // unit of the header's length
	nibble        = 4
	nibbleMask    = 0xf
)

func (pd *packet) parse4(m *mbuf.Mbuf, off int) bool {
	var buf [ip6HeaderLen]byte
	h := header(m, off, ip4HeaderLen, &buf)
	if h == nil || h[0]>>nibble != byte(conf.Inet) {
		return false
	}
	hlen := int(h[0]&nibbleMask) * ip4WordLen
	pd.family = conf.Inet
	pd.tos, pd.proto = h[ip4TOS], h[ip4Proto]
	pd.length = int(binary.BigEndian.Uint16(h[ip4Length:]))
	pd.fragment = binary.BigEndian.Uint16(h[ip4Fragment:])&ip4OffsetMask != 0
	pd.src = addr128{hi: uint64(binary.BigEndian.Uint32(h[ip4Src:])) << ip4Shift}
	pd.dst = addr128{hi: uint64(binary.BigEndian.Uint32(h[ip4Dst:])) << ip4Shift}
	if hlen < ip4HeaderLen {
		return false
	}
	return pd.parseProto(m, off+hlen, pd.length-hlen)
}

// Fields of the IPv6 header.
const (
	ip6Length, ip6Next, ip6Src, ip6Dst = 4, 6, 8, 24

	ip6ClassMask    = 0xff
	ip6FragmentMask = 0xfff8
	ahWordLen       = 4 // unit of the length of an authentication header
	addrHalf        = 8
)

func (pd *packet) parse6(m *mbuf.Mbuf, off int) bool {
	var buf [ip6HeaderLen]byte
	h := header(m, off, ip6HeaderLen, &buf)
	if h == nil || h[0]>>nibble != byte(conf.Inet6) {
		return false
	}
	pd.family = conf.Inet6
	pd.tos = uint8(binary.BigEndian.Uint16(h) >> nibble & ip6ClassMask)
	rest := int(binary.BigEndian.Uint16(h[ip6Length:]))
	pd.length = ip6HeaderLen + rest
	pd.src = addr128{binary.BigEndian.Uint64(h[ip6Src:]), binary.BigEndian.Uint64(h[ip6Src+addrHalf:])}
	pd.dst = addr128{binary.BigEndian.Uint64(h[ip6Dst:]), binary.BigEndian.Uint64(h[ip6Dst+addrHalf:])}
	pd.proto = h[ip6Next]
	off += ip6HeaderLen
	for range maxExtension {
		n, ok := pd.extension(m, off)
		if !ok {
			return false
		}
		if n == 0 {
			return pd.parseProto(m, off, rest)
		}
		off += n
		rest -= n
	}
	return false
}

// extension reads the header at off if it is an extension of IPv6, and returns its
// length, 0 if it is none. The protocol moves on to what follows it.
func (pd *packet) extension(m *mbuf.Mbuf, off int) (n int, ok bool) {
	kind := pd.proto
	switch kind {
	case protoHopOpts, protoRouting, protoDstOpts, protoFragment, protoAH:
	default:
		return 0, true
	}
	if pd.fragment {
		return 0, true
	}
	var buf [ip6HeaderLen]byte
	h := header(m, off, extHeaderLen, &buf)
	if h == nil {
		return 0, false
	}
	pd.proto = h[0]
	switch kind {
	case protoFragment:
		pd.fragment = binary.BigEndian.Uint16(h[2:])&ip6FragmentMask != 0
		return extHeaderLen, true
	case protoAH:
		return (int(h[1]) + 2) * ahWordLen, true
	}
	return (int(h[1]) + 1) * extHeaderLen, true
}

// parseProto reads the header of the protocol at off, behind which and with which there
// are rest bytes.
func (pd *packet) parseProto(m *mbuf.Mbuf, off, rest int) bool {
	if pd.fragment {
		return true
	}
	switch {
	case pd.proto == protoTCP && !pd.quoted:
		return pd.parseTCP(m, off, rest)
	case pd.proto == protoTCP, pd.proto == protoUDP:
		var buf [ip6HeaderLen]byte
		h := header(m, off, portsLen, &buf)
		if h == nil {
			return false
		}
		pd.sport, pd.dport = binary.BigEndian.Uint16(h), binary.BigEndian.Uint16(h[2:])
	case pd.proto == protoICMP, pd.proto == protoICMPv6:
		return pd.parseICMP(m, off)
	}
	return true
}

// Fields of the TCP header.
const tcpOffset, tcpFlagBits = 12, 13

func (pd *packet) parseTCP(m *mbuf.Mbuf, off, rest int) bool {
	var buf [ip6HeaderLen]byte
	h := header(m, off, tcpHeaderLen, &buf)
	if h == nil {
		return false
	}
	pd.sport, pd.dport = binary.BigEndian.Uint16(h), binary.BigEndian.Uint16(h[2:])
	pd.flags = h[tcpFlagBits]
	pd.payload = rest - int(h[tcpOffset]>>nibble)*ip4WordLen
	return pd.payload >= 0
}

// Types of ICMP that are about another packet, and those that have an identifier.
const (
	icmpUnreach, icmpQuench, icmpRedirect, icmpTimeExceeded, icmpParam = 3, 4, 5, 11, 12
	icmpEchoReply, icmpEcho, icmpTimestamp, icmpTimestampReply         = 0, 8, 13, 14

	icmp6Errors                  = 128 // lower ones are about another packet
	icmp6Echo, icmp6EchoReply    = 128, 129
	icmpIdentifier, icmpInnerOff = 4, 8
)

func (pd *packet) parseICMP(m *mbuf.Mbuf, off int) bool {
	var buf [ip6HeaderLen]byte
	h := header(m, off, portsLen, &buf)
	if h == nil {
		return false
	}
	query := false
	if pd.proto == protoICMP {
		switch h[0] {
		case icmpUnreach, icmpQuench, icmpRedirect, icmpTimeExceeded, icmpParam:
			pd.icmpError = true
		case icmpEcho, icmpEchoReply, icmpTimestamp, icmpTimestampReply:
			query = true
		}
	} else {
		pd.icmpError = h[0] < icmp6Errors
		query = h[0] == icmp6Echo || h[0] == icmp6EchoReply
	}
	pd.inner = off + icmpInnerOff
	if query {
		pd.sport = binary.BigEndian.Uint16(h[icmpIdentifier:])
		pd.dport = pd.sport
	}
	return true
}
