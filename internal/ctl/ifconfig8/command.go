package ifconfig8

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// Machine is what the tool works on; machine.Machine is one.
type Machine interface {
	// Kernel has the interfaces.
	Kernel() *kern.Kernel
	// Ifconfig runs the commands behind an interface's name; its error is the tool's message.
	Ifconfig(ifp *ifnet.Ifnet, words []string) error
}

// command is one run of the tool.
type command struct {
	m              Machine
	stdout, stderr io.Writer

	all, list, supported, driver bool // -a -l -m -D
	down, up                     bool // -d -u
	verbose                      int  // -v
	group, notGroup              string
	family                       ifnet.AF // 0: all
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
func (c *command) options(args []string) ([]string, error) {
	args, err := tool.Flags("ifconfig", usageText, getopt.Flags{Plain: c.flag, Valued: "gGj", Value: c.value}, args)
	if err != nil {
		return nil, err
	}
	if c.down && c.up || c.list && (c.all || c.supported) {
		return nil, usageText
	}
	return args, nil
}

// flag takes a flag without argument; false if it is none.
func (c *command) flag(f byte) bool {
	switch f {
	case 'a':
		c.all = true
	case 'l':
		c.list = true
	case 'm':
		c.supported = true
	case 'd':
		c.down = true
	case 'u':
		c.up = true
	case 'v':
		c.verbose++
	case 'D':
		c.driver = true
	case 'k', 'L', 'n': // keys, lifetimes and modules, which nothing here has
	default:
		return false
	}
	return true
}

func (c *command) value(f byte, value string) error {
	switch f {
	case 'g':
		c.group = value
	case 'G':
		c.notGroup = value
	default:
		return fmt.Errorf("jail %q not found", value)
	}
	return nil
}

// families are the names of address families.
var families = map[string]ifnet.AF{"inet": ifnet.AFInet, "inet6": ifnet.AFInet6, "ether": ifnet.AFLink, "link": ifnet.AFLink, "lladdr": ifnet.AFLink}

// run does what the arguments behind the options say.
func (c *command) run(args []string) error {
	if c.all || c.list || len(args) == 0 {
		switch len(args) {
		case 0:
		case 1:
			af, ok := families[args[0]]
			if !ok {
				return usageText
			}
			c.family = af
		default:
			return usageText
		}
		c.each()
		return nil
	}
	name, words := args[0], args[1:]
	ifp := ifnet.ByName(c.m.Kernel(), name)
	if len(words) > 0 && words[0] == "create" {
		if ifp != nil {
			return fmt.Errorf("interface %s already exists", name)
		}
		return fmt.Errorf("SIOCIFCREATE2 (%s): Invalid argument", name)
	}
	if ifp == nil {
		return fmt.Errorf("interface %s does not exist", name)
	}
	if len(words) == 1 {
		c.family = families[words[0]]
	}
	if len(words) == 0 || c.family != 0 {
		c.status(ifp)
		return nil
	}
	err := c.m.Ifconfig(ifp, words)
	if now := ifp.Name(); now != name {
		fmt.Fprintln(c.stdout, now)
	}
	return err
}

// each shows, or names with -l, the interfaces that the options choose.
func (c *command) each() {
	var names []string
	for _, ifp := range ifnet.List(c.m.Kernel()) {
		if !c.chosen(ifp) {
			continue
		}
		if c.list {
			names = append(names, ifp.Name())
		} else {
			c.status(ifp)
		}
	}
	if c.list {
		fmt.Fprintln(c.stdout, strings.Join(names, " "))
	}
}

// chosen applies the filters.
func (c *command) chosen(ifp *ifnet.Ifnet) bool {
	up := ifp.Flags()&ifnet.FlagUp != 0
	switch {
	case ifp.Flags()&ifnet.FlagCantConfig != 0, c.down && up, c.up && !up:
		return false
	case c.group != "" && !slices.Contains(ifp.Groups(), c.group):
		return false
	case c.notGroup != "" && slices.Contains(ifp.Groups(), c.notGroup):
		return false
	case c.list && c.family == ifnet.AFLink:
		return ifp.Type() == ifnet.TypeEther || ifp.Type() == ifnet.TypeVLAN
	}
	return true
}
