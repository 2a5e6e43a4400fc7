package inet

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// stack is what a machine has one of.
type stack struct {
	k     *kern.Kernel
	zones *mbuf.Zones
	pfil4 *ifnet.PfilHead
	pfil6 *ifnet.PfilHead
	knobs knobs
	stats stats

	// read by every packet, replaced under mu
	fib4 atomic.Pointer[fib]
	fib6 atomic.Pointer[fib]
	ifs  atomic.Pointer[[]*iface] // by interface index

	ipID       atomic.Uint32
	arpLog     rateLimit
	icmpErrs   rateLimit
	icmpEchoes rateLimit
	icmp6Errs  rateLimit

	arp nbProtocol
	nd6 nbProtocol

	mu     kern.Mtx // guards what follows, addresses and neighbours of interfaces
	routes []*route // added by AddRoute
	closed bool

	cancels []func() // registrations, ended by close
}

// Init puts the protocols into the machine: handlers for IPv4, ARP and IPv6, resolvers,
// sysctls. A second call does nothing. ENXIO: the interface layer's memory is missing.
func Init(k *kern.Kernel) error {
	if _, ok := kern.Lookup[*stack](k); ok {
		return nil
	}
	if err := ifnet.Init(k); err != nil {
		return fmt.Errorf("starting the internet protocols: %w", err)
	}
	s := &stack{
		k:     k,
		zones: mbuf.Of(k),
		pfil4: ifnet.InetPfil(k, ifnet.AFInet),
		pfil6: ifnet.InetPfil(k, ifnet.AFInet6),
	}
	s.mu.Init(k, "inet")
	s.fib4.Store(&fib{})
	s.fib6.Store(&fib{})
	s.ifs.Store(&[]*iface{})
	s.stats.init()
	s.knobs.init()
	s.initLimits()
	s.addSysctls()
	s.arp = nbProtocol{etype: ifnet.EtherTypeIP, params: s.arpParams, ask: s.arpAsk, giveUp: s.arpGiveUp}
	s.nd6 = nbProtocol{etype: ifnet.EtherTypeIPv6, params: s.nd6Params, ask: s.nd6Ask, giveUp: s.nd6GiveUp}
	kern.Attach(k, s)
	s.zones.AddHolder(s)
	s.cancels = []func(){
		ifnet.RegisterResolver(k, ifnet.AFInet, s.arpResolve),
		ifnet.RegisterResolver(k, ifnet.AFInet6, s.nd6Resolve),
		ifnet.RegisterProtocol(k, ifnet.EtherTypeARP, s.arpInput),
		ifnet.RegisterProtocol(k, ifnet.EtherTypeIP, s.ipInput),
		ifnet.RegisterProtocol(k, ifnet.EtherTypeIPv6, s.ip6Input),
		ifnet.OnEvent(k, s.event),
	}
	k.OnClose(s.close)
	return nil
}

// stackOf is the machine's stack. ENXIO: Init has not run.
func stackOf(k *kern.Kernel) (*stack, error) {
	s, ok := kern.Lookup[*stack](k)
	if !ok {
		return nil, fmt.Errorf("internet protocols are not there: %w", syscall.ENXIO)
	}
	return s, nil
}

// close ends the registrations, stops the timers and frees the packets that wait.
func (s *stack) close() {
	for _, cancel := range s.cancels {
		cancel()
	}
	s.mu.Lock()
	s.closed = true
	var held *mbuf.Mbuf
	for _, i := range *s.ifs.Load() {
		if i != nil {
			held = joinPackets(held, s.flushInterface(i))
		}
	}
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
}

// event follows interfaces: addresses go with them, and a new link address is told.
func (s *stack) event(ifp *ifnet.Ifnet, e ifnet.EventKind) {
	if ifp.Flags()&ifnet.FlagRenaming != 0 {
		return
	}
	switch e {
	case ifnet.EventDeparture:
		s.departed(ifp)
	case ifnet.EventLLAddr:
		s.linkAddrChanged(ifp)
	case ifnet.EventUp:
		s.in6IfUp(ifp)
	}
}

// departed forgets an interface: routes, addresses, neighbours.
func (s *stack) departed(ifp *ifnet.Ifnet) {
	s.mu.Lock()
	i := s.iface(ifp)
	if i == nil {
		s.mu.Unlock()
		return
	}
	held := s.flushInterface(i)
	i.gone = true
	list := append([]*iface(nil), *s.ifs.Load()...)
	list[ifp.Index()] = nil
	s.ifs.Store(&list)
	s.rebuild()
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	freePackets(c, held)
}

// flushInterface empties an interface's lists and returns the packets that waited. mu is
// held.
func (s *stack) flushInterface(i *iface) *mbuf.Mbuf {
	for _, a := range i.addrs {
		if a.dad != nil {
			a.dad.Stop()
			a.dad = nil
		}
	}
	i.addrs = nil
	return joinPackets(i.nb4.flush(), i.nb6.flush())
}

// iface is what the protocols keep of one interface (struct in_ifinfo, nd_ifinfo).
type iface struct {
	ifp      *ifnet.Ifnet
	nb4, nb6 nbTable
	nd6Flags atomic.Uint32
	own      atomic.Pointer[ownAddrs]

	addrs []*ifaddr // oldest first; guarded by the stack's mu, as gone is
	gone  bool
}

// iface finds what is kept of ifp; nil if there is nothing.
func (s *stack) iface(ifp *ifnet.Ifnet) *iface {
	list := *s.ifs.Load()
	if n := ifp.Index(); n < len(list) && list[n] != nil && list[n].ifp == ifp {
		return list[n]
	}
	return nil
}

// makeIface is iface that makes it. mu is held.
func (s *stack) makeIface(ifp *ifnet.Ifnet) *iface {
	if i := s.iface(ifp); i != nil {
		return i
	}
	i := &iface{ifp: ifp}
	i.nd6Flags.Store(uint32(nd6DefaultFlags))
	i.own.Store(&ownAddrs{})
	list := append([]*iface(nil), *s.ifs.Load()...)
	for len(list) <= ifp.Index() {
		list = append(list, nil)
	}
	list[ifp.Index()] = i
	s.ifs.Store(&list)
	return i
}

// joinPackets appends list b to list a through NextPkt.
func joinPackets(a, b *mbuf.Mbuf) *mbuf.Mbuf {
	if a == nil {
		return b
	}
	last := a
	for last.NextPkt != nil {
		last = last.NextPkt
	}
	last.NextPkt = b
	return a
}

// freePackets frees a list through NextPkt.
func freePackets(c *mbuf.Cache, m *mbuf.Mbuf) {
	for m != nil {
		next := m.NextPkt
		m.NextPkt = nil
		c.FreeChain(m)
		m = next
	}
}
