package inet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// AddrState is how far duplicate address detection has come with an IPv6 address.
type AddrState uint8

// States of an address; an IPv4 address is always valid.
const (
	AddrValid      AddrState = iota
	AddrTentative            // IN6_IFF_TENTATIVE: detection runs, the address is not used
	AddrDuplicated           // IN6_IFF_DUPLICATED: somebody else has it
)

// Addr is an address of an interface.
type Addr struct {
	Prefix    netip.Prefix // the address and the length of its network
	Broadcast netip.Addr   // IPv4 only
	State     AddrState
	Scope     int    // interface index of a link-local IPv6 address, else 0
	If        string // name of the interface
	In, Out   Flow   // packets to the address, and of this machine from it
}

// Flow is what went one way: packets, and their bytes without the link layer (ifa_ipackets
// and its like). A packet that is cut counts once.
type Flow struct{ Packets, Bytes uint64 }

// String is ifconfig's line without the tab (spec ifnet 12.1).
func (a Addr) String() string {
	if a.Prefix.Addr().Is4() {
		mask := maskOf(a.Prefix.Bits()).hi >> ipv4Bits
		text := fmt.Sprintf("inet %s netmask 0x%08x", a.Prefix.Addr(), mask)
		if a.Broadcast.IsValid() {
			text += " broadcast " + a.Broadcast.String()
		}
		return text
	}
	var b strings.Builder
	b.WriteString("inet6 " + a.Prefix.Addr().String())
	if a.Scope != 0 {
		b.WriteString("%" + a.If)
	}
	fmt.Fprintf(&b, " prefixlen %d", a.Prefix.Bits())
	switch a.State {
	case AddrTentative:
		b.WriteString(" tentative")
	case AddrDuplicated:
		b.WriteString(" duplicated")
	}
	if a.Scope != 0 {
		fmt.Fprintf(&b, " scopeid %#x", a.Scope)
	}
	return b.String()
}

// ifaddr is an address of an interface (struct in_ifaddr, in6_ifaddr), guarded by mu but
// for its counters.
type ifaddr struct {
	in, out flowCount

	prefix netip.Prefix
	bcast  netip.Addr // of IPv4, if it was given; else it follows from the prefix
	state  AddrState
	dad    *kern.Callout // detection's timer, nil when it does not run
	dadNS  int           // solicitations sent

	unrouted bool // the route to its network has been deleted
}

// ownAddrs is what the packet path reads of an interface's addresses, constant.
type ownAddrs struct {
	v4 []netip.Addr
	v6 []ownAddr6
}

type ownAddr6 struct {
	addr  netip.Addr
	state AddrState
}

// Lengths of prefixes without a broadcast address of their own.
const (
	p2pBits4  = 31
	hostBits4 = 32
	hostBits6 = 128
)

// routes are the table entries that come with an address: itself, its broadcast address
// and its network. One that is not valid has its network only.
func (a *ifaddr) routes(ifp *ifnet.Ifnet) []*route {
	addr := a.prefix.Addr()
	var list []*route
	if a.state == AddrValid {
		list = append(list, &route{prefix: netip.PrefixFrom(addr, addr.BitLen()), ifp: ifp, kind: routeLocal, own: a})
	}
	if a.prefix.Bits() == addr.BitLen() || a.unrouted {
		return list
	}
	list = append(list, &route{prefix: a.prefix.Masked(), ifp: ifp, kind: routeNet})
	if addr.Is4() && (a.prefix.Bits() < p2pBits4 || a.bcast.IsValid()) {
		list = append(list, &route{prefix: netip.PrefixFrom(a.broadcast(), hostBits4), ifp: ifp, kind: routeBroadcast})
	}
	return list
}

// AddAddr gives an interface an address and the route to its network (SIOCAIFADDR,
// SIOCAIFADDR_IN6): the driver is told with IoctlSetAddr, which brings the interface up,
// groups are joined, and IPv4 is announced by gratuitous ARP. The first IPv6 address
// enables IPv6 and adds a link-local one; each is tentative until duplicate address
// detection ends. An address that is there gets the new prefix length. It may sleep.
// EINVAL: not a unicast address; EEXIST: another interface has it; else what the driver says.
func AddAddr(ifp *ifnet.Ifnet, p netip.Prefix) error {
	s, err := stackOf(ifp.Kernel())
	if err == nil {
		err = s.addAddr(ifp, p)
	}
	if err != nil {
		return fmt.Errorf("adding address %s to %s: %w", p, ifp.Name(), err)
	}
	return nil
}

func (s *stack) addAddr(ifp *ifnet.Ifnet, p netip.Prefix) error {
	a := p.Addr().WithZone("")
	if !p.IsValid() || a.Is4In6() || a.IsMulticast() || a.IsUnspecified() || a == netip.AddrFrom4([4]byte{0xff, 0xff, 0xff, 0xff}) {
		return syscall.EINVAL
	}
	p = netip.PrefixFrom(a, p.Bits())
	s.mu.Lock()
	if s.ownedElsewhere(ifp, a) {
		s.mu.Unlock()
		return syscall.EEXIST
	}
	s.makeIface(ifp)
	s.mu.Unlock()
	af := ifnet.AFInet6
	if a.Is4() {
		af = ifnet.AFInet
	}
	// with no lock held: the driver may sleep, and its events come back here
	if err := ifp.Ioctl(ifnet.IoctlSetAddr, ifnet.AddrReq{Family: af, Addr: p}); err != nil {
		return err
	}
	if a.Is4() {
		return s.addAddr4(ifp, p)
	}
	if err := s.enable6(ifp, p.Addr().IsLinkLocalUnicast()); err != nil {
		return err
	}
	return s.addAddr6(ifp, p)
}

// ownedElsewhere reports whether another interface has the address. Link-local ones may
// repeat. mu is held.
func (s *stack) ownedElsewhere(ifp *ifnet.Ifnet, a netip.Addr) bool {
	if a.Is6() && a.IsLinkLocalUnicast() {
		return false
	}
	for _, i := range *s.ifs.Load() {
		if i != nil && i.ifp != ifp && i.find(a) != nil {
			return true
		}
	}
	return false
}

// find is the entry of an address, nil if the interface does not have it. mu is held.
func (i *iface) find(a netip.Addr) *ifaddr {
	for _, e := range i.addrs {
		if e.prefix.Addr() == a {
			return e
		}
	}
	return nil
}

// allHosts4 is the group that every IPv4 host is in (INADDR_ALLHOSTS_GROUP).
var allHosts4 = netip.AddrFrom4([4]byte{224, 0, 0, 1})

func (s *stack) addAddr4(ifp *ifnet.Ifnet, p netip.Prefix) error {
	isNew, held, err := s.enter(ifp, p, AddrValid, &s.arp)
	if err != nil {
		return err
	}
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
	if isNew {
		if err := s.joinOrUndo(c, ifp, p.Addr(), allHosts4); err != nil {
			return err
		}
	}
	s.announce(c, ifp, p.Addr())
	return nil
}

// enter puts an address into the lists and tables, or changes its prefix length. held
// are packets that waited for a neighbour of that address.
func (s *stack) enter(ifp *ifnet.Ifnet, p netip.Prefix, state AddrState, proto *nbProtocol) (isNew bool, held *mbuf.Mbuf, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.iface(ifp)
	if i == nil || s.closed {
		return false, nil, syscall.ENXIO
	}
	if a := i.find(p.Addr()); a != nil {
		a.prefix, a.bcast, a.unrouted = p, netip.Addr{}, false
		s.rebuild()
		return false, nil, nil
	}
	i.addrs = append(i.addrs, &ifaddr{prefix: p, state: state, in: newFlowCount(), out: newFlowCount()})
	if state == AddrValid {
		held = s.setOwn(i, proto, p.Addr())
	}
	s.rebuild()
	return true, held, nil
}

// join makes the interface receive a group; what has no link layer needs none.
func join(ifp *ifnet.Ifnet, group netip.Addr) error {
	if ifp.Type() == ifnet.TypeLoop {
		return nil
	}
	mac, err := ifnet.ResolveMulti(group)
	if err != nil {
		return err
	}
	return ifp.AddMulti(mac)
}

// joinOrUndo joins groups for a new address and takes the address away if that fails.
func (s *stack) joinOrUndo(c *mbuf.Cache, ifp *ifnet.Ifnet, a netip.Addr, groups ...netip.Addr) error {
	for n, group := range groups {
		if err := join(ifp, group); err != nil {
			for _, joined := range groups[:n] {
				leave(ifp, joined)
			}
			held, _ := s.removeAddr(ifp, a)
			freePackets(c, held)
			return err
		}
	}
	return nil
}

// leave undoes join; an interface that has gone has left already.
func leave(ifp *ifnet.Ifnet, group netip.Addr) {
	if mac, err := ifnet.ResolveMulti(group); err == nil && ifp.Type() != ifnet.TypeLoop {
		_ = ifp.DelMulti(mac)
	}
}

// DelAddr takes an address away (SIOCDIFADDR), with its route and the static routes that
// depend on it. It may sleep. EADDRNOTAVAIL: the interface does not have it.
func DelAddr(ifp *ifnet.Ifnet, addr netip.Addr) error {
	s, err := stackOf(ifp.Kernel())
	if err != nil {
		return err
	}
	addr = addr.WithZone("")
	held, ok := s.removeAddr(ifp, addr)
	if !ok {
		return fmt.Errorf("removing address %s from %s: %w", addr, ifp.Name(), syscall.EADDRNOTAVAIL)
	}
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
	if addr.Is4() {
		leave(ifp, allHosts4)
		return nil
	}
	leave(ifp, solicitedNode(addr))
	leave(ifp, allNodes6)
	return nil
}

func (s *stack) removeAddr(ifp *ifnet.Ifnet, addr netip.Addr) (held *mbuf.Mbuf, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.iface(ifp)
	if i == nil {
		return nil, false
	}
	n := slices.IndexFunc(i.addrs, func(a *ifaddr) bool { return a.prefix.Addr() == addr })
	if n < 0 {
		return nil, false
	}
	if t := i.addrs[n].dad; t != nil {
		t.Stop()
		i.addrs[n].dad = nil
	}
	i.addrs = slices.Delete(slices.Clone(i.addrs), n, n+1)
	table := &i.nb6
	if addr.Is4() {
		table = &i.nb4
	}
	if e := table.find(keyOf(addr, 0)); e != nil {
		held = table.remove(e)
	}
	s.rebuild()
	return joinPackets(held, s.purge(i, table)), true
}

// purge removes the neighbours that are on no network of the interface any more and
// returns the packets that waited for them (lltable_prefix_free). mu is held.
func (s *stack) purge(i *iface, t *nbTable) (held *mbuf.Mbuf) {
	for _, e := range t.all() {
		if e.own {
			continue
		}
		if r := s.fibOf(e.addr).lookup(keyOf(e.addr, i.ifp.Index())); r == nil || r.kind != routeNet || r.ifp != i.ifp {
			held = joinPackets(held, t.remove(e))
		}
	}
	return held
}

// Addrs are the interface's addresses, IPv4 first, each family in the order in which they
// were added (spec ifnet 12.1 rule 6).
func Addrs(ifp *ifnet.Ifnet) []Addr {
	s, err := stackOf(ifp.Kernel())
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.iface(ifp)
	if i == nil {
		return nil
	}
	var v4, v6 []Addr
	for _, a := range i.addrs {
		out := Addr{Prefix: a.prefix, State: a.state, If: ifp.Name(), In: a.in.load(), Out: a.out.load()}
		if a.prefix.Addr().Is4() {
			if ifp.Flags()&ifnet.FlagBroadcast != 0 {
				out.Broadcast = a.broadcast()
			}
			v4 = append(v4, out)
			continue
		}
		if a.prefix.Addr().IsLinkLocalUnicast() {
			out.Scope = ifp.Index()
		}
		v6 = append(v6, out)
	}
	return append(v4, v6...)
}

// linkAddrChanged renews the permanent entries and tells the link (arp_iflladdr).
func (s *stack) linkAddrChanged(ifp *ifnet.Ifnet) {
	s.mu.Lock()
	i := s.iface(ifp)
	var v4 []netip.Addr
	if i != nil {
		for _, a := range i.addrs {
			if a.state != AddrValid {
				continue
			}
			proto := &s.nd6
			if a.prefix.Addr().Is4() {
				v4 = append(v4, a.prefix.Addr())
				proto = &s.arp
			}
			s.setOwn(i, proto, a.prefix.Addr())
		}
	}
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	for _, a := range v4 {
		s.announce(c, ifp, a)
	}
}
