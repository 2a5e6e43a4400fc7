package inet

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// RouteFlags are the flags of a route (RTF_* of net/route.h).
type RouteFlags uint32

// Flags of a route.
const (
	RouteUp        RouteFlags = 0x1
	RouteGateway   RouteFlags = 0x2      // through a gateway
	RouteHost      RouteFlags = 0x4      // to one address
	RouteReject    RouteFlags = 0x8      // packets are refused, and their senders told
	RouteStatic    RouteFlags = 0x800    // added by somebody
	RouteBlackhole RouteFlags = 0x1000   // packets vanish
	RouteProto2    RouteFlags = 0x4000   // without meaning here
	RouteProto1    RouteFlags = 0x8000   // likewise
	RoutePinned    RouteFlags = 0x100000 // comes with an address

	// routeAsked are those that somebody may ask for.
	routeAsked = RouteReject | RouteBlackhole | RouteProto1 | RouteProto2
)

// loopName is the interface of routes that lead to this machine or nowhere.
const loopName = "lo0"

// Route is one line of the routing table.
type Route struct {
	Prefix  netip.Prefix
	Gateway netip.Addr // invalid for what is on the link or local
	If      string     // name of the interface; of a local address, the one that has it
	Index   int        // of the interface, 0 for a route that leads nowhere
	MTU     int        // of the interface
	Local   bool       // an address of this machine
	Static  bool       // added by AddRoute
	Flags   RouteFlags
}

// RouteReq asks for a static route: to Prefix through Gateway, a neighbour; or if that is
// invalid, to neighbours on the interface If. With [RouteReject] or [RouteBlackhole] in
// Flags neither is used, and Gateway only shown.
type RouteReq struct {
	Prefix  netip.Prefix
	Gateway netip.Addr // a link-local one names its interface as its zone
	If      string
	Flags   RouteFlags // of those that may be asked for; others are ignored
}

// AddRoute adds a static route (route add). EINVAL: families differ or an address is no
// address; ENETUNREACH: the gateway is on no connected network; ENXIO: no such interface;
// EEXIST: there is a route to this prefix. Any goroutine.
func AddRoute(k *kern.Kernel, req RouteReq) error {
	return withRoutes(k, "adding", req.Prefix, func(s *stack) error {
		r, err := s.makeRoute(req)
		if err != nil {
			return err
		}
		if s.fibOf(r.prefix.Addr()).find(r.key(), r.prefix.Bits()) != nil {
			return syscall.EEXIST
		}
		s.routes = append(s.routes, r)
		return nil
	})
}

// ChangeRoute replaces a static route by another to the same prefix (route change). ESRCH:
// there is none; else as AddRoute.
func ChangeRoute(k *kern.Kernel, req RouteReq) error {
	return withRoutes(k, "changing", req.Prefix, func(s *stack) error {
		r, err := s.makeRoute(req)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(s.routes, func(old *route) bool { return old.prefix == r.prefix })
		if n < 0 {
			return syscall.ESRCH
		}
		s.routes = slices.Clone(s.routes)
		s.routes[n] = r
		return nil
	})
}

// withRoutes changes the list of routes and publishes it. The error is wrapped.
func withRoutes(k *kern.Kernel, doing string, prefix netip.Prefix, change func(s *stack) error) error {
	s, err := stackOf(k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := change(s); err != nil {
		return fmt.Errorf("%s route to %s: %w", doing, prefix, err)
	}
	s.rebuild()
	return nil
}

// makeRoute is the route that is asked for, not yet in the list. mu is held.
func (s *stack) makeRoute(req RouteReq) (*route, error) {
	prefix, gateway := req.Prefix.Masked(), req.Gateway
	if !req.Prefix.IsValid() || prefix.Addr().Is4In6() {
		return nil, syscall.EINVAL
	}
	if gateway.IsValid() && (gateway.Is4In6() || prefix.Addr().Is4() != gateway.Is4()) {
		return nil, syscall.EINVAL
	}
	r := &route{prefix: prefix, gateway: gateway.WithZone(""), static: true, flags: req.Flags & routeAsked}
	switch {
	case r.flags&RouteReject != 0:
		r.kind = routeReject
	case r.flags&RouteBlackhole != 0:
		r.kind = routeBlackhole
	case gateway.IsValid():
		r.kind, r.ifp = routeGateway, s.gatewayInterface(gateway)
		if r.ifp == nil {
			return nil, syscall.ENETUNREACH
		}
	case req.If == "":
		return nil, syscall.EINVAL
	default:
		r.kind, r.ifp = routeNet, ifnet.ByName(s.k, req.If)
		if r.ifp == nil {
			return nil, syscall.ENXIO
		}
		s.makeIface(r.ifp)
	}
	return r, nil
}

// gatewayInterface is the interface on whose link gateway is, nil if it is on none.
func (s *stack) gatewayInterface(gateway netip.Addr) *ifnet.Ifnet {
	r := s.routeOf(gateway)
	if r == nil || r.kind != routeNet {
		return nil
	}
	return r.ifp
}

// routeOf is the route of an address, whose zone may name an interface; nil if there is
// none.
func (s *stack) routeOf(addr netip.Addr) *route {
	index := 0
	if zone := addr.Zone(); zone != "" {
		ifp := ifnet.ByName(s.k, zone)
		if ifp == nil {
			return nil
		}
		index = ifp.Index()
	}
	return s.fibOf(addr).lookup(keyOf(addr, index))
}

func (s *stack) fibOf(a netip.Addr) *fib {
	if a.Is4() {
		return s.fib4.Load()
	}
	return s.fib6.Load()
}

// DelRoute removes a static route, or the route to an interface's network, which comes
// back with its address (route delete). Of a valid gateway only a route through it. ESRCH:
// there is none; EPERM: it leads to an address of this machine.
func DelRoute(k *kern.Kernel, prefix netip.Prefix, gateway netip.Addr) error {
	prefix = prefix.Masked()
	return withRoutes(k, "deleting", prefix, func(s *stack) error {
		n := len(s.routes)
		s.routes = slices.DeleteFunc(slices.Clone(s.routes), func(r *route) bool {
			return r.prefix == prefix && (!gateway.IsValid() || r.gateway == gateway.WithZone(""))
		})
		if len(s.routes) < n {
			return nil
		}
		if gateway.IsValid() {
			return syscall.ESRCH
		}
		return s.unroute(prefix)
	})
}

// unroute takes the route to a network away from the addresses that have it. mu is held.
func (s *stack) unroute(prefix netip.Prefix) error {
	err := error(syscall.ESRCH)
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		for _, a := range i.addrs {
			switch {
			case prefix.IsSingleIP() && a.prefix.Addr() == prefix.Addr():
				return syscall.EPERM
			case a.prefix.Masked() == prefix && !a.unrouted:
				a.unrouted, err = true, nil
			}
		}
	}
	return err
}

// Routes is the routing table, IPv4 first, longest prefix first, without the addresses of
// everybody on a link. Nil without Init.
func Routes(k *kern.Kernel) []Route {
	s, err := stackOf(k)
	if err != nil {
		return nil
	}
	var list []Route
	for _, f := range []*fib{s.fib4.Load(), s.fib6.Load()} {
		for _, g := range f.groups {
			for _, r := range g.routes {
				if r.kind != routeBroadcast {
					list = append(list, r.describe())
				}
			}
		}
	}
	return list
}

func (r *route) describe() Route {
	out := Route{Prefix: r.prefix, Gateway: r.gateway, If: loopName, Local: r.kind == routeLocal, Static: r.static, Flags: RouteUp | r.flags}
	if r.ifp != nil {
		out.If, out.Index, out.MTU = r.ifp.Name(), r.ifp.Index(), r.ifp.MTU()
	}
	if r.gateway.IsValid() {
		out.Flags |= RouteGateway
	}
	if r.prefix.IsSingleIP() {
		out.Flags |= RouteHost
	}
	if r.static || out.Local {
		out.Flags |= RouteStatic
	}
	if !r.static {
		out.Flags |= RoutePinned
	}
	return out
}

// RouteTo is the route that a packet to dst takes (RTM_GET). A link-local dst names its
// interface as its zone. ESRCH: there is none.
func RouteTo(k *kern.Kernel, dst netip.Addr) (Route, error) {
	for _, r := range Routes(k) {
		if r.Prefix.Contains(dst.WithZone("")) && (!r.scoped() || r.If == dst.Zone()) {
			return r, nil
		}
	}
	return Route{}, fmt.Errorf("looking for a route to %s: %w", dst, syscall.ESRCH)
}

// OnLink reports whether the destinations are neighbours or this machine.
func (r Route) OnLink() bool { return r.Flags&(RouteGateway|RouteReject|RouteBlackhole) == 0 }

// scoped reports whether the destinations are those of one link.
func (r Route) scoped() bool {
	a := r.Prefix.Addr()
	return a.Is6() && a.IsLinkLocalUnicast()
}

// rebuild publishes the tables made of addresses and static routes. Static routes whose
// gateway is no longer a neighbour, or whose interface is gone, are deleted. mu is held.
func (s *stack) rebuild() {
	var connected []*route
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		own := &ownAddrs{}
		for _, a := range i.addrs {
			connected = append(connected, a.routes(i.ifp)...)
			if a.prefix.Addr().Is4() {
				own.v4 = append(own.v4, a.prefix.Addr())
				continue
			}
			own.v6 = append(own.v6, ownAddr6{a.prefix.Addr(), a.state})
		}
		i.own.Store(own)
	}
	// Gateways may be reached through static routes to an interface.
	s.routes = slices.DeleteFunc(s.routes, func(r *route) bool { return r.kind == routeNet && s.iface(r.ifp) == nil })
	for _, r := range s.routes {
		if r.kind != routeGateway {
			connected = append(connected, r)
		}
	}
	s.publish(connected)
	s.routes = slices.DeleteFunc(s.routes, func(r *route) bool {
		if r.kind != routeGateway {
			return false
		}
		via := s.fibOf(r.gateway).lookup(keyOf(r.gateway, r.ifp.Index()))
		return via == nil || via.kind != routeNet || via.ifp != r.ifp
	})
	for _, r := range s.routes {
		if r.kind == routeGateway {
			connected = append(connected, r)
		}
	}
	s.publish(connected)
}

// publish makes the tables of routes.
func (s *stack) publish(routes []*route) {
	var v4, v6 []*route
	for _, r := range routes {
		if r.prefix.Addr().Is4() {
			v4 = append(v4, r)
		} else {
			v6 = append(v6, r)
		}
	}
	s.fib4.Store(newFib(v4))
	s.fib6.Store(newFib(v6))
}
