package kenv8

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/sysctl"
)

// exitRefused is the status when the kernel refused: -1 as the shell sees it.
const exitRefused = 255

// hintPrefix is what the names of hints begin with.
const hintPrefix = "hint."

// command is one run of the tool.
type command struct {
	env    *sysctl.Kenv
	stdout io.Writer

	hints, loader, names, quiet, static, unset, verbose bool // -h -l -N -q -s -u -v
}

const usageText = tool.Usage("usage: kenv [-l|-s] [-hNq]\n" +
	"       kenv [-qv] variable[=value]\n" +
	"       kenv [-q] -u variable\n")

// Run runs kenv(1) with the arguments behind the command's name on a kernel environment
// and returns its exit status: 0, 1 for a command line that makes no sense, 255 for what
// the kernel refuses, both with a message on stderr. Any goroutine.
func Run(env *sysctl.Kenv, args []string, stdout, stderr io.Writer) (exit int) {
	c := &command{env: env, stdout: stdout}
	flags := map[byte]*bool{'h': &c.hints, 'l': &c.loader, 'N': &c.names, 'q': &c.quiet,
		's': &c.static, 'u': &c.unset, 'v': &c.verbose}
	args, err := tool.Flags("kenv", usageText, getopt.Flags{Plain: tool.Switches(flags)}, args)
	if err == nil {
		err = c.run(args)
	}
	return tool.Exit("kenv", err, stderr)
}

// run does what the arguments behind the flags say.
func (c *command) run(args []string) error {
	dump := len(args) == 0
	switch {
	case len(args) > 1, dump && (c.unset || c.verbose), c.loader && c.static:
		return usageText
	case !dump && (c.hints || c.names || c.loader || c.static):
		return usageText
	case dump:
		return c.dump()
	}
	name, value, set := strings.Cut(args[0], "=")
	switch {
	case set:
		return c.set(name, value)
	case c.unset:
		if c.env.Unset(name) != nil {
			return c.refused("unable to unset %s", name)
		}
		return nil
	}
	return c.get(name)
}

// refused is a failure of the kernel, without a word after -q.
func (c *command) refused(format string, a ...any) error {
	err := tool.Status{Code: exitRefused}
	if !c.quiet {
		err.Err = fmt.Errorf(format, a...)
	}
	return err
}

// dump shows the environment. FreeBSD keeps those of the loader and of the kernel apart
// only if it is told to before it boots, so -l and -s have none to show.
func (c *command) dump() error {
	if c.loader || c.static {
		return c.refused("requested environment is unavailable")
	}
	var b bytes.Buffer
	for _, entry := range c.env.All() {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case c.hints && !strings.HasPrefix(name, hintPrefix):
		case c.names:
			fmt.Fprintln(&b, name)
		default:
			show(&b, name, value)
		}
	}
	_, err := c.stdout.Write(b.Bytes())
	return err
}

func (c *command) get(name string) error {
	value, ok := c.env.Get(name)
	switch {
	case !ok:
		return c.refused("unable to get %s", name)
	case c.verbose:
		show(c.stdout, name, value)
	default:
		fmt.Fprintln(c.stdout, value)
	}
	return nil
}

// set stores a variable. That the table is full is not told, as kenv(2) does not (spec
// ifnet 2.1).
func (c *command) set(name, value string) error {
	if err := c.env.Set(name, value); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return c.refused("unable to set %s to %s", name, value)
	}
	show(c.stdout, name, value)
	return nil
}

// show prints a variable. FreeBSD does not quote what is in a value either.
func show(w io.Writer, name, value string) { fmt.Fprintf(w, "%s=\"%s\"\n", name, value) }
