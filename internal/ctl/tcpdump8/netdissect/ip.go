package netdissect

import (
	"encoding/binary"
	"net"

	"github.com/google/gopacket/layers"
)

// protoNames are the names of protocols of IP (ipproto_values).
var protoNames = map[layers.IPProtocol]string{0: "Options", 1: "ICMP", 2: "IGMP", 4: "IPIP", 6: "TCP", 8: "EGP", 9: "IGRP", 17: "UDP", 33: "DCCP", 41: "IPv6",
	43: "Routing", 44: "Fragment", 46: "RSVP", 47: "GRE", 50: "ESP", 51: "AH", 55: "Mobile IP", 58: "ICMPv6",
	60: "DSTOPT", 88: "EIGRP", 89: "OSPF", 103: "PIM", 108: "Compressed IP", 112: "VRRP", 113: "PGM", 132: "SCTP", 135: "Mobility", 143: "Ethernet"}

func protoName(n layers.IPProtocol) string {
	if name, ok := protoNames[n]; ok {
		return name
	}
	return "unknown"
}

// Lengths of IP's headers, and what IPv4's options and flags consist of.
const (
	ip4Header  = 20
	ip6Header  = 40
	wordLen    = 4
	fragUnit   = 8
	fragHeader = 8
)

// datagram is what IP carries.
type datagram struct {
	src, dst   net.IP
	proto      layers.IPProtocol
	data       []byte // as far as captured
	length     int
	fragmented bool // more of it is elsewhere
	direct     bool // nothing is between IP's header and it
}

// whole reports whether all of it was captured.
func (d *datagram) whole() bool { return len(d.data) >= d.length }

// ip4 writes an IPv4 packet (ip_print).
func (p *Printer) ip4(data []byte, length int) {
	if len(data) > 0 && data[0]>>4 != 4 {
		p.printf("IP%d (invalid)", data[0]>>4)
		return
	}
	if !p.o.Link && len(data) > 0 {
		p.printf("IP ")
	}
	var ip layers.IPv4
	_ = decode(&ip, data) // what is wrong is found below
	headerLen := int(ip.IHL) * wordLen
	switch {
	case len(data) < ip4Header:
		p.truncated("ip")
		return
	case headerLen < ip4Header:
		p.printf("bad-hlen %d", headerLen)
		return
	}
	total := int(binary.BigEndian.Uint16(data[2:]))
	if total > length {
		p.printf("truncated-ip - %d bytes missing! ", total-length)
	}
	offloaded := total == 0 && (ip.Protocol == layers.IPProtocolTCP || ip.Protocol == layers.IPProtocolUDP)
	if offloaded {
		total = length
	}
	if total < headerLen {
		p.printf("bad-len %d", total)
		return
	}
	data = data[:min(len(data), total)]
	if p.o.Verbose > 0 {
		p.ip4Header(&ip, data, offloaded, length)
	}
	d := datagram{src: ip.SrcIP, dst: ip.DstIP, proto: ip.Protocol, direct: true, length: min(length, total) - headerLen}
	offset := int(ip.FragOffset)
	d.fragmented = ip.Flags&layers.IPv4MoreFragments != 0
	if offset != 0 {
		p.printf("%v > %v: ip-proto-%d", d.src, d.dst, uint8(ip.Protocol))
		return
	}
	if len(data) < headerLen {
		p.printf("%v > %v: [remaining caplen(%d) < header length(%d)]", d.src, d.dst, len(data), headerLen)
		p.truncated("ip")
		return
	}
	d.data = data[headerLen:]
	p.upper(&d)
}

// ip4Header writes the header's fields in parentheses.
func (p *Printer) ip4Header(ip *layers.IPv4, data []byte, offloaded bool, length int) {
	const ecnMask = 3
	p.printf("(tos 0x%x", ip.TOS)
	p.printf("%s", [...]string{"", ",ECT(1)", ",ECT(0)", ",CE"}[ip.TOS&ecnMask])
	if ip.TTL > 0 {
		p.printf(", ttl %d", ip.TTL)
	}
	flags := bits(uint32(ip.Flags), ", ", flag{uint32(layers.IPv4MoreFragments), "+"}, flag{uint32(layers.IPv4DontFragment), "DF"}, flag{uint32(layers.IPv4EvilBit), "rsvd"})
	p.printf(", id %d, offset %d, flags [%s], proto %s (%d)", ip.Id, int(ip.FragOffset)*fragUnit, flags, protoName(ip.Protocol), uint8(ip.Protocol))
	if offloaded {
		p.printf(", length %d [was 0, presumed TSO]", length)
	} else {
		p.printf(", length %d", binary.BigEndian.Uint16(data[2:]))
	}
	headerLen := int(ip.IHL) * wordLen
	if headerLen > ip4Header {
		p.printf(", options (")
		p.ip4Options(ip)
		p.printf(")")
	}
	if !p.o.Trusting && len(data) >= headerLen {
		if sum := cksum(data[:headerLen]); sum != 0 {
			p.printf(", bad cksum %x (->%x)!", ip.Checksum, shouldBe(ip.Checksum, sum))
		}
	}
	p.printf(")\n    ")
}

// ip4OptionNames are the names of IPv4's options.
var ip4OptionNames = map[uint8]string{0: "EOL", 1: "NOP", 68: "timestamp", 130: "security", 7: "RR", 137: "SSRR", 131: "LSRR", 148: "RA", 205: "RFC1393", 25: "quickstart"}

func (p *Printer) ip4Options(ip *layers.IPv4) {
	for i, o := range ip.Options {
		if i > 0 {
			p.printf(",")
		}
		if name, ok := ip4OptionNames[o.OptionType]; ok {
			p.printf("%s", name)
		} else {
			p.printf("unknown %d", o.OptionType)
		}
	}
}

// upper writes what IP carries (ip_demux_print).
func (p *Printer) upper(d *datagram) {
	switch d.proto {
	case layers.IPProtocolTCP, layers.IPProtocolUDP, layers.IPProtocolSCTP:
	default:
		if d.direct {
			p.printf("%v > %v: ", d.src, d.dst)
		}
	}
	v6 := len(d.src) == net.IPv6len
	switch {
	case d.proto == layers.IPProtocolTCP:
		p.tcp(d)
	case d.proto == layers.IPProtocolUDP:
		p.udp(d)
	case d.proto == layers.IPProtocolICMPv4 && !v6:
		p.icmp(d)
	case d.proto == layers.IPProtocolICMPv6 && v6:
		p.icmp6(d)
	case d.proto == layers.IPProtocolICMPv4 || d.proto == layers.IPProtocolICMPv6:
		p.printf("[%s requires IPv%s] (invalid)", protoName(d.proto), pick(v6, "4", "6"))
	case d.proto == layers.IPProtocolIGMP && !v6:
		p.igmp(d)
	case d.proto == layers.IPProtocolIPv4:
		p.ip4(d.data, d.length)
	case d.proto == layers.IPProtocolIPv6:
		p.ip6(d.data, d.length)
	case d.proto == layers.IPProtocolNoNextHeader:
		p.printf("no next header")
	case d.proto == layers.IPProtocolSCTP:
		p.printf("%v > %v: sctp", d.src, d.dst)
	default:
		p.printf(" ip-proto-%d %d", uint8(d.proto), d.length)
	}
}

// igmp writes an IGMP message (igmp_print).
func (p *Printer) igmp(d *datagram) {
	const queries, v1, v2, leave, v3, message = 0x11, 0x12, 0x16, 0x17, 0x22, 8
	if p.o.Quiet {
		p.printf("igmp")
		return
	}
	if len(d.data) < message {
		p.truncated("igmp")
		return
	}
	group := net.IP(d.data[wordLen:message])
	switch d.data[0] {
	case queries:
		p.printf("igmp query%s", pick(d.length > message, " v3", pick(d.data[1] != 0, " v2", " v1")))
		if !group.IsUnspecified() {
			p.printf(" [gaddr %v]", group)
		}
	case v1:
		p.printf("igmp v1 report %v", group)
	case v2:
		p.printf("igmp v2 report %v", group)
	case v3:
		p.printf("igmp v3 report, %d group record(s)", binary.BigEndian.Uint16(d.data[message-2:]))
	case leave:
		p.printf("igmp leave %v", group)
	default:
		p.printf("igmp-%d", d.data[0])
	}
	if p.o.Verbose > 0 && d.whole() && cksum(d.data) != 0 {
		p.printf(" bad igmp cksum %x!", binary.BigEndian.Uint16(d.data[2:]))
	}
}
