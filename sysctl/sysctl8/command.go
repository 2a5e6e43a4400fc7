package sysctl8

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/sysctl"
)

// Exit codes of the tool (sysexits.h); other failures are counted.
const (
	exitUsage   = 1
	exitNoInput = 66
	exitMask    = 0xff
)

// Command is one run of sysctl(8). The zero values of Open and Cred are the host's files and root.
type Command struct {
	Tree   *sysctl.Tree
	Stdout io.Writer
	Stderr io.Writer
	Open   func(name string) (io.ReadCloser, error) // files of -f
	Cred   sysctl.Cred

	flags   [128]bool
	bufSize int    // -B
	file    string // -f
	skipped []int32
}

// Run runs sysctl(8) with the arguments behind the command's name and returns its
// exit status: the number of arguments and lines that failed, modulo 256; 1
// for a usage error; 66 when the file of -f cannot be read.
func Run(t *sysctl.Tree, args []string, stdout, stderr io.Writer) (exit int) {
	c := Command{Tree: t, Stdout: stdout, Stderr: stderr}
	return c.Run(args)
}

// exitStatus ends a run from deep inside, as exit(3) does in the tool.
type exitStatus int

// Error makes it an error.
func (e exitStatus) Error() string { return "exit status " + strconv.Itoa(int(e)) }

// Run is the method behind the function Run. A Command is used once.
func (c *Command) Run(args []string) (exit int) {
	if c.Open == nil {
		c.Open = func(name string) (io.ReadCloser, error) { return os.Open(name) }
	}
	failed, err := c.run(args)
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	return failed & exitMask
}

// run returns the number of failures, or an exitStatus.
func (c *Command) run(args []string) (failed int, err error) {
	if args, err = c.options(args); err != nil {
		return 0, err
	}
	switch {
	case c.on('N') && (c.on('n') || c.on('l')):
		return 0, c.usage()
	case c.on('a') && len(args) == 0:
		return 0, c.list(nil)
	case len(args) == 0 && !c.on('f'):
		return 0, c.usage()
	}
	if c.on('f') {
		if failed, err = c.readFile(c.file); err != nil {
			return failed, err
		}
	}
	for _, arg := range args {
		ok, err := c.argument(arg, "")
		if err != nil {
			return failed, err
		}
		if !ok {
			failed++
		}
	}
	return failed, nil
}

// on reports whether a flag was given.
func (c *Command) on(flag byte) bool { return c.flags[flag] }

// Flags without and with an argument.
const (
	plainFlags = "AabdeFhiJlNnoqTtVWwXx"
	valueFlags = "Bfj"
)

// options takes the flags and returns the rest.
func (c *Command) options(args []string) ([]string, error) {
	args, err := getopt.Flags{Plain: c.setFlag, Valued: valueFlags, Value: c.setValue}.Parse(args)
	if bad, ok := err.(getopt.Error); ok {
		c.warnf("%v", bad)
		return nil, c.usage()
	}
	return args, err
}

// setFlag takes a flag without argument; false if it is none.
func (c *Command) setFlag(flag byte) bool {
	if strings.IndexByte(plainFlags, flag) < 0 {
		return false
	}
	switch flag {
	case 'A': // historical
		c.flags['a'], c.flags['o'] = true, true
	case 'X':
		c.flags['a'], c.flags['x'] = true, true
	default:
		c.flags[flag] = true
	}
	return true
}

func (c *Command) setValue(flag byte, value string) error {
	c.flags[flag] = true
	switch flag {
	case 'f':
		c.file = value
	case 'B':
		const largest = 1 << 24
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil || n < 0 {
			n = 0
		}
		c.bufSize = int(min(n, largest))
	case 'j':
		c.warnf("jail \"%s\" not found", value)
		return exitStatus(exitUsage)
	}
	return nil
}

// usage prints the two lines of the manual and ends the run.
func (c *Command) usage() error {
	fmt.Fprint(c.Stderr, "usage: sysctl [-bdeFhilNnoqTtWx] [ -B <bufsize> ] [-f filename] name[=value] ...\n"+
		"       sysctl [-bdeFhlNnoqTtWx] [ -B <bufsize> ] -a\n")
	return exitStatus(exitUsage)
}

// warnf is warnx(3).
func (c *Command) warnf(format string, a ...any) {
	fmt.Fprintf(c.Stderr, "sysctl: "+format+"\n", a...)
}

func (c *Command) print(s string) { fmt.Fprint(c.Stdout, s) }

// readFile handles the lines of a sysctl.conf and counts failures.
func (c *Command) readFile(name string) (failed int, err error) {
	f, err := c.Open(name)
	if err != nil {
		c.warnf("%s: %s", name, sysctl.Strerror(err))
		return 0, exitStatus(exitNoInput)
	}
	lines, err := sysctl.ParseSysctlConf(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		c.warnf("%s: %s", name, sysctl.Strerror(err))
		return 0, exitStatus(exitNoInput)
	}
	for _, l := range lines {
		ok, err := c.argument(l.Arg, " at line "+strconv.Itoa(l.Line))
		if err != nil {
			return failed, err
		}
		if !ok {
			failed++
		}
	}
	return failed, nil
}
