package inet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// Neighbour is one line of the ARP or neighbour table.
type Neighbour struct {
	Addr      netip.Addr
	MAC       [ifnet.EtherAddrLen]byte
	If        string        // name of the interface
	Complete  bool          // MAC is known
	Permanent bool          // own or static
	Own       bool          // of this machine
	Expires   time.Duration // until the entry is in doubt or goes, 0 for a permanent one
}

// String is a line of arp -an.
func (n Neighbour) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "? (%s) at ", n.Addr)
	if n.Complete {
		b.WriteString(macText(n.MAC))
	} else {
		b.WriteString("(incomplete)")
	}
	b.WriteString(" on " + n.If)
	switch {
	case n.Permanent:
		b.WriteString(" permanent")
	case n.Expires > 0:
		fmt.Fprintf(&b, " expires in %d seconds", int(n.Expires/time.Second))
	default:
		b.WriteString(" expired")
	}
	b.WriteString(" [ethernet]")
	return b.String()
}

// ARPTable is the machine's ARP table, by interface, then address. Any goroutine.
func ARPTable(k *kern.Kernel) []Neighbour {
	return neighbours(k, func(i *iface) *nbTable { return &i.nb4 })
}

// NDTable is the machine's table of IPv6 neighbours, as ARPTable.
func NDTable(k *kern.Kernel) []Neighbour {
	return neighbours(k, func(i *iface) *nbTable { return &i.nb6 })
}

func neighbours(k *kern.Kernel, table func(i *iface) *nbTable) []Neighbour {
	s, err := stackOf(k)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Neighbour
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		start := len(list)
		for _, e := range table(i).all() {
			list = append(list, s.describe(i, e))
		}
		slices.SortFunc(list[start:], func(a, b Neighbour) int { return a.Addr.Compare(b.Addr) })
	}
	return list
}

func (s *stack) describe(i *iface, e *neighbour) Neighbour {
	n := Neighbour{Addr: e.addr, If: i.ifp.Name(), Permanent: e.state == nbPermanent, Own: e.own}
	if w := e.link.Load(); w != 0 {
		n.MAC, n.Complete = unpackLink(w), true
	}
	if !n.Permanent {
		ticks := e.expires - s.k.Ticks()
		if e.state == nbReachable {
			ticks += int64(s.arpTail(e))
		}
		n.Expires = time.Duration(max(ticks, 0)) * time.Second / time.Duration(s.k.Hz())
	}
	return n
}

// arpTail is what an IPv4 entry has left when it becomes stale.
func (s *stack) arpTail(e *neighbour) int {
	if e.addr.Is4() {
		return s.arpParams().stale
	}
	return 0
}

// AddStaticARP makes a permanent entry for a neighbour on a connected network (arp -s).
// ENETUNREACH: ip is on none; EINVAL: ip is not an IPv4 address or mac is a group;
// EEXIST: ip is an address of this machine. Any goroutine.
func AddStaticARP(k *kern.Kernel, ip netip.Addr, mac [ifnet.EtherAddrLen]byte) error {
	if !ip.Is4() {
		return fmt.Errorf("adding ARP entry for %s: %w", ip, syscall.EINVAL)
	}
	return addStatic(k, ip, mac)
}

// AddStaticNDP is AddStaticARP for IPv6 (ndp -s). A link-local address names its interface
// as its zone.
func AddStaticNDP(k *kern.Kernel, ip netip.Addr, mac [ifnet.EtherAddrLen]byte) error {
	if !ip.Is6() || ip.Is4In6() || ip.IsMulticast() {
		return fmt.Errorf("adding neighbour entry for %s: %w", ip, syscall.EINVAL)
	}
	return addStatic(k, ip, mac)
}

func addStatic(k *kern.Kernel, ip netip.Addr, mac [ifnet.EtherAddrLen]byte) error {
	s, err := stackOf(k)
	if err == nil {
		err = s.addStatic(ip, mac)
	}
	if err != nil {
		return fmt.Errorf("adding an entry for %s: %w", ip, err)
	}
	return nil
}

func (s *stack) addStatic(ip netip.Addr, mac [ifnet.EtherAddrLen]byte) error {
	if ifnet.IsMulticastMAC(mac) {
		return syscall.EINVAL
	}
	p := &s.arp
	if ip.Is6() {
		p = &s.nd6
	}
	s.mu.Lock()
	r := s.routeOf(ip)
	if r == nil || r.kind == routeGateway {
		s.mu.Unlock()
		return syscall.ENETUNREACH
	}
	if r.kind != routeNet {
		s.mu.Unlock()
		return syscall.EEXIST
	}
	ip = ip.WithZone("")
	held := s.setPermanent(s.iface(r.ifp), p, ip, mac, false)
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	s.sendHeld(c, r.ifp, held, mac, p.etype)
	return nil
}

// DelARP removes an entry that is not this machine's own (arp -d). ENOENT: there is none.
func DelARP(k *kern.Kernel, ip netip.Addr) error {
	s, err := stackOf(k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		if e := i.nb4.find(keyOf(ip, 0)); e != nil && !e.own {
			held := i.nb4.remove(e)
			s.mu.Unlock()
			c := s.zones.Borrow()
			defer s.zones.Return(c)
			freePackets(c, held)
			return nil
		}
	}
	s.mu.Unlock()
	return fmt.Errorf("deleting ARP entry of %s: %w", ip, syscall.ENOENT)
}
