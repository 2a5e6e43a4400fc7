package netdissect_test

import (
	"net"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// captured is a packet of a test.
type captured struct {
	name   string
	at     time.Time
	data   []byte
	length int // on the wire
}

// builder makes packets.
type builder struct {
	t    testing.TB
	list []captured
}

var (
	mac1 = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	mac2 = net.HardwareAddr{2, 0, 0, 0, 0, 2}
	ip1  = net.IP{10, 0, 0, 1}
	ip2  = net.IP{10, 0, 0, 2}
	v61  = net.ParseIP("fe80::1")
	v62  = net.ParseIP("fe80::2")
)

// add makes a packet of layers, with right lengths and checksums.
func (b *builder) add(name string, ls ...gopacket.SerializableLayer) *captured {
	b.t.Helper()
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return b.raw(name, buf.Bytes())
}

// raw is a packet of bytes.
func (b *builder) raw(name string, data []byte) *captured {
	at := time.Unix(1_700_000_000, 123_456_000).Add(time.Duration(len(b.list)) * 1_000_001_000)
	b.list = append(b.list, captured{name, at, data, len(data)})
	return &b.list[len(b.list)-1]
}

func eth(t layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: mac1, DstMAC: mac2, EthernetType: t}
}

func ip4(proto layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Id: 7, Protocol: proto, SrcIP: ip1, DstIP: ip2}
}

func ip6(proto layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: proto, SrcIP: v61, DstIP: v62}
}

func udp(ip gopacket.NetworkLayer, src, dst int) *layers.UDP {
	u := &layers.UDP{SrcPort: layers.UDPPort(src), DstPort: layers.UDPPort(dst)}
	_ = u.SetNetworkLayerForChecksum(ip) // fails of no IP only
	return u
}

func tcp(ip gopacket.NetworkLayer, src, dst int, seq, ack uint32) *layers.TCP {
	t := &layers.TCP{SrcPort: layers.TCPPort(src), DstPort: layers.TCPPort(dst), Seq: seq, Ack: ack, Window: 1024, ACK: true}
	_ = t.SetNetworkLayerForChecksum(ip)
	return t
}

func payload(n int) gopacket.Payload { return make([]byte, n) }

// broken changes bytes of a packet.
func (c *captured) broken(off int, b ...byte) { copy(c.data[off:], b) }

// packets are a capture with something of everything.
func packets(t testing.TB) []captured {
	b := &builder{t: t}
	b.arps()
	b.udps()
	b.tcps()
	b.icmps()
	b.icmp6s()
	b.links()
	b.cut()
	return b.list
}

func (b *builder) arps() {
	arp := layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
		Operation: layers.ARPRequest, SourceHwAddress: mac1, SourceProtAddress: ip1, DstHwAddress: make([]byte, 6), DstProtAddress: ip2}
	b.add("arp request", eth(layers.EthernetTypeARP), &arp)
	b.add("arp request, padded", eth(layers.EthernetTypeARP), &arp, payload(18))
	directed := arp
	directed.DstHwAddress = mac2
	b.add("arp probe", eth(layers.EthernetTypeARP), &directed)
	reply := directed
	reply.Operation = layers.ARPReply
	b.add("arp reply", eth(layers.EthernetTypeARP), &reply)
	for _, op := range []uint16{3, 4} {
		rarp := directed
		rarp.Operation = op
		b.add("rarp", eth(layers.EthernetTypeARP), &rarp)
	}
	b.add("arp of another protocol", eth(layers.EthernetTypeARP), &arp).broken(16, 8, 6)
}

func (b *builder) udps() {
	ip := ip4(layers.IPProtocolUDP)
	b.add("udp", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18))
	b.add("udp without sum", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(40, 0, 0)
	b.add("udp with a wrong sum", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(40, 1, 2)
	b.add("udp that is too long", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(38, 0, 99)
	b.add("udp that is too short", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(38, 0, 3)
	b.add("ip with a wrong sum", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(24, 1, 2)
	b.add("ip longer than its frame", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(16, 1, 2)
	b.add("ip shorter than its header", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(16, 0, 2)
	b.add("ip with a short header", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(14, 0x42)
	b.add("ip of version 5", eth(layers.EthernetTypeIPv4), ip, udp(ip, 2000, 2001), payload(18)).broken(14, 0x55)
	flags := *ip
	flags.TOS, flags.Flags = 0xfe, layers.IPv4DontFragment
	b.add("udp with flags", eth(layers.EthernetTypeIPv4), &flags, udp(ip, 2000, 2001), payload(18))
	first, later := *ip, *ip
	first.Flags, later.FragOffset = layers.IPv4MoreFragments, 185
	b.add("first fragment", eth(layers.EthernetTypeIPv4), &first, udp(ip, 2000, 2001), payload(24))
	b.add("later fragment", eth(layers.EthernetTypeIPv4), &later, payload(24))
	six := ip6(layers.IPProtocolUDP)
	b.add("udp of ipv6", eth(layers.EthernetTypeIPv6), six, udp(six, 2000, 2001), payload(18))
	b.add("udp of ipv6 with a wrong sum", eth(layers.EthernetTypeIPv6), six, udp(six, 2000, 2001), payload(18)).broken(60, 1, 2)
	class := *six
	class.TrafficClass, class.FlowLabel = 0x20, 0x12345
	b.add("ipv6 with a class", eth(layers.EthernetTypeIPv6), &class, udp(six, 2000, 2001), payload(18))
	b.add("ipv6 longer than its frame", eth(layers.EthernetTypeIPv6), six, udp(six, 2000, 2001), payload(18)).broken(18, 1, 2)
	fragment := ip6(layers.IPProtocolIPv6Fragment)
	b.add("fragment of ipv6", eth(layers.EthernetTypeIPv6), fragment, gopacket.Payload{17, 0, 0, 1, 0, 0, 0, 9}, udp(six, 2000, 2001), payload(8))
	b.add("later fragment of ipv6", eth(layers.EthernetTypeIPv6), fragment, gopacket.Payload{17, 0, 5, 0xa8, 0, 0, 0, 9}, payload(8))
}

func (b *builder) tcps() {
	ip := ip4(layers.IPProtocolTCP)
	syn := tcp(ip, 2000, 8000, 1000, 0)
	syn.SYN, syn.ACK = true, false
	syn.Options = []layers.TCPOption{{OptionType: 2, OptionLength: 4, OptionData: []byte{5, 0xb4}}, {OptionType: 1}, {OptionType: 3, OptionLength: 3, OptionData: []byte{6}},
		{OptionType: 4, OptionLength: 2}, {OptionType: 8, OptionLength: 10, OptionData: []byte{0, 0, 0, 1, 0, 0, 0, 2}}, {OptionType: 0}}
	b.add("syn", eth(layers.EthernetTypeIPv4), ip, syn)
	back := *ip
	back.SrcIP, back.DstIP = ip2, ip1
	synAck := tcp(&back, 8000, 2000, 5000, 1001)
	synAck.SYN = true
	b.add("syn ack", eth(layers.EthernetTypeIPv4), &back, synAck)
	b.add("ack", eth(layers.EthernetTypeIPv4), ip, tcp(ip, 2000, 8000, 1001, 5001), payload(6))
	push := tcp(ip, 2000, 8000, 1001, 5001)
	push.PSH = true
	b.add("data", eth(layers.EthernetTypeIPv4), ip, push, gopacket.Payload("hello\r\nworld\x01"))
	sack := tcp(&back, 8000, 2000, 5001, 1001)
	sack.Options = []layers.TCPOption{{OptionType: 1}, {OptionType: 1}, {OptionType: 5, OptionLength: 10, OptionData: []byte{0, 0, 3, 0xf0, 0, 0, 3, 0xf8}}}
	b.add("sack", eth(layers.EthernetTypeIPv4), &back, sack, payload(6))
	odd := tcp(ip, 2000, 8000, 1014, 5001)
	odd.Options = []layers.TCPOption{{OptionType: 253, OptionLength: 4, OptionData: []byte{1, 2}}, {OptionType: 6, OptionLength: 6, OptionData: []byte{0, 0, 0, 9}}, {OptionType: 1}, {OptionType: 1}}
	b.add("odd options", eth(layers.EthernetTypeIPv4), ip, odd, payload(9))
	all := tcp(ip, 2000, 8000, 1014, 5001)
	all.FIN, all.RST, all.URG, all.ECE, all.CWR, all.Urgent = true, true, true, true, true, 3
	b.add("every flag", eth(layers.EthernetTypeIPv4), ip, all)
	none := tcp(ip, 2000, 8000, 1014, 0)
	none.ACK = false
	b.add("no flag", eth(layers.EthernetTypeIPv4), ip, none, payload(9))
	b.add("tcp with a wrong sum", eth(layers.EthernetTypeIPv4), ip, tcp(ip, 2000, 8000, 1014, 5001), payload(9)).broken(50, 1, 2)
	b.add("tcp with a long header", eth(layers.EthernetTypeIPv4), ip, tcp(ip, 2000, 8000, 1014, 5001), payload(9)).broken(46, 0xf0)
	b.add("tcp with a short header", eth(layers.EthernetTypeIPv4), ip, tcp(ip, 2000, 8000, 1014, 5001), payload(9)).broken(46, 0x40)
	six := ip6(layers.IPProtocolTCP)
	b.add("tcp of ipv6", eth(layers.EthernetTypeIPv6), six, tcp(six, 2000, 8000, 1, 2), payload(9))
}

func (b *builder) icmps() {
	ip := ip4(layers.IPProtocolICMPv4)
	message := func(name string, t, code uint8, id, seq uint16, data ...byte) {
		b.add(name, eth(layers.EthernetTypeIPv4), ip, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(t, code), Id: id, Seq: seq}, gopacket.Payload(data))
	}
	message("ping", 8, 0, 1, 2, make([]byte, 56)...)
	message("pong", 0, 0, 1, 2, make([]byte, 56)...)
	b.add("ping with a wrong sum", eth(layers.EthernetTypeIPv4), ip, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}, payload(20)).broken(36, 1, 2)
	inner := gopacket.NewSerializeBuffer()
	in := ip4(layers.IPProtocolUDP)
	if err := gopacket.SerializeLayers(inner, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, in, udp(in, 9, 2001), payload(4)); err != nil {
		b.t.Fatal(err)
	}
	for code := range uint8(17) {
		message("unreachable", 3, code, 0, 1400*uint16(code&4), inner.Bytes()...)
	}
	for code := range uint8(5) {
		message("redirect", 5, code, 0x0a00, 0x0003, inner.Bytes()...)
	}
	for code := range uint8(3) {
		message("time exceeded", 11, code, 0, 0, inner.Bytes()...)
	}
	message("parameter problem", 12, 0, 0x1400, 0, inner.Bytes()...)
	message("parameter problem", 12, 1, 0, 0, inner.Bytes()...)
	for _, t := range []uint8{4, 10, 15, 16, 42, 99} {
		message("another", t, 0, 0, 0, inner.Bytes()...)
	}
	igmp := ip4(layers.IPProtocolIGMP)
	for _, m := range [][]byte{{0x11, 0, 0, 0, 0, 0, 0, 0}, {0x11, 100, 0, 0, 224, 0, 0, 5}, {0x12, 0, 0, 0, 224, 0, 0, 5}, {0x16, 0, 9, 0xfa, 224, 0, 0, 5}, {0x17, 0, 8, 0xfa, 224, 0, 0, 5}} {
		b.add("igmp", eth(layers.EthernetTypeIPv4), igmp, gopacket.Payload(m))
	}
	b.add("another protocol", eth(layers.EthernetTypeIPv4), ip4(253), payload(20))
	options := ip4(layers.IPProtocolICMPv4)
	options.Options = []layers.IPv4Option{{OptionType: 1}, {OptionType: 148, OptionLength: 4, OptionData: []byte{0, 0}}, {OptionType: 0}}
	b.add("ip options", eth(layers.EthernetTypeIPv4), options, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Id: 1, Seq: 2}, payload(8))
}

func (b *builder) icmp6s() {
	ip := ip6(layers.IPProtocolICMPv6)
	message := func(name string, t, code uint8, body ...gopacket.SerializableLayer) {
		m := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(t, code)}
		_ = m.SetNetworkLayerForChecksum(ip)
		b.add(name, append([]gopacket.SerializableLayer{eth(layers.EthernetTypeIPv6), ip, m}, body...)...)
	}
	source := layers.ICMPv6Options{{Type: layers.ICMPv6OptSourceAddress, Data: mac1}}
	message("solicitation", 135, 0, &layers.ICMPv6NeighborSolicitation{TargetAddress: v62, Options: source})
	message("solicitation of a prober", 135, 0, &layers.ICMPv6NeighborSolicitation{TargetAddress: v62})
	message("advertisement", 136, 0, &layers.ICMPv6NeighborAdvertisement{TargetAddress: v62, Flags: 0x60, Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptTargetAddress, Data: mac2}}})
	message("router solicitation", 133, 0, &layers.ICMPv6RouterSolicitation{Options: source})
	prefix := append([]byte{64, 0xc0, 0, 0, 0, 30, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, net.ParseIP("2001:db8::")...)
	message("router advertisement", 134, 0, &layers.ICMPv6RouterAdvertisement{HopLimit: 64, Flags: 0x48, RouterLifetime: 1800, Options: layers.ICMPv6Options{
		{Type: layers.ICMPv6OptMTU, Data: []byte{0, 0, 0, 0, 5, 0xdc}}, {Type: layers.ICMPv6OptPrefixInfo, Data: prefix}}})
	message("redirect", 137, 0, &layers.ICMPv6Redirect{TargetAddress: v62, DestinationAddress: net.ParseIP("2001:db8::9")})
	message("ping", 128, 0, &layers.ICMPv6Echo{Identifier: 1, SeqNumber: 2}, payload(8))
	message("pong", 129, 0, &layers.ICMPv6Echo{Identifier: 1, SeqNumber: 2}, payload(8))
	inner := gopacket.NewSerializeBuffer()
	in := ip6(layers.IPProtocolUDP)
	if err := gopacket.SerializeLayers(inner, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, in, udp(in, 9, 2001), payload(4)); err != nil {
		b.t.Fatal(err)
	}
	quote := gopacket.Payload(append([]byte{0, 0, 5, 0}, inner.Bytes()...))
	for code := range uint8(5) {
		message("unreachable", 1, code, quote)
	}
	message("too big", 2, 0, quote)
	message("time exceeded", 3, 0, quote)
	message("time exceeded", 3, 1, quote)
	message("time exceeded", 3, 2, quote)
	for code := range uint8(3) {
		message("parameter problem", 4, code, quote)
	}
	message("with a wrong sum", 128, 0, &layers.ICMPv6Echo{Identifier: 1, SeqNumber: 2})
	b.list[len(b.list)-1].broken(56, 1, 2)
	report := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(143, 0)}
	hop := ip6(layers.IPProtocolIPv6HopByHop)
	_ = report.SetNetworkLayerForChecksum(ip)
	b.add("mld report", eth(layers.EthernetTypeIPv6), hop, gopacket.Payload{58, 0, 5, 2, 0, 0, 1, 0}, report, gopacket.Payload{0, 0, 0, 0})
	b.add("no next header", eth(layers.EthernetTypeIPv6), ip6(59), payload(8))
}

func (b *builder) links() {
	ip := ip4(layers.IPProtocolUDP)
	b.add("vlan", eth(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 7, Priority: 5, Type: layers.EthernetTypeIPv4}, ip, udp(ip, 2000, 2001), payload(4))
	b.add("vlan in vlan", eth(layers.EthernetTypeQinQ), &layers.Dot1Q{VLANIdentifier: 8, DropEligible: true, Type: layers.EthernetTypeDot1Q},
		&layers.Dot1Q{VLANIdentifier: 7, Type: layers.EthernetTypeIPv4}, ip, udp(ip, 2000, 2001), payload(4))
	b.add("unknown type", eth(0x88b5), gopacket.Payload("some text that is dumped\x00\xff!"))
	b.add("unknown type in a vlan", eth(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 7, Type: 0x88b5}, payload(17))
	b.raw("lldp", append(append(append([]byte{}, mac2...), mac1...), "\x88\xcc\x02\x07\x04\x02\x00\x00\x00\x00\x01\x04\x04\x05em0\x06\x02\x00\x78\x0a\x04host\x00\x00"...))
}

// cut are packets of which only the beginning was captured.
func (b *builder) cut() {
	ip, six := ip4(layers.IPProtocolTCP), ip6(layers.IPProtocolICMPv6)
	for _, n := range []int{10, 14, 20, 33, 34, 37, 38, 44, 53, 54, 60} {
		c := b.add("cut tcp", eth(layers.EthernetTypeIPv4), ip, tcp(ip, 2000, 8000, 1, 2), payload(30))
		c.data = c.data[:n]
	}
	m := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(135, 0)}
	_ = m.SetNetworkLayerForChecksum(six)
	for _, n := range []int{20, 54, 58, 70, 82} {
		c := b.add("cut solicitation", eth(layers.EthernetTypeIPv6), six, m, &layers.ICMPv6NeighborSolicitation{TargetAddress: v62, Options: layers.ICMPv6Options{{Type: 1, Data: mac1}}})
		c.data = c.data[:n]
	}
	u := ip4(layers.IPProtocolUDP)
	for _, n := range []int{36, 40, 44} {
		c := b.add("cut udp", eth(layers.EthernetTypeIPv4), u, udp(u, 2000, 2001), payload(30))
		c.data = c.data[:n]
	}
}
