package inet

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Layout of an IPv4 header (RFC 791).
const (
	ipHdrLen   = 20
	ipMaxHdr   = 60
	ipVersion  = 4
	ipLenOff   = 2
	ipIDOff    = 4
	ipFragOff  = 6
	ipTTLOff   = 8
	ipProtoOff = 9
	ipSumOff   = 10
	ipSrcOff   = 12
	ipDstOff   = 16

	ipDF      = 0x4000
	ipMF      = 0x2000
	ipOffMask = 0x1fff

	protoICMP  = 1
	protoUDP   = 17
	protoICMP6 = 58

	versionShift = 4
	hlenMask     = 0x0f
	hlenUnit     = 4
)

// Option kinds that matter (RFC 791, RFC 1122 3.2.1.8).
const (
	optEOL  = 0
	optNOP  = 1
	optLSRR = 131
	optSSRR = 137
)

// ipInput takes a packet of EtherType IP (ip_input): checks, filter, options, and then it
// is this machine's, forwarded or dropped.
func (s *stack) ipInput(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
	s.stats.ip.add(ipTotal)
	if m = s.ipCheck(c, ifp, m); m == nil {
		return
	}
	if s.pfil4.Hooked() {
		var r ifnet.PfilResult
		if m, r = s.pfil4.Run(c, ifp, ifnet.PfilIn, ifnet.AFInet, m); r != ifnet.PfilPass {
			return
		}
		if m = headUp(c, m, ipHdrLen); m == nil {
			return
		}
	}
	b := m.Bytes()
	hlen := int(b[0]&hlenMask) * hlenUnit
	if hlen > ipHdrLen {
		if m = headUp(c, m, hlen); m == nil {
			s.stats.ip.add(ipTooSmall)
			return
		}
		if m = s.ipOptions(c, ifp, m, hlen); m == nil {
			return
		}
		b = m.Bytes()
	}
	if b[ipDstOff] >= multicast4First {
		s.ipInputGroup(c, ifp, m)
		return
	}
	r := s.fib4.Load().lookup(key4(b[ipDstOff:]))
	if r != nil && (r.kind == routeLocal || r.kind == routeBroadcast && r.ifp == ifp) {
		r.received(m)
		s.ipDeliver(c, ifp, m, r.kind == routeLocal)
		return
	}
	if s.knobs.forwarding.Load() == 0 {
		s.stats.ip.add(ipCantForward)
		c.FreeChain(m)
		return
	}
	s.ipForward(c, ifp, m, r)
}

const (
	multicast4First = 224 // first byte of group addresses
	reserved4First  = 240
	loopNet4        = 127
)

// ipInputGroup delivers what is sent to everybody or to the all-hosts group.
func (s *stack) ipInputGroup(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
	dst := netip.AddrFrom4([ipv4AddrLen]byte(m.Bytes()[ipDstOff:]))
	i := s.iface(ifp)
	everybody := dst == netip.AddrFrom4([ipv4AddrLen]byte{0xff, 0xff, 0xff, 0xff})
	if i == nil || len(i.own.Load().v4) == 0 || !everybody && dst != allHosts4 {
		s.stats.ip.add(ipNotMember)
		c.FreeChain(m)
		return
	}
	s.ipDeliver(c, ifp, m, false)
}

// ipCheck verifies the header and cuts what is behind the packet. nil: dropped.
func (s *stack) ipCheck(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) *mbuf.Mbuf {
	if m.Pkt.Len < ipHdrLen {
		return s.ipDrop(c, m, ipTooShort)
	}
	if m.Len() < ipHdrLen {
		if m = headUp(c, m, ipHdrLen); m == nil {
			s.stats.ip.add(ipTooSmall)
			return nil
		}
	}
	b := m.Bytes()
	if b[0]>>versionShift != ipVersion {
		return s.ipDrop(c, m, ipBadVers)
	}
	hlen := int(b[0]&hlenMask) * hlenUnit
	if hlen < ipHdrLen || hlen > int(m.Pkt.Len) {
		return s.ipDrop(c, m, ipBadHlen)
	}
	if hlen > m.Len() {
		if m = headUp(c, m, hlen); m == nil {
			s.stats.ip.add(ipBadHlen)
			return nil
		}
		b = m.Bytes()
	}
	if (b[ipDstOff] == loopNet4 || b[ipSrcOff] == loopNet4) && ifp.Flags()&ifnet.FlagLoopback == 0 {
		return s.ipDrop(c, m, ipBadAddr)
	}
	if m.Pkt.CsumFlags&mbuf.CsumL3Calc != 0 {
		if m.Pkt.CsumFlags&mbuf.CsumL3Valid == 0 {
			return s.ipDrop(c, m, ipBadSum)
		}
	} else if headerSum(b[:hlen]) != 0 {
		return s.ipDrop(c, m, ipBadSum)
	}
	n := int(binary.BigEndian.Uint16(b[ipLenOff:]))
	if n < hlen {
		return s.ipDrop(c, m, ipBadLen)
	}
	if surplus := int(m.Pkt.Len) - n; surplus < 0 {
		return s.ipDrop(c, m, ipTooShort)
	} else if surplus > 0 {
		trim(c, m, n)
	}
	return m
}

// trim cuts the packet to n bytes (padding of short frames).
func trim(c *mbuf.Cache, m *mbuf.Mbuf, n int) {
	if m.Len() == int(m.Pkt.Len) {
		m.SetLen(n)
		m.Pkt.Len = int32(n)
		return
	}
	c.Adj(m, n-int(m.Pkt.Len))
}

// headUp makes the first n bytes contiguous; nil: no memory or too short, m freed.
func headUp(c *mbuf.Cache, m *mbuf.Mbuf, n int) *mbuf.Mbuf {
	if m.Len() >= n {
		return m
	}
	return c.Pullup(m, n)
}

// writable makes the first n bytes contiguous and the caller's to change; nil as headUp.
func writable(c *mbuf.Cache, m *mbuf.Mbuf, n int) *mbuf.Mbuf {
	if m.Len() >= n && m.Writable() {
		return m
	}
	return c.CopyUp(m, n, mbuf.MaxLinkHdr)
}

func (s *stack) ipDrop(c *mbuf.Cache, m *mbuf.Mbuf, why int) *mbuf.Mbuf {
	s.stats.ip.add(why)
	c.FreeChain(m)
	return nil
}

// ipOptions checks that options are well formed (ip_dooptions). Source routing is off as
// in FreeBSD by default; what only records or alerts is left alone.
func (s *stack) ipOptions(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, hlen int) *mbuf.Mbuf {
	b := m.Bytes()[:hlen]
	for off := ipHdrLen; off < hlen; {
		switch b[off] {
		case optEOL:
			return m
		case optNOP:
			off++
			continue
		}
		if off+1 >= hlen || b[off+1] < 2 || off+int(b[off+1]) > hlen {
			s.stats.ip.add(ipBadOptions)
			s.icmpError(c, ifp, m, icmpParamProb, 0, uint32(off)<<paramPtrShift)
			return nil
		}
		if b[off] == optLSRR || b[off] == optSSRR {
			return s.ipDrop(c, m, ipBadOptions)
		}
		off += int(b[off+1])
	}
	return m
}

// ipDeliver gives a packet to the protocol of this machine that it is for. unicast: the
// sender may be told that there is none.
func (s *stack) ipDeliver(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, unicast bool) {
	b := m.Bytes()
	hlen := int(b[0]&hlenMask) * hlenUnit
	if binary.BigEndian.Uint16(b[ipFragOff:])&(ipMF|ipOffMask) != 0 {
		s.stats.ip.add(ipFragments)
		s.ipDrop(c, m, ipFragDropped)
		return
	}
	s.stats.ip.add(ipDelivered)
	if b[ipProtoOff] == protoICMP {
		s.icmpInput(c, ifp, m, hlen)
		return
	}
	s.stats.ip.add(ipNoProto)
	if !unicast {
		c.FreeChain(m)
		return
	}
	code := uint8(icmpUnreachProtocol)
	if b[ipProtoOff] == protoUDP {
		code = icmpUnreachPort
	}
	s.icmpError(c, ifp, m, icmpUnreach, code, 0)
}
