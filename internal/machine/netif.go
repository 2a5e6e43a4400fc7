package machine

import (
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// Suffixes of ifconfig_<if> variables, beside _alias<n>.
const (
	rcName    = "_name"
	rcDescr   = "_descr"
	rcIPv6    = "_ipv6"
	rcAliases = "_aliases"
	rcAlias   = "_alias"
)

// rcInterface is the part of a variable's name that stands for an interface: rc
// replaces the punctuation that a name may have.
func rcInterface(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(".-/+", r) {
			return '_'
		}
		return r
	}, name)
}

// startInterface does what rc's netif does for one interface: rename, configure,
// add aliases, mark up, then the VLANs on it.
func (m *Machine) startInterface(ifp *ifnet.Ifnet) {
	m.rename(ifp)
	base := "ifconfig_" + rcInterface(ifp.Name())
	name := base
	if _, ok := m.rc.Get(name); !ok {
		name = "ifconfig_DEFAULT"
	}
	value, _ := m.rc.Get(name)
	args, start := m.rcArgs(name, value)
	if !start {
		return
	}
	configured := m.ifconfig(ifp, name, args)
	if m.rc.Yes("ipv6_activate_all_interfaces") {
		m.ifconfig(ifp, "ipv6_activate_all_interfaces", []string{"inet6", "-ifdisabled"})
	}
	for _, v := range m.aliases(base) {
		value, _ := m.rc.Get(v)
		words := m.rc.shWords(value)
		if len(words) > 0 && v != base+rcIPv6 {
			words = append([]string{"alias"}, words...)
		}
		configured = m.ifconfig(ifp, v, words) || configured
	}
	if value, ok := m.rc.Get(base + rcDescr); ok {
		m.ifconfig(ifp, base+rcDescr, []string{"description", value})
	}
	if configured {
		m.ifconfig(ifp, name, []string{"up"})
	}
	m.startChildren(ifp)
}

// rename applies ifconfig_<if>_name.
func (m *Machine) rename(ifp *ifnet.Ifnet) {
	v := "ifconfig_" + rcInterface(ifp.Name()) + rcName
	if name, ok := m.rc.Get(v); ok && name != ifp.Name() {
		m.ifconfig(ifp, v, []string{"name", name})
	}
}

// aliases are the variables that add to the one of the interface, in the order in
// which rc looks at them: IPv6, then alias0 and so on up to the first that is
// missing, then the list.
func (m *Machine) aliases(base string) []string {
	var names []string
	if _, ok := m.rc.Get(base + rcIPv6); ok {
		names = append(names, base+rcIPv6)
	}
	for i := 0; ; i++ {
		v := base + rcAlias + strconv.Itoa(i)
		if _, ok := m.rc.Get(v); !ok {
			break
		}
		names = append(names, v)
	}
	if _, ok := m.rc.Get(base + rcAliases); ok {
		names = append(names, base+rcAliases)
	}
	return names
}

// rcArgs are the words of a variable without those that rc keeps to itself. start is
// false for NOAUTO: the interface is not touched at boot.
func (m *Machine) rcArgs(name, value string) (args []string, start bool) {
	for _, w := range m.rc.shWords(value) {
		switch upper := strings.ToUpper(w); upper {
		case "NOAUTO":
			return nil, false
		case "DHCP", "SYNCDHCP", "NOSYNCDHCP", "WPA", "HOSTAP":
			m.rcf(name, "%s: not available", upper)
		case "NOWPA":
		default:
			args = append(args, w)
		}
	}
	return args, true
}
