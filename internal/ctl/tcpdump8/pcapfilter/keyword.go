package pcapfilter

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// Offsets in an Ethernet frame without tags, and of what is behind its header.
const (
	typeOff   = 12
	tciOff    = 14
	headerLen = 14

	ip4Proto = headerLen + 9
	ip4Dst   = headerLen + 16
	ip4Frag  = headerLen + 6
	ip6Next  = headerLen + 6
	ip6Dst   = headerLen + 24
	ip6Src   = headerLen + 8
	ip6Inner = headerLen + ip6Len // the first header behind IPv6's: next header, if a fragment's
	ip6Len   = 40

	vlanLen  = 4
	vlanMask = 0x0fff
	fragMask = 0x1fff // the offset's bits in IPv4's word of flags and offset
)

// Ethernet types and protocols of IP.
const (
	etherVLAN = 0x8100
	etherQinQ = 0x88a8
	etherOld  = 0x9100

	protoICMP     = 1
	protoIGMP     = 2
	protoTCP      = 6
	protoUDP      = 17
	protoFragment = 44
	protoESP      = 50
	protoAH       = 51
	protoICMP6    = 58
	protoPIM      = 103
	protoVRRP     = 112 // CARP's too
	protoSCTP     = 132
)

// protocols are the words that are a condition alone, and qualifiers of others.
var protocols = map[string]func(shift uint32) (node, error){
	"ether": func(uint32) (node, error) { return nil, errLink },
	"link":  func(uint32) (node, error) { return nil, errLink },
	"ip":    etherProto("ip"),
	"ip6":   etherProto("ip6"),
	"arp":   etherProto("arp"),
	"rarp":  etherProto("rarp"),
	"tcp":   func(shift uint32) (node, error) { return library("tcp", shift) },
	"udp":   func(shift uint32) (node, error) { return library("udp", shift) },
	"sctp":  ipProto(protoSCTP, true, true),
	"icmp":  ipProto(protoICMP, true, false),
	"icmp6": ipProto(protoICMP6, false, true),
	"igmp":  ipProto(protoIGMP, true, false),
	"pim":   ipProto(protoPIM, true, true),
	"vrrp":  ipProto(protoVRRP, true, false),
	"carp":  ipProto(protoVRRP, true, false),
	"ah":    ipProto(protoAH, true, true),
	"esp":   ipProto(protoESP, true, true),
}

var errLink = errors.New("link layer applied in wrong context")

func etherProto(name string) func(uint32) (node, error) {
	return func(shift uint32) (node, error) { return library("ether proto "+name, shift) }
}

// ipProto is a protocol of IPv4, of IPv6, where it may be behind a fragment header, or of
// both (gen_proto).
func ipProto(proto uint32, ip4, ip6 bool) func(uint32) (node, error) {
	return func(shift uint32) (node, error) {
		var list []node
		if ip4 {
			ip, err := library("ether proto ip", shift)
			if err != nil {
				return nil, err
			}
			list = append(list, all(ip, field(ip4Proto+shift, 1, bpf.JumpEqual, proto)))
		}
		if ip6 {
			ip, err := library("ether proto ip6", shift)
			if err != nil {
				return nil, err
			}
			fragment := all(field(ip6Next+shift, 1, bpf.JumpEqual, protoFragment), field(ip6Inner+shift, 1, bpf.JumpEqual, proto))
			list = append(list, all(ip, anyOf(field(ip6Next+shift, 1, bpf.JumpEqual, proto), fragment)))
		}
		return anyOf(list...), nil
	}
}

// other is a condition that begins with a keyword; false if none comes next.
func (p *parser) other(proto string) (n node, ok bool, err error) {
	t := p.peek()
	if t.kind != kindWord {
		return nil, false, nil
	}
	switch t.text {
	case "broadcast", "multicast":
		p.pos++
		n, err = p.group(proto, t.text)
		return n, true, err
	}
	if proto != "" {
		return nil, false, nil
	}
	switch t.text {
	case "less", "greater":
		p.pos++
		n, err = p.length(t.text)
	case "vlan":
		p.pos++
		n, err = p.vlan()
	case "inbound", "outbound":
		err = fmt.Errorf("'%s' not supported on linktype EN10MB; tcpdump -Q in or -Q out chooses a direction", t.text)
	default:
		return nil, false, nil
	}
	return n, true, err
}

// group is broadcast or multicast of a protocol.
func (p *parser) group(proto, what string) (node, error) {
	const (
		broadcastLow, broadcastHigh = 0xffffffff, 0xffff
		groupBit                    = 1
		ip4Groups                   = 224
		ip6Groups                   = 0xff
	)
	switch {
	case (proto == "" || proto == "ether" || proto == "link") && what == "broadcast":
		return all(field(2, 4, bpf.JumpEqual, broadcastLow), field(0, 2, bpf.JumpEqual, broadcastHigh)), nil
	case proto == "" || proto == "ether" || proto == "link":
		return test{load: []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 1}}, cond: bpf.JumpBitsSet, val: groupBit}, nil
	case proto == "ip" && what == "broadcast":
		return nil, errors.New("netmask not known, so 'ip broadcast' not supported")
	case proto == "ip" || proto == "ip6" && what == "multicast":
		family, err := protocols[proto](p.shift)
		if err != nil {
			return nil, err
		}
		if proto == "ip" {
			return all(family, field(ip4Dst+p.shift, 1, bpf.JumpGreaterOrEqual, ip4Groups)), nil
		}
		return all(family, field(ip6Dst+p.shift, 1, bpf.JumpEqual, ip6Groups)), nil
	}
	return nil, fmt.Errorf("only link-layer/IP %s filters supported", what)
}

// length is less or greater, both of which include the number.
func (p *parser) length(what string) (node, error) {
	t := p.take()
	if t.kind != kindNumber {
		return nil, errSyntax
	}
	cond := bpf.JumpLessOrEqual
	if what == "greater" {
		cond = bpf.JumpGreaterOrEqual
	}
	return test{load: []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtLen}}, cond: cond, val: t.num}, nil
}

// vlan is a tag, of an ID if there is one. What follows in the text is looked for behind
// the tag.
func (p *parser) vlan() (node, error) {
	at := p.shift
	tagged := anyOf(field(typeOff+at, 2, bpf.JumpEqual, etherVLAN), field(typeOff+at, 2, bpf.JumpEqual, etherQinQ),
		field(typeOff+at, 2, bpf.JumpEqual, etherOld))
	p.shift += vlanLen
	if p.peek().kind != kindNumber {
		return tagged, nil
	}
	id := p.take()
	if id.num > vlanMask {
		return nil, fmt.Errorf("VLAN tag %d greater than maximum %d", id.num, vlanMask)
	}
	return all(tagged, masked(tciOff+at, 2, vlanMask, id.num)), nil
}
