package pcapfilter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// transports are the protocols with ports.
var transports = map[string]uint32{"tcp": protoTCP, "udp": protoUDP, "sctp": protoSCTP}

// port is a port of TCP, UDP or SCTP.
func (p *parser) port(q quals, text string) (node, error) {
	if q.proto != "" && transports[q.proto] == 0 {
		return nil, errors.New("illegal qualifier of 'port'")
	}
	n, err := portNumber(text, q.proto)
	if err != nil {
		return nil, err
	}
	if q.proto == "sctp" {
		return p.ports(q, n, n)
	}
	proto := ""
	if q.proto != "" {
		proto = q.proto + " "
	}
	return library(fmt.Sprintf("%s%sport %d", proto, q.direction(), n), p.shift)
}

// portNumber is a port's number, which may be given by the name of a service.
func portNumber(text, proto string) (uint32, error) {
	if n, err := strconv.ParseUint(text, 0, 32); err == nil {
		if n > math.MaxUint16 {
			return 0, fmt.Errorf("illegal port number %d > %d", n, math.MaxUint16)
		}
		return uint32(n), nil
	}
	networks := []string{"tcp", "udp"}
	if proto == "tcp" || proto == "udp" {
		networks = []string{proto}
	}
	for _, network := range networks {
		if n, err := net.DefaultResolver.LookupPort(context.Background(), network, text); err == nil {
			return uint32(n), nil
		}
	}
	return 0, fmt.Errorf("unknown port '%s'", text)
}

// portRange is a range of ports, or one.
func (p *parser) portRange(q quals, text string) (node, error) {
	if q.proto != "" && transports[q.proto] == 0 {
		return nil, errors.New("illegal qualifier of 'portrange'")
	}
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		to = from
	}
	first, err := portNumber(from, q.proto)
	if err != nil {
		return nil, err
	}
	last, err := portNumber(to, q.proto)
	if err != nil {
		return nil, err
	}
	return p.ports(q, min(first, last), max(first, last))
}

// ports are ports of a protocol, or of all, from first to last: in IPv4's first fragments
// behind its options, in IPv6 right behind its header.
func (p *parser) ports(q quals, first, last uint32) (node, error) {
	ip4, err := protocols["ip"](p.shift)
	if err != nil {
		return nil, err
	}
	ip6, err := protocols["ip6"](p.shift)
	if err != nil {
		return nil, err
	}
	carried := func(off uint32) node {
		var list []node
		for _, name := range [...]string{"sctp", "tcp", "udp"} {
			if q.proto == "" || q.proto == name {
				list = append(list, field(off+p.shift, 1, bpf.JumpEqual, transports[name]))
			}
		}
		return anyOf(list...)
	}
	within := func(load ...bpf.Instruction) node {
		return all(test{load: load, cond: bpf.JumpGreaterOrEqual, val: first}, test{load: load, cond: bpf.JumpLessOrEqual, val: last})
	}
	const dstOff, portLen = 2, 2
	side := func(off uint32) (in4, in6 node) {
		header := bpf.LoadMemShift{Off: headerLen + p.shift}
		in4 = within(header, bpf.LoadIndirect{Off: headerLen + p.shift + off, Size: portLen})
		return in4, within(bpf.LoadAbsolute{Off: ip6Inner + p.shift + off, Size: portLen})
	}
	src4, src6 := side(0)
	dst4, dst6 := side(dstOff)
	return anyOf(
		all(ip4, carried(ip4Proto), p.firstFragment(), either(q.dir, src4, dst4)),
		all(ip6, carried(ip6Next), either(q.dir, src6, dst6))), nil
}

// firstFragment is an IPv4 packet, or the first part of one.
func (p *parser) firstFragment() node { return masked(ip4Frag+p.shift, 2, fragMask, 0) }

// protoNames are the protocols of IP that have no keyword or whose keyword is escaped.
var protoNames = map[string]uint32{"icmp": protoICMP, "igmp": protoIGMP, "tcp": protoTCP, "udp": protoUDP, "esp": protoESP,
	"ah": protoAH, "icmp6": protoICMP6, "ipv6-icmp": protoICMP6, "pim": protoPIM, "vrrp": protoVRRP, "carp": protoVRRP, "sctp": protoSCTP, "gre": protoGRE, "ospf": protoOSPF}

// The numbers of those without a keyword.
const (
	protoGRE  = 47
	protoOSPF = 89
)

// etherNames are the Ethernet types that have names.
var etherNames = map[string]uint32{"ip": 0x0800, "ip6": 0x86dd, "arp": 0x0806, "rarp": 0x8035}

// proto is a protocol of IP, or an Ethernet type.
func (p *parser) proto(q quals, t token) (node, error) {
	names, most, layer := protoNames, uint32(math.MaxUint8), "ip"
	switch q.proto {
	case "", "ip", "ip6":
	case "ether", "link":
		names, most, layer = etherNames, math.MaxUint16, "ether"
	default:
		return nil, fmt.Errorf("'%s proto' is bogus", q.proto)
	}
	n, known := names[t.text]
	if t.kind == kindNumber {
		n, known = t.num, true
	}
	switch {
	case !known:
		return nil, fmt.Errorf("unknown %s proto '%s'", layer, t.text)
	case n > most:
		return nil, fmt.Errorf("'proto' value %d greater than maximum %d", n, most)
	case most == math.MaxUint16:
		return p.etherType(n)
	}
	return ipProto(n, q.proto != "ip6", q.proto != "ip")(p.shift)
}

// etherType is an Ethernet type.
func (p *parser) etherType(n uint32) (node, error) {
	const least = 0x600 // smaller ones are lengths
	if n < least {
		return nil, fmt.Errorf("'ether proto' value %d below %d is not supported", n, least)
	}
	return field(typeOff+p.shift, 2, bpf.JumpEqual, n), nil
}
