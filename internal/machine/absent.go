package machine

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// absent is an interface that rc.conf configures and the machine does not have.
type absent struct {
	name     string
	prefixes []netip.Prefix // that it would have been given
}

// Skipped is a setting that is passed over because an interface does not exist.
type Skipped struct {
	Where   string // file and line, "etc/rc.conf:3"
	Setting string // name of the variable
	Value   string
	If      string // the interface
}

// skip notes a variable of rc.conf that is passed over, once, and says so on the console.
func (m *Machine) skip(variable, ifname string) {
	value, _ := m.rc.Get(variable)
	s := Skipped{m.rc.Where(variable), variable, value, ifname}
	m.mu.Lock()
	known := slices.Contains(m.skipped, s)
	if !known {
		m.skipped = append(m.skipped, s)
	}
	m.mu.Unlock()
	if known {
		return
	}
	m.k.Printf("%s: %s: skipped: no interface %s\n", s.Where, s.Setting, s.If)
}

// ifconfigPrefix begins the variables that configure interfaces.
const ifconfigPrefix = "ifconfig_"

// unclaimed looks at variables of interfaces that nothing was done with: those of interfaces
// that do not exist, of which each is reported once, as ifconfig(8) does, and those whose
// suffix rc does not have.
func (m *Machine) unclaimed() {
	claimed, bases := m.claimed()
	for _, v := range m.rc.Names() {
		if rest, ok := strings.CutPrefix(v, vlansPrefix); ok && !slices.Contains(bases, ifconfigPrefix+rest) {
			m.lacking(v, interfaceOf(rest))
			continue
		}
		rest, ok := strings.CutPrefix(v, ifconfigPrefix)
		if !ok || claimed[v] {
			continue
		}
		if slices.ContainsFunc(bases, func(base string) bool { return strings.HasPrefix(v, base+"_") }) {
			m.rcf(v, "not known")
			continue
		}
		m.lacking(v, interfaceOf(rest))
	}
}

// lacking skips a variable of an interface that does not exist.
func (m *Machine) lacking(variable, name string) {
	i := slices.IndexFunc(m.absent, func(a absent) bool { return a.name == name })
	if i < 0 {
		i = len(m.absent)
		m.absent = append(m.absent, absent{name: name})
		m.warnf("%s: ifconfig: interface %s does not exist", m.rc.Where(variable), name)
	}
	value, _ := m.rc.Get(variable)
	m.absent[i].prefixes = append(m.absent[i].prefixes, prefixes(m.rc.shWords(value))...)
	m.skip(variable, name)
}

// claimed are the variables that configure interfaces of the machine, and the beginnings of
// their names.
func (m *Machine) claimed() (claimed map[string]bool, bases []string) {
	claimed = map[string]bool{"ifconfig_DEFAULT": true}
	for _, ifp := range ifnet.List(m.k) {
		for _, name := range [...]string{ifp.Name(), fmt.Sprintf("%s%d", ifp.DName(), ifp.DUnit())} {
			base := ifconfigPrefix + rcInterface(name)
			bases = append(bases, base)
			for _, v := range append(m.aliases(base), base, base+rcName, base+rcDescr) {
				claimed[v] = true
			}
		}
	}
	return claimed, bases
}

// interfaceOf is the interface that the rest of an ifconfig_ variable names: "cxl0" of
// cxl0_ipv6, "cxl0.4" of cxl0_4_alias0.
func interfaceOf(rest string) string {
	parts := strings.Split(rest, "_")
	if len(parts) > 1 && parts[1] != "" && strings.Trim(parts[1], "0123456789") == "" {
		return parts[0] + "." + parts[1]
	}
	return parts[0]
}

// prefixes are the addresses among the words of an ifconfig_ variable.
func prefixes(words []string) (list []netip.Prefix) {
	for i := 0; i < len(words); i++ {
		if words[i] == "broadcast" {
			i++
			continue
		}
		if p, err := netip.ParsePrefix(words[i]); err == nil {
			list = append(list, p)
			continue
		}
		addr, err := netip.ParseAddr(words[i])
		if err != nil {
			continue
		}
		bits := defaultBits(addr)
		if i+2 < len(words) {
			if n, ok := lengthWords(addr, words[i+1], words[i+2]); ok {
				bits = n
				i += 2
			}
		}
		list = append(list, netip.PrefixFrom(addr, bits))
	}
	return list
}

// isAbsent reports whether rc.conf configures an interface of that name, which the machine
// lacks.
func (m *Machine) isAbsent(name string) bool {
	return slices.ContainsFunc(m.absent, func(a absent) bool { return a.name == name })
}

// onAbsent is the absent interface on whose network an address would be, "" if there is none.
func (m *Machine) onAbsent(addr netip.Addr) string {
	for _, a := range m.absent {
		if slices.ContainsFunc(a.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return a.name
		}
	}
	return ""
}
