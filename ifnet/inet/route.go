package inet

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// Route is one line of the routing table.
type Route struct {
	Prefix  netip.Prefix
	Gateway netip.Addr // invalid for what is on the link or local
	If      string     // name of the interface
	Static  bool       // added by AddRoute
}

// AddRoute adds a static route to prefix through a gateway that is a neighbour (route
// add). A link-local gateway names its interface as its zone. EINVAL: families differ or
// an address is no address; ENETUNREACH: the gateway is on no connected network; EEXIST.
// Any goroutine.
func AddRoute(k *kern.Kernel, prefix netip.Prefix, gateway netip.Addr) error {
	s, err := stackOf(k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.addRoute(prefix, gateway); err != nil {
		return fmt.Errorf("adding route to %s through %s: %w", prefix, gateway, err)
	}
	return nil
}

func (s *stack) addRoute(prefix netip.Prefix, gateway netip.Addr) error {
	if !prefix.IsValid() || !gateway.IsValid() || gateway.Is4In6() || prefix.Addr().Is4() != gateway.Is4() {
		return syscall.EINVAL
	}
	prefix = prefix.Masked()
	ifp := s.gatewayInterface(gateway)
	if ifp == nil {
		return syscall.ENETUNREACH
	}
	if slices.ContainsFunc(s.routes, func(r *route) bool { return r.prefix == prefix }) {
		return syscall.EEXIST
	}
	s.routes = append(s.routes, &route{prefix: prefix, gateway: gateway.WithZone(""), ifp: ifp, kind: routeGateway})
	s.rebuild()
	return nil
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

// DelRoute removes a static route (route delete). ESRCH: there is none.
func DelRoute(k *kern.Kernel, prefix netip.Prefix) error {
	s, err := stackOf(k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.routes)
	prefix = prefix.Masked()
	s.routes = slices.DeleteFunc(s.routes, func(r *route) bool { return r.prefix == prefix })
	if len(s.routes) == n {
		return fmt.Errorf("deleting route to %s: %w", prefix, syscall.ESRCH)
	}
	s.rebuild()
	return nil
}

// Routes is the routing table, IPv4 first, longest prefix first. Nil without Init.
func Routes(k *kern.Kernel) []Route {
	s, err := stackOf(k)
	if err != nil {
		return nil
	}
	var list []Route
	for _, f := range []*fib{s.fib4.Load(), s.fib6.Load()} {
		for _, g := range f.groups {
			for _, r := range g.routes {
				list = append(list, Route{Prefix: r.prefix, Gateway: r.gateway, If: r.ifp.Name(), Static: r.kind == routeGateway})
			}
		}
	}
	return list
}

// rebuild publishes the tables made of addresses and static routes. Static routes whose
// gateway is no longer a neighbour are deleted. mu is held.
func (s *stack) rebuild() {
	var v4, v6 []*route
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		own := &ownAddrs{}
		for _, a := range i.addrs {
			if a.prefix.Addr().Is4() {
				v4 = append(v4, a.routes(i.ifp)...)
				own.v4 = append(own.v4, a.prefix.Addr())
				continue
			}
			v6 = append(v6, a.routes(i.ifp)...)
			own.v6 = append(own.v6, ownAddr6{a.prefix.Addr(), a.state})
		}
		i.own.Store(own)
	}
	s.fib4.Store(newFib(v4))
	s.fib6.Store(newFib(v6))
	s.routes = slices.DeleteFunc(s.routes, func(r *route) bool {
		via := s.fibOf(r.gateway).lookup(keyOf(r.gateway, r.ifp.Index()))
		return via == nil || via.kind != routeNet || via.ifp != r.ifp
	})
	for _, r := range s.routes {
		if r.prefix.Addr().Is4() {
			v4 = append(v4, r)
		} else {
			v6 = append(v6, r)
		}
	}
	s.fib4.Store(newFib(v4))
	s.fib6.Store(newFib(v6))
}
