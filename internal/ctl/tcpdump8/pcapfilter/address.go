package pcapfilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"

	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// address is a condition on an id with its qualifiers.
func (p *parser) address(q quals, t token) (node, error) {
	text, err := p.network(t)
	if err != nil {
		return nil, err
	}
	if q.what != "net" && text != t.text {
		return nil, tool.Messagef("Mask syntax for networks only")
	}
	switch q.what {
	case "", "host":
		return p.host(q, text)
	case "net":
		return p.net(q, text)
	case "port":
		return p.port(q, text)
	case "portrange":
		return p.portRange(q, text)
	case "proto":
		return p.proto(q, t)
	}
	return nil, fmt.Errorf("'%s' is not supported", q.what)
}

// direction is the library's words for a direction, with a blank behind it.
func (q quals) direction() string {
	if q.dir == "" {
		return ""
	}
	return q.dir + " "
}

// family is the library's word for a protocol that an address may have, with a blank
// behind it.
func (q quals) family(what string, ip4 bool) (string, error) {
	version := "ip6"
	if ip4 {
		version = "ip"
	}
	fits := q.proto == ""
	switch q.proto {
	case "ip", "arp", "rarp":
		fits = ip4
	case "ip6":
		fits = !ip4
	}
	switch {
	case !fits && (q.proto == "ip" || q.proto == "ip6" || q.proto == "arp" || q.proto == "rarp"):
		return "", fmt.Errorf("'%s' modifier applied to %s %s", q.proto, version, what)
	case !fits:
		return "", fmt.Errorf("'%s' modifier applied to %s", q.proto, what)
	case q.proto == "":
		return "", nil
	}
	return q.proto + " ", nil
}

// host is an address, of Ethernet if that is the protocol.
func (p *parser) host(q quals, text string) (node, error) {
	link := q.proto == "ether" || q.proto == "link"
	if mac, err := net.ParseMAC(text); err == nil {
		const macLen = 6
		if !link {
			return nil, errors.New("ethernet address used in non-ether expression")
		}
		if len(mac) != macLen {
			return nil, fmt.Errorf("invalid MAC-48 address '%s'", text)
		}
		return library("ether "+q.direction()+"host "+mac.String(), p.shift)
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return nil, fmt.Errorf("unknown host '%s'", text)
	}
	if link {
		return nil, errors.New("illegal link layer address")
	}
	return p.prefix(q, netip.PrefixFrom(addr, addr.BitLen()), "host")
}

// net is a network: a prefix, an address with a mask, or the first bytes of an address.
func (p *parser) net(q quals, text string) (node, error) {
	prefix, err := parseNet(text)
	if err != nil {
		return nil, err
	}
	if prefix.Masked() != prefix {
		return nil, fmt.Errorf("non-network bits set in \"%s\"", text)
	}
	return p.prefix(q, prefix, "net")
}

// parseNet reads a network.
func parseNet(text string) (prefix netip.Prefix, err error) {
	addr, rest, hasLen := strings.Cut(text, "/")
	addr, mask, hasMask := strings.Cut(addr, " mask ")
	ip, err := netip.ParseAddr(addr)
	given := ip.BitLen()
	if err != nil {
		var n int
		if ip, n, err = shortAddr(addr); err != nil {
			return prefix, err
		}
		given = n * 8
	}
	switch {
	case hasMask:
		m, err := netip.ParseAddr(mask)
		if err != nil || !m.Is4() || !ip.Is4() {
			return prefix, fmt.Errorf("invalid mask '%s'", mask)
		}
		b := m.As4()
		word := binary.BigEndian.Uint32(b[:])
		given = bits.LeadingZeros32(^word)
		if word<<given != 0 {
			return prefix, fmt.Errorf("mask '%s' with a hole is not supported", mask)
		}
	case hasLen:
		n, err := strconv.Atoi(rest)
		if err != nil || n > ip.BitLen() {
			return prefix, fmt.Errorf("mask length must be <= %d", ip.BitLen())
		}
		given = n
	}
	return netip.PrefixFrom(ip, given), nil
}

// shortAddr is an IPv4 address of which n first bytes are given: "10", "192.168.1".
func shortAddr(text string) (ip netip.Addr, n int, err error) {
	var b [4]byte
	parts := strings.Split(text, ".")
	if len(parts) > len(b) {
		return ip, 0, fmt.Errorf("unknown network '%s'", text)
	}
	for i, part := range parts {
		v, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return ip, 0, fmt.Errorf("unknown network '%s'", text)
		}
		b[i] = byte(v)
	}
	return netip.AddrFrom4(b), len(parts), nil
}

// prefix is a network or an address.
func (p *parser) prefix(q quals, prefix netip.Prefix, what string) (node, error) {
	ip := prefix.Addr()
	if ip.Is4In6() || ip.Zone() != "" {
		return nil, fmt.Errorf("IPv6 address '%s' is not supported", ip)
	}
	family, err := q.family(what, ip.Is4())
	if err != nil {
		return nil, err
	}
	switch {
	case what == "host":
		return library(family+q.direction()+"host "+ip.StringExpanded(), p.shift)
	case ip.Is4():
		return library(family+q.direction()+"net "+prefix.String(), p.shift)
	}
	return p.net6(q, prefix)
}

// net6 is a network of IPv6, word by word.
func (p *parser) net6(q quals, prefix netip.Prefix) (node, error) {
	family, err := protocols["ip6"](p.shift)
	if err != nil {
		return nil, err
	}
	side := func(at uint32) node {
		const wordBits, wordLen = 32, 4
		b := prefix.Addr().As16()
		list := []node{family}
		for i, left := uint32(0), prefix.Bits(); left > 0; i, left = i+wordLen, left-wordBits {
			word := binary.BigEndian.Uint32(b[i:])
			if left >= wordBits {
				list = append(list, field(at+p.shift+i, wordLen, bpf.JumpEqual, word))
			} else {
				list = append(list, masked(at+p.shift+i, wordLen, math.MaxUint32<<(wordBits-left), word))
			}
		}
		return all(list...)
	}
	return either(q.dir, side(ip6Src), side(ip6Dst)), nil
}

// either joins the conditions on the source and the destination as the direction says.
func either(dir string, src, dst node) node {
	switch dir {
	case "src":
		return src
	case "dst":
		return dst
	case "src and dst":
		return andNode{src, dst}
	}
	return orNode{src, dst}
}
