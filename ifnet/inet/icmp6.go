package inet

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Types and codes of ICMPv6 (RFC 4443, RFC 4861).
const (
	icmp6Unreach      = 1
	icmp6TooBig       = 2
	icmp6TimeExceeded = 3
	icmp6ParamProb    = 4
	icmp6InfoMask     = 0x80 // set in types that are no errors
	icmp6EchoRequest  = 128
	icmp6EchoReply    = 129
	icmp6NS           = 135
	icmp6NA           = 136

	icmp6UnreachNoRoute = 0
	icmp6UnreachScope   = 2
	icmp6UnreachAddr    = 3
	icmp6UnreachPort    = 4
	paramNextHeader     = 1

	ip6MinMTU = 1280
)

// icmp6Input takes an ICMPv6 packet for this machine (icmp6_input).
func (s *stack) icmp6Input(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6) {
	n := int(m.Pkt.Len) - p.off
	if n < icmpHdrLen {
		s.icmp6Drop(c, m, icmp6TooShort)
		return
	}
	if ^fold(sumChain(m, p.off, n)+pseudo6(m.Bytes()[:ip6HdrLen], n, protoICMP6)) != 0 {
		s.icmp6Drop(c, m, icmp6CheckSum)
		return
	}
	var h [2]byte
	m.CopyData(p.off, h[:])
	switch {
	case h[0] == icmp6EchoRequest && h[1] == 0:
		s.icmp6Echo(c, ifp, m, p)
	case h[0] == icmp6NS:
		s.nd6Message(c, ifp, m, p, h[1], s.nd6NSInput)
	case h[0] == icmp6NA:
		s.nd6Message(c, ifp, m, p, h[1], s.nd6NAInput)
	default:
		s.icmp6Drop(c, m, icmp6Ignored)
	}
}

func (s *stack) icmp6Drop(c *mbuf.Cache, m *mbuf.Mbuf, why int) {
	s.stats.icmp6.add(why)
	c.FreeChain(m)
}

// icmp6Echo turns a request into its reply (icmp6_reflect). Extension headers are not
// returned.
func (s *stack) icmp6Echo(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6) {
	src, ok := s.replyFrom6(ifp, p)
	if !ok || p.src.IsUnspecified() {
		s.icmp6Drop(c, m, icmp6CantError)
		return
	}
	c.Adj(m, p.off)
	if m = c.Prepend(m, ip6HdrLen); m == nil {
		s.stats.icmp6.add(icmp6NoMem)
		return
	}
	if m = writable(c, m, ip6HdrLen+icmpHdrLen); m == nil {
		s.stats.icmp6.add(icmp6NoMem)
		return
	}
	s.stats.icmp6.add(icmp6Reflect)
	m.Bytes()[ip6HdrLen] = icmp6EchoReply
	s.icmp6Send(c, m, ifp, src, p.src, uint8(s.knobs.hopLimit.Load()))
}

// replyFrom6 is the address of this machine that answers p: the one it was sent to, or one
// of the interface of the sender's scope.
func (s *stack) replyFrom6(ifp *ifnet.Ifnet, p *packet6) (netip.Addr, bool) {
	if p.unicast {
		return p.dst, true
	}
	return s.sourceFor6(ifp, p.src)
}

// sourceFor6 is a valid address of the interface to talk to dst from: one of the same
// scope if there is one (a small part of in6_selectsrc).
func (s *stack) sourceFor6(ifp *ifnet.Ifnet, dst netip.Addr) (best netip.Addr, ok bool) {
	i := s.iface(ifp)
	if i == nil {
		return best, false
	}
	for _, a := range i.own.Load().v6 {
		if a.state != AddrValid {
			continue
		}
		if a.addr.IsLinkLocalUnicast() == dst.IsLinkLocalUnicast() {
			return a.addr, true
		}
		best, ok = a.addr, true
	}
	return best, ok
}

// icmp6Send fills in the fixed header and the checksum of a message that has room for
// both in its first mbuf, and sends it.
func (s *stack) icmp6Send(c *mbuf.Cache, m *mbuf.Mbuf, ifp *ifnet.Ifnet, src, dst netip.Addr, hlim uint8) {
	b := m.Bytes()
	clear(b[:ip6PlenOff])
	b[ip6NextOff], b[ip6HlimOff] = protoICMP6, hlim
	from, to := src.As16(), dst.As16()
	copy(b[ip6SrcOff:], from[:])
	copy(b[ip6DstOff:], to[:])
	n := int(m.Pkt.Len) - ip6HdrLen
	sum := b[ip6HdrLen+icmpSumOff:]
	binary.BigEndian.PutUint16(sum, 0)
	binary.BigEndian.PutUint16(sum, ^fold(sumChain(m, ip6HdrLen, n)+pseudo6(b[:ip6HdrLen], n, protoICMP6)))
	s.ip6Output(c, m, ifp, dst)
}

// icmp6Error tells the sender of m why it was dropped, and frees m (icmp6_error). word is
// the second word of the message. Not about errors, groups and senders without an address
// (RFC 4443 2.4e).
func (s *stack) icmp6Error(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6, typ, code uint8, word uint32) {
	s.stats.icmp6.add(icmp6Error)
	toGroup := p.dst.IsMulticast() || m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) != 0
	aboutGroups := typ == icmp6TooBig || typ == icmp6ParamProb && code > paramNextHeader
	if p.src.IsUnspecified() || toGroup && !aboutGroups || s.isError6(m, p) {
		s.icmp6Drop(c, m, icmp6CantError)
		return
	}
	src, ok := s.replyFrom6(ifp, p)
	if !ok || !s.icmp6Errs.allow() {
		s.icmp6Drop(c, m, icmp6TooFreq)
		return
	}
	n := c.GetCl(mbuf.FlagPktHdr)
	if n == nil {
		s.icmp6Drop(c, m, icmp6NoMem)
		return
	}
	quote := min(int(m.Pkt.Len), ip6MinMTU-ip6HdrLen-icmpHdrLen)
	n.ShiftData(mbuf.MaxLinkHdr)
	n.SetLen(ip6HdrLen + icmpHdrLen + quote)
	n.Pkt.Len = int32(n.Len())
	out := n.Bytes()
	clear(out[:ip6HdrLen+icmpHdrLen])
	m.CopyData(0, out[ip6HdrLen+icmpHdrLen:])
	c.FreeChain(m)
	out[ip6HdrLen], out[ip6HdrLen+1] = typ, code
	binary.BigEndian.PutUint32(out[ip6HdrLen+icmpPtrOff:], word)
	s.icmp6Send(c, n, ifp, src, p.src, uint8(s.knobs.hopLimit.Load()))
}

// isError6 reports whether the payload is an ICMPv6 error, or too short to tell.
func (s *stack) isError6(m *mbuf.Mbuf, p *packet6) bool {
	if p.next != protoICMP6 {
		return false
	}
	if int(m.Pkt.Len) <= p.off {
		return true
	}
	var t [1]byte
	m.CopyData(p.off, t[:])
	return t[0]&icmp6InfoMask == 0
}
