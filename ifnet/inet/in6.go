package inet

import (
	"errors"
	"net/netip"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// linkLocalBits is the length of the link-local network's prefix.
const linkLocalBits = 64

// enable6 turns IPv6 on with the first address; unless that is one, the interface gets
// its link-local address too.
func (s *stack) enable6(ifp *ifnet.Ifnet, isLinkLocal bool) error {
	s.mu.Lock()
	i := s.makeIface(ifp)
	i.nd6Flags.And(^uint32(ND6IfDisabled))
	s.mu.Unlock()
	if isLinkLocal {
		return nil
	}
	return s.addLinkLocal(ifp)
}

// addLinkLocal gives an interface with AUTO_LINKLOCAL its link-local address unless it has
// one (in6_ifattach_linklocal).
func (s *stack) addLinkLocal(ifp *ifnet.Ifnet) error {
	if s.knobs.autoLinkLocal.Load() == 0 || ifp.Type() == ifnet.TypeLoop {
		return nil
	}
	s.mu.Lock()
	i := s.iface(ifp)
	wanted := i != nil && ND6Flags(i.nd6Flags.Load())&(ND6AutoLinkLocal|ND6IfDisabled) == ND6AutoLinkLocal
	if wanted {
		for _, a := range i.addrs {
			if a.prefix.Addr().Is6() && a.prefix.Addr().IsLinkLocalUnicast() {
				wanted = false
			}
		}
	}
	s.mu.Unlock()
	if !wanted {
		return nil
	}
	return s.addAddr6(ifp, netip.PrefixFrom(LinkLocal(ifp.MAC()), linkLocalBits))
}

// in6IfUp gives an interface that comes up its link-local address (in6_if_up).
func (s *stack) in6IfUp(ifp *ifnet.Ifnet) {
	if err := s.addLinkLocal(ifp); err != nil && !errors.Is(err, syscall.ENXIO) {
		s.k.Printf("%s: cannot add link-local address: %v\n", ifp.Name(), err)
	}
}

// addAddr6 enters an IPv6 address, joins its groups and starts duplicate address
// detection.
func (s *stack) addAddr6(ifp *ifnet.Ifnet, p netip.Prefix) error {
	state := AddrTentative
	if s.knobs.dadCount.Load() <= 0 || ND6Options(ifp)&ND6NoDAD != 0 || ifp.Type() == ifnet.TypeLoop {
		state = AddrValid
	}
	isNew, held, err := s.enter(ifp, p, state, &s.nd6)
	if err != nil || !isNew {
		return err
	}
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
	if err := s.joinOrUndo(c, ifp, p.Addr(), allNodes6, solicitedNode(p.Addr())); err != nil {
		return err
	}
	if state == AddrTentative {
		s.dadStart(c, ifp, p.Addr())
	}
	return nil
}

// dadStart sends the first solicitation for a tentative address (nd6_dad_start).
func (s *stack) dadStart(c *mbuf.Cache, ifp *ifnet.Ifnet, addr netip.Addr) {
	s.mu.Lock()
	i := s.iface(ifp)
	var a *ifaddr
	if i != nil {
		a = i.find(addr)
	}
	if a == nil || a.state != AddrTentative || a.dad != nil || s.closed {
		s.mu.Unlock()
		return
	}
	a.dad = s.k.NewCallout("dad", nil, func() { s.dadTimer(i, a) })
	a.dadNS = 1
	a.dad.Reset(s.seconds(ndRetransTimer), -1)
	s.mu.Unlock()
	s.nd6Solicit(c, ifp, netip.IPv6Unspecified(), solicitedNode(addr), addr)
}

// dadTimer repeats the question dad_count times; then the address is valid
// (nd6_dad_timer).
func (s *stack) dadTimer(i *iface, a *ifaddr) {
	s.mu.Lock()
	addr := a.prefix.Addr()
	if a.dad == nil || a.dad.Pending() || a.state != AddrTentative || i.gone {
		s.mu.Unlock()
		return
	}
	again := a.dadNS < int(s.knobs.dadCount.Load())
	var held *mbuf.Mbuf
	if again {
		a.dadNS++
		a.dad.Reset(s.seconds(ndRetransTimer), -1)
	} else {
		a.state, a.dad = AddrValid, nil
		held = s.setOwn(i, &s.nd6, addr)
		s.rebuild()
	}
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
	if again {
		s.nd6Solicit(c, i.ifp, netip.IPv6Unspecified(), solicitedNode(addr), addr)
	}
}

// dadDuplicate ends detection: somebody else has the address, as na advertisements or a
// solicitation said (nd6_dad_duplicated).
func (s *stack) dadDuplicate(ifp *ifnet.Ifnet, addr netip.Addr, na int) {
	s.mu.Lock()
	i := s.iface(ifp)
	var a *ifaddr
	if i != nil {
		a = i.find(addr)
	}
	if a == nil || a.state != AddrTentative {
		s.mu.Unlock()
		return
	}
	sent := a.dadNS
	if a.dad != nil {
		a.dad.Stop()
		a.dad = nil
	}
	a.state = AddrDuplicated
	s.rebuild()
	s.mu.Unlock()
	s.stats.icmp6.add(icmp6DADDup)
	s.k.Printf("%s: DAD detected duplicate IPv6 address %s: NS in/out/loopback=%d/%d/0, NA in=%d\n", ifp.Name(), addr, 1-na, sent, na)
	s.k.Printf("%s: DAD complete for %s - duplicate found\n", ifp.Name(), addr)
	s.k.Printf("%s: manual intervention required\n", ifp.Name())
}
