package pciconf8

import (
	"bytes"
	"io"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/machine"
)

const usageText = tool.Usage("usage: pciconf -l [-BbceVv] [device]\n" +
	"       pciconf -a device\n" +
	"       pciconf -r [-b | -h] device addr[:addr2]\n" +
	"       pciconf -w [-b | -h] device addr value\n")

// exitDetached is the status of -a for a device without a driver.
const exitDetached = 2

// command is one run of the tool.
type command struct {
	slots  []machine.Slot
	stdout *bytes.Buffer
	format tool.Format // of -l

	list, attached, read, write   bool // -l -a -r -w
	bars, caps, errors, verbose   bool // -b -c -e -v
	bridge, vpd, byteWide, halves bool // -B -V -b -h
}

// Run runs pciconf(8) with the arguments behind the command's name on the slots of a
// machine and returns its exit status: 0; 1 with a message on stderr; 2 for -a of a device
// without a driver. Any goroutine.
func Run(slots []machine.Slot, args []string, stdout, stderr io.Writer) (exit int) {
	c := &command{slots: slots, stdout: new(bytes.Buffer)}
	flags := map[byte]*bool{'a': &c.attached, 'B': &c.bridge, 'b': &c.bars, 'c': &c.caps, 'e': &c.errors, 'h': &c.halves,
		'l': &c.list, 'r': &c.read, 'w': &c.write, 'V': &c.vpd, 'v': &c.verbose}
	format, args, err := tool.TakeFormat(args)
	if err == nil {
		c.format = format
		args, err = tool.Flags("pciconf", usageText, getopt.Flags{Plain: tool.Switches(flags)}, args)
	}
	if err == nil {
		c.byteWide = c.bars
		err = c.run(args)
	}
	if _, werr := c.stdout.WriteTo(stdout); err == nil {
		err = werr
	}
	return tool.Exit("pciconf", err, stderr)
}

// run does what the flags say.
func (c *command) run(args []string) error {
	const addressed, assigned = 2, 3 // words of -r and of -w
	switch {
	case c.list && len(args) > 1, c.write && len(args) != assigned,
		c.read && len(args) != addressed, c.attached && len(args) != 1:
		return usageText
	case c.list:
		return c.listAll(args)
	case c.attached:
		return c.tellAttached(args[0])
	case c.read:
		return c.readRange(args[0], args[1])
	case c.write:
		return c.writeOne(args[0], args[1], args[2])
	}
	return usageText
}

// width is the width of an access in bytes.
func (c *command) width() int {
	const word = 4
	switch {
	case c.byteWide:
		return 1
	case c.halves:
		return 2
	}
	return word
}
