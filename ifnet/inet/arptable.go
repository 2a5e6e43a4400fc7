package inet

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Neighbour is one line of the ARP or neighbour table.
type Neighbour struct {
	Addr      netip.Addr
	MAC       [ifnet.EtherAddrLen]byte
	If        string // name of the interface
	IfType    ifnet.Type
	State     NeighbourState
	Complete  bool          // MAC is known
	Permanent bool          // own or static
	Own       bool          // of this machine
	Published bool          // others' questions for it are answered
	Router    bool          // it says so, of IPv6
	Probes    int           // questions since its state began
	Expires   time.Duration // until the entry is in doubt or goes, 0 for a permanent one
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
	n := Neighbour{Addr: e.addr, If: i.ifp.Name(), IfType: i.ifp.Type(), State: e.state, Permanent: e.state == NeighbourPermanent,
		Own: e.own, Published: e.published, Router: e.router}
	if w := e.link.Load(); w != 0 {
		n.MAC, n.Complete = unpackLink(w), true
	}
	if n.Permanent {
		return n
	}
	ticks := e.expires - s.k.Ticks()
	if e.state == NeighbourReachable {
		ticks += int64(s.arpTail(e))
	} else {
		n.Probes = e.asked
	}
	n.Expires = time.Duration(max(ticks, 0)) * time.Second / time.Duration(s.k.Hz())
	return n
}

// arpTail is what an IPv4 entry has left when it becomes stale.
func (s *stack) arpTail(e *neighbour) int {
	if e.addr.Is4() {
		return s.arpParams().stale
	}
	return 0
}

// NeighbourReq asks for an entry: of a neighbour on a connected network.
type NeighbourReq struct {
	Addr    netip.Addr // a link-local one names its interface as its zone
	MAC     [ifnet.EtherAddrLen]byte
	Temp    bool // it ends as one that was learnt does; else it is permanent
	Publish bool // others' ARP requests for it are answered with MAC
}

// AddNeighbour makes an entry, or replaces one (arp -s, ndp -s). ENETUNREACH: the address
// is on no connected network; EINVAL: it cannot be a neighbour's, or MAC is a group; EEXIST:
// it is an address of this machine. Any goroutine.
func AddNeighbour(k *kern.Kernel, req NeighbourReq) error {
	s, err := stackOf(k)
	if err == nil {
		err = s.addNeighbour(req)
	}
	if err != nil {
		return fmt.Errorf("adding an entry for %s: %w", req.Addr, err)
	}
	return nil
}

func (s *stack) addNeighbour(req NeighbourReq) error {
	ip := req.Addr
	if !ip.IsValid() || ip.Is4In6() || ip.IsMulticast() || ifnet.IsMulticastMAC(req.MAC) {
		return syscall.EINVAL
	}
	p := s.protocolOf(ip)
	s.mu.Lock()
	r := s.routeOf(ip)
	if r == nil || r.kind != routeNet && r.kind != routeLocal && r.kind != routeBroadcast {
		s.mu.Unlock()
		return syscall.ENETUNREACH
	}
	if r.kind != routeNet {
		s.mu.Unlock()
		return syscall.EEXIST
	}
	i := s.iface(r.ifp)
	e := s.permanent(i, p, ip.WithZone(""), req.MAC)
	held := e.takeHeld()
	e.published = req.Publish
	if req.Temp {
		held = joinPackets(held, s.learn(p, e, req.MAC, true))
	}
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	s.sendHeld(c, r.ifp, held, req.MAC, p.etype)
	return nil
}

// protocolOf is how the family of an address finds its neighbours.
func (s *stack) protocolOf(a netip.Addr) *nbProtocol {
	if a.Is4() {
		return &s.arp
	}
	return &s.nd6
}

// DelNeighbour removes an entry (arp -d, ndp -d). A link-local address may name its
// interface as its zone. ENOENT: there is none; EPERM: it is this machine's own.
func DelNeighbour(k *kern.Kernel, ip netip.Addr) error {
	s, err := stackOf(k)
	if err != nil {
		return err
	}
	held, err := s.delNeighbour(ip)
	if err != nil {
		return fmt.Errorf("deleting the entry of %s: %w", ip, err)
	}
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
	return nil
}

// delNeighbour removes an entry and returns the packets that waited for it.
func (s *stack) delNeighbour(ip netip.Addr) (held *mbuf.Mbuf, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = syscall.ENOENT
	for _, i := range *s.ifs.Load() {
		if i == nil || ip.Zone() != "" && ip.Zone() != i.ifp.Name() {
			continue
		}
		t := i.table(s.protocolOf(ip))
		switch e := t.find(keyOf(ip, 0)); {
		case e == nil:
		case e.own:
			err = syscall.EPERM
		default:
			return t.remove(e), nil
		}
	}
	return nil, err
}
