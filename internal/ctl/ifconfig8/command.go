package ifconfig8

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

// Machine is what the tool works on; machine.Machine is one.
type Machine interface {
	// Kernel has the interfaces.
	Kernel() *kern.Kernel
	// Ifconfig runs the commands behind an interface's name; its error is the tool's message.
	Ifconfig(ifp *ifnet.Ifnet, words []string) (machine.IfconfigOutput, error)
	// CreateInterface makes an interface and runs the commands behind create.
	CreateInterface(name string, words []string) (*ifnet.Ifnet, machine.IfconfigOutput, error)
}

// command is one run of the tool.
type command struct {
	m              Machine
	stdout, stderr io.Writer
	format         tool.Format // -o json
	shape          shape       // -f

	all, list, supported, driver bool    // -a -l -m -D
	down, up, cloners            bool    // -d -u -C
	verbose                      int     // -v
	members                      *string // -g without -a: list this group
	group, notGroup              string  // -a -g, -a -G: patterns
	family                       string  // "": all
}

// Run runs ifconfig(8) with the arguments behind the command's name and returns its
// exit status: 0, or 1 with a message on stderr. Any goroutine; it may sleep.
func Run(m Machine, args []string, stdout, stderr io.Writer) (exit int) {
	c := &command{m: m, stdout: stdout, stderr: stderr}
	args, err := c.options(args)
	if err == nil {
		err = c.run(args)
	}
	return tool.Exit("ifconfig", err, stderr)
}

const usageText = tool.Usage("usage: ifconfig [-j jail] [-f type:format] interface address_family\n" +
	"                [address [dest_address]] [parameters]\n" +
	"       ifconfig [-j jail] interface create\n" +
	"       ifconfig [-j jail] -a [-L] [-C] [-g groupname] [-d] [-m] [-u] [-v] [address_family]\n" +
	"       ifconfig [-j jail] -l [-d] [-u] [address_family]\n" +
	"       ifconfig [-j jail] [-L] [-C] [-g groupname] [-d] [-m] [-u] [-v]\n")

// options takes the flags and returns the rest.
func (c *command) options(args []string) (rest []string, err error) {
	if c.format, rest, err = tool.TakeFormat(args); err != nil {
		return nil, err
	}
	rest, err = tool.Flags("ifconfig", usageText, getopt.Flags{Plain: c.flag, Valued: "fgGj", Value: c.value}, rest)
	if err != nil {
		return nil, err
	}
	if c.down && c.up || c.list && (c.all || c.supported) {
		return nil, usageText
	}
	return rest, nil
}

// flag takes a flag without argument; false if it is none.
func (c *command) flag(f byte) bool {
	if f == 'v' {
		c.verbose++
		return true
	}
	var nothing bool // keys, lifetimes and modules, which nothing here has
	return tool.Switches(map[byte]*bool{
		'a': &c.all, 'l': &c.list, 'm': &c.supported, 'd': &c.down, 'u': &c.up, 'D': &c.driver, 'C': &c.cloners,
		'k': &nothing, 'L': &nothing, 'n': &nothing,
	})(f)
}

func (c *command) value(f byte, value string) error {
	switch {
	case f == 'f':
		for _, bad := range c.shape.set(value) {
			c.warnf("Skipping invalid format specification: %s\n", bad)
		}
	case f == 'g' && !c.all:
		c.members = &value
	case f == 'g':
		c.group = value
	case f == 'G' && !c.all:
		return usageText
	case f == 'G':
		c.notGroup = value
	default:
		return tool.Messagef("jail %q not found", value)
	}
	return nil
}

// warnf prints a message and goes on (warnx(3)).
func (c *command) warnf(format string, a ...any) {
	fmt.Fprintf(c.stderr, "ifconfig: "+format+"\n", a...)
}

// run does what the arguments behind the options say.
func (c *command) run(args []string) error {
	switch {
	case c.members != nil:
		return c.names("member", "\n", c.inGroup(*c.members))
	case c.cloners:
		return c.names("cloner", " ", []string{"vlan"})
	case c.all || c.list || len(args) == 0:
		return c.each(args)
	}
	return c.one(args[0], args[1:])
}

// each shows, or names with -l, the interfaces that the options choose; the argument is an
// address family.
func (c *command) each(args []string) error {
	switch {
	case len(args) > 1:
		return usageText
	case len(args) == 1:
		if _, ok := machine.AddressFamily(args[0]); !ok {
			c.warnf("Address family '%s' unknown.", args[0])
			return usageText
		}
		c.family = args[0]
	}
	var chosen []*ifnet.Ifnet
	for _, ifp := range ifnet.List(c.m.Kernel()) {
		if c.chosen(ifp) {
			chosen = append(chosen, ifp)
		}
	}
	if !c.list {
		return c.show(chosen)
	}
	var names []string
	for _, ifp := range chosen {
		names = append(names, ifp.Name())
	}
	return c.names("interface", " ", names)
}

// one shows an interface, or runs commands on it.
func (c *command) one(name string, words []string) error {
	ifp := ifnet.ByName(c.m.Kernel(), name)
	creates := len(words) > 0 && (words[0] == "create" || words[0] == "plumb")
	switch {
	case ifp == nil && creates:
		_, out, err := c.m.CreateInterface(name, words[1:])
		return c.said(out, err)
	case ifp == nil:
		return tool.Messagef("interface %s does not exist", name)
	case creates && len(words) == 1:
		return tool.Messagef("interface %s already exists", name)
	case creates:
		words = words[1:]
	}
	if len(words) == 1 {
		if _, ok := machine.AddressFamily(words[0]); ok {
			c.family, words = words[0], nil
		}
	}
	if len(words) == 0 {
		if !c.chosen(ifp) {
			return c.show(nil)
		}
		return c.show([]*ifnet.Ifnet{ifp})
	}
	if !c.flagsMatch(ifp) {
		return nil
	}
	return c.said(c.m.Ifconfig(ifp, words))
}

// said prints what commands had to say, the name at the end.
func (c *command) said(out machine.IfconfigOutput, err error) error {
	for _, w := range out.Warnings {
		c.warnf("%s", w)
	}
	if out.Name == "" {
		return err
	}
	return errors.Join(err, c.names("created", "", []string{out.Name}))
}

// names prints a line of names, or a list of that name in JSON.
func (c *command) names(list, separator string, names []string) error {
	if !c.format.JSON {
		text := strings.Join(names, separator)
		if separator != "\n" || len(names) > 0 {
			text += "\n"
		}
		_, err := io.WriteString(c.stdout, text)
		return err
	}
	j := c.format.NewJSON(c.stdout, jsonVersion)
	j.Object("ifconfig", func() {
		j.List(list, func() {
			for _, name := range names {
				j.Value(name)
			}
		})
	})
	return j.Close()
}

// chosen applies the filters.
func (c *command) chosen(ifp *ifnet.Ifnet) bool {
	return c.flagsMatch(ifp) && c.groupsMatch(ifp.Groups()) && c.familyMatches(ifp)
}

// flagsMatch is match_if_flags.
func (c *command) flagsMatch(ifp *ifnet.Ifnet) bool {
	up := ifp.Flags()&ifnet.FlagUp != 0
	return ifp.Flags()&ifnet.FlagCantConfig == 0 && !(c.down && up) && !(c.up && !up)
}

// groupsMatch is group_member: a group matches -g, and none matches -G.
func (c *command) groupsMatch(groups []string) bool {
	like := func(pattern string) bool {
		return slices.ContainsFunc(groups, func(g string) bool { return fnmatch(pattern, g) })
	}
	return (c.group == "" || like(c.group)) && (c.notGroup == "" || !like(c.notGroup))
}

// fnmatch is fnmatch(3) of a name without slashes.
func fnmatch(pattern, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok && err == nil
}

// familyMatches reports whether the interface has something of the family to show.
func (c *command) familyMatches(ifp *ifnet.Ifnet) bool {
	switch af, _ := machine.AddressFamily(c.family); {
	case c.family == "ether":
		return isEther(ifp)
	case af == ifnet.AFInet || af == ifnet.AFInet6:
		return slices.ContainsFunc(inet.Addrs(ifp), func(a inet.Addr) bool { return familyOf(a) == af })
	}
	return true
}

func isEther(ifp *ifnet.Ifnet) bool {
	return ifp.Type() == ifnet.TypeEther || ifp.Type() == ifnet.TypeVLAN
}

func familyOf(a inet.Addr) ifnet.AF {
	if a.Prefix.Addr().Is4() {
		return ifnet.AFInet
	}
	return ifnet.AFInet6
}

// inGroup are the names of a group's members; an unknown group has none.
func (c *command) inGroup(group string) (names []string) {
	for _, ifp := range ifnet.List(c.m.Kernel()) {
		if ifp.InGroup(group) {
			names = append(names, ifp.Name())
		}
	}
	return names
}
