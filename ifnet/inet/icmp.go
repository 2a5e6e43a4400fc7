package inet

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Layout, types and codes of ICMP (RFC 792, netinet/ip_icmp.h).
const (
	icmpHdrLen = 8
	icmpSumOff = 2
	icmpPtrOff = 4 // parameter pointer, or the word that holds the MTU

	icmpEchoReply    = 0
	icmpUnreach      = 3
	icmpEcho         = 8
	icmpTimeExceeded = 11
	icmpParamProb    = 12

	icmpUnreachHost     = 1
	icmpUnreachProtocol = 2
	icmpUnreachPort     = 3
	icmpUnreachNeedFrag = 4

	paramPtrShift = 24 // of the pointer in the second word

	icmpMinQuote = 8
)

// icmpInput takes an ICMP packet for this machine whose IP header is hlen bytes
// (icmp_input): it answers echo requests and counts the rest.
func (s *stack) icmpInput(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, hlen int) {
	n := int(m.Pkt.Len) - hlen
	if n < icmpHdrLen {
		s.icmpDrop(c, m, icmpTooShort)
		return
	}
	if ^fold(sumChain(m, hlen, n)) != 0 {
		s.icmpDrop(c, m, icmpCheckSum)
		return
	}
	var typ [1]byte
	m.CopyData(hlen, typ[:])
	if typ[0] != icmpEcho {
		s.icmpDrop(c, m, icmpIgnored)
		return
	}
	group := m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) != 0
	if group && s.knobs.bmcastEcho.Load() == 0 {
		s.icmpDrop(c, m, icmpBmcastEcho)
		return
	}
	if !s.icmpEchoes.allow() {
		s.icmpDrop(c, m, icmpLimited)
		return
	}
	s.icmpReflect(c, ifp, m, hlen)
}

func (s *stack) icmpDrop(c *mbuf.Cache, m *mbuf.Mbuf, why int) {
	s.stats.icmp.add(why)
	c.FreeChain(m)
}

// icmpReflect turns an echo request into its reply and sends it (icmp_reflect). Options
// are not returned.
func (s *stack) icmpReflect(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, hlen int) {
	if !canForward4(m.Bytes()[ipSrcOff:]) {
		s.icmpDrop(c, m, icmpBadAddr)
		return
	}
	src, ok := s.replyFrom4(ifp, m.Bytes()[ipDstOff:])
	if !ok {
		s.icmpDrop(c, m, icmpBadAddr)
		return
	}
	if m = writable(c, m, hlen+icmpHdrLen); m == nil {
		s.stats.icmp.add(icmpNoMem)
		return
	}
	b := m.Bytes()
	if opts := hlen - ipHdrLen; opts > 0 {
		copy(b[opts:], b[:ipHdrLen])
		c.Adj(m, opts)
		b = m.Bytes()
	}
	icmp := b[ipHdrLen:]
	icmp[0], icmp[1] = icmpEchoReply, 0
	binary.BigEndian.PutUint16(icmp[icmpSumOff:], 0)
	sum := ^fold(sumChain(m, ipHdrLen, int(m.Pkt.Len)-ipHdrLen))
	binary.BigEndian.PutUint16(icmp[icmpSumOff:], sum)
	dst := netip.AddrFrom4([ipv4AddrLen]byte(b[ipSrcOff:]))
	b[0] = ipVersion<<versionShift | ipHdrLen/hlenUnit
	binary.BigEndian.PutUint16(b[ipLenOff:], uint16(m.Pkt.Len))
	s.stats.icmp.add(icmpReflect)
	s.ipOutput(c, m, src, dst)
}

// replyFrom4 is the address of this machine that answers what was sent to dst: dst, or
// the first of the interface.
func (s *stack) replyFrom4(ifp *ifnet.Ifnet, dst []byte) (netip.Addr, bool) {
	if r := s.fib4.Load().lookup(key4(dst)); r != nil && r.kind == routeLocal {
		return r.prefix.Addr(), true
	}
	if i := s.iface(ifp); i != nil {
		if v4 := i.own.Load().v4; len(v4) > 0 {
			return v4[0], true
		}
	}
	return netip.Addr{}, false
}

// ipOutput sends a packet of this machine (ip_output): addresses, TTL, id and checksum of
// the header are filled in, the rest is as the caller made it. DF stays.
func (s *stack) ipOutput(c *mbuf.Cache, m *mbuf.Mbuf, src, dst netip.Addr) {
	r := s.fib4.Load().lookup(keyOf(dst, 0))
	if r == nil {
		s.ipDrop(c, m, ipNoRoute)
		return
	}
	if r.unroutable() {
		s.ipDrop(c, m, ipODropped) // nothing here answers everybody
		return
	}
	b := m.Bytes()
	from, to := src.As4(), dst.As4()
	copy(b[ipSrcOff:], from[:])
	copy(b[ipDstOff:], to[:])
	b[ipTTLOff] = uint8(s.knobs.ttl.Load())
	df := binary.BigEndian.Uint16(b[ipFragOff:]) & ipDF
	binary.BigEndian.PutUint16(b[ipFragOff:], df)
	id := uint16(0) // RFC 6864: what is never cut needs none
	if df == 0 {
		id = uint16(s.ipID.Add(1))
	}
	binary.BigEndian.PutUint16(b[ipIDOff:], id)
	binary.BigEndian.PutUint16(b[ipSumOff:], 0)
	m.Flags &^= mbuf.FlagBcast | mbuf.FlagMcast | mbuf.FlagPromisc | mbuf.ProtoFlags
	m.Pkt.RcvIf = nil
	m.Pkt.CsumFlags, m.Pkt.CsumData = 0, 0
	if s.pfil4.Hooked() {
		var res ifnet.PfilResult
		binary.BigEndian.PutUint16(b[ipSumOff:], headerSum(b[:ipHdrLen]))
		if m, res = s.pfil4.Run(c, r.ifp, ifnet.PfilOut, ifnet.AFInet, m); res != ifnet.PfilPass {
			return
		}
		if m = writable(c, m, ipHdrLen); m == nil {
			s.stats.ip.add(ipODropped)
			return
		}
		b = m.Bytes()
		binary.BigEndian.PutUint16(b[ipSumOff:], 0)
	}
	s.fib4.Load().sent(keyOf(src, 0), m)
	next := dst
	if r.kind == routeGateway {
		next = r.gateway
	}
	if mtu := r.ifp.MTU(); r.kind != routeLocal && int(m.Pkt.Len) > mtu {
		if df != 0 {
			s.ipDrop(c, m, ipCantFrag)
		} else if s.sendFragments(c, m, r.ifp, next, mtu) {
			s.stats.ip.add(ipLocalOut)
		}
		return
	}
	if r.ifp.HWAssist()&mbuf.CsumIP != 0 {
		m.Pkt.CsumFlags |= mbuf.CsumIP
	} else {
		binary.BigEndian.PutUint16(b[ipSumOff:], headerSum(b[:int(b[0]&hlenMask)*hlenUnit]))
	}
	s.stats.ip.add(ipLocalOut)
	if err := r.ifp.Output(c, m, next, ifnet.AFInet); err != nil {
		s.stats.ip.add(ipODropped)
	}
}

// icmpError tells the sender of m why it was dropped, and frees m (icmp_error). word is
// the second word of the message: MTU or parameter pointer. Not about errors, fragments
// behind the first, groups and senders that cannot be answered (RFC 1122 3.2.2).
func (s *stack) icmpError(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, typ, code uint8, word uint32) {
	s.stats.icmp.add(icmpError)
	b := m.Bytes()
	hlen := int(b[0]&hlenMask) * hlenUnit
	if m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) != 0 || !canForward4(b[ipSrcOff:]) ||
		binary.BigEndian.Uint16(b[ipFragOff:])&ipOffMask != 0 {
		s.icmpDrop(c, m, icmpOldICMP)
		return
	}
	if b[ipProtoOff] == protoICMP {
		if int(m.Pkt.Len) < hlen+icmpHdrLen {
			s.icmpDrop(c, m, icmpOldShort)
			return
		}
		var t [1]byte
		m.CopyData(hlen, t[:])
		if t[0] != icmpEcho && t[0] != icmpEchoReply && !isICMPQuery(t[0]) {
			s.icmpDrop(c, m, icmpOldICMP)
			return
		}
	}
	src, ok := s.replyFrom4(ifp, b[ipDstOff:])
	if !ok || !s.icmpErrs.allow() {
		s.icmpDrop(c, m, icmpLimited)
		return
	}
	n := c.GetCl(mbuf.FlagPktHdr)
	if n == nil {
		s.icmpDrop(c, m, icmpNoMem)
		return
	}
	dst := netip.AddrFrom4([ipv4AddrLen]byte(b[ipSrcOff:]))
	quote := min(max(icmpMinQuote, int(s.knobs.quoteLen.Load())), int(m.Pkt.Len)-hlen) + hlen
	n.ShiftData(mbuf.MaxLinkHdr)
	quote = min(quote, min(n.TrailingSpace(), ifp.MTU())-ipHdrLen-icmpHdrLen)
	n.SetLen(ipHdrLen + icmpHdrLen + quote)
	n.Pkt.Len = int32(n.Len())
	out := n.Bytes()
	clear(out[:ipHdrLen+icmpHdrLen])
	m.CopyData(0, out[ipHdrLen+icmpHdrLen:])
	c.FreeChain(m)
	out[0] = ipVersion<<versionShift | ipHdrLen/hlenUnit
	out[ipProtoOff] = protoICMP
	binary.BigEndian.PutUint16(out[ipLenOff:], uint16(len(out)))
	icmp := out[ipHdrLen:]
	icmp[0], icmp[1] = typ, code
	binary.BigEndian.PutUint32(icmp[icmpPtrOff:], word)
	binary.BigEndian.PutUint16(icmp[icmpSumOff:], headerSum(icmp))
	s.ipOutput(c, n, src, dst)
}

// isICMPQuery reports whether a type asks or answers, so that errors about it are allowed
// (ICMP_INFOTYPE).
func isICMPQuery(t uint8) bool {
	const (
		routerAdvert  = 9
		routerSolicit = 10
		tstamp        = 13
		maskReply     = 18
	)
	return t == routerAdvert || t == routerSolicit || t >= tstamp && t <= maskReply
}
