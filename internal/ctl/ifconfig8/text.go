package ifconfig8

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
)

// text prints an interface, the lines in the order of spec ifnet 12.1.
func (c *command) text(s *status) error {
	var b bytes.Buffer
	line := func(format string, a ...any) { fmt.Fprintf(&b, "\t"+format+"\n", a...) }
	fmt.Fprintf(&b, "%s: flags=%s metric %d mtu %d\n", s.name, word(uint32(s.flags), bitNames(uint64(s.flags), flagBits, "IFF")), s.metric, s.mtu)
	if s.description != "" {
		line("description: %s", s.description)
	}
	line("options=%s", word(uint32(s.enabled.one), s.enabled.names()))
	if c.supported {
		line("capabilities=%s", word(uint32(s.supported.one), s.supported.names()))
	}
	if l := s.link; l != nil {
		line("ether %s", c.shape.mac(l.mac))
		if l.burntIn != l.mac {
			line("hwaddr %s", c.shape.mac(l.burntIn))
		}
		if l.pcp != ifnet.PCPNone {
			line("pcp %d", l.pcp)
		}
	}
	for _, a := range s.addrs {
		line("%s", c.shape.address(a))
	}
	if len(s.groups) > 0 {
		line("groups: %s", strings.Join(s.groups, " "))
	}
	if s.vlan != nil {
		line("vlan: %d vlanproto: %s vlanpcp: %d parent interface: %s", s.vlan.VID, vlanProto(s.vlan.Proto), s.vlanPCP, orNone(s.vlan.Parent))
	}
	c.mediaText(s, line)
	if s.nd6 != 0 {
		line("nd6 options=%s", word(uint32(s.nd6), bitNames(uint64(s.nd6), nd6Bits, "ND6_IFF")))
	}
	b.WriteString(s.text)
	if s.driver != "" {
		line("drivername: %s", s.driver)
	}
	b.WriteString(s.module)
	_, err := c.stdout.Write(b.Bytes())
	return err
}

// mediaText prints the media, the status and, with -m, what is supported.
func (c *command) mediaText(s *status, line func(string, ...any)) {
	m := s.media
	if m == nil {
		return
	}
	if m.Count == 0 {
		c.warnf("%s: no media types?", s.name)
		return
	}
	text := "media: Ethernet " + m.Current.Name()
	if n := m.Current.Instance(); n != 0 {
		text += fmt.Sprintf(" instance %d", n)
	}
	if m.Active != m.Current {
		text += fmt.Sprintf(" (%s)", m.Active.Name())
	}
	line("%s", text)
	if m.carrier != "" {
		line("status: %s", m.carrier)
	}
	if !c.supported {
		return
	}
	line("supported media:")
	for _, w := range m.List {
		text := "\tmedia " + w.SubtypeName()
		if opts := w.Options(); len(opts) > 0 {
			text += " mediaopt " + strings.Join(opts, ",")
		}
		if n := w.Instance(); n != 0 {
			text += fmt.Sprintf(" instance %d", n)
		}
		line("%s", text)
	}
}

// address is the line of an address.
func (s *shape) address(a inet.Addr) string {
	addr, bits := a.Prefix.Addr(), a.Prefix.Bits()
	var b strings.Builder
	if addr.Is4() {
		fmt.Fprintf(&b, "inet %s%s", addr, s.mask(bits))
		if a.Broadcast.IsValid() && bits != 0 {
			fmt.Fprintf(&b, " broadcast %s", a.Broadcast)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "inet6 %s", scoped(a))
	if s.inet6 == "cidr" {
		fmt.Fprintf(&b, "/%d", bits)
	} else {
		fmt.Fprintf(&b, " prefixlen %d", bits)
	}
	for _, f := range stateNames(a.State) {
		b.WriteString(" " + f)
	}
	if a.Scope != 0 {
		fmt.Fprintf(&b, " scopeid %#x", a.Scope)
	}
	return b.String()
}

// mask is what follows an IPv4 address.
func (s *shape) mask(bits int) string {
	switch s.inet {
	case "cidr":
		return fmt.Sprintf("/%d", bits)
	case "dotted":
		return " netmask " + maskAddr(bits).String()
	}
	b := maskAddr(bits).As4()
	return fmt.Sprintf(" netmask %#x", binary.BigEndian.Uint32(b[:]))
}

// maskAddr is a mask as an address.
func maskAddr(bits int) netip.Addr {
	a, _ := netip.AddrFromSlice(net.CIDRMask(bits, 8*net.IPv4len))
	return a
}

// scoped is the address with its zone, as getnameinfo(3) has it.
func scoped(a inet.Addr) string {
	if a.Scope != 0 {
		return a.Prefix.Addr().WithZone(a.If).String()
	}
	return a.Prefix.Addr().String()
}

// stateNames are the flags of an IPv6 address.
func stateNames(s inet.AddrState) []string {
	switch s {
	case inet.AddrTentative:
		return []string{"tentative"}
	case inet.AddrDuplicated:
		return []string{"duplicated"}
	}
	return nil
}

func vlanProto(proto uint16) string {
	switch proto {
	case ifnet.EtherTypeVLAN:
		return "802.1q"
	case ifnet.EtherTypeQinQ:
		return "802.1ad"
	}
	return fmt.Sprintf("0x%04x", proto)
}

func orNone(parent string) string {
	if parent == "" {
		return "<none>"
	}
	return parent
}
