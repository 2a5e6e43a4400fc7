package machine

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/sysctl"
)

// flagChange is what a word does to a flag.
type flagChange struct {
	flag ifnet.Flags
	on   bool
}

// flagWords are the words that set a flag, and with "-" in front do the opposite (spec
// ifnet 12.1).
var flagWords = map[string]flagChange{
	"promisc": {ifnet.FlagPPromisc, true}, "allmulti": {ifnet.FlagPAllMulti, true},
	"arp": {ifnet.FlagNoARP, false}, "debug": {ifnet.FlagDebug, true}, "monitor": {ifnet.FlagMonitor, true},
	"staticarp": {ifnet.FlagStaticARP, true}, "stickyarp": {ifnet.FlagStickyARP, true},
	"link0": {ifnet.FlagLink0, true}, "link1": {ifnet.FlagLink1, true}, "link2": {ifnet.FlagLink2, true},
}

// loneFlagWords are those without an opposite of their name.
var loneFlagWords = map[string]flagChange{
	"up": {ifnet.FlagUp, true}, "down": {ifnet.FlagUp, false},
	"normal": {ifnet.FlagLink0, false}, "compress": {ifnet.FlagLink0, true}, "noicmp": {ifnet.FlagLink1, true},
}

// capWords are the words that enable capabilities, and with "-" disable them (spec
// ifnet 6.3).
var capWords = map[string]ifnet.Caps{
	"rxcsum": ifnet.CapRxCsum, "txcsum": ifnet.CapTxCsum, "netcons": ifnet.CapNetcons, "vlanmtu": ifnet.CapVLANMTU,
	"vlanhwtag": ifnet.CapVLANHWTag, "polling": ifnet.CapPolling, "vlanhwcsum": ifnet.CapVLANHWCsum,
	"tso4": ifnet.CapTSO4, "tso6": ifnet.CapTSO6, "tso": ifnet.CapTSO, "lro": ifnet.CapLRO,
	"wol_ucast": ifnet.CapWOLUcast, "wol_mcast": ifnet.CapWOLMcast, "wol_magic": ifnet.CapWOLMagic, "wol": ifnet.CapWOL,
	"toe": ifnet.CapTOE, "vlanhwfilter": ifnet.CapVLANHWFilter, "vlanhwtso": ifnet.CapVLANHWTSO,
	"rxcsum6": ifnet.CapRxCsumIPv6, "txcsum6": ifnet.CapTxCsumIPv6, "txrtlmt": ifnet.CapTxRtLmt,
	"hwrxtstmp": ifnet.CapHWRxTstmp, "mextpg": ifnet.CapMEXTPG, "nomap": ifnet.CapMEXTPG, "txtls": ifnet.CapTxTLS4 | ifnet.CapTxTLS6,
	"txtlsrtlmt": ifnet.CapTxTLSRtLmt, "vxlanhwcsum": ifnet.CapVXLANHWCsum, "vxlanhwtso": ifnet.CapVXLANHWTSO,
}

// cap2Words are those of the second word.
var cap2Words = map[string]ifnet.Caps2{"rxtls": ifnet.Cap2RxTLS4 | ifnet.Cap2RxTLS6, "ipsec": ifnet.Cap2IPsec}

// nd6Words are flags of neighbour discovery, which "-" in front clears.
var nd6Words = map[string]inet.ND6Flags{
	"nud": inet.ND6PerformNUD, "accept_rtadv": inet.ND6AcceptRTAdv, "ifdisabled": inet.ND6IfDisabled, "auto_linklocal": inet.ND6AutoLinkLocal,
	"no_radr": inet.ND6NoRADR, "no_prefer_iface": inet.ND6NoPreferIface, "no_dad": inet.ND6NoDAD,
}

// inet6Flags are flags of IPv6 addresses, without effect here, which "-" in front clears.
var inet6Flags = map[string]bool{"anycast": true, "deprecated": true, "tentative": true, "autoconf": true, "prefer_source": true}

// argumentWords are the words with an argument.
var argumentWords = map[string]func(c *ifconfig, arg string) error{
	"netmask":   (*ifconfig).netmask,
	"prefixlen": (*ifconfig).prefixLen,
	"broadcast": (*ifconfig).broadcast,
	"pltime":    lifetime("pltime"), "vltime": lifetime("vltime"),
	"mtu":    number("ioctl SIOCSIFMTU (set mtu)", ifnet.IoctlSetMTU),
	"metric": number("ioctl SIOCSIFMETRIC (set metric)", ifnet.IoctlSetMetric),
	"fib":    (*ifconfig).fib,
	"pcp":    (*ifconfig).lanPCP, "vlanpcp": (*ifconfig).vlanPCP,
	"name":  (*ifconfig).rename,
	"descr": (*ifconfig).describe, "description": (*ifconfig).describe,
	"group": (*ifconfig).joinGroup, "-group": (*ifconfig).leaveGroup,
	"media": (*ifconfig).mediaSubtype, "mediaopt": (*ifconfig).mediaOptions, "-mediaopt": (*ifconfig).clearMediaOptions,
	"mode": (*ifconfig).mediaMode, "instance": (*ifconfig).mediaInstance, "inst": (*ifconfig).mediaInstance,
	"vlan": (*ifconfig).vlanTag, "vlandev": (*ifconfig).vlanDev, "vlanproto": (*ifconfig).vlanProto,
	"vnet": noJail, "-vnet": noJail,
}

// plainWords are the words without one, but for those of the tables above.
var plainWords = map[string]func(c *ifconfig) error{
	"alias": func(c *ifconfig) error { return c.alias(true) }, "add": func(c *ifconfig) error { return c.alias(true) },
	"-alias": func(c *ifconfig) error { return c.alias(false) }, "delete": func(c *ifconfig) error { return c.alias(false) },
	"remove":       func(c *ifconfig) error { return c.alias(false) },
	"eui64":        (*ifconfig).eui64,
	"-description": func(c *ifconfig) error { return c.describe("") }, "-descr": func(c *ifconfig) error { return c.describe("") },
	"-pcp":      func(c *ifconfig) error { return c.request("SIOCSLANPCP", ifnet.IoctlSetLANPCP, uint8(ifnet.PCPNone)) },
	"-vlandev":  (*ifconfig).vlanOff,
	"destroy":   (*ifconfig).destroy,
	"unplumb":   (*ifconfig).destroy,
	"defaultif": keptWord("defaultif"), "-defaultif": keptWord("-defaultif"),
}

// word executes one command of the line, whose arguments follow.
func (c *ifconfig) word(w string) error {
	name, off := strings.CutPrefix(w, "-")
	if f, ok := loneFlagWords[w]; ok {
		return c.setFlag(w, f.flag, f.on)
	}
	if f, ok := flagWords[name]; ok {
		return c.setFlag(w, f.flag, f.on != off)
	}
	if caps, ok := capWords[name]; ok {
		return c.setCaps(w, caps, 0, !off)
	}
	if caps, ok := cap2Words[name]; ok {
		return c.setCaps(w, 0, caps, !off)
	}
	if f, ok := nd6Words[name]; ok {
		c.setND6(f, !off)
		return nil
	}
	if inet6Flags[name] {
		return c.addressFlag(w)
	}
	if do, ok := plainWords[w]; ok {
		return do(c)
	}
	if do, ok := argumentWords[w]; ok {
		if len(c.args) == 0 {
			return usageErrorf("'%s' requires argument", w)
		}
		return do(c, c.next())
	}
	if _, ok := families[w]; ok && c.rc {
		return c.nextFamily(w)
	}
	return c.address(w)
}

// number is a word whose argument is an integer, or begins with one.
func number(what string, cmd ifnet.Ioctl) func(*ifconfig, string) error {
	return func(c *ifconfig, arg string) error { return c.request(what, cmd, atoi(arg)) }
}

// keptWord is a word that has no effect and is kept for the plan.
func keptWord(w string) func(*ifconfig) error {
	return func(c *ifconfig) error {
		c.m.addInet6(c.ifp.Name(), w)
		return nil
	}
}

// noJail is a word whose argument is a jail, of which there are none.
func noJail(_ *ifconfig, arg string) error { return usageErrorf("jail %q not found", arg) }

// fib chooses a routing table; what fails is only said (setiffib).
func (c *ifconfig) fib(arg string) error {
	n, ok := strtoul(arg)
	if !ok {
		c.warnf("fib %s not valid", arg)
		return nil
	}
	if err := c.ifp.Ioctl(ifnet.IoctlSetFIB, clampInt(n)); err != nil {
		c.warnf("ioctl (SIOCSIFFIB): %s", sysctl.Strerror(err))
	}
	return nil
}

// priority reads the argument of pcp and vlanpcp.
func priority(word, arg string) (uint8, error) {
	const highest = 7
	n, ok := strtoul(arg)
	switch {
	case !ok:
		return 0, usageErrorf("invalid value for %s", word)
	case n > highest:
		return 0, usageErrorf("value for %s out of range", word)
	}
	return uint8(n), nil
}

func (c *ifconfig) lanPCP(arg string) error {
	n, err := priority("pcp", arg)
	if err != nil {
		return err
	}
	return c.request("SIOCSLANPCP", ifnet.IoctlSetLANPCP, n)
}

// rename gives the interface a name, which is printed at the end even if it is the old one.
func (c *ifconfig) rename(name string) error {
	old := c.ifp.Name()
	if err := c.request("ioctl SIOCSIFNAME (set name)", ifnet.IoctlSetName, name); err != nil {
		return err
	}
	c.m.renameInet6(old, name)
	c.out.Name = name
	return nil
}

func (c *ifconfig) describe(text string) error {
	return c.request("ioctl SIOCSIFDESCR (set descr)", ifnet.IoctlSetDescr, text)
}

// joinGroup is setifgroup: being in the group already is no failure.
func (c *ifconfig) joinGroup(name string) error {
	if err := checkGroup("setifgroup", name); err != nil {
		return err
	}
	if err := c.ifp.Ioctl(ifnet.IoctlAddGroup, name); err != nil && !errors.Is(err, syscall.EEXIST) {
		return requestError(" SIOCAIFGROUP", err) // the blank is FreeBSD's
	}
	return nil
}

// leaveGroup is unsetifgroup: not being in the group is no failure.
func (c *ifconfig) leaveGroup(name string) error {
	if err := checkGroup("unsetifgroup", name); err != nil {
		return err
	}
	if err := c.ifp.Ioctl(ifnet.IoctlDelGroup, name); err != nil && !errors.Is(err, syscall.ENOENT) {
		return requestError("SIOCDIFGROUP", err)
	}
	return nil
}

func checkGroup(who, name string) error {
	switch {
	case name != "" && name[len(name)-1] >= '0' && name[len(name)-1] <= '9':
		return usageErrorf("%s: group names may not end in a digit", who)
	case len(name) > ifnet.NameMax:
		return usageErrorf("%s: group name too long", who)
	}
	return nil
}

// setND6 changes a flag of neighbour discovery; what fails is only said.
func (c *ifconfig) setND6(f inet.ND6Flags, on bool) {
	set, clear := f, inet.ND6Flags(0)
	if !on {
		set, clear = clear, set
	}
	if err := inet.SetND6Options(c.ifp, set, clear); err != nil {
		c.warnf("ioctl(SIOCSIFINFO_IN6): %s", sysctl.Strerror(err))
	}
}

// addressFlag keeps a flag of the IPv6 address that is added.
func (c *ifconfig) addressFlag(w string) error {
	if c.af() != ifnet.AFInet6 {
		return usageError("address flags can be set only for inet6 addresses")
	}
	return keptWord(w)(c)
}

// lifetime is a word that sets a lifetime, without effect here.
func lifetime(word string) func(*ifconfig, string) error {
	return func(c *ifconfig, arg string) error {
		if _, ok := strtoul(arg); !ok {
			return usageErrorf("invalid %s", word)
		}
		if c.af() != ifnet.AFInet6 {
			return usageErrorf("%s not allowed for the AF", word)
		}
		return keptWord(fmt.Sprintf("%s %s", word, arg))(c)
	}
}

// destroy takes the interface away, if it is one that can be made.
func (c *ifconfig) destroy() error { return c.m.DestroyInterface(c.ifp) }
