package inet

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// ND6Flags are the neighbour discovery flags of an interface (ND6_IFF_*, the "nd6
// options" of ifconfig, spec ifnet 12.1).
type ND6Flags uint32

// Flags that have an effect here.
const (
	ND6PerformNUD    ND6Flags = 0x1
	ND6IfDisabled    ND6Flags = 0x8
	ND6AutoLinkLocal ND6Flags = 0x20
	ND6NoDAD         ND6Flags = 0x100

	ND6AcceptRTAdv   ND6Flags = 0x2  // kept, without effect: there are no advertisements
	ND6NoPreferIface ND6Flags = 0x80 // likewise: there are no default interfaces

	// nd6DefaultFlags are those of an interface that no IPv6 address was given to.
	nd6DefaultFlags = ND6PerformNUD | ND6IfDisabled | ND6AutoLinkLocal
)

// Layout of solicitations and advertisements (RFC 4861 4.3, 4.4).
const (
	ndFlagsOff     = 4
	ndTargetOff    = 8
	ndLen          = 24
	ndOptLen       = 8 // an option with an Ethernet address
	ndOptSource    = 1
	ndOptTarget    = 2
	ndHopLimit     = 255
	naRouter       = 0x80
	naSolicited    = 0x40
	naOverride     = 0x20
	ndMaxOptions   = 512 // bytes of a message that are looked at
	ndReachable    = 30  // seconds (REACHABLE_TIME)
	ndRetransTimer = 1   // seconds (RETRANS_TIMER)
)

func (s *stack) nd6Params() nbParams {
	n := &s.knobs
	return nbParams{
		wait:      s.seconds(ndRetransTimer),
		reachable: s.seconds(ndReachable),
		stale:     s.seconds(n.nd6GCTimer.Load()),
		delay:     s.seconds(n.nd6Delay.Load()),
		rexmit:    s.seconds(ndRetransTimer),
		probes:    int(max(n.nd6UMaxTries.Load(), 1)),
		tries:     int(max(n.nd6MMaxTries.Load(), 1)),
		hold:      int(n.nd6MaxHold.Load()),
		repeat:    true,
	}
}

// nd6Resolve is the resolver of IPv6 (nd6_resolve).
func (s *stack) nd6Resolve(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, dst netip.Addr) (mac [ifnet.EtherAddrLen]byte, ok bool, err error) {
	if i := s.iface(ifp); i != nil {
		if e := i.nb6.find(keyOf(dst, 0)); e != nil {
			if w := e.link.Load(); w != 0 {
				if e.feedback.Load() {
					s.used(&s.nd6, e)
				}
				return unpackLink(w), true, nil
			}
		}
	}
	return s.resolveSlow(c, ifp, m, dst, &s.nd6)
}

// nd6Ask sends a neighbour solicitation (nd6_ns_output).
func (s *stack) nd6Ask(c *mbuf.Cache, i *iface, target netip.Addr, mac *[ifnet.EtherAddrLen]byte) {
	src, ok := s.sourceFor6(i.ifp, target)
	if !ok {
		return
	}
	dst := solicitedNode(target)
	if mac != nil {
		dst = target
	}
	s.nd6Solicit(c, i.ifp, src, dst, target)
}

// nd6Solicit sends a solicitation for target. Without a source there is no option.
func (s *stack) nd6Solicit(c *mbuf.Cache, ifp *ifnet.Ifnet, src, dst, target netip.Addr) {
	opt := ndOptSource
	if src.IsUnspecified() {
		opt = 0
	}
	if s.nd6Send(c, ifp, icmp6NS, 0, opt, src, dst, target) {
		s.stats.icmp6.add(icmp6OutNS)
	}
}

// nd6Send sends a message about target with this interface's link address in option opt.
func (s *stack) nd6Send(c *mbuf.Cache, ifp *ifnet.Ifnet, typ, flags uint8, opt int, src, dst, target netip.Addr) bool {
	m := c.GetHdr()
	if m == nil {
		s.stats.icmp6.add(icmp6NoMem)
		return false
	}
	n := ip6HdrLen + ndLen
	if opt != 0 {
		n += ndOptLen
	}
	m.Align(n)
	m.SetLen(n)
	m.Pkt.Len = int32(n)
	b := m.Bytes()
	clear(b)
	icmp := b[ip6HdrLen:]
	icmp[0], icmp[ndFlagsOff] = typ, flags
	t := target.As16()
	copy(icmp[ndTargetOff:], t[:])
	if opt != 0 {
		mac := ifp.MAC()
		icmp[ndLen], icmp[ndLen+1] = uint8(opt), 1
		copy(icmp[ndLen+2:], mac[:])
	}
	s.icmp6Send(c, m, ifp, src, dst, ndHopLimit)
	return true
}

// nd6GiveUp drops a packet whose neighbour never answered.
func (s *stack) nd6GiveUp(c *mbuf.Cache, _ *iface, m *mbuf.Mbuf) {
	s.icmp6Drop(c, m, icmp6NDDropped)
}

// ndMessage is a checked solicitation or advertisement.
type ndMessage struct {
	p      *packet6
	flags  uint8
	target netip.Addr
	mac    [ifnet.EtherAddrLen]byte // of the option
	hasMAC bool
}

// nd6Message checks what both messages have in common (RFC 4861 7.1), frees m and hands
// on what it said.
func (s *stack) nd6Message(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, p *packet6, code uint8, fn func(c *mbuf.Cache, ifp *ifnet.Ifnet, n *ndMessage) bool) {
	var buf [ndMaxOptions]byte
	n := min(int(m.Pkt.Len)-p.off, len(buf))
	b := buf[:n]
	m.CopyData(p.off, b)
	c.FreeChain(m)
	bad := icmp6BadNS
	opt := uint8(ndOptSource)
	if b[0] == icmp6NA {
		bad, opt = icmp6BadNA, ndOptTarget
	}
	if p.hlim != ndHopLimit || code != 0 || n < ndLen {
		s.stats.icmp6.add(bad)
		return
	}
	msg := ndMessage{p: p, flags: b[ndFlagsOff], target: netip.AddrFrom16([ipv6AddrLen]byte(b[ndTargetOff:]))}
	if msg.target.IsMulticast() || !msg.options(b[ndLen:], opt) || !fn(c, ifp, &msg) {
		s.stats.icmp6.add(bad)
	}
}

// options finds the link address among options; false if they are malformed.
func (n *ndMessage) options(b []byte, want uint8) bool {
	for len(b) > 0 {
		if len(b) < 2 || b[1] == 0 || int(b[1])*extUnit > len(b) {
			return false
		}
		if b[0] == want && b[1] == 1 && b[2]&etherGroupBit == 0 {
			n.mac, n.hasMAC = [ifnet.EtherAddrLen]byte(b[2:]), true
		}
		b = b[int(b[1])*extUnit:]
	}
	return true
}

// nd6NSInput answers a solicitation (nd6_ns_input); false if it is invalid.
func (s *stack) nd6NSInput(c *mbuf.Cache, ifp *ifnet.Ifnet, n *ndMessage) bool {
	detecting := n.p.src.IsUnspecified()
	if detecting && (n.p.dst != solicitedNode(n.target) || n.hasMAC) {
		return false
	}
	state, mine := s.stateOf6(ifp, n.target)
	if !mine || state == AddrDuplicated {
		return true
	}
	if state == AddrTentative {
		if detecting { // somebody else wants it too
			s.dadDuplicate(ifp, n.target, 0)
		}
		return true
	}
	dst, flags := n.p.src, uint8(naSolicited|naOverride)
	if detecting {
		dst, flags = allNodes6, naOverride
	} else if n.hasMAC {
		s.nd6Learn(c, ifp, n.p.src, n.mac)
	}
	if s.nd6Send(c, ifp, icmp6NA, flags, ndOptTarget, n.target, dst, n.target) {
		s.stats.icmp6.add(icmp6OutNA)
	}
	return true
}

// stateOf6 is the state of an address of the interface.
func (s *stack) stateOf6(ifp *ifnet.Ifnet, a netip.Addr) (AddrState, bool) {
	if i := s.iface(ifp); i != nil {
		for _, own := range i.own.Load().v6 {
			if own.addr == a {
				return own.state, true
			}
		}
	}
	return AddrValid, false
}

// nd6Learn stores where a sender is (nd6_cache_lladdr): an entry that is new or changes is
// stale.
func (s *stack) nd6Learn(c *mbuf.Cache, ifp *ifnet.Ifnet, from netip.Addr, mac [ifnet.EtherAddrLen]byte) {
	s.mu.Lock()
	i := s.iface(ifp)
	if i == nil || s.closed || from.IsMulticast() {
		s.mu.Unlock()
		return
	}
	e := i.nb6.find(keyOf(from, 0))
	if e == nil {
		if i.nb6.n >= maxNeighbours {
			s.mu.Unlock()
			return
		}
		e = s.newNeighbour(i, &s.nd6, from)
	}
	var held *mbuf.Mbuf
	if e.state != NeighbourPermanent && e.link.Load() != packLink(mac) {
		held = s.learn(&s.nd6, e, mac, false)
	}
	s.mu.Unlock()
	s.sendHeld(c, ifp, held, mac, ifnet.EtherTypeIPv6)
}

// nd6NAInput takes an advertisement (nd6_na_input, RFC 4861 7.2.5); false if invalid.
func (s *stack) nd6NAInput(c *mbuf.Cache, ifp *ifnet.Ifnet, n *ndMessage) bool {
	solicited, override := n.flags&naSolicited != 0, n.flags&naOverride != 0
	if solicited && n.p.dst.IsMulticast() {
		return false
	}
	if state, mine := s.stateOf6(ifp, n.target); mine {
		if state == AddrTentative {
			s.dadDuplicate(ifp, n.target, 1)
		} else if state == AddrValid {
			s.stats.icmp6.add(icmp6DADDup)
		}
		return true
	}
	s.mu.Lock()
	i := s.iface(ifp)
	if i == nil || s.closed {
		s.mu.Unlock()
		return true
	}
	e := i.nb6.find(keyOf(n.target, 0))
	if e == nil || e.state == NeighbourPermanent {
		s.mu.Unlock()
		return true
	}
	e.router = n.flags&naRouter != 0
	held := s.nd6Advertised(e, n, solicited, override)
	mac := unpackLink(e.link.Load())
	s.mu.Unlock()
	s.sendHeld(c, ifp, held, mac, ifnet.EtherTypeIPv6)
	return true
}

// nd6Advertised applies an advertisement to an entry and returns the packets that waited.
// mu is held.
func (s *stack) nd6Advertised(e *neighbour, n *ndMessage, solicited, override bool) *mbuf.Mbuf {
	w := e.link.Load()
	if w == 0 {
		if !n.hasMAC {
			return nil
		}
		return s.learn(&s.nd6, e, n.mac, solicited)
	}
	changed := n.hasMAC && packLink(n.mac) != w
	if changed && !override {
		if e.state == NeighbourReachable {
			s.doubt(e, s.nd6Params())
		}
		return nil
	}
	mac := unpackLink(w)
	if n.hasMAC {
		mac = n.mac
	}
	if solicited || changed {
		return s.learn(&s.nd6, e, mac, solicited)
	}
	return nil
}

// ND6Options are the neighbour discovery flags of an interface.
func ND6Options(ifp *ifnet.Ifnet) ND6Flags {
	if s, err := stackOf(ifp.Kernel()); err == nil {
		if i := s.iface(ifp); i != nil {
			return ND6Flags(i.nd6Flags.Load())
		}
	}
	return nd6DefaultFlags
}

// SetND6Options changes the flags, set first, then clear (SIOCSIFINFO_FLAGS). Clearing
// IFDISABLED gives an interface that is up its link-local address. It may sleep.
func SetND6Options(ifp *ifnet.Ifnet, set, clear ND6Flags) error {
	s, err := stackOf(ifp.Kernel())
	if err != nil {
		return err
	}
	s.mu.Lock()
	i := s.makeIface(ifp)
	old := ND6Flags(i.nd6Flags.Load())
	now := (old | set) &^ clear
	i.nd6Flags.Store(uint32(now))
	s.mu.Unlock()
	if old&ND6IfDisabled != 0 && now&ND6IfDisabled == 0 && ifp.Flags()&ifnet.FlagUp != 0 {
		if err := s.addLinkLocal(ifp); err != nil {
			return fmt.Errorf("enabling IPv6 on %s: %w", ifp.Name(), err)
		}
	}
	return nil
}

// LinkLocal is the link-local address made of a MAC address (EUI-64, RFC 2464 4).
func LinkLocal(mac [ifnet.EtherAddrLen]byte) netip.Addr {
	const (
		idOff     = 8
		universal = 0x02
		lowOff    = 13
		filler    = 0xfffe
		fillerOff = 11
		half      = 3
	)
	b := [ipv6AddrLen]byte{0: 0xfe, 1: 0x80}
	copy(b[idOff:], mac[:half])
	b[idOff] ^= universal
	binary.BigEndian.PutUint16(b[fillerOff:], filler)
	copy(b[lowOff:], mac[half:])
	return netip.AddrFrom16(b)
}
