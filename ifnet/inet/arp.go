package inet

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Layout of an ARP packet for IPv4 over Ethernet (RFC 826, struct ether_arp).
const (
	arpHdrLen     = 8
	arpLen        = 28
	arpProOff     = 2
	arpHlnOff     = 4
	arpPlnOff     = 5
	arpOpOff      = 6
	arpSHAOff     = 8
	arpSPAOff     = 14
	arpTHAOff     = 18
	arpTPAOff     = 24
	arpHrdEther   = 1
	arpOpRequest  = 1
	arpOpReply    = 2
	ipv4AddrLen   = 4
	etherGroupBit = 1 // of the first byte of a link address
)

// arpParams are ARP's timers (netinet/if_ether.c): probes begin so long before an entry's
// end that all can be sent.
func (s *stack) arpParams() nbParams {
	n := &s.knobs
	tries := max(n.arpMaxTries.Load(), 1)
	probing := s.seconds(tries)
	return nbParams{
		wait:      s.seconds(n.arpWait.Load()),
		reachable: max(s.seconds(n.arpMaxAge.Load())-probing, 1),
		stale:     probing,
		rexmit:    s.k.Hz(),
		probes:    int(tries),
		tries:     int(tries),
		hold:      int(n.arpMaxHold.Load()),
	}
}

// arpResolve is the resolver of IPv4 (arpresolve).
func (s *stack) arpResolve(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, dst netip.Addr) (mac [ifnet.EtherAddrLen]byte, ok bool, err error) {
	if i := s.iface(ifp); i != nil {
		if e := i.nb4.find(keyOf(dst, 0)); e != nil {
			if w := e.link.Load(); w != 0 {
				if e.feedback.Load() {
					s.used(&s.arp, e)
				}
				return unpackLink(w), true, nil
			}
		}
	}
	return s.resolveSlow(c, ifp, m, dst, &s.arp)
}

// arpAsk sends a request from the address whose network the target is in (arprequest).
func (s *stack) arpAsk(c *mbuf.Cache, i *iface, target netip.Addr, mac *[ifnet.EtherAddrLen]byte) {
	src, ok := s.sourceFor4(i, target)
	if !ok {
		s.arpLogf("cannot find matching address, no ARP request sent for %s on %s\n", target, i.ifp.Name())
		return
	}
	to := ifnet.EtherBroadcast
	if mac != nil {
		to = *mac
	}
	s.arpSend(c, i.ifp, to, arpPacket{op: arpOpRequest, sha: i.ifp.MAC(), spa: src, tpa: target})
}

// arpGiveUp drops a packet whose neighbour never answered; the sender of one that was
// being forwarded is told (RFC 1812 5.2.7.1).
func (s *stack) arpGiveUp(c *mbuf.Cache, _ *iface, m *mbuf.Mbuf) {
	s.stats.arp.add(arpDropped)
	ifp, ok := m.Pkt.RcvIf.(*ifnet.Ifnet)
	if !ok || ifp == nil {
		c.FreeChain(m)
		return
	}
	s.icmpError(c, ifp, m, icmpUnreach, icmpUnreachHost, 0)
}

// sourceFor4 is the interface's address in whose network target is, else its first.
func (s *stack) sourceFor4(i *iface, target netip.Addr) (netip.Addr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first netip.Addr
	for _, a := range i.addrs {
		if !a.prefix.Addr().Is4() {
			continue
		}
		if a.prefix.Contains(target) {
			return a.prefix.Addr(), true
		}
		if !first.IsValid() {
			first = a.prefix.Addr()
		}
	}
	return first, first.IsValid()
}

// announce tells the link of an address: a request for itself (arp_announce_ifaddr).
func (s *stack) announce(c *mbuf.Cache, ifp *ifnet.Ifnet, a netip.Addr) {
	if ifp.Type() == ifnet.TypeLoop || ifp.Flags()&ifnet.FlagNoARP != 0 {
		return
	}
	s.arpSend(c, ifp, ifnet.EtherBroadcast, arpPacket{op: arpOpRequest, sha: ifp.MAC(), spa: a, tpa: a})
}

// arpSend sends one packet to the link address to.
func (s *stack) arpSend(c *mbuf.Cache, ifp *ifnet.Ifnet, to [ifnet.EtherAddrLen]byte, p arpPacket) {
	m := c.GetHdr()
	if m == nil {
		s.stats.arp.add(arpTxErrors)
		return
	}
	m.Align(arpLen)
	m.SetLen(arpLen)
	m.Pkt.Len = arpLen
	b := m.Bytes()
	binary.BigEndian.PutUint16(b, arpHrdEther)
	binary.BigEndian.PutUint16(b[arpProOff:], ifnet.EtherTypeIP)
	b[arpHlnOff], b[arpPlnOff] = ifnet.EtherAddrLen, ipv4AddrLen
	binary.BigEndian.PutUint16(b[arpOpOff:], p.op)
	spa, tpa := p.spa.As4(), p.tpa.As4()
	copy(b[arpSHAOff:], p.sha[:])
	copy(b[arpSPAOff:], spa[:])
	copy(b[arpTHAOff:], p.tha[:])
	copy(b[arpTPAOff:], tpa[:])
	if to == ifnet.EtherBroadcast {
		m.Flags |= mbuf.FlagBcast
	}
	if err := ifp.OutputTo(c, m, to, ifnet.EtherTypeARP); err != nil {
		s.stats.arp.add(arpTxErrors)
		return
	}
	if p.op == arpOpRequest {
		s.stats.arp.add(arpTxRequests)
	} else {
		s.stats.arp.add(arpTxReplies)
	}
}

// arpInput takes a packet of EtherType ARP (arpintr): it checks the header.
func (s *stack) arpInput(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
	if int(m.Pkt.Len) < arpHdrLen {
		s.arpBadf(c, m, "packet with short header received on %s\n", ifp.Name())
		return
	}
	var h [arpHdrLen]byte
	m.CopyData(0, h[:])
	hln, pln := int(h[arpHlnOff]), int(h[arpPlnOff])
	hrd := binary.BigEndian.Uint16(h[:])
	switch {
	case int(m.Pkt.Len) < arpHdrLen+2*hln+2*pln:
		s.arpBadf(c, m, "short packet received on %s\n", ifp.Name())
	case hrd != arpHrdEther:
		s.arpBadf(c, m, "packet with unknown hardware format 0x%02d received on %s\n", hrd, ifp.Name())
	case hln != ifnet.EtherAddrLen:
		s.arpBadf(c, m, "packet with invalid ethernet address length %d received on %s\n", hln, ifp.Name())
	case binary.BigEndian.Uint16(h[arpProOff:]) != ifnet.EtherTypeIP:
		s.stats.arp.add(arpReceived)
		c.FreeChain(m)
	case pln != ipv4AddrLen:
		s.stats.arp.add(arpReceived)
		s.arpBadf(c, m, "requested protocol length != %d\n", ipv4AddrLen)
	default:
		s.stats.arp.add(arpReceived)
		var p arpPacket
		var b [arpLen]byte
		m.CopyData(0, b[:])
		c.FreeChain(m)
		p.parse(&b)
		s.inArpInput(c, ifp, &p)
	}
}

// arpPacket is what a packet says.
type arpPacket struct {
	op       uint16
	sha, tha [ifnet.EtherAddrLen]byte
	spa, tpa netip.Addr
}

func (p *arpPacket) parse(b *[arpLen]byte) {
	p.op = binary.BigEndian.Uint16(b[arpOpOff:])
	p.sha = [ifnet.EtherAddrLen]byte(b[arpSHAOff:])
	p.tha = [ifnet.EtherAddrLen]byte(b[arpTHAOff:])
	p.spa = netip.AddrFrom4([ipv4AddrLen]byte(b[arpSPAOff:]))
	p.tpa = netip.AddrFrom4([ipv4AddrLen]byte(b[arpTPAOff:]))
}

// arpBadf frees a packet that is refused, counts it and says why.
func (s *stack) arpBadf(c *mbuf.Cache, m *mbuf.Mbuf, format string, args ...any) {
	s.stats.arp.add(arpBad)
	c.FreeChain(m)
	s.arpLogf(format, args...)
}

// arpLogf writes a console line unless there were too many this second (ARP_LOG).
func (s *stack) arpLogf(format string, args ...any) {
	if s.arpLog.allow() {
		s.k.Printf("arp: "+format, args...)
	}
}

// inArpInput is in_arpinput: learn from the sender, answer the request.
func (s *stack) inArpInput(c *mbuf.Cache, ifp *ifnet.Ifnet, p *arpPacket) {
	switch p.op {
	case arpOpRequest:
		s.stats.arp.add(arpRxRequests)
	case arpOpReply:
		s.stats.arp.add(arpRxReplies)
	}
	if p.sha[0]&etherGroupBit != 0 && (p.sha == ifnet.EtherBroadcast || s.knobs.arpMulticast.Load() == 0) {
		if p.sha == ifnet.EtherBroadcast {
			s.arpLogf("link address is broadcast for IP address %s!\n", p.spa)
		} else {
			s.arpLogf("%s is multicast\n", macText(p.sha))
		}
		s.stats.arp.add(arpBad)
		return
	}
	if s.iface(ifp) == nil || p.sha == ifp.MAC() {
		return // no address here, or sent by this interface
	}
	forMe := s.isLocal4(ifp, p.tpa)
	if !p.spa.IsUnspecified() && s.isLocal4(ifp, p.spa) {
		s.stats.arp.add(arpDupIPs)
		s.arpLogf("%s is using my IP address %s on %s!\n", macText(p.sha), p.spa, ifp.Name())
		s.arpReply(c, ifp, p, p.spa, ifp.MAC())
		return
	}
	if ifp.Flags()&ifnet.FlagStaticARP == 0 && !p.spa.IsUnspecified() {
		s.arpLearn(c, ifp, p, forMe)
	}
	if forMe || s.knobs.arpProxyAll.Load() != 0 && s.mayProxy(ifp, p) {
		s.arpReply(c, ifp, p, p.tpa, ifp.MAC())
	} else if mac, ok := s.published(ifp, p.tpa); ok {
		s.arpReply(c, ifp, p, p.tpa, mac)
	}
}

// published is what to answer for a neighbour that somebody published.
func (s *stack) published(ifp *ifnet.Ifnet, a netip.Addr) (mac [ifnet.EtherAddrLen]byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.neighbour4(ifp, a)
	if e == nil || !e.published {
		return mac, false
	}
	return unpackLink(e.link.Load()), true
}

// isLocal4 reports whether an address belongs to the interface.
func (s *stack) isLocal4(ifp *ifnet.Ifnet, a netip.Addr) bool {
	r := s.fib4.Load().lookup(keyOf(a, 0))
	return r != nil && r.kind == routeLocal && r.ifp == ifp
}

// mayProxy reports whether the target is reached through another interface, and the
// sender is on this one.
func (s *stack) mayProxy(ifp *ifnet.Ifnet, p *arpPacket) bool {
	f := s.fib4.Load()
	to, from := f.lookup(keyOf(p.tpa, 0)), f.lookup(keyOf(p.spa, 0))
	return !to.unroutable() && to.ifp != ifp && from != nil && from.ifp == ifp
}

// arpReply answers a request: addr is at mac.
func (s *stack) arpReply(c *mbuf.Cache, ifp *ifnet.Ifnet, p *arpPacket, addr netip.Addr, mac [ifnet.EtherAddrLen]byte) {
	if p.op == arpOpRequest {
		s.arpSend(c, ifp, p.sha, arpPacket{op: arpOpReply, sha: mac, tha: p.sha, spa: addr, tpa: p.spa})
	}
}

// arpLearn updates the sender's entry, which is made if the packet is for this machine.
func (s *stack) arpLearn(c *mbuf.Cache, ifp *ifnet.Ifnet, p *arpPacket, create bool) {
	from := s.fib4.Load().lookup(keyOf(p.spa, 0))
	if from == nil || from.kind != routeNet || from.ifp != ifp {
		if from != nil && from.ifp != ifp && from.kind == routeNet && p.op == arpOpReply && s.knobs.logWrongIf.Load() != 0 {
			s.arpLogf("%s is on %s but got reply from %s on %s\n", p.spa, from.ifp.Name(), macText(p.sha), ifp.Name())
		}
		if s.neighbour4(ifp, p.spa) == nil {
			return
		}
	}
	s.mu.Lock()
	i := s.iface(ifp)
	if i == nil || s.closed {
		s.mu.Unlock()
		return
	}
	e := i.nb4.find(keyOf(p.spa, 0))
	if e == nil {
		if !create || i.nb4.n >= maxNeighbours {
			s.mu.Unlock()
			return
		}
		e = s.newNeighbour(i, &s.arp, p.spa)
	}
	w := e.link.Load()
	old, moved := unpackLink(w), w != 0 && unpackLink(w) != p.sha
	if e.state == NeighbourPermanent {
		s.mu.Unlock()
		if moved && s.knobs.logPermanent.Load() != 0 {
			s.arpLogf("%s attempts to modify permanent entry for %s on %s\n", macText(p.sha), p.spa, ifp.Name())
		}
		return
	}
	held := s.learn(&s.arp, e, p.sha, true)
	s.mu.Unlock()
	if moved && s.knobs.logMoves.Load() != 0 {
		s.arpLogf("%s moved from %s to %s on %s\n", p.spa, macText(old), macText(p.sha), ifp.Name())
	}
	s.sendHeld(c, ifp, held, p.sha, ifnet.EtherTypeIP)
}

// neighbour4 is the interface's entry of an address, nil if there is none.
func (s *stack) neighbour4(ifp *ifnet.Ifnet, a netip.Addr) *neighbour {
	if i := s.iface(ifp); i != nil {
		return i.nb4.find(keyOf(a, 0))
	}
	return nil
}

// macText is a link address as the kernel's %*D prints it.
func macText(mac [ifnet.EtherAddrLen]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5])
}
