package machine

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/sysctl"
)

// WritePlan writes what the machine's files make of it: hardware, interfaces, routes,
// neighbours, settings, and what was passed over. Each line of the last kinds begins with
// file and line. Parts without a line are left out.
func (m *Machine) WritePlan(w io.Writer) error {
	settings, err := m.planSettings()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"NICs", m.planNICs()},
		{"Interfaces", m.planInterfaces()},
		{"Routes", m.planRoutes()},
		{"Neighbours", m.planNeighbours()},
		{"Packet filter", m.planFilter()},
		{"Settings", settings},
		{"Skipped", m.planSkipped()},
		{"Without effect", m.planUnused()},
		{"Warnings", m.Warnings()},
	} {
		if len(part.lines) > 0 {
			fmt.Fprintf(out, "%s\n\t%s\n", part.title, strings.Join(part.lines, "\n\t"))
		}
	}
	return out.Flush()
}

func (m *Machine) planNICs() (lines []string) {
	for _, n := range m.nics {
		state := ""
		if n.ctx.Load() == nil {
			state = ", not attached"
		}
		lines = append(lines, fmt.Sprintf("%s: %s at %s, port %s%s (%s)", n.name, n.chip, n.loc, n.plug, state, n.where))
	}
	return lines
}

// planInterfaces has no link-local addresses: interfaces give those to themselves.
func (m *Machine) planInterfaces() (lines []string) {
	for _, ifp := range ifnet.List(m.k) {
		state := "down"
		if ifp.Flags()&ifnet.FlagUp != 0 {
			state = "up"
		}
		line := fmt.Sprintf("%s: %s mtu %d", ifp.Name(), state, ifp.MTU())
		for _, a := range inet.Addrs(ifp) {
			if !a.Prefix.Addr().IsLinkLocalUnicast() {
				line += " " + a.Prefix.String()
			}
		}
		var on ifnet.VLANReq
		if err := ifp.Ioctl(ifnet.IoctlGetVLAN, &on); err == nil && on.Parent != "" {
			line += fmt.Sprintf(", VLAN %d of %s", on.VID, on.Parent)
		}
		lines = append(lines, line)
	}
	return lines
}

func (m *Machine) planRoutes() (lines []string) {
	for _, r := range inet.Routes(m.k) {
		if r.Static {
			through := ""
			if r.Gateway.IsValid() {
				through = " through " + r.Gateway.String()
			}
			lines = append(lines, fmt.Sprintf("%s%s on %s", r.Prefix, through, r.If))
		}
	}
	return lines
}

// planNeighbours are the static ones.
func (m *Machine) planNeighbours() (lines []string) {
	for _, n := range append(inet.ARPTable(m.k), inet.NDTable(m.k)...) {
		if n.Permanent && !n.Own {
			lines = append(lines, fmt.Sprintf("%s is at %s on %s", n.Addr, net.HardwareAddr(n.MAC[:]), n.If))
		}
	}
	return lines
}

func (m *Machine) planFilter() []string {
	p, err := pf.Of(m.k)
	if err != nil || !p.Enabled() {
		return nil
	}
	return []string{fmt.Sprintf("enabled, %d rules", len(p.Rules()))}
}

// planSettings are the knobs that are set and exist.
func (m *Machine) planSettings() (lines []string, err error) {
	for _, s := range m.files.loader {
		if m.files.where(s.Name) != place(s)+": " || strings.HasPrefix(s.Name, "hint.") {
			continue
		}
		if o, err := m.k.Sysctl.Lookup(s.Name); err == nil {
			value, _ := m.k.Env.Get(s.Name)
			lines = append(lines, m.setting(place(s), s.Name, value, o.Flags()&sysctl.TUN == 0))
		}
	}
	for _, f := range forwardings {
		if m.rc.Yes(f.variable) {
			lines = append(lines, m.setting(m.rc.Where(f.variable), f.oid, "1", false))
		}
	}
	list, err := m.sysctlSettings()
	for _, s := range list {
		if _, err := m.k.Sysctl.Lookup(s.name); err == nil {
			lines = append(lines, m.setting(s.where, s.name, s.value, false))
		}
	}
	return lines, err
}

// setting is a line about a knob: what it is set to, and what it is if that differs.
func (m *Machine) setting(where, name, value string, late bool) string {
	line := fmt.Sprintf("%s: %s=%s", where, name, value)
	if late {
		line += ", no loader tunable"
	}
	if is, err := m.k.Sysctl.Text(name); err == nil && is != value {
		line += ", is " + is
	}
	return line
}

func (m *Machine) planSkipped() (lines []string) {
	for _, s := range m.Skipped() {
		lines = append(lines, fmt.Sprintf("%s: %s=\"%s\": no interface %s", s.Where, s.Setting, s.Value, s.If))
	}
	return lines
}

func (m *Machine) planUnused() (lines []string) {
	for _, v := range m.rc.Unused() {
		lines = append(lines, fmt.Sprintf("%s: %s", m.rc.Where(v), v))
	}
	return lines
}
