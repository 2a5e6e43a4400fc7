package conf

import (
	"net/netip"
	"strconv"
	"strings"
)

// peerSpec is one end of a rule as it is written.
type peerSpec struct {
	hosts []host
	ports []portRange
}

// host is an address or a network.
type host struct {
	prefix netip.Prefix
	not    bool
}

// each yields every combination of hosts and ports.
func (s peerSpec) each(yield func(Peer) bool) {
	hosts, ports := s.hosts, s.ports
	if len(hosts) == 0 {
		hosts = []host{{}}
	}
	if len(ports) == 0 {
		ports = []portRange{{}}
	}
	for _, h := range hosts {
		for _, r := range ports {
			if !yield(Peer{Addr: h.prefix, Not: h.not, Op: r.op, Port: r.port}) {
				return
			}
		}
	}
}

// peer reads hosts and ports.
func (p *parser) peer() (s peerSpec) {
	if !p.tok.is("port") {
		p.list(func() {
			if !p.keyword("any") {
				s.hosts = append(s.hosts, p.host()...)
			}
		})
	}
	if p.keyword("port") {
		p.list(func() { s.ports = append(s.ports, p.port()) })
	}
	return s
}

// host reads an address, a network, or the name of an interface, which stands for its
// addresses.
func (p *parser) host() []host {
	not := p.char('!')
	t := p.tok
	switch {
	case t.kind == '<':
		p.unsupported(t.pos, "table")
	case t.kind == '(':
		p.unsupported(t.pos, "dynamic interface address")
	case t.is("no-route") || t.is("urpf-failed"):
		p.unsupported(t.pos, t.text)
	case t.kind != tokString && t.kind != tokNumber:
		p.syntax()
	}
	p.next()
	if p.tok.kind == '-' {
		p.unsupported(t.pos, "address range")
	}
	bits := -1
	if p.char('/') {
		at := p.tok.pos
		n := p.number()
		if n < 0 || n > maxBits {
			p.fail(at, "could not parse host specification")
		}
		bits = int(n)
	} else if t.kind == tokNumber {
		p.syntax()
	}
	if p.dead {
		return nil
	}
	return p.resolve(t, bits, not)
}

// maxBits is the longest prefix of any family.
const maxBits = 128

// resolve finds the networks that a word stands for.
func (p *parser) resolve(t token, bits int, not bool) []host {
	if prefix, ok := parsePrefix(t.text, bits); ok {
		return []host{{prefix, not}}
	}
	name, modifier, _ := strings.Cut(t.text, ":")
	info, ok := Interface{}, false
	if p.o.Interface != nil {
		info, ok = p.o.Interface(name)
	}
	switch {
	case !ok || strings.Contains(modifier, ":") || t.text == "":
		p.errorf(t.pos, "no IP address found for %s", t.text)
		p.fail(t.pos, "could not parse host specification")
		return nil
	case modifier != "" && modifier != "network":
		p.unsupported(t.pos, "modifier "+modifier)
		return nil
	}
	var hosts []host
	for _, a := range info.Addrs {
		if a.Addr().IsLinkLocalUnicast() {
			continue
		}
		n := a.Addr().BitLen()
		if modifier == "network" {
			n = a.Bits()
		}
		if bits >= 0 {
			n = min(bits, a.Addr().BitLen())
		}
		prefix := netip.PrefixFrom(a.Addr(), n).Masked()
		hosts = append(hosts, host{prefix, not})
	}
	if len(hosts) == 0 {
		p.errorf(t.pos, "no IP address found for %s", t.text)
		p.fail(t.pos, "could not parse host specification")
	}
	return hosts
}

// octets is the length of an IPv4 address in bytes.
const octets = 4

// parsePrefix reads an address with the length of its network, -1 for a single one. An
// IPv4 network may be written without its last octets. False: it is no address.
func parsePrefix(text string, bits int) (netip.Prefix, bool) {
	if bits >= 0 && !strings.Contains(text, ":") {
		for strings.Count(text, ".") < octets-1 {
			text += ".0"
		}
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, false
	}
	addr = addr.Unmap()
	if bits < 0 {
		bits = addr.BitLen()
	}
	if bits > addr.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits).Masked(), true
}

// tos reads a type of service: a name, or a number in hexadecimal or decimal.
func (p *parser) tos() uint8 {
	t := p.tok
	switch t.kind {
	case tokNumber:
		p.next()
		if t.num >= 0 && t.num <= 255 {
			return uint8(t.num)
		}
	case tokString:
		p.next()
		if v, ok := tosWords[strings.ToLower(t.text)]; ok {
			return v
		}
		if hex, ok := strings.CutPrefix(t.text, "0x"); ok {
			if v, err := strconv.ParseUint(hex, 16, 8); err == nil {
				return uint8(v)
			}
		}
	default:
		p.syntax()
	}
	p.fail(t.pos, "illegal tos value %s", t.text)
	return 0
}

// tosWords are the names of types of service (map_tos).
var tosWords = map[string]uint8{
	"af11": 0x28, "af12": 0x30, "af13": 0x38, "af21": 0x48, "af22": 0x50, "af23": 0x58, "af31": 0x68, "af32": 0x70,
	"af33": 0x78, "af41": 0x88, "af42": 0x90, "af43": 0x98, "critical": 0xa0, "cs0": 0, "cs1": 0x20, "cs2": 0x40,
	"cs3": 0x60, "cs4": 0x80, "cs5": 0xa0, "cs6": 0xc0, "cs7": 0xe0, "ef": 0xb8, "inetcontrol": 0xc0, "lowdelay": 0x10,
	"netcontrol": 0xe0, "reliability": 0x04, "throughput": 0x08, "va": 0xb0,
}
