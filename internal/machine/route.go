package machine

import (
	"errors"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/route8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// startRoutes does what rc's routing does: static routes and the default router, of IPv4,
// then of IPv6.
func (m *Machine) startRoutes() {
	for _, family := range [...]struct {
		prefix string // of the variables
		af     ifnet.AF
	}{{"", ifnet.AFInet}, {"ipv6_", ifnet.AFInet6}} {
		router, ok := m.rc.Get(family.prefix + "defaultrouter")
		if ok && !strings.EqualFold(router, "NO") && router != "" {
			m.addRoute(family.prefix+"defaultrouter", []string{"default", router}, family.af)
		}
		list, _ := m.rc.Get(family.prefix + "static_routes")
		for _, name := range m.rc.shWords(list) {
			name, _, _ = strings.Cut(name, ":")
			variable := family.prefix + "route_" + rcInterface(name)
			value, ok := m.rc.Get(variable)
			if !ok {
				m.rcf(family.prefix+"static_routes", "no %s", variable)
				continue
			}
			m.addRoute(variable, m.rc.shWords(value), family.af)
		}
	}
}

// addRoute runs route add with the words of a variable. A route that is there is left
// alone; one through an interface that does not exist, or its network, is skipped.
func (m *Machine) addRoute(variable string, args []string, af ifnet.AF) {
	c, err := route8.Parse(append([]string{"add"}, args...), af)
	if err != nil {
		m.rcf(variable, "%s", complaint("route", err))
		return
	}
	err = c.Do(m.k)
	ifname := m.onAbsent(c.Gateway())
	switch {
	case err == nil || errors.Is(err, syscall.EEXIST) && m.hasRoute(c):
	case errors.Is(err, syscall.ENETUNREACH) && ifname != "":
		m.skip(variable, ifname)
	case errors.Is(err, syscall.ENXIO) && m.isAbsent(c.Interface()):
		m.skip(variable, c.Interface())
	case errors.Is(err, syscall.ENXIO):
		m.rcf(variable, "route: interface '%s' does not exist", c.Interface())
	default:
		m.rcf(variable, "%v fib 0: %s", c, route8.Reason(err))
	}
}

// complaint is the first line of what a tool says of an error.
func complaint(name string, err error) string {
	var b strings.Builder
	tool.Exit(name, err, &b)
	line, _, _ := strings.Cut(b.String(), "\n")
	return line
}

// hasRoute reports whether exactly this route is in the table.
func (m *Machine) hasRoute(c route8.Command) bool {
	for _, have := range inet.Routes(m.k) {
		if have.Static && have.Prefix == c.Prefix() && have.Gateway == c.Gateway().WithZone("") && (c.Interface() == "" || have.If == c.Interface()) {
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
