package inet

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// ttlStep as the header's big-endian word of TTL and protocol: what a hop takes away
// (IPTTLDEC).
const ttlStep = 0x0100

// ipForward sends a packet on along route r, nil if there is none (ip_tryforward). A
// neighbour that is known costs no lock and no allocation.
func (s *stack) ipForward(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, r *route) {
	b := m.Bytes()
	if m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) != 0 || !canForward4(b[ipSrcOff:]) || !canForward4(b[ipDstOff:]) {
		s.ipDrop(c, m, ipCantForward)
		return
	}
	if b[ipTTLOff] <= 1 {
		s.icmpError(c, ifp, m, icmpTimeExceeded, 0, 0)
		return
	}
	if r.unroutable() {
		s.ipUnroutable(c, ifp, m, r)
		return
	}
	hlen := int(b[0]&hlenMask) * hlenUnit
	if m = writable(c, m, hlen); m == nil {
		s.stats.ip.add(ipODropped)
		return
	}
	b = m.Bytes()
	decTTL(b)
	if s.pfil4.Hooked() {
		if m, r = s.pfilOut(c, ifp, m, r); m == nil {
			return
		}
		b = m.Bytes()
	}
	out := r.ifp
	next := r.gateway
	if r.kind != routeGateway {
		next = netip.AddrFrom4([ipv4AddrLen]byte(b[ipDstOff:]))
	}
	m.Flags &^= mbuf.ProtoFlags
	m.Pkt.CsumFlags, m.Pkt.CsumData = 0, 0
	if mtu := out.MTU(); int(m.Pkt.Len) > mtu {
		s.ipTooBig(c, ifp, m, out, next, mtu)
		return
	}
	if err := out.Output(c, m, next, ifnet.AFInet); err != nil {
		s.stats.ip.add(ipODropped)
		return
	}
	s.stats.ip.add(ipForward)
}

// canForward4 reports whether packets with this address may pass a router (in_canforward).
func canForward4(a []byte) bool { return a[0] != 0 && a[0] != loopNet4 && a[0] < multicast4First }

// decTTL takes a hop away and corrects the checksum (RFC 1141). A correct sum is never
// 0xffff, since no header sums to 0.
func decTTL(b []byte) {
	b[ipTTLOff]--
	const wrap = ^uint16(ttlStep)
	sum := binary.BigEndian.Uint16(b[ipSumOff:])
	if sum >= wrap {
		sum -= wrap
	} else {
		sum += ttlStep
	}
	binary.BigEndian.PutUint16(b[ipSumOff:], sum)
}

// ipUnroutable drops a packet with no route, one that leads nowhere, or to everybody on
// another link.
func (s *stack) ipUnroutable(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, r *route) {
	if r != nil && r.kind != routeReject {
		s.ipDrop(c, m, ipCantForward)
		return
	}
	s.stats.ip.add(ipNoRoute)
	s.icmpError(c, ifp, m, icmpUnreach, icmpUnreachHost, 0)
}

// pfilOut shows a packet that leaves to the filters. One that got another destination
// is routed again, or delivered if it is now for this machine.
func (s *stack) pfilOut(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, r *route) (*mbuf.Mbuf, *route) {
	dst := key4(m.Bytes()[ipDstOff:])
	m, res := s.pfil4.Run(c, r.ifp, ifnet.PfilOut, ifnet.AFInet, m)
	if res != ifnet.PfilPass {
		return nil, nil
	}
	if m = headUp(c, m, ipHdrLen); m == nil {
		s.stats.ip.add(ipODropped)
		return nil, nil
	}
	now := key4(m.Bytes()[ipDstOff:])
	if now == dst {
		return m, r
	}
	r = s.fib4.Load().lookup(now)
	switch {
	case r.unroutable():
		s.ipUnroutable(c, ifp, m, r)
		return nil, nil
	case r.kind == routeLocal:
		r.received(m)
		s.ipDeliver(c, ifp, m, true)
		return nil, nil
	}
	return m, r
}

// ipTooBig cuts a packet that does not fit, or tells its sender.
func (s *stack) ipTooBig(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, out *ifnet.Ifnet, next netip.Addr, mtu int) {
	if binary.BigEndian.Uint16(m.Bytes()[ipFragOff:])&ipDF != 0 {
		s.stats.ip.add(ipCantFrag)
		s.icmpError(c, ifp, m, icmpUnreach, icmpUnreachNeedFrag, uint32(mtu))
		return
	}
	if s.sendFragments(c, m, out, next, mtu) {
		s.stats.ip.add(ipForward)
	}
}

// sendFragments cuts a packet and sends what comes of it; false if nothing was sent.
func (s *stack) sendFragments(c *mbuf.Cache, m *mbuf.Mbuf, out *ifnet.Ifnet, next netip.Addr, mtu int) (sent bool) {
	for list := s.ipFragment(c, m, mtu); list != nil; {
		f := list
		list, f.NextPkt = f.NextPkt, nil
		if err := out.Output(c, f, next, ifnet.AFInet); err != nil {
			s.stats.ip.add(ipODropped)
			continue
		}
		sent = true
	}
	return sent
}

// fragUnit is the unit of fragment offsets in bytes.
const fragUnit = 8

// ipFragment cuts a packet for an MTU (ip_fragment) into a list through NextPkt. Options
// stay in the first fragment only if they are not to be copied. nil: dropped and counted.
func (s *stack) ipFragment(c *mbuf.Cache, m *mbuf.Mbuf, mtu int) *mbuf.Mbuf {
	var head [ipMaxHdr]byte
	hlen := copy(head[:], m.Bytes()[:int(m.Bytes()[0]&hlenMask)*hlenUnit])
	total := int(m.Pkt.Len)
	var list, last *mbuf.Mbuf
	h := head[:hlen]
	for off := 0; off < total-hlen; {
		n := min((mtu-len(h))/fragUnit*fragUnit, total-hlen-off)
		if mtu-len(h) >= total-hlen-off {
			n = total - hlen - off
		}
		var f *mbuf.Mbuf
		if n > 0 {
			f = fragment(c, m, h, hlen+off, n)
		}
		if f == nil {
			freePackets(c, list)
			return s.ipDrop(c, m, ipODropped)
		}
		finishFragment(f.Bytes()[:len(h)], off, n, hlen+off+n < total)
		if last == nil {
			list = f
		} else {
			last.NextPkt = f
		}
		last = f
		if off == 0 {
			h = copiedOptions(h)
		}
		off += n
		s.stats.ip.add(ipOFragments)
	}
	s.stats.ip.add(ipFragmented)
	c.FreeChain(m)
	return list
}

// fragment is a packet of header h and n bytes of m from offset off, shared with it.
func fragment(c *mbuf.Cache, m *mbuf.Mbuf, h []byte, off, n int) *mbuf.Mbuf {
	f := c.GetHdr()
	if f == nil {
		return nil
	}
	if !c.DupPktHdr(f, m) {
		c.FreeChain(f)
		return nil
	}
	f.Align(ipMaxHdr + mbuf.MaxLinkHdr)
	f.ShiftData(mbuf.MaxLinkHdr)
	f.SetLen(copy(f.Room(), h))
	if f.Next = c.CopyM(m, off, n); f.Next == nil {
		c.FreeChain(f)
		return nil
	}
	f.Pkt.Len = int32(len(h) + n)
	return f
}

// finishFragment fills in what differs between fragments; off is within the payload of
// the packet that was cut, which may be a fragment itself.
func finishFragment(h []byte, off, n int, more bool) {
	word := binary.BigEndian.Uint16(h[ipFragOff:])
	word += uint16(off / fragUnit)
	if more {
		word |= ipMF
	}
	binary.BigEndian.PutUint16(h[ipFragOff:], word)
	binary.BigEndian.PutUint16(h[ipLenOff:], uint16(len(h)+n))
	h[0] = ipVersion<<versionShift | uint8(len(h)/hlenUnit)
	binary.BigEndian.PutUint16(h[ipSumOff:], 0)
	binary.BigEndian.PutUint16(h[ipSumOff:], headerSum(h))
}

// optCopied is the bit of an option's kind that puts it into every fragment.
const optCopied = 0x80

// copiedOptions is the header with the options that every fragment has (ip_optcopy), in
// place of the first fragment's, which has been sent.
func copiedOptions(h []byte) []byte {
	out := ipHdrLen
	for off := ipHdrLen; off < len(h) && h[off] != optEOL; {
		n := 1
		if h[off] != optNOP {
			n = int(h[off+1])
			if h[off]&optCopied != 0 {
				copy(h[out:], h[off:off+n])
				out += n
			}
		}
		off += n
	}
	for out%hlenUnit != 0 {
		h[out] = optEOL
		out++
	}
	return h[:out]
}
