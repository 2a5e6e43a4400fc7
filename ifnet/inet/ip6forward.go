package inet

import (
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// ip6Forward sends a packet for somebody else on along route r, nil if there is none
// (ip6_forward). Extension headers are not looked at. A neighbour that is known costs no
// lock and no allocation.
func (s *stack) ip6Forward(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p packet6, r *route) {
	if m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) != 0 || p.src.IsUnspecified() || p.dst.IsLinkLocalUnicast() {
		s.ip6Drop(c, m, ip6CantForward)
		return
	}
	switch {
	case p.hlim <= 1:
		s.ip6CannotForward(c, ifp, m, p, icmp6TimeExceeded, 0, 0)
		return
	case r != nil && r.kind == routeBlackhole:
		s.ip6Drop(c, m, ip6CantForward)
		return
	case r.unroutable():
		s.stats.ip6.add(ip6NoRoute)
		s.ip6CannotForward(c, ifp, m, p, icmp6Unreach, icmp6UnreachNoRoute, 0)
		return
	case p.src.IsLinkLocalUnicast() && r.ifp != ifp:
		s.stats.ip6.add(ip6BadScope)
		s.ip6CannotForward(c, ifp, m, p, icmp6Unreach, icmp6UnreachScope, 0)
		return
	}
	if mtu := r.ifp.MTU(); int(m.Pkt.Len) > mtu {
		s.ip6CannotForward(c, ifp, m, p, icmp6TooBig, 0, uint32(mtu))
		return
	}
	if m = writable(c, m, ip6HdrLen); m == nil {
		s.stats.ip6.add(ip6ODropped)
		return
	}
	m.Bytes()[ip6HlimOff]--
	if s.pfil6.Hooked() {
		if m, r = s.pfil6Out(c, ifp, m, p, r); m == nil {
			return
		}
	}
	next := r.gateway
	if r.kind != routeGateway {
		next = netip.AddrFrom16([ipv6AddrLen]byte(m.Bytes()[ip6DstOff:]))
	}
	m.Flags &^= mbuf.ProtoFlags
	m.Pkt.CsumFlags, m.Pkt.CsumData = 0, 0
	if err := r.ifp.Output(c, m, next, ifnet.AFInet6); err != nil {
		s.stats.ip6.add(ip6ODropped)
		return
	}
	s.stats.ip6.add(ip6Forwarded)
}

// ip6CannotForward tells the sender why its packet went no further; p by value as in
// ip6Local.
func (s *stack) ip6CannotForward(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p packet6, typ, code uint8, word uint32) {
	s.icmp6Error(c, ifp, m, &p, typ, code, word)
}

// pfil6Out shows a packet that leaves to the filters. One that got another destination is
// routed again, or delivered if it is now for this machine.
func (s *stack) pfil6Out(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p packet6, r *route) (*mbuf.Mbuf, *route) {
	m, res := s.pfil6.Run(c, r.ifp, ifnet.PfilOut, ifnet.AFInet6, m)
	if res != ifnet.PfilPass {
		return nil, nil
	}
	if m = headUp(c, m, ip6HdrLen); m == nil {
		s.stats.ip6.add(ip6ODropped)
		return nil, nil
	}
	dst := netip.AddrFrom16([ipv6AddrLen]byte(m.Bytes()[ip6DstOff:]))
	if dst == p.dst {
		return m, r
	}
	r = s.fib6.Load().lookup(keyOf(dst, ifp.Index()))
	switch {
	case r.unroutable():
		s.ip6Drop(c, m, ip6NoRoute)
		return nil, nil
	case r.kind == routeLocal:
		r.received(m)
		p.dst, p.unicast = dst, true
		s.ip6Local(c, ifp, m, p)
		return nil, nil
	}
	return m, r
}
