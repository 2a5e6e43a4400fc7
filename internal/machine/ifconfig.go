package machine

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// IfconfigOutput is what ifconfig(8) says of the commands behind an interface's name, beside
// the error that ends them.
type IfconfigOutput struct {
	// Name goes to stdout at the end, after an error too: the name of an interface that was
	// renamed, or made under another name than the one asked for. "" is not printed.
	Name string
	// Warnings go to stderr, in front of the error's message; they change no exit status.
	Warnings []string
}

// ifconfig is one run of ifconfig(8).
type ifconfig struct {
	m    *Machine
	ifp  *ifnet.Ifnet // nil until the interface has been made
	args []string     // those to come
	rc   bool         // a variable of rc.conf, not a command

	family string // a key of families
	addr   addrRequest
	media  mediaRequest
	vlan   vlanRequest
	out    IfconfigOutput
}

// families are the names of address families.
var families = map[string]ifnet.AF{"inet": ifnet.AFInet, "inet6": ifnet.AFInet6, "ether": ifnet.AFLink, "link": ifnet.AFLink, "lladdr": ifnet.AFLink}

// AddressFamily is the family of a name that ifconfig(8) has for it.
func AddressFamily(name string) (ifnet.AF, bool) {
	af, ok := families[name]
	return af, ok
}

func (c *ifconfig) af() ifnet.AF { return families[c.family] }

// usageError is a word that ifconfig cannot use; in rc.conf the words behind it still count.
type usageError string

func (e usageError) Error() string { return string(e) }

func usageErrorf(format string, a ...any) error { return usageError(fmt.Sprintf(format, a...)) }

// ifconfig runs ifconfig(8) with the words of a variable and reports whether there
// was anything to do. A word that makes no sense is a warning; a request that fails
// is one and ends the run, as it ends the tool. An address family may stand in front of
// any word and begins a further address.
func (m *Machine) ifconfig(ifp *ifnet.Ifnet, variable string, args []string) bool {
	if len(args) == 0 {
		return false
	}
	where := m.rc.Where(variable)
	c := &ifconfig{m: m, ifp: ifp, args: args, rc: true, family: "inet", addr: noAddress}
	c.run(func(err error) (goOn bool) {
		m.warnf("%s: ifconfig: %s: %v", where, ifp.Name(), err)
		_, goOn = err.(usageError)
		return goOn
	})
	for _, w := range c.out.Warnings {
		m.warnf("%s: ifconfig: %s: %s", where, ifp.Name(), strings.ReplaceAll(w, "\n", " "))
	}
	return true
}

// Ifconfig runs the commands of an ifconfig(8) line, which are the words behind the
// interface's name: an address family, if the first is one, then commands and addresses.
// The first that fails ends the run, and what was done before stays done, as in the tool.
// Media and addresses are set at the end. The error's text is what the tool prints behind
// "ifconfig: ". It may sleep.
func (m *Machine) Ifconfig(ifp *ifnet.Ifnet, words []string) (IfconfigOutput, error) {
	c := &ifconfig{m: m, ifp: ifp, args: words, family: "inet", addr: noAddress}
	c.leadingFamily()
	err := c.runToError()
	return c.out, err
}

// leadingFamily takes an address family in front of the commands.
func (c *ifconfig) leadingFamily() {
	if len(c.args) == 0 {
		return
	}
	if _, ok := families[c.args[0]]; ok {
		c.family, c.args = c.args[0], c.args[1:]
	}
}

// runToError is run up to the first failure.
func (c *ifconfig) runToError() (first error) {
	c.run(func(err error) bool {
		first = err
		return false
	})
	return first
}

// run executes the words, and then what they have put off. failed is told of each failure
// and says whether the rest counts.
func (c *ifconfig) run(failed func(error) (goOn bool)) {
	for len(c.args) > 0 {
		if err := c.word(c.next()); err != nil && !failed(err) {
			return
		}
	}
	for _, finish := range []func() error{c.setMedia, c.checkVLAN, c.setAddress} {
		if err := finish(); err != nil && !failed(err) {
			return
		}
	}
}

// next takes a word off the line.
func (c *ifconfig) next() string {
	w := c.args[0]
	c.args = c.args[1:]
	return w
}

// warnf is what the tool says and goes on (warnx(3)).
func (c *ifconfig) warnf(format string, a ...any) {
	c.out.Warnings = append(c.out.Warnings, fmt.Sprintf(format, a...))
}

// requestError is the tool's message for a request that failed (err(3)).
func requestError(what string, err error) error {
	return fmt.Errorf("%s: %s", what, sysctl.Strerror(err))
}

// commandError is the message for most commands, with words of its own for two errors (Perror).
func commandError(what string, err error) error {
	switch {
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%s: permission denied", what)
	case errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("%s: no such interface", what)
	}
	return requestError(what, err)
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
	if err := c.ifp.Ioctl(ifnet.IoctlSetFlags, flags); err != nil {
		return commandError(word, err)
	}
	return nil
}

// setCaps enables or disables capabilities as far as the interface has them; asking
// for others is silent.
func (c *ifconfig) setCaps(word string, one ifnet.Caps, two ifnet.Caps2, on bool) error {
	var have ifnet.CapReq
	if err := c.ifp.Ioctl(ifnet.IoctlGetCap, &have); err != nil {
		return commandError("ioctl (SIOCGIFCAP)", err)
	}
	nv := have.Cur&ifnet.CapNV != 0 // the interface has a second word
	if nv {
		if err := c.ifp.Ioctl(ifnet.IoctlGetCapNV, &have); err != nil {
			return commandError("ioctl (SIOCGIFCAPNV)", err)
		}
	}
	want := ifnet.CapReq{Req: have.Cur &^ one, Req2: have.Cur2 &^ two}
	if on {
		want.Req, want.Req2 = have.Cur|one&have.Req, have.Cur2|two&have.Req2
	}
	if want.Req == have.Cur && want.Req2 == have.Cur2 {
		return nil
	}
	cmd := ifnet.IoctlSetCap
	if nv {
		cmd = ifnet.IoctlSetCapNV
	}
	if err := c.ifp.Ioctl(cmd, &want); err != nil {
		return commandError(word, err)
	}
	return nil
}
