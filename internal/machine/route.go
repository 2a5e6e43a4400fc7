package machine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/sysctl"
)

// route is the argument of route(8)'s add.
type route struct {
	dest    string // as written, without its length
	prefix  netip.Prefix
	gateway netip.Addr
}

// String is the beginning of what the tool prints.
func (r route) String() string {
	kind := "net"
	if r.prefix.IsSingleIP() {
		kind = "host"
	}
	return fmt.Sprintf("add %s %s: gateway %s fib 0", kind, r.dest, r.gateway)
}

// routeFlags are options without an argument that change nothing here.
var routeFlags = map[string]bool{"-static": true, "-gateway": true, "-n": true, "-q": true, "-proto1": true, "-proto2": true}

// routeParser reads the words behind route add.
type routeParser struct {
	args      []string
	inet6     bool
	net, host bool
	length    string // of -prefixlen
	mask      string // of -netmask
	plain     []string
}

// parseRoute reads the words behind route add (route(8)). The error is the tool's text.
func parseRoute(args []string, inet6 bool) (route, error) {
	p := &routeParser{args: args, inet6: inet6}
	for len(p.args) > 0 {
		if err := p.word(); err != nil {
			return route{}, err
		}
	}
	return p.route()
}

// word takes a word and its argument.
func (p *routeParser) word() error {
	w := p.args[0]
	p.args = p.args[1:]
	if !strings.HasPrefix(w, "-") {
		p.plain = append(p.plain, w)
		return nil
	}
	switch w {
	case "-net":
		p.net = true
	case "-host":
		p.host = true
	case "-inet", "-4":
		p.inet6 = false
	case "-inet6", "-6":
		p.inet6 = true
	case "-prefixlen":
		return p.argument(w, &p.length)
	case "-netmask":
		return p.argument(w, &p.mask)
	case "-fib":
		fib := ""
		if err := p.argument(w, &fib); err != nil || fib == "0" {
			return err
		}
		return fmt.Errorf("-fib %s: not available", fib)
	case "-interface", "-iface", "-ifp", "-ifa", "-reject", "-blackhole", "-mtu", "-sticky", "-nostatic", "-proxy", "-xresolve", "-lock", "-lockrest", "-weight":
		return fmt.Errorf("%s: not available", w)
	default:
		if !routeFlags[w] {
			return fmt.Errorf("bad keyword: %s", strings.TrimPrefix(w, "-"))
		}
	}
	return nil
}

func (p *routeParser) argument(w string, to *string) error {
	if len(p.args) == 0 {
		return fmt.Errorf("bad keyword: %s", strings.TrimPrefix(w, "-"))
	}
	*to, p.args = p.args[0], p.args[1:]
	return nil
}

// route puts together what was read. The mask may stand behind the gateway.
func (p *routeParser) route() (r route, err error) {
	const withMask = 3
	if p.mask == "" && len(p.plain) == withMask {
		p.mask, p.plain = p.plain[2], p.plain[:2]
	}
	if len(p.plain) != 2 {
		return r, errors.New("destination and gateway are needed")
	}
	r.dest, _, _ = strings.Cut(p.plain[0], "/")
	if r.gateway, err = netip.ParseAddr(p.plain[1]); err != nil {
		return r, badAddress(p.plain[1])
	}
	r.prefix, err = p.destination(p.plain[0])
	return r, err
}

func badAddress(text string) error { return fmt.Errorf("bad address: %s", text) }

// destination is the network or host that a word names.
func (p *routeParser) destination(text string) (none netip.Prefix, err error) {
	if text == "default" {
		if p.inet6 {
			return netip.PrefixFrom(netip.IPv6Unspecified(), 0), nil
		}
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), nil
	}
	host, length, slash := strings.Cut(text, "/")
	addr, err := p.address(host)
	if err != nil {
		return none, err
	}
	bits, ok := p.bits(addr), true
	switch {
	case slash:
		bits, ok = prefixLength(addr, length)
	case p.length != "":
		bits, ok = prefixLength(addr, p.length)
	case p.mask != "":
		bits, ok = maskLength(addr, p.mask)
	}
	if !ok {
		return none, badAddress(text)
	}
	return netip.PrefixFrom(addr, bits).Masked(), nil
}

// address reads a destination; of an IPv4 network zeros at the end may be missing.
func (p *routeParser) address(text string) (netip.Addr, error) {
	full := text
	for n := strings.Count(text, "."); !p.inet6 && !p.host && n < net4Dots; n++ {
		full += ".0"
	}
	addr, err := netip.ParseAddr(full)
	if err != nil || addr.Is6() != p.inet6 || addr.Is4In6() {
		return addr, badAddress(text)
	}
	return addr, nil
}

const net4Dots = 3 // of a whole IPv4 address

// bits is the length of a destination without one: a network of its class if it is said to
// be one or has no host part, else a host.
func (p *routeParser) bits(addr netip.Addr) int {
	network := netip.PrefixFrom(addr, defaultBits(addr))
	if !p.host && (p.net || addr == network.Masked().Addr()) {
		return network.Bits()
	}
	return addr.BitLen()
}

// startRoutes does what rc's routing does: static routes and the default router, of IPv4,
// then of IPv6.
func (m *Machine) startRoutes() {
	for _, family := range [...]string{"", "ipv6_"} {
		if router, ok := m.rc.Get(family + "defaultrouter"); ok && !strings.EqualFold(router, "NO") && router != "" {
			m.addRoute(family+"defaultrouter", []string{"default", router}, family != "")
		}
		list, _ := m.rc.Get(family + "static_routes")
		for _, name := range m.rc.shWords(list) {
			name, _, _ = strings.Cut(name, ":")
			variable := family + "route_" + rcInterface(name)
			value, ok := m.rc.Get(variable)
			if !ok {
				m.rcf(family+"static_routes", "no %s", variable)
				continue
			}
			m.addRoute(variable, m.rc.shWords(value), family != "")
		}
	}
}

// addRoute runs route add with the words of a variable. A route that is there is left
// alone; one through the network of an interface that does not exist is skipped.
func (m *Machine) addRoute(variable string, args []string, inet6 bool) {
	r, err := parseRoute(args, inet6)
	if err != nil {
		m.rcf(variable, "route: %v", err)
		return
	}
	err = inet.AddRoute(m.k, inet.RouteReq{Prefix: r.prefix, Gateway: r.gateway})
	ifname := m.onAbsent(r.gateway)
	switch {
	case err == nil || errors.Is(err, syscall.EEXIST) && m.hasRoute(r):
	case errors.Is(err, syscall.ENETUNREACH) && ifname != "":
		m.skip(variable, ifname)
	case errors.Is(err, syscall.EEXIST):
		m.rcf(variable, "%v: route already in table", r)
	default:
		m.rcf(variable, "%v: %s", r, sysctl.Strerror(err))
	}
}

// hasRoute reports whether exactly this route is in the table.
func (m *Machine) hasRoute(r route) bool {
	for _, have := range inet.Routes(m.k) {
		if have.Static && have.Prefix == r.prefix && have.Gateway == r.gateway.WithZone("") {
			return true
		}
	}
	return false
}

// forwardings are the variables that make a router of the machine.
var forwardings = [...]struct{ variable, oid string }{
	{"gateway_enable", "net.inet.ip.forwarding"}, {"ipv6_gateway_enable", "net.inet6.ip6.forwarding"},
}

// startForwarding applies gateway_enable and ipv6_gateway_enable.
func (m *Machine) startForwarding() {
	for _, f := range forwardings {
		if !m.rc.Yes(f.variable) {
			continue
		}
		if err := m.k.Sysctl.SetText(f.oid, "1"); err != nil {
			m.rcf(f.variable, "%v", err)
		}
	}
}
