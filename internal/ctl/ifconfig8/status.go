package ifconfig8

import (
	"fmt"
	"net"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
)

// status shows an interface, the lines in the order of spec ifnet 12.1. With a family
// only the lines about the interface itself and that family's.
func (c *command) status(ifp *ifnet.Ifnet) {
	flags := ifp.ReportedFlags()
	c.printf("%s: flags=%s metric %d mtu %d\n", ifp.Name(), word(uint32(flags), uint64(flags), flagBits, "IFF"), ifp.Metric(), ifp.MTU())
	if text := ifp.Description(); text != "" {
		c.printf("\tdescription: %s\n", text)
	}
	c.capabilities("options", ifp.Capenable(), ifp.Capenable2())
	if c.supported {
		c.capabilities("capabilities", ifp.Capabilities(), ifp.Capabilities2())
	}
	if c.shows(ifnet.AFLink) {
		c.link(ifp)
	}
	for _, a := range inet.Addrs(ifp) {
		if a.Prefix.Addr().Is4() && c.shows(ifnet.AFInet) || a.Prefix.Addr().Is6() && c.shows(ifnet.AFInet6) {
			c.printf("\t%s\n", a)
		}
	}
	if c.family == 0 {
		if groups := ifp.Groups(); len(groups) > 0 {
			c.groups(groups)
		}
		c.media(ifp)
	}
	if nd6 := inet.ND6Options(ifp); nd6 != 0 && c.shows(ifnet.AFInet6) {
		c.printf("\tnd6 options=%s\n", word(uint32(nd6), uint64(nd6), nd6Bits, "ND6_IFF"))
	}
	var text string
	if err := ifp.Ioctl(ifnet.IoctlGetStatus, &text); err == nil {
		c.printf("%s", text)
	}
	if c.driver || c.verbose > 0 {
		c.printf("\tdrivername: %s%d\n", ifp.DName(), ifp.DUnit())
	}
}

func (c *command) printf(format string, a ...any) { fmt.Fprintf(c.stdout, format, a...) }

// shows reports whether lines of a family are wanted.
func (c *command) shows(af ifnet.AF) bool { return c.family == 0 || c.family == af }

// capabilities is the line of a set of capabilities; the number is the first word's.
func (c *command) capabilities(what string, one ifnet.Caps, two ifnet.Caps2) {
	const secondWord = 32
	c.printf("\t%s=%s\n", what, word(uint32(one), uint64(one)|uint64(two)<<secondWord, capBits, "IFCAPS"))
}

// link shows the link-level address and what belongs to it.
func (c *command) link(ifp *ifnet.Ifnet) {
	if ifp.Type() != ifnet.TypeEther && ifp.Type() != ifnet.TypeVLAN {
		return
	}
	mac, hw := ifp.MAC(), ifp.HWAddr()
	c.printf("\tether %s\n", net.HardwareAddr(mac[:]))
	if hw != mac && hw != [ifnet.EtherAddrLen]byte{} {
		c.printf("\thwaddr %s\n", net.HardwareAddr(hw[:]))
	}
	if pcp := ifp.PCP(); pcp != ifnet.PCPNone {
		c.printf("\tpcp %d\n", pcp)
	}
}

// groups shows all groups but the one that every interface is in.
func (c *command) groups(groups []string) {
	var shown []string
	for _, g := range groups {
		if g != "all" {
			shown = append(shown, g)
		}
	}
	if len(shown) > 0 {
		c.printf("\tgroups: %s\n", strings.Join(shown, " "))
	}
}
