package sysctl8

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/sysctl"
)

// list prints what lies below path; nil is everything from kern on.
func (c *Command) list(path []int32) error {
	noSkip := path != nil || c.on('N') || c.on('d') || c.on('t')
	at := path
	if path == nil {
		at = []int32{sysctl.NumKern}
	}
	c.skipped = nil
	for {
		var ok bool
		var err error
		if at, ok, err = c.next(at, noSkip); err != nil {
			c.warnf("sysctl(getnext): %s", sysctl.Strerror(err))
			return exitStatus(exitUsage)
		}
		if !ok || len(at) < len(path) || !slices.Equal(at[:len(path)], path) {
			return nil
		}
		if err := c.showLine(at, true); err != nil {
			return err
		}
	}
}

// showLine shows an entry and ends the line if anything was shown.
func (c *Command) showLine(path []int32, walking bool) error {
	e, err := c.describe(path)
	if err != nil {
		c.warnf("couldn't find format of oid: %s", sysctl.Strerror(err))
		return exitStatus(exitUsage)
	}
	shown, err := c.show(e, walking)
	if err != nil {
		return err
	}
	if shown && !c.on('b') {
		c.print("\n")
	}
	return nil
}

// filtered reports entries that -W, -T, -J or -V leave out.
func (c *Command) filtered(e entry) bool {
	return c.on('W') && (e.flags&sysctl.WR == 0 || e.flags&sysctl.Stats != 0) ||
		c.on('T') && e.flags&sysctl.TUN == 0 ||
		c.on('J') && e.flags&sysctl.Prison == 0 ||
		c.on('V') && e.flags&sysctl.VNet == 0
}

// show prints one entry without the newline, and reports whether it printed anything.
func (c *Command) show(e entry, walking bool) (shown bool, err error) {
	name, err := c.text(sysctl.QueryName, e.path)
	if err != nil {
		c.warnf("sysctl name: %s", sysctl.Strerror(err))
		return false, exitStatus(exitUsage)
	}
	if c.filtered(e) {
		return false, nil
	}
	if c.on('N') {
		c.print(name)
		return true, nil
	}
	separator := ": "
	if c.on('e') {
		separator = "="
	}
	prefix := name + separator
	if c.on('n') {
		prefix = ""
	}
	if c.on('t') || c.on('F') || c.on('d') {
		c.print(prefix + c.metadata(e, separator))
		return true, nil
	}
	if c.hidden(e, walking) {
		return false, nil
	}
	return c.showValue(e, prefix, separator), nil
}

// metadata joins type, format and description as far as they are asked for.
func (c *Command) metadata(e entry, separator string) string {
	var parts []string
	if c.on('t') {
		parts = append(parts, e.kind.String())
	}
	if c.on('F') {
		parts = append(parts, e.format)
	}
	if c.on('d') {
		descr, err := c.text(sysctl.QueryDescr, e.path)
		if err != nil {
			descr = ""
		}
		parts = append(parts, descr)
	}
	return strings.Join(parts, separator)
}

// hidden keeps track of Skip nodes while walking: they and what is below are not shown.
func (c *Command) hidden(e entry, walking bool) bool {
	if !walking {
		return false
	}
	below := len(c.skipped) > 0 && len(e.path) > len(c.skipped) && slices.Equal(e.path[:len(c.skipped)], c.skipped)
	if below {
		return true
	}
	if e.flags&sysctl.Skip != 0 {
		c.skipped = slices.Clone(e.path)
		return true
	}
	return false
}

// showValue prints the value, unless it cannot be read or formatted.
func (c *Command) showValue(e entry, prefix, separator string) bool {
	value, ok := c.value(e)
	if !ok {
		return false
	}
	if c.on('b') {
		c.print(string(value))
		return true
	}
	text, ok := sysctl.FormatValue(e.kind, e.format, value, sysctl.FormatOptions{Hex: c.on('x'), Opaques: c.on('o')})
	if !ok {
		return false
	}
	if c.on('l') {
		prefix += strconv.Itoa(len(value)) + separator
	}
	c.print(prefix + text)
	return true
}
