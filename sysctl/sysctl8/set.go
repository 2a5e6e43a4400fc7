package sysctl8

import (
	"errors"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/sysctl"
)

// argumentSize bounds an argument with its NUL (BUFSIZ).
const argumentSize = 1024

// blanks are C's white space.
const blanks = " \t\n\v\f\r"

// argument handles one name or name=value; where is " at line N" for files. It
// reports success, or an error that ends the run.
func (c *Command) argument(arg, where string) (ok bool, err error) {
	if len(arg) >= argumentSize {
		c.warnf("oid too long: '%s'%s", arg, where)
		return false, nil
	}
	name, value, setting := split(arg)
	if setting && (c.on('T') || c.on('W')) {
		c.warnf("Can't set variables when using -T or -W")
		return false, c.usage()
	}
	path, err := c.resolve(name)
	if err != nil {
		return c.unknown(name, where, err), nil
	}
	e, err := c.describe(path)
	if err != nil {
		c.warnf("couldn't find format of oid '%s'%s: %s", name, where, sysctl.Strerror(err))
		if c.on('i') {
			return false, nil
		}
		return false, exitStatus(exitUsage)
	}
	if !setting || c.on('d') {
		return true, c.showNamed(e)
	}
	return c.set(e, name, value, arg, where)
}

// split cuts an argument at its first delimiter, trims blanks and a pair of quotes.
func split(arg string) (name, value string, setting bool) {
	name = arg
	if i := strings.IndexAny(arg, "=:"); i >= 0 {
		name, value, setting = arg[:i], strings.TrimLeft(arg[i+1:], blanks), true
	}
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		quote := value[:1]
		value = strings.TrimSuffix(value[1:], quote)
	}
	return strings.TrimRight(name, blanks), value, setting
}

// unknown reports a name that does not resolve, and whether that counts as success.
func (c *Command) unknown(name, where string, err error) bool {
	switch {
	case c.on('i'):
		return true
	case c.on('q'):
	case errors.Is(err, syscall.ENOENT):
		c.warnf("unknown oid '%s'%s", name, where)
	default:
		c.warnf("unknown oid '%s'%s: %s", name, where, sysctl.Strerror(err))
	}
	return false
}

// showNamed shows what an argument names: a leaf, or everything below a node.
func (c *Command) showNamed(e entry) error {
	if e.kind != sysctl.KindNode {
		return c.showLine(e.path, false)
	}
	if c.on('d') {
		if err := c.showLine(e.path, false); err != nil {
			return err
		}
	}
	return c.list(e.path)
}

// set writes a value and shows the change.
func (c *Command) set(e entry, name, value, arg, where string) (ok bool, err error) {
	newValue, ok := c.prepare(e, name, value, where)
	if !ok {
		return false, nil
	}
	shown, err := c.show(e, false)
	if err != nil {
		return false, err
	}
	if _, err := c.Tree.Sysctl(e.path, nil, newValue, c.Cred); err != nil {
		if shown && !c.on('b') {
			c.print("\n")
		}
		c.warnf("%s: %s%s", arg, refusal(err), where)
		return false, nil
	}
	if !c.on('b') {
		c.print(" -> ")
	}
	names := c.flags['n']
	c.flags['n'] = true
	shown, err = c.show(e, false)
	c.flags['n'] = names
	if shown && !c.on('b') {
		c.print("\n")
	}
	return err == nil, err
}

// prepare makes the tool's own checks and the bytes to write.
func (c *Command) prepare(e entry, name, value, where string) ([]byte, bool) {
	switch {
	case e.kind == sysctl.KindNode:
		c.warnf("oid '%s' isn't a leaf node%s", name, where)
		return nil, false
	case e.flags&sysctl.WR == 0 && e.flags&sysctl.TUN != 0:
		c.warnf("oid '%s' is a read only tunable%s", name, where)
		c.warnf("Tunable values are set in /boot/loader.conf")
		return nil, false
	case e.flags&sysctl.WR == 0:
		c.warnf("oid '%s' is read only%s", name, where)
		return nil, false
	case e.kind != sysctl.KindString && e.kind.Size() == 0:
		c.warnf("oid '%s' is type %d, cannot set that%s", name, e.kind, where)
		return nil, false
	case e.kind != sysctl.KindString && value == "":
		c.warnf("empty numeric value")
		return nil, false
	}
	b, err := sysctl.ParseValue(e.kind, e.format, value)
	if err != nil {
		c.warnf("%v%s", err, where)
		return nil, false
	}
	return b, true
}

// refusal is the tool's text for a write the kernel refused.
func refusal(err error) string {
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP):
		return "value is not available"
	case errors.Is(err, syscall.ENOTDIR):
		return "specification is incomplete"
	case errors.Is(err, syscall.ENOMEM):
		return "type is unknown to this program"
	}
	return sysctl.Strerror(err)
}
