package pfctl8

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// command is one run of the tool.
type command struct {
	tool.IO
	k *kern.Kernel
	p *pf.PF

	file                                    string      // -f
	enable, disable, dry, quiet, debug, lax bool        // -e -d -n -q -g -o lax
	format                                  tool.Format // -o json
	verbose                                 int         // -v
	show, clear                             string      // -s -F
	only                                    string      // -i
	macros                                  map[string]string
}

// Run runs pfctl(8) with the arguments behind the command's name and returns its exit
// status: 0, or 1 with a message on stderr. With -vv it goes on until ctx ends. Any
// goroutine; it may sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	c := &command{IO: streams, k: k, macros: make(map[string]string)}
	err := c.options(args)
	if err == nil {
		c.p, err = pf.Of(k)
	}
	if err == nil {
		err = c.run(ctx)
	}
	return tool.Exit("pfctl", err, c.Stderr)
}

// silent is a failure of which everything has been said.
func silent() error { return tool.Status{Code: tool.Failure} }

const usageText = tool.Usage("usage: pfctl [-degnqv] [-D macro=value] [-f file] [-F modifier] [-i interface]\n" +
	"             [-o lax | json] [-s modifier]\n")

// options takes the flags; nothing may follow them.
func (c *command) options(args []string) error {
	if len(args) == 0 {
		return usageText
	}
	format, rest, err := tool.TakeFormat(args)
	if err == nil {
		c.format = format
		rest, err = tool.Flags("pfctl", usageText, getopt.Flags{Plain: c.flag, Valued: "DFfios", Value: c.value}, rest)
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 || c.enable && c.disable {
		return usageText
	}
	return nil
}

// flag takes a flag without argument; false if it is none.
func (c *command) flag(f byte) bool {
	switch f {
	case 'd':
		c.disable = true
	case 'e':
		c.enable = true
	case 'g':
		c.debug = true
	case 'n':
		c.dry = true
	case 'q':
		c.quiet = true
	case 'v':
		c.verbose++
	default:
		return false
	}
	return true
}

// What can be shown and cleared, in the order in which an abbreviation finds it.
var (
	shows  = []string{"nat", "queue", "rules", "Sources", "states", "info", "Interfaces", "labels", "timeouts", "memory", "Tables", "osfp", "Running", "all"}
	clears = []string{"nat", "queue", "rules", "Sources", "states", "info", "Tables", "osfp", "Reset", "all"}
)

// lookup finds what a word abbreviates, "" for nothing (pfctl_lookup_option).
func lookup(word string, list []string) string {
	for _, full := range list {
		if word != "" && strings.HasPrefix(full, word) {
			return full
		}
	}
	return ""
}

// value takes a flag with an argument.
func (c *command) value(f byte, value string) error {
	switch f {
	case 'D':
		name, text, ok := strings.Cut(value, "=")
		if !ok {
			fmt.Fprintf(c.Stderr, "pfctl: could not parse macro definition %s\n", value)
			return silent()
		}
		c.macros[name] = text
	case 'F':
		if c.clear = lookup(value, clears); c.clear == "" {
			return tool.Usage(fmt.Sprintf("pfctl: Unknown flush modifier '%s'\n%s", value, usageText))
		}
	case 'f':
		c.file = value
	case 'i':
		c.only = value
	case 'o':
		switch value {
		case "lax":
			c.lax = true
		case "none", "basic", "profile": // how rules are optimized, which they are not
		default:
			return tool.Usage(fmt.Sprintf("pfctl: Unknown optimization '%s'\n%s", value, usageText))
		}
	case 's':
		if c.show = lookup(value, shows); c.show == "" {
			return tool.Usage(fmt.Sprintf("pfctl: Unknown show modifier '%s'\n%s", value, usageText))
		}
	}
	return nil
}

// run does what the flags say, in FreeBSD's order.
func (c *command) run(ctx context.Context) error {
	for _, step := range []struct {
		wanted bool
		do     func() error
	}{
		{c.disable && !c.dry, c.stop},
		{c.show != "", func() error { return c.showWhat(ctx) }},
		{c.clear != "" && !c.dry, c.flush},
		{c.file != "", c.load},
		{c.enable && !c.dry, c.start},
	} {
		if !step.wanted {
			continue
		}
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

// tell says on stderr what has been done, unless -q.
func (c *command) tell(format string, a ...any) {
	if !c.quiet {
		fmt.Fprintf(c.Stderr, format+"\n", a...)
	}
}

func (c *command) start() error {
	err := c.p.Enable()
	if errors.Is(err, pf.ErrEnabled) {
		return tool.Messagef("pf already enabled")
	}
	if err == nil {
		c.tell("pf enabled")
	}
	return err
}

func (c *command) stop() error {
	err := c.p.Disable()
	if errors.Is(err, pf.ErrDisabled) {
		return tool.Messagef("pf not enabled")
	}
	if err == nil {
		c.tell("pf disabled")
	}
	return err
}

// flush clears what -F names.
func (c *command) flush() error {
	all := c.clear == "all"
	if c.clear == "rules" || all {
		c.p.FlushRules()
		c.tell("rules cleared")
	}
	if c.clear == "queue" || all {
		c.p.FlushQueues()
		c.tell("altq cleared")
	}
	if c.clear == "states" || all {
		n := c.p.FlushStates()
		c.tell("%d states cleared", n)
	}
	switch c.clear {
	case "rules", "queue", "states", "all":
		return nil
	}
	return fmt.Errorf("-F %s: not available", c.clear)
}
