package pcapfilter_test

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"pgregory.net/rapid"
)

// facts are what gopacket finds in a packet.
type facts struct {
	length   int
	eth      *layers.Ethernet
	tags     []*layers.Dot1Q
	ip4      *layers.IPv4
	ip6      *layers.IPv6
	arp      *layers.ARP
	tcp      *layers.TCP
	udp      *layers.UDP
	icmp     *layers.ICMPv4
	icmp6    *layers.ICMPv6
	fragment *layers.IPv6Fragment
}

// decode finds the facts; those behind tags only if tagged is set.
func decode(data []byte, tagged bool) (f facts) {
	f.length = len(data)
	for _, l := range gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default).Layers() {
		switch l := l.(type) {
		case *layers.Ethernet:
			f.eth = l
		case *layers.Dot1Q:
			f.tags = append(f.tags, l)
			if !tagged || len(f.tags) > 1 {
				return f
			}
		case *layers.IPv4:
			f.ip4 = l
		case *layers.IPv6:
			f.ip6 = l
		case *layers.ARP:
			f.arp = l
		case *layers.TCP:
			f.tcp = l
		case *layers.UDP:
			f.udp = l
		case *layers.ICMPv4:
			f.icmp = l
		case *layers.ICMPv6:
			f.icmp6 = l
		case *layers.IPv6Fragment:
			f.fragment = l
		}
	}
	if tagged && len(f.tags) == 0 {
		return facts{length: f.length, eth: f.eth} // what is there is no tag
	}
	return f
}

// carries reports whether IP carries a protocol.
func (f facts) carries(proto layers.IPProtocol, in4, in6 bool) bool {
	return in4 && f.ip4 != nil && f.ip4.Protocol == proto ||
		in6 && f.ip6 != nil && (f.ip6.NextHeader == proto || f.fragment != nil && f.fragment.NextHeader == proto)
}

// sides joins what holds of the source and the destination.
func sides(dir string, src, dst bool) bool {
	switch dir {
	case "src ":
		return src
	case "dst ":
		return dst
	case "src and dst ":
		return src && dst
	}
	return src || dst
}

// ends are the addresses of a packet that a family sees.
func (f facts) ends(family string) (src, dst net.IP) {
	switch {
	case f.ip4 != nil && (family == "" || family == "ip "):
		return f.ip4.SrcIP, f.ip4.DstIP
	case f.ip6 != nil && (family == "" || family == "ip6 "):
		return f.ip6.SrcIP, f.ip6.DstIP
	case f.arp != nil && (family == "" || family == "arp "):
		return f.arp.SourceProtAddress, f.arp.DstProtAddress
	}
	return nil, nil
}

// ports are the ports of a packet.
func (f facts) ports(proto string) (src, dst int, ok bool) {
	if f.fragment != nil {
		return 0, 0, false
	}
	switch {
	case f.tcp != nil && proto != "udp ":
		return int(f.tcp.SrcPort), int(f.tcp.DstPort), true
	case f.udp != nil && proto != "tcp ":
		return int(f.udp.SrcPort), int(f.udp.DstPort), true
	}
	return 0, 0, false
}

// condition is an expression, and whether it holds.
type condition struct {
	text  string
	holds func(f facts) bool
}

var directions = []string{"", "src ", "dst ", "src or dst ", "src and dst "}

func drawAddress(t *rapid.T) condition {
	dir := rapid.SampledFrom(directions).Draw(t, "dir")
	last := rapid.ByteRange(1, 3).Draw(t, "last")
	v6 := rapid.Bool().Draw(t, "v6")
	family := rapid.SampledFrom([]string{"", "ip ", "arp "}).Draw(t, "family")
	base, bits := net.IP{10, 0, 0, last}, rapid.SampledFrom([]int{0, 1, 7, 8, 16, 29, 30, 31, 32}).Draw(t, "bits")
	size := 32
	if v6 {
		family = rapid.SampledFrom([]string{"", "ip6 "}).Draw(t, "family 6")
		base, bits, size = ip6(last), rapid.SampledFrom([]int{0, 1, 31, 32, 33, 64, 95, 96, 120, 126, 127, 128}).Draw(t, "bits 6"), 128
	}
	text := family + dir + "host " + base.String()
	if rapid.Bool().Draw(t, "host") {
		bits = size
	} else {
		base = base.Mask(net.CIDRMask(bits, size))
		text = fmt.Sprintf("%s%snet %v/%d", family, dir, base, bits)
	}
	network := net.IPNet{IP: base, Mask: net.CIDRMask(bits, size)}
	return condition{text, func(f facts) bool {
		src, dst := f.ends(family)
		within := func(ip net.IP) bool { return (ip.To4() == nil) == v6 && ip != nil && network.Contains(ip) }
		return sides(dir, within(src), within(dst))
	}}
}

func drawEther(t *rapid.T) condition {
	dir := rapid.SampledFrom(directions).Draw(t, "dir")
	mac := spec{}.mac(rapid.ByteRange(1, 3).Draw(t, "last"))
	return condition{"ether " + dir + "host " + mac.String(), func(f facts) bool {
		return sides(dir, f.eth.SrcMAC.String() == mac.String(), f.eth.DstMAC.String() == mac.String())
	}}
}

func drawPort(t *rapid.T) condition {
	dir := rapid.SampledFrom(directions).Draw(t, "dir")
	proto := rapid.SampledFrom([]string{"", "tcp ", "udp "}).Draw(t, "proto")
	first := rapid.IntRange(1, 4).Draw(t, "first")
	last, text := first, fmt.Sprintf("%s%sport %d", proto, dir, first)
	if rapid.Bool().Draw(t, "range") {
		last = rapid.IntRange(first, 5).Draw(t, "to")
		text = fmt.Sprintf("%s%sportrange %d-%d", proto, dir, first, last)
	}
	return condition{text, func(f facts) bool {
		src, dst, ok := f.ports(proto)
		return ok && sides(dir, first <= src && src <= last, first <= dst && dst <= last)
	}}
}

// words are conditions without parameters.
var words = []condition{
	{"ip", func(f facts) bool { return f.ip4 != nil }},
	{"ip6", func(f facts) bool { return f.ip6 != nil }},
	{"arp", func(f facts) bool { return f.arp != nil }},
	{"rarp", func(f facts) bool { return false }},
	{"tcp", func(f facts) bool { return f.carries(6, true, true) }},
	{"udp", func(f facts) bool { return f.carries(17, true, true) }},
	{"icmp", func(f facts) bool { return f.carries(1, true, false) }},
	{"icmp6", func(f facts) bool { return f.carries(58, false, true) }},
	{"igmp", func(f facts) bool { return f.carries(2, true, false) }},
	{"proto 17", func(f facts) bool { return f.carries(17, true, true) }},
	{`ip proto \tcp`, func(f facts) bool { return f.carries(6, true, false) }},
	{`ip6 proto \icmp6`, func(f facts) bool { return f.carries(58, false, true) }},
	{"ether broadcast", func(f facts) bool { return slices.Equal(f.eth.DstMAC, layers.EthernetBroadcast) }},
	{"broadcast", func(f facts) bool { return slices.Equal(f.eth.DstMAC, layers.EthernetBroadcast) }},
	{"multicast", func(f facts) bool { return f.eth.DstMAC[0]&1 != 0 }},
	{"ip multicast", func(f facts) bool { return f.ip4 != nil && f.ip4.DstIP.IsMulticast() }},
	{"tcp[tcpflags] & tcp-syn != 0", func(f facts) bool { return f.tcp != nil && f.ip4 != nil && f.tcp.SYN }},
	{"tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn|tcp-ack", func(f facts) bool { return f.tcp != nil && f.ip4 != nil && f.tcp.SYN && f.tcp.ACK }},
	{"tcp[13] = 2", func(f facts) bool {
		return f.tcp != nil && f.ip4 != nil && f.tcp.SYN && !f.tcp.ACK && !f.tcp.FIN && !f.tcp.RST && !f.tcp.PSH && !f.tcp.URG
	}},
	{"tcp[0:2] > tcp[2:2]", func(f facts) bool { return f.tcp != nil && f.ip4 != nil && f.tcp.SrcPort > f.tcp.DstPort }},
	{"udp[4:2] - 8 >= 4", func(f facts) bool { return f.udp != nil && f.ip4 != nil && f.udp.Length >= 12 }},
	{"icmp[icmptype] == icmp-echo", func(f facts) bool { return f.icmp != nil && f.ip4 != nil && f.icmp.TypeCode.Type() == 8 }},
	{"icmp6[icmp6type] != icmp6-echo", func(f facts) bool {
		return f.icmp6 != nil && f.ip6 != nil && f.fragment == nil && f.icmp6.TypeCode.Type() != 128
	}},
	{"ip[8] < 65 and ip[0] & 0xf > 5", func(f facts) bool { return f.ip4 != nil && f.ip4.IHL > 5 }},
	{"ip[6:2] & 0x1fff = 0", func(f facts) bool { return f.ip4 != nil && f.ip4.FragOffset == 0 }},
	{"ip[(ip[0] & 0xf) + 7] = 10", func(f facts) bool { return f.ip4 != nil && f.ip4.IHL == 5 }},
	{"tcp[(tcp[12] >> 4) * 4 - 20 : 2] < 3", func(f facts) bool { return f.tcp != nil && f.ip4 != nil && f.tcp.SrcPort < 3 }},
	{"ether[0] & 1 = 1", func(f facts) bool { return f.eth.DstMAC[0]&1 != 0 }},
	{"less 60", func(f facts) bool { return f.length <= 60 }},
	{"greater 60", func(f facts) bool { return f.length >= 60 }},
	{"len > 60", func(f facts) bool { return f.length > 60 }},
	{"len * 2 - 1 < 0x80", func(f facts) bool { return f.length*2-1 < 128 }},
}

// drawCondition draws an expression with at most so many levels.
func drawCondition(t *rapid.T, depth int) condition {
	switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case kind == 0:
		return drawAddress(t)
	case kind == 1:
		return drawPort(t)
	case kind == 2:
		return drawEther(t)
	case kind == 3 || depth == 0:
		return rapid.SampledFrom(words).Draw(t, "word")
	case kind == 4:
		a := drawCondition(t, depth-1)
		not := rapid.SampledFrom([]string{"not (", "! (", "!("}).Draw(t, "not")
		return condition{not + a.text + ")", func(f facts) bool { return !a.holds(f) }}
	}
	a, b := drawCondition(t, depth-1), drawCondition(t, depth-1)
	if rapid.Bool().Draw(t, "and") {
		and := rapid.SampledFrom([]string{"and", "&&"}).Draw(t, "sign")
		return condition{"(" + a.text + ") " + and + " (" + b.text + ")", func(f facts) bool { return a.holds(f) && b.holds(f) }}
	}
	or := rapid.SampledFrom([]string{"or", "||"}).Draw(t, "sign")
	return condition{"(" + a.text + ") " + or + " (" + b.text + ")", func(f facts) bool { return a.holds(f) || b.holds(f) }}
}

func drawPacket(t *rapid.T) spec {
	s := spec{
		src: rapid.ByteRange(1, 3).Draw(t, "src"), dst: rapid.ByteRange(1, 3).Draw(t, "dst"),
		broadcast: rapid.IntRange(0, 4).Draw(t, "broadcast") == 0,
		sport:     uint16(rapid.IntRange(1, 5).Draw(t, "sport")), dport: uint16(rapid.IntRange(1, 5).Draw(t, "dport")),
		flags: rapid.Byte().Draw(t, "flags") & 0x3f, icmpType: rapid.SampledFrom([]byte{0, 8, 128}).Draw(t, "icmp type"),
		payload: rapid.IntRange(0, 40).Draw(t, "payload"), options: rapid.Bool().Draw(t, "options"),
		multicast4: rapid.IntRange(0, 4).Draw(t, "multicast") == 0,
	}
	s.proto = rapid.SampledFrom([]layers.IPProtocol{1, 2, 6, 17, 58, 89}).Draw(t, "proto")
	switch rapid.IntRange(0, 6).Draw(t, "shape") {
	case 0:
		s.arp = true
	case 1, 2:
		s.v6 = true
		s.fragment6 = rapid.IntRange(0, 4).Draw(t, "fragment6") == 0
	case 3:
		s.fragment = uint16(rapid.IntRange(0, 2).Draw(t, "fragment"))
	case 4:
		s.other = 0x88b5
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "tags") {
		s.vlans = append(s.vlans, uint16(rapid.IntRange(1, 3).Draw(t, "vlan")))
	}
	return s
}

func TestFiltersAgreeWithDecodedPackets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawPacket(rt)
		data := s.bytes(t)
		c := drawCondition(rt, 3)
		if got, want := matches(t, c.text, data), c.holds(decode(data, false)); got != want {
			rt.Fatalf("%q of %+v: %v, gopacket says %v", c.text, s, got, want)
		}
		id := rapid.IntRange(1, 3).Draw(rt, "id")
		tagged := fmt.Sprintf("vlan %d and (%s)", id, c.text)
		f := decode(data, true)
		want := len(f.tags) > 0 && int(f.tags[0].VLANIdentifier) == id && c.holds(f)
		if got := matches(t, tagged, data); got != want {
			rt.Fatalf("%q of %+v: %v, gopacket says %v", tagged, s, got, want)
		}
	})
}
