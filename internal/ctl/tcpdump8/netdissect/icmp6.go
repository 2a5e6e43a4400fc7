package netdissect

import (
	"encoding/binary"
	"net"
	"strconv"

	"github.com/google/gopacket/layers"
)

// MLDv2's report, which gopacket has no name for here.
const mldReport2 = 143

// icmp6Names are the names of messages.
var icmp6Names = map[uint8]string{
	layers.ICMPv6TypeDestinationUnreachable: "destination unreachable", layers.ICMPv6TypePacketTooBig: "packet too big",
	layers.ICMPv6TypeTimeExceeded: "time exceeded in-transit", layers.ICMPv6TypeParameterProblem: "parameter problem",
	layers.ICMPv6TypeEchoRequest: "echo request", layers.ICMPv6TypeEchoReply: "echo reply",
	130: "multicast listener query", 131: "multicast listener report", 132: "multicast listener done", mldReport2: "multicast listener report v2",
	layers.ICMPv6TypeRouterSolicitation: "router solicitation", layers.ICMPv6TypeRouterAdvertisement: "router advertisement",
	layers.ICMPv6TypeNeighborSolicitation: "neighbor solicitation", layers.ICMPv6TypeNeighborAdvertisement: "neighbor advertisement",
	layers.ICMPv6TypeRedirect: "redirect",
}

// icmp6 writes an ICMPv6 message (icmp6_print).
func (p *Printer) icmp6(d *datagram) {
	var m layers.ICMPv6
	if err := decode(&m, d.data); err != nil {
		p.truncated("icmp6")
		return
	}
	if p.o.Verbose > 0 && !d.fragmented && d.whole() {
		if sum := cksum(pseudo(d.src, d.dst, byte(layers.IPProtocolICMPv6), len(d.data)), d.data); sum != 0 {
			p.printf("[bad icmp6 cksum 0x%04x -> 0x%04x!] ", m.Checksum, shouldBe(m.Checksum, sum))
		} else {
			p.printf("[icmp6 sum ok] ")
		}
	}
	t := m.TypeCode.Type()
	if name, ok := icmp6Names[t]; ok {
		p.printf("ICMP6, %s", name)
	} else {
		p.printf("ICMP6, unknown icmp6 type (%d)", t)
	}
	discovery := t >= layers.ICMPv6TypeRouterSolicitation && t <= layers.ICMPv6TypeRedirect
	if p.o.Verbose > 0 && discovery {
		p.printf(", length %d", d.length)
	}
	if !p.icmp6Body(t, m.TypeCode.Code(), m.Payload, d.data) {
		p.truncated("icmp6")
		return
	}
	if p.o.Verbose == 0 || icmp6Names[t] == "" {
		p.printf(", length %d", d.length)
	}
}

// icmp6Body writes what a message says; false if it was cut off.
func (p *Printer) icmp6Body(t, code uint8, body, whole []byte) bool {
	switch t {
	case layers.ICMPv6TypeNeighborSolicitation, layers.ICMPv6TypeNeighborAdvertisement, layers.ICMPv6TypeRouterSolicitation,
		layers.ICMPv6TypeRouterAdvertisement, layers.ICMPv6TypeRedirect:
		return p.discovery(t, body)
	case layers.ICMPv6TypeEchoRequest, layers.ICMPv6TypeEchoReply:
		var e layers.ICMPv6Echo
		if decode(&e, body) != nil {
			return false
		}
		p.printf(", id %d, seq %d", e.Identifier, e.SeqNumber)
		return true
	}
	if len(whole) < icmpHeader {
		return icmp6Names[t] == ""
	}
	argument, rest := binary.BigEndian.Uint32(whole[wordLen:]), whole[icmpHeader:]
	switch t {
	case layers.ICMPv6TypePacketTooBig:
		p.printf(", mtu %d", argument)
	case layers.ICMPv6TypeDestinationUnreachable:
		return p.unreachable6(code, rest)
	case layers.ICMPv6TypeTimeExceeded:
		switch {
		case code == 1:
			p.printf(" (reassembly)")
		case code != 0:
			p.printf(", unknown code (%d)", code)
		case len(rest) < ip6Header:
			return false
		default:
			p.printf(" for %v", net.IP(rest[ip6Header-net.IPv6len:ip6Header]))
		}
	case layers.ICMPv6TypeParameterProblem:
		names := [...]string{", erroneous - octet %d", ", next header - octet %d", ", option - octet %d"}
		if int(code) < len(names) {
			p.printf(names[code], argument)
		} else {
			p.printf(", code-#%d", code)
		}
	case layers.ICMPv6TypeMLDv1MulticastListenerQueryMessage, layers.ICMPv6TypeMLDv1MulticastListenerReportMessage, layers.ICMPv6TypeMLDv1MulticastListenerDoneMessage:
		if len(rest) < net.IPv6len {
			return false
		}
		p.printf("max resp delay: %d addr: %v", argument>>16, net.IP(rest[:net.IPv6len]))
	case mldReport2:
		p.printf(", %d group record(s)", argument&0xffff)
	}
	return true
}

func (p *Printer) unreachable6(code uint8, inner []byte) bool {
	const nextOff, srcOff, dstOff = 6, 8, 24
	if len(inner) < ip6Header {
		return false
	}
	src, dst := net.IP(inner[srcOff:dstOff]), net.IP(inner[dstOff:ip6Header])
	switch code {
	case 0:
		p.printf(", unreachable route %v", dst)
	case 1:
		p.printf(",  unreachable prohibited %v", dst)
	case 2:
		p.printf(", beyond scope %v, source address %v", dst, src)
	case 3:
		p.printf(", unreachable address %v", dst)
	case layers.ICMPv6CodePortUnreachable:
		if len(inner) < ip6Header+wordLen {
			return false
		}
		port := binary.BigEndian.Uint16(inner[ip6Header+2:])
		switch proto := layers.IPProtocol(inner[nextOff]); proto {
		case layers.IPProtocolTCP:
			p.printf(", unreachable port, %v tcp port %d", dst, port)
		case layers.IPProtocolUDP:
			p.printf(", unreachable port, %v udp port %d", dst, port)
		default:
			p.printf(", unreachable port, %v protocol %d port %d unreachable", dst, uint8(proto), port)
		}
	default:
		p.printf(", unknown unreach code (%d)", code)
	}
	return true
}

// discovery writes a message of neighbour discovery; options only if asked.
func (p *Printer) discovery(t uint8, body []byte) bool {
	var options layers.ICMPv6Options
	var err error
	switch t {
	case layers.ICMPv6TypeNeighborSolicitation:
		var n layers.ICMPv6NeighborSolicitation
		err = decode(&n, body)
		if n.TargetAddress == nil {
			return false
		}
		p.printf(", who has %v", n.TargetAddress)
		options = n.Options
	case layers.ICMPv6TypeNeighborAdvertisement:
		var n layers.ICMPv6NeighborAdvertisement
		err = decode(&n, body)
		if n.TargetAddress == nil {
			return false
		}
		p.printf(", tgt is %v", n.TargetAddress)
		if p.o.Verbose > 0 {
			p.printf(", Flags [%s]", bits(uint32(n.Flags), ", ", flag{0x80, "router"}, flag{0x40, "solicited"}, flag{0x20, "override"}))
		}
		options = n.Options
	case layers.ICMPv6TypeRedirect:
		var r layers.ICMPv6Redirect
		err = decode(&r, body)
		if r.DestinationAddress == nil {
			return false
		}
		p.printf(", %v to %v", r.DestinationAddress, r.TargetAddress)
		options = r.Options
	case layers.ICMPv6TypeRouterSolicitation:
		var r layers.ICMPv6RouterSolicitation
		err = decode(&r, body)
		options = r.Options
	default:
		var r layers.ICMPv6RouterAdvertisement
		if err = decode(&r, body); err == nil && p.o.Verbose > 0 {
			p.advertisement(&r)
		}
		options = r.Options
	}
	if p.o.Verbose > 0 {
		for _, o := range options {
			p.ndOption(o)
		}
		return err == nil
	}
	return true
}

func (p *Printer) advertisement(r *layers.ICMPv6RouterAdvertisement) {
	const prefMask, prefShift = 3, 3
	pref := [...]string{"medium", "high", "rsv", "low"}[r.Flags>>prefShift&prefMask]
	flags := bits(uint32(r.Flags), ", ", flag{0x80, "managed"}, flag{0x40, "other stateful"}, flag{0x20, "home agent"})
	p.printf("\n\thop limit %d, Flags [%s], pref %s, router lifetime %ds, reachable time %dms, retrans timer %dms",
		r.HopLimit, flags, pref, r.RouterLifetime, r.ReachableTime, r.RetransTimer)
}

// ndNames are the names of neighbour discovery's options.
var ndNames = map[layers.ICMPv6Opt]string{1: "source link-address", 2: "destination link-address", 3: "prefix info", 4: "redirected header", 5: "mtu",
	14: "nonce", 24: "route info", 25: "rdnss", 31: "dnssl"}

// ndOption writes an option.
func (p *Printer) ndOption(o layers.ICMPv6Option) {
	const unit, prefixLen, mtuLen = 8, 30, 6
	name, ok := ndNames[o.Type]
	if !ok {
		name = "unknown"
	}
	length := len(o.Data) + 2
	p.printf("\n\t  %s option (%d), length %d (%d): ", name, uint8(o.Type), length, length/unit)
	switch {
	case o.Type == layers.ICMPv6OptSourceAddress || o.Type == layers.ICMPv6OptTargetAddress:
		p.printf("%v", net.HardwareAddr(o.Data))
	case o.Type == layers.ICMPv6OptMTU && len(o.Data) == mtuLen:
		p.printf(" %d", binary.BigEndian.Uint32(o.Data[2:]))
	case o.Type == layers.ICMPv6OptPrefixInfo && len(o.Data) == prefixLen:
		flags := bits(uint32(o.Data[1]), ", ", flag{0x80, "onlink"}, flag{0x40, "auto"}, flag{0x20, "router"})
		p.printf("%v/%d, Flags [%s], valid time %s, pref. time %s", net.IP(o.Data[prefixLen-net.IPv6len:]), o.Data[0], flags,
			lifetime(o.Data[2:]), lifetime(o.Data[2+wordLen:]))
	default:
		p.hex(o.Data, "\n\t  ", false)
		return
	}
	if p.o.Verbose > 1 {
		p.hex(o.Data, "\n\t    ", false)
	}
}

// lifetime is a number of seconds, of which one stands for no end.
func lifetime(b []byte) string {
	n := binary.BigEndian.Uint32(b)
	if n == ^uint32(0) {
		return "infinity"
	}
	return strconv.FormatUint(uint64(n), 10) + "s"
}
