package devinfo8

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/machine"
)

const usageText = tool.Usage("usage: devinfo [-rv]\n" +
	"       devinfo -u\n" +
	"       devinfo -p dev [-v]\n")

// Columns by which a level of the tree, and what a device has, are indented.
const (
	levelIndent    = 2
	resourceIndent = 4
)

// command is one run of the tool.
type command struct {
	stdout *bytes.Buffer
	tree   *tree

	resources, usage, verbose bool // -r -u -v
	path                      string
	wantPath                  bool // -p
}

// Run runs devinfo(8) with the arguments behind the command's name on the slots of a
// machine and returns its exit status: 0, or 1 with a message on stderr. Any goroutine.
func Run(slots []machine.Slot, args []string, stdout, stderr io.Writer) (exit int) {
	c := &command{stdout: new(bytes.Buffer)}
	flags := map[byte]*bool{'r': &c.resources, 'u': &c.usage, 'v': &c.verbose}
	value := func(_ byte, dev string) error {
		c.path, c.wantPath = dev, true
		return nil
	}
	format, args, err := tool.TakeFormat(args)
	if err == nil {
		_, err = tool.Flags("devinfo", usageText, getopt.Flags{Plain: tool.Switches(flags), Valued: "p", Value: value}, args)
	}
	if err == nil && c.wantPath && (c.resources || c.usage) {
		err = usageText
	}
	if err == nil {
		c.tree = newTree(slots)
		if format.JSON {
			err = c.printJSON(format, c.stdout)
		} else {
			err = c.run()
		}
	}
	if _, werr := c.stdout.WriteTo(stdout); err == nil {
		err = werr
	}
	return tool.Exit("devinfo", err, stderr)
}

// run prints what the flags ask for.
func (c *command) run() error {
	switch {
	case c.wantPath:
		return c.printPath()
	case c.usage:
		for _, m := range c.tree.managers {
			c.printManager(m)
		}
	default:
		c.printDevice(c.tree.nexus, 0)
	}
	return nil
}

// printDevice prints a device and those below it. Without -v those that no driver is
// attached to are left out (print_device).
func (c *command) printDevice(d *device, indent int) {
	if c.verbose || d.attached {
		c.line(indent, d.text(c.verbose))
		if c.resources {
			c.printResources(d, indent+resourceIndent)
		}
	}
	for _, child := range d.children {
		c.printDevice(child, indent+levelIndent)
	}
}

// printResources prints what a device has of each manager.
func (c *command) printResources(d *device, indent int) {
	for _, m := range c.tree.managers {
		spans := m.of(d)
		if len(spans) == 0 {
			continue
		}
		c.line(indent, m.name+":")
		for _, s := range spans {
			c.line(indent+resourceIndent, m.text(s))
		}
	}
}

// printManager prints all ranges of a manager with their owners (print_rman).
func (c *command) printManager(m *manager) {
	c.line(0, m.name+":")
	for _, s := range m.all() {
		owner := s.ownerText()
		if owner != nobody {
			owner = "(" + owner + ")"
		}
		c.line(resourceIndent, m.text(s)+" "+owner)
	}
}

// printPath prints the device of the path's name and those above it (print_path).
func (c *command) printPath() error {
	way := c.tree.nexus.wayTo(c.path)
	if way == nil {
		return c.notFound()
	}
	for i, d := range way {
		if i > 0 {
			c.stdout.WriteByte(' ')
		}
		c.stdout.WriteString(d.text(c.verbose))
		if c.verbose {
			c.stdout.WriteByte('\n')
		}
	}
	if !c.verbose {
		c.stdout.WriteByte('\n')
	}
	return nil
}

// notFound is the error of a path that leads nowhere.
func (c *command) notFound() error { return tool.Messagef("%s: Not found", c.path) }

// line prints an indented line.
func (c *command) line(indent int, text string) {
	fmt.Fprintf(c.stdout, "%s%s\n", strings.Repeat(" ", indent), text)
}
