package machine

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// Files of the rc scripts, in the order in which they are read.
var (
	rcFiles     = [...]string{"etc/rc.conf", "etc/rc.conf.local"}
	sysctlFiles = [...]string{"etc/sysctl.conf", "etc/sysctl.conf.local"}
)

// readRC reads the variables; nothing is done with them yet.
func (m *Machine) readRC() error {
	m.rc = NewRCConf()
	for _, file := range rcFiles {
		text, ok, err := m.files.read(file)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		warnings, err := m.rc.Read(file, strings.NewReader(text))
		if err != nil {
			return err
		}
		for _, w := range warnings {
			m.warnf("%s", w)
		}
	}
	return nil
}

// startRC runs what the rc scripts sysctl, netif, pf and sysctl_lastload do. OIDs that
// do not exist are no matter for the first of them (spec ifnet 5.1).
func (m *Machine) startRC() error {
	if err := m.sysctlConf("-i", "-f"); err != nil {
		return err
	}
	for _, ifp := range ifnet.List(m.k) {
		m.startInterface(ifp)
	}
	m.unclaimed()
	if err := m.startPF(); err != nil {
		return err
	}
	return m.sysctlConf("-f")
}

// sysctlConf has sysctl(8) read the files. What it complains of is a warning, and
// what it prints is discarded, as rc does.
func (m *Machine) sysctlConf(args ...string) error {
	for _, file := range sysctlFiles {
		text, ok, err := m.files.read(file)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var stderr bytes.Buffer
		c := sysctl8.Command{Tree: m.k.Sysctl, Stdout: io.Discard, Stderr: &stderr}
		c.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		c.Run(append(slices.Clone(args), "/"+file))
		for line := range strings.Lines(stderr.String()) {
			m.warnf("%s: %s", file, strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}

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
// add aliases, mark up.
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
	for _, v := range m.aliases(base) {
		value, _ := m.rc.Get(v)
		configured = m.ifconfig(ifp, v, m.rc.shWords(value)) || configured
	}
	if value, ok := m.rc.Get(base + rcDescr); ok {
		m.ifconfig(ifp, base+rcDescr, []string{"description", value})
	}
	if configured {
		m.ifconfig(ifp, name, []string{"up"})
	}
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
			m.warnf("%s: %s: %s: not available", m.rc.Where(name), name, upper)
		case "NOWPA":
		default:
			args = append(args, w)
		}
	}
	return args, true
}

// unclaimed warns of ifconfig_ variables that nothing was done with: those of
// interfaces that do not exist, and suffixes that rc does not have.
func (m *Machine) unclaimed() {
	claimed := map[string]bool{"ifconfig_DEFAULT": true}
	var bases []string
	for _, ifp := range ifnet.List(m.k) {
		for _, name := range [...]string{ifp.Name(), fmt.Sprintf("%s%d", ifp.DName(), ifp.DUnit())} {
			base := "ifconfig_" + rcInterface(name)
			bases = append(bases, base)
			for _, v := range append(m.aliases(base), base, base+rcName, base+rcDescr) {
				claimed[v] = true
			}
		}
	}
	for _, v := range m.rc.Names() {
		if !strings.HasPrefix(v, "ifconfig_") || claimed[v] {
			continue
		}
		why := "no such interface"
		if slices.ContainsFunc(bases, func(base string) bool { return strings.HasPrefix(v, base+"_") }) {
			why = "not known"
		}
		m.warnf("%s: %s: %s", m.rc.Where(v), v, why)
	}
}
