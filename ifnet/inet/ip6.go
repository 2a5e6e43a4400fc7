package inet

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Layout of an IPv6 header and its extensions (RFC 8200).
const (
	ip6HdrLen   = 40
	ip6Version  = 6
	ip6PlenOff  = 4
	ip6NextOff  = 6
	ip6HlimOff  = 7
	ip6SrcOff   = 8
	ip6DstOff   = 24
	ipv6AddrLen = 16

	nextHopByHop = 0
	nextRouting  = 43
	nextFragment = 44
	nextNone     = 59
	nextDstOpts  = 60

	extUnit    = 8
	extMinLen  = 8
	maxExtHdrs = 16 // headers in front of the payload

)

var (
	allNodes6     = netip.AddrFrom16([ipv6AddrLen]byte{0: 0xff, 1: 0x02, 15: 1})
	solicitedBase = [ipv6AddrLen]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff}
)

// solicitedLow is where the part of an address begins that its solicited-node group has.
const solicitedLow = 13

// solicitedNode is the group that is asked for an address (RFC 4291 2.7.1).
func solicitedNode(a netip.Addr) netip.Addr {
	g, b := solicitedBase, a.As16()
	copy(g[solicitedLow:], b[solicitedLow:])
	return netip.AddrFrom16(g)
}

// packet6 is what the headers of a received packet said.
type packet6 struct {
	src, dst netip.Addr
	hlim     uint8
	off      int   // of the payload
	next     uint8 // its protocol
	nextOff  int   // of the byte that names it
	unicast  bool  // for an address of this machine
}

// ip6Input takes a packet of EtherType IPv6 (ip6_input): it is this machine's,
// passes through, or is dropped.
func (s *stack) ip6Input(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
	s.stats.ip6.add(ip6Total)
	i := s.iface(ifp)
	if i == nil || ND6Flags(i.nd6Flags.Load())&ND6IfDisabled != 0 {
		s.ip6Drop(c, m, ip6Disabled)
		return
	}
	if m = s.ip6Check(c, m); m == nil {
		return
	}
	if s.pfil6.Hooked() {
		var r ifnet.PfilResult
		if m, r = s.pfil6.Run(c, ifp, ifnet.PfilIn, ifnet.AFInet6, m); r != ifnet.PfilPass {
			return
		}
		if m = headUp(c, m, ip6HdrLen); m == nil {
			s.stats.ip6.add(ip6TooSmall)
			return
		}
	}
	b := m.Bytes()
	p := packet6{
		src:     netip.AddrFrom16([ipv6AddrLen]byte(b[ip6SrcOff:])),
		dst:     netip.AddrFrom16([ipv6AddrLen]byte(b[ip6DstOff:])),
		hlim:    b[ip6HlimOff],
		off:     ip6HdrLen,
		next:    b[ip6NextOff],
		nextOff: ip6NextOff,
	}
	if p.dst.IsMulticast() {
		if !i.member6(p.dst) {
			s.ip6Drop(c, m, ip6NotMember)
			return
		}
		s.ip6Local(c, ifp, m, p)
		return
	}
	r := s.fib6.Load().lookup(keyOf(p.dst, ifp.Index()))
	switch {
	case r != nil && r.kind == routeLocal:
		r.received(m)
		p.unicast = true
		s.ip6Local(c, ifp, m, p)
	case s.knobs.forwarding6.Load() == 0:
		s.ip6Drop(c, m, ip6CantForward)
	default:
		s.ip6Forward(c, ifp, m, p, r)
	}
}

// ip6Check verifies the fixed header and cuts what is behind the packet. nil: dropped.
func (s *stack) ip6Check(c *mbuf.Cache, m *mbuf.Mbuf) *mbuf.Mbuf {
	if m.Pkt.Len < ip6HdrLen {
		s.ip6Drop(c, m, ip6TooSmall)
		return nil
	}
	if m = headUp(c, m, ip6HdrLen); m == nil {
		s.stats.ip6.add(ip6TooSmall)
		return nil
	}
	b := m.Bytes()
	why := -1
	n := int(binary.BigEndian.Uint16(b[ip6PlenOff:])) + ip6HdrLen
	switch {
	case b[0]>>versionShift != ip6Version:
		why = ip6BadVers
	case n > int(m.Pkt.Len):
		why = ip6TooShort
	case badScope6(b):
		why = ip6BadScope
	}
	if why >= 0 {
		s.ip6Drop(c, m, why)
		return nil
	}
	if n < int(m.Pkt.Len) {
		trim(c, m, n)
	}
	return m
}

// badScope6 reports addresses that no packet on a wire has: group as source, unspecified
// destination, loopback, IPv4-mapped, groups of scope 0 and 1.
func badScope6(b []byte) bool {
	src := netip.AddrFrom16([ipv6AddrLen]byte(b[ip6SrcOff:]))
	dst := netip.AddrFrom16([ipv6AddrLen]byte(b[ip6DstOff:]))
	const scopeMask = 0x0f
	if dst.IsMulticast() && b[ip6DstOff+1]&scopeMask <= 1 {
		return true
	}
	return src.IsMulticast() || dst.IsUnspecified() || src.IsLoopback() || dst.IsLoopback() || src.Is4In6() || dst.Is4In6()
}

func (s *stack) ip6Drop(c *mbuf.Cache, m *mbuf.Mbuf, why int) {
	s.stats.ip6.add(why)
	c.FreeChain(m)
}

// member6 reports whether the interface is in a group.
func (i *iface) member6(group netip.Addr) bool {
	if group == allNodes6 {
		return true
	}
	for _, a := range i.own.Load().v6 {
		if solicitedNode(a.addr) == group {
			return true
		}
	}
	return false
}

// ip6Local takes a packet for this machine. What p says is copied here: protocols keep a
// pointer to it, which would put it on the heap for packets that only pass through.
func (s *stack) ip6Local(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p packet6) {
	s.ip6Deliver(c, ifp, m, &p)
}

// ip6Deliver walks the extension headers and gives the payload to its protocol.
func (s *stack) ip6Deliver(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6) {
	for range maxExtHdrs {
		switch p.next {
		case protoICMP6:
			s.stats.ip6.add(ip6Delivered)
			s.icmp6Input(c, ifp, m, p)
			return
		case nextNone:
			c.FreeChain(m)
			return
		case nextFragment:
			s.ip6Drop(c, m, ip6FragDropped)
			return
		case nextHopByHop, nextDstOpts, nextRouting:
			if p.next == nextHopByHop && p.nextOff != ip6NextOff {
				s.icmp6Error(c, ifp, m, p, icmp6ParamProb, paramNextHeader, uint32(p.nextOff))
				return
			}
			if m = s.ip6Extension(c, ifp, m, p); m == nil {
				return
			}
		default:
			s.stats.ip6.add(ip6NoProto)
			if p.next == protoUDP {
				s.icmp6Error(c, ifp, m, p, icmp6Unreach, icmp6UnreachPort, 0)
			} else {
				s.icmp6Error(c, ifp, m, p, icmp6ParamProb, paramNextHeader, uint32(p.nextOff))
			}
			return
		}
	}
	s.ip6Drop(c, m, ip6BadOptions)
}

// ip6Extension passes one extension header. nil: dropped.
func (s *stack) ip6Extension(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6) *mbuf.Mbuf {
	const (
		segmentsLeftOff = 3
		lenOff          = 1
	)
	if int(m.Pkt.Len) < p.off+extMinLen {
		s.ip6Drop(c, m, ip6TooShort)
		return nil
	}
	var h [extMinLen]byte
	m.CopyData(p.off, h[:])
	n := (int(h[lenOff]) + 1) * extUnit
	if int(m.Pkt.Len) < p.off+n {
		s.ip6Drop(c, m, ip6TooShort)
		return nil
	}
	if p.next == nextRouting {
		if h[segmentsLeftOff] != 0 {
			s.stats.ip6.add(ip6BadOptions)
			s.icmp6Error(c, ifp, m, p, icmp6ParamProb, 0, uint32(p.off+segmentsLeftOff-1))
			return nil
		}
	} else if m = s.ip6Options(c, ifp, m, p, n); m == nil {
		return nil
	}
	p.nextOff, p.next, p.off = p.off, h[0], p.off+n
	return m
}

// ip6Options checks the options of a header of n bytes (ip6_unknown_opt for those that
// are not known). nil: dropped.
func (s *stack) ip6Options(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6, n int) *mbuf.Mbuf {
	const (
		first       = 2
		padN        = 1
		routerAlert = 5
		actionShift = 6 // what to do with an unknown option
		skip        = 0
		discard     = 1
		tellUnicast = 3
		codeOption  = 2
	)
	for off := p.off + first; off < p.off+n; {
		var o [2]byte
		m.CopyData(off, o[:1])
		if o[0] == 0 { // Pad1
			off++
			continue
		}
		if off+1 >= p.off+n {
			s.ip6Drop(c, m, ip6BadOptions)
			return nil
		}
		m.CopyData(off, o[:])
		if off+2+int(o[1]) > p.off+n {
			s.ip6Drop(c, m, ip6BadOptions)
			return nil
		}
		if action := o[0] >> actionShift; o[0] != padN && o[0] != routerAlert && action != skip {
			if action == discard || action == tellUnicast && !p.unicast {
				s.ip6Drop(c, m, ip6BadOptions)
			} else {
				s.stats.ip6.add(ip6BadOptions)
				s.icmp6Error(c, ifp, m, p, icmp6ParamProb, codeOption, uint32(off))
			}
			return nil
		}
		off += 2 + int(o[1])
	}
	return m
}

// ip6Output sends a packet of this machine whose header is complete but for version and
// length (ip6_output). ifp is the interface of link-local destinations and groups.
func (s *stack) ip6Output(c *mbuf.Cache, m *mbuf.Mbuf, ifp *ifnet.Ifnet, dst netip.Addr) {
	next := dst
	if !dst.IsMulticast() {
		r := s.fib6.Load().lookup(keyOf(dst, ifp.Index()))
		if r.unroutable() {
			s.ip6Drop(c, m, ip6NoRoute)
			return
		}
		ifp = r.ifp
		if r.kind == routeGateway {
			next = r.gateway
		}
	}
	b := m.Bytes()
	b[0] = ip6Version << versionShift
	binary.BigEndian.PutUint16(b[ip6PlenOff:], uint16(m.Pkt.Len-ip6HdrLen))
	m.Flags &^= mbuf.FlagBcast | mbuf.FlagMcast | mbuf.FlagPromisc | mbuf.ProtoFlags
	m.Pkt.RcvIf = nil
	m.Pkt.CsumFlags, m.Pkt.CsumData = 0, 0
	if dst.IsMulticast() {
		m.Flags |= mbuf.FlagMcast
	}
	if s.pfil6.Hooked() {
		var res ifnet.PfilResult
		if m, res = s.pfil6.Run(c, ifp, ifnet.PfilOut, ifnet.AFInet6, m); res != ifnet.PfilPass {
			return
		}
	}
	if int(m.Pkt.Len) > ifp.MTU() {
		s.ip6Drop(c, m, ip6ODropped) // answers are no longer than what came in
		return
	}
	src := netip.AddrFrom16([ipv6AddrLen]byte(m.Bytes()[ip6SrcOff:]))
	s.fib6.Load().sent(keyOf(src, ifp.Index()), m)
	s.stats.ip6.add(ip6LocalOut)
	if err := ifp.Output(c, m, next, ifnet.AFInet6); err != nil {
		s.stats.ip6.add(ip6ODropped)
	}
}
