package pktgen8

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

const (
	defaultPort = 1234 // pkt-gen's
	// An IPv6 address is walked in one of its groups of 16 bits, the last by default.
	groupLen     = 2
	defaultGroup = 7
	portLen      = 2
	ipv4Len      = 4
)

// endpoint is an end of a range of addresses: [group@]address[:port].
type endpoint struct {
	addr  netip.Addr
	port  uint16
	group int // of an IPv6 address, 0 to 7
}

// parseEndpoint reads an end of a range. What it leaves out is as in otherwise.
func parseEndpoint(text string, ipv6 bool, otherwise endpoint) (e endpoint, err error) {
	e = otherwise
	addr, port := text, ""
	if ipv6 {
		if group, rest, ok := strings.Cut(addr, "@"); ok {
			n, err := strconv.ParseUint(group, 0, 8)
			if err != nil || n > defaultGroup {
				return e, fmt.Errorf("%q: group %q: 0 to %d", text, group, defaultGroup)
			}
			e.group, addr = int(n), rest
		}
		if rest, ok := strings.CutPrefix(addr, "["); ok {
			addr, port, ok = strings.Cut(rest, "]")
			if !ok || port != "" && port[0] != ':' {
				return e, fmt.Errorf("%q: not [address]:port", text)
			}
		}
	} else if i := strings.IndexByte(addr, ':'); i >= 0 {
		addr, port = addr[:i], addr[i:]
	}
	if e.addr, err = netip.ParseAddr(addr); err != nil || e.addr.Is6() != ipv6 || e.addr.Zone() != "" {
		family := "IPv4"
		if ipv6 {
			family = "IPv6"
		}
		return e, fmt.Errorf("%q: not an %s address", text, family)
	}
	if port != "" {
		n, err := strconv.ParseUint(port[1:], 0, 16)
		if err != nil {
			return e, fmt.Errorf("%q: port %q: 0 to 65535", text, port[1:])
		}
		e.port = uint16(n)
	}
	return e, nil
}

// span is a range of addresses and ports (struct ip_range): each address with each port.
type span struct {
	start, end netip.Addr
	port       wheel
	addr       wheel // of an IPv6 address one group
	group      int
}

// parseSpan reads start[-end] as pkt-gen does: ends the wrong way round are swapped, an
// end without a port has the start's.
func parseSpan(text string, ipv6 bool) (s span, err error) {
	first, last, ranged := strings.Cut(text, "-")
	a, err := parseEndpoint(first, ipv6, endpoint{port: defaultPort, group: defaultGroup})
	if err != nil {
		return s, err
	}
	b := a
	if ranged {
		if b, err = parseEndpoint(last, ipv6, a); err != nil {
			return s, err
		}
	}
	if !ipv6 && b.addr.Less(a.addr) {
		a.addr, b.addr = b.addr, a.addr
	}
	if b.port < a.port {
		a.port, b.port = b.port, a.port
	}
	s = span{start: a.addr, end: b.addr, group: b.group, port: wheel{first: uint64(a.port), last: uint64(b.port), size: portLen}}
	if ipv6 {
		s.addr = wheel{first: s.groupOf(a.addr), last: s.groupOf(b.addr), size: groupLen}
	} else {
		s.addr = wheel{first: uint64(be32(a.addr)), last: uint64(be32(b.addr)), size: ipv4Len}
	}
	return s, nil
}

// String is the range as pkt-gen -v tells it.
func (s span) String() string {
	if s.start.Is6() {
		return fmt.Sprintf("%d@[%v]:%d to %d@[%v]:%d", s.group, s.start, s.port.first, s.group, s.end, s.port.last)
	}
	return fmt.Sprintf("%v:%d to %v:%d", s.start, s.port.first, s.end, s.port.last)
}

func (s *span) groupOf(addr netip.Addr) uint64 {
	b := addr.As16()
	return uint64(binary.BigEndian.Uint16(b[s.group*groupLen:]))
}

func be32(addr netip.Addr) uint32 {
	b := addr.As4()
	return binary.BigEndian.Uint32(b[:])
}

// parseStations reads a station address, or the first and the last with a '-' between.
func parseStations(text string) (w wheel, err error) {
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		last = first
	}
	w = wheel{size: ifnet.EtherAddrLen}
	for _, end := range []struct {
		text string
		to   *uint64
	}{{first, &w.first}, {last, &w.last}} {
		mac, err := net.ParseMAC(end.text)
		if err != nil || len(mac) != ifnet.EtherAddrLen {
			return w, fmt.Errorf("%q: not an Ethernet address", text)
		}
		*end.to = stationValue([ifnet.EtherAddrLen]byte(mac))
	}
	if w.last < w.first {
		w.first, w.last = w.last, w.first
	}
	return w, nil
}

func stationValue(mac [ifnet.EtherAddrLen]byte) (v uint64) {
	for _, b := range mac {
		v = v<<bitsPerByte | uint64(b)
	}
	return v
}
