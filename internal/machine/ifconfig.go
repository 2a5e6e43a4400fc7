package machine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/sysctl"
)

// flagWords are the words that set a flag, and with "-" in front clear it, unless
// inverted (spec ifnet 12.1).
var flagWords = map[string]struct {
	flag   ifnet.Flags
	invert bool
}{
	"up": {ifnet.FlagUp, false}, "promisc": {ifnet.FlagPPromisc, false}, "allmulti": {ifnet.FlagPAllMulti, false},
	"arp": {ifnet.FlagNoARP, true}, "debug": {ifnet.FlagDebug, false}, "monitor": {ifnet.FlagMonitor, false},
	"staticarp": {ifnet.FlagStaticARP, false}, "stickyarp": {ifnet.FlagStickyARP, false},
	"link0": {ifnet.FlagLink0, false}, "link1": {ifnet.FlagLink1, false}, "link2": {ifnet.FlagLink2, false},
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
	"hwrxtstmp": ifnet.CapHWRxTstmp, "mextpg": ifnet.CapMEXTPG, "txtls": ifnet.CapTxTLS4 | ifnet.CapTxTLS6,
	"txtlsrtlmt": ifnet.CapTxTLSRtLmt, "vxlanhwcsum": ifnet.CapVXLANHWCsum, "vxlanhwtso": ifnet.CapVXLANHWTSO,
}

// cap2Words are those of the second word.
var cap2Words = map[string]ifnet.Caps2{"rxtls": ifnet.Cap2RxTLS4 | ifnet.Cap2RxTLS6, "ipsec": ifnet.Cap2IPsec}

// nd6Words are flags of neighbour discovery, which "-" in front clears.
var nd6Words = map[string]inet.ND6Flags{
	"nud": inet.ND6PerformNUD, "ifdisabled": inet.ND6IfDisabled, "auto_linklocal": inet.ND6AutoLinkLocal, "no_dad": inet.ND6NoDAD,
}

// inet6Words are options of the inet6 family without effect here, with the number of their
// arguments.
var inet6Words = map[string]int{
	"accept_rtadv": 0, "no_radr": 0, "no_prefer_iface": 0, "prefer_source": 0, "defaultif": 0, "autoconf": 0, "anycast": 0,
	"deprecated": 0, "tentative": 0, "eui64": 0, "pltime": 1, "vltime": 1,
}

// ifconfig is one run of ifconfig(8) for a variable of rc.conf.
type ifconfig struct {
	m     *Machine
	ifp   *ifnet.Ifnet
	where string // file and line of the variable
	args  []string

	family ifnet.AF
	addr   netip.Addr // waiting for its prefix length
	bits   int        // of addr, -1 for its class's
	media  mediaRequest
	vlan   vlanRequest
}

// usageError is a word that ifconfig cannot use; the words behind it still count.
type usageError string

func (e usageError) Error() string { return string(e) }

// ifconfig runs ifconfig(8) with the words of a variable and reports whether there
// was anything to do. A word that makes no sense is a warning; a request that fails
// is one and ends the run, as it ends the tool.
func (m *Machine) ifconfig(ifp *ifnet.Ifnet, variable string, args []string) bool {
	if len(args) == 0 {
		return false
	}
	c := &ifconfig{m: m, ifp: ifp, where: m.rc.Where(variable), args: args, family: ifnet.AFInet, bits: -1}
	for len(c.args) > 0 {
		err := c.word()
		if err == nil {
			continue
		}
		c.warn(err)
		if _, usage := err.(usageError); !usage {
			return true
		}
	}
	for _, finish := range []func() error{c.setVLAN, c.assign, c.setMedia} {
		if err := finish(); err != nil {
			c.warn(err)
		}
	}
	return true
}

func (c *ifconfig) warn(err error) {
	c.m.warnf("%s: ifconfig: %s: %v", c.where, c.ifp.Name(), err)
}

// Ifconfig runs the commands of an ifconfig(8) line, which are the words behind the
// interface's name. The first that fails ends the run, and those before it count, as
// in the tool; the error's text is what the tool prints behind "ifconfig: ". It may sleep.
func (m *Machine) Ifconfig(ifp *ifnet.Ifnet, words []string) error {
	c := &ifconfig{m: m, ifp: ifp, args: words, family: ifnet.AFInet, bits: -1}
	for len(c.args) > 0 {
		if err := c.word(); err != nil {
			return err
		}
	}
	for _, finish := range []func() error{c.setVLAN, c.assign, c.setMedia} {
		if err := finish(); err != nil {
			return err
		}
	}
	return nil
}

// requestError is the tool's message for a request that failed.
func requestError(what string, err error) error {
	return fmt.Errorf("%s: %s", what, sysctl.Strerror(err))
}

// word takes one command of the line.
func (c *ifconfig) word() error {
	w := c.args[0]
	c.args = c.args[1:]
	name, off := strings.CutPrefix(w, "-")
	if f, ok := flagWords[name]; ok {
		return c.setFlag(w, f.flag, off == f.invert)
	}
	if caps, ok := capWords[name]; ok {
		return c.setCaps(w, caps, 0, !off)
	}
	if caps, ok := cap2Words[name]; ok {
		return c.setCaps(w, 0, caps, !off)
	}
	if f, ok := nd6Words[name]; ok {
		return c.setND6(f, !off)
	}
	if n, ok := inet6Words[name]; ok {
		return c.inet6Word(w, n)
	}
	switch w {
	case "down":
		return c.setFlag(w, ifnet.FlagUp, false)
	case "inet", "inet6":
		err := c.assign()
		c.family = map[string]ifnet.AF{"inet": ifnet.AFInet, "inet6": ifnet.AFInet6}[w]
		return err
	case "alias", "add":
		return nil
	case "-descr", "-description":
		return c.request("SIOCSIFDESCR (unset descr)", ifnet.IoctlSetDescr, "")
	case "-vlandev":
		return c.request("SIOCSETVLAN", ifnet.IoctlSetVLAN, &ifnet.VLANReq{})
	case "-pcp", "-vlanpcp":
		return c.request("SIOCSLANPCP", ifnet.IoctlSetLANPCP, uint8(ifnet.PCPNone))
	}
	if set, ok := argumentWords[w]; ok {
		if len(c.args) == 0 {
			return usageError(fmt.Sprintf("'%s' requires argument", w))
		}
		arg := c.args[0]
		c.args = c.args[1:]
		return set(c, arg)
	}
	return c.address(w)
}

// argumentWords are the words with an argument.
var argumentWords = map[string]func(c *ifconfig, arg string) error{
	"netmask":   (*ifconfig).netmask,
	"prefixlen": (*ifconfig).prefixLen,
	"broadcast": func(*ifconfig, string) error { return nil }, // follows from the prefix
	"mtu":       number("mtu", "ioctl SIOCSIFMTU (set mtu)", ifnet.IoctlSetMTU),
	"metric":    number("metric", "ioctl SIOCSIFMETRIC (set metric)", ifnet.IoctlSetMetric),
	"fib":       number("fib", "ioctl (SIOCSIFFIB)", ifnet.IoctlSetFIB),
	"pcp":       (*ifconfig).pcp,
	"name":      text("ioctl SIOCSIFNAME (set name)", ifnet.IoctlSetName),
	"descr":     text("ioctl SIOCSIFDESCR (set descr)", ifnet.IoctlSetDescr), "description": text("ioctl SIOCSIFDESCR (set descr)", ifnet.IoctlSetDescr),
	"group": (*ifconfig).joinGroup, "-group": (*ifconfig).leaveGroup,
	"ether": (*ifconfig).linkAddr, "lladdr": (*ifconfig).linkAddr, "link": (*ifconfig).linkAddr,
	"media": (*ifconfig).mediaSubtype, "mediaopt": (*ifconfig).mediaOptions, "-mediaopt": (*ifconfig).clearMediaOptions,
	"mode": noEffect("mode"), "instance": (*ifconfig).mediaInstance, "inst": (*ifconfig).mediaInstance,
	"vlan": (*ifconfig).vlanTag, "vlandev": (*ifconfig).vlanDev, "vlanproto": (*ifconfig).vlanProto, "vlanpcp": (*ifconfig).pcp,
	"tunnelfib": noEffect("tunnelfib"), "maclabel": noEffect("maclabel"),
}

// number is a word whose argument is an integer.
func number(word, what string, cmd ifnet.Ioctl) func(*ifconfig, string) error {
	return func(c *ifconfig, arg string) error {
		n, err := strconv.ParseInt(arg, 0, 32)
		if err != nil {
			return usageError(fmt.Sprintf("%s %s: bad value", word, arg))
		}
		return c.request(what, cmd, int(n))
	}
}

// text is a word whose argument is handed on as it is.
func text(what string, cmd ifnet.Ioctl) func(*ifconfig, string) error {
	return func(c *ifconfig, arg string) error { return c.request(what, cmd, arg) }
}

// noEffect is a word of the tool that means nothing to a NIC here.
func noEffect(word string) func(*ifconfig, string) error {
	return func(_ *ifconfig, arg string) error { return usageError(fmt.Sprintf("%s %s: not available", word, arg)) }
}

// request makes a request to the interface.
func (c *ifconfig) request(what string, cmd ifnet.Ioctl, data any) error {
	if err := c.ifp.Ioctl(cmd, data); err != nil {
		return requestError(what, err)
	}
	return nil
}

func (c *ifconfig) setFlag(word string, f ifnet.Flags, on bool) error {
	flags := c.ifp.Flags() &^ f
	if on {
		flags |= f
	}
	if flags == c.ifp.Flags() {
		return nil
	}
	err := c.ifp.Ioctl(ifnet.IoctlSetFlags, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%s: permission denied", word)
	case errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("%s: no such interface", word)
	}
	return requestError(word, err)
}

// setCaps enables or disables capabilities as far as the interface has them; asking
// for others is silent.
func (c *ifconfig) setCaps(word string, one ifnet.Caps, two ifnet.Caps2, on bool) error {
	var have ifnet.CapReq
	if err := c.ifp.Ioctl(ifnet.IoctlGetCap, &have); err != nil {
		return requestError("ioctl (SIOCGIFCAP)", err)
	}
	nv := have.Cur&ifnet.CapNV != 0 // the interface has a second word
	if nv {
		if err := c.ifp.Ioctl(ifnet.IoctlGetCapNV, &have); err != nil {
			return requestError("ioctl (SIOCGIFCAPNV)", err)
		}
	}
	want := ifnet.CapReq{Req: have.Cur &^ one, Req2: have.Cur2 &^ two}
	if on {
		want.Req, want.Req2 = have.Cur|one&have.Req, have.Cur2|two&have.Req2
	}
	if want.Req == have.Cur && want.Req2 == have.Cur2 {
		return nil
	}
	if nv {
		return c.request(word, ifnet.IoctlSetCapNV, &want)
	}
	return c.request(word, ifnet.IoctlSetCap, &want)
}

// joinGroup is setifgroup: being in the group already is no failure.
func (c *ifconfig) joinGroup(arg string) error {
	if arg != "" && arg[len(arg)-1] >= '0' && arg[len(arg)-1] <= '9' {
		return usageError("setifgroup: group names may not end in a digit")
	}
	if err := c.ifp.Ioctl(ifnet.IoctlAddGroup, arg); err != nil && !errors.Is(err, syscall.EEXIST) {
		return requestError("setifgroup: SIOCAIFGROUP", err)
	}
	return nil
}

// leaveGroup is unsetifgroup: not being in the group is no failure.
func (c *ifconfig) leaveGroup(arg string) error {
	if err := c.ifp.Ioctl(ifnet.IoctlDelGroup, arg); err != nil && !errors.Is(err, syscall.ENOENT) {
		return requestError("setifgroup: SIOCDIFGROUP", err)
	}
	return nil
}

func (c *ifconfig) pcp(arg string) error {
	n, err := strconv.ParseUint(arg, 0, 8)
	if err != nil {
		return usageError("invalid value for pcp")
	}
	return c.request("SIOCSLANPCP", ifnet.IoctlSetLANPCP, uint8(n))
}

func (c *ifconfig) linkAddr(arg string) error {
	mac, err := net.ParseMAC(arg)
	if err != nil || len(mac) != ifnet.EtherAddrLen {
		return usageError(fmt.Sprintf("ether %s: bad value", arg))
	}
	return c.request("ioctl (SIOCSIFLLADDR)", ifnet.IoctlSetLLAddr, []byte(mac))
}

// setND6 changes a flag of neighbour discovery.
func (c *ifconfig) setND6(f inet.ND6Flags, on bool) error {
	set, clear := f, inet.ND6Flags(0)
	if !on {
		set, clear = clear, set
	}
	if err := inet.SetND6Options(c.ifp, set, clear); err != nil {
		return requestError("ioctl(SIOCSIFINFO_FLAGS)", err)
	}
	return nil
}

// inet6Word keeps an option of the network layer with its arguments.
func (c *ifconfig) inet6Word(w string, args int) error {
	if len(c.args) < args {
		return usageError(fmt.Sprintf("'%s' requires argument", w))
	}
	w = strings.Join(append([]string{w}, c.args[:args]...), " ")
	c.args = c.args[args:]
	c.m.addInet6(c.ifp.Name(), w)
	return nil
}

// address takes a word that is no command: an address of the current family, with
// or without a prefix length.
func (c *ifconfig) address(w string) error {
	host, length, hasLength := strings.Cut(w, "/")
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Is6() != (c.family == ifnet.AFInet6) || addr.Is4In6() {
		return usageError(w + ": bad value")
	}
	if c.addr.IsValid() {
		return usageError(w + ": second address: not available")
	}
	c.addr, c.bits = addr.WithZone(""), -1
	if hasLength {
		return c.prefixLen(length)
	}
	return nil
}

func (c *ifconfig) prefixLen(arg string) error {
	n, ok := prefixLength(c.addr, arg)
	if !ok {
		return usageError(arg + ": bad value")
	}
	c.bits = n
	return nil
}

func (c *ifconfig) netmask(arg string) error {
	n, ok := maskLength(c.addr, arg)
	if !ok {
		return usageError(fmt.Sprintf("netmask %s: bad value", arg))
	}
	c.bits = n
	return nil
}

// assign gives the interface the address that was collected.
func (c *ifconfig) assign() error {
	addr, bits := c.addr, c.bits
	c.addr, c.bits = netip.Addr{}, -1
	if !addr.IsValid() {
		return nil
	}
	if bits < 0 {
		bits = defaultBits(addr)
	}
	err := inet.AddAddr(c.ifp, netip.PrefixFrom(addr, bits))
	if err == nil || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return requestError("ioctl (SIOCAIFADDR)", err)
}
