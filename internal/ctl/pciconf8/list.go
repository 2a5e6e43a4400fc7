package pciconf8

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/machine"
)

// noDriver is the name of devices without a driver; they are counted.
const noDriver = "none"

// Bits of an address by its kind.
const (
	rangeOf32 = 32
	rangeOf64 = 64
)

// listAll prints every function, or the one that a word names (list_devs).
func (c *command) listAll(args []string) error {
	only := len(args) == 1
	var wanted pci.Location
	if only {
		var err error
		if wanted, err = c.locate(args[0]); err != nil {
			return err
		}
	}
	var chosen []machine.Slot
	for _, s := range c.slots {
		if !only || s.Function.Location() == wanted {
			chosen = append(chosen, s)
		}
	}
	if c.format.JSON {
		return c.listJSON(chosen)
	}
	none := 0
	for _, s := range chosen {
		name, unit := s.Driver, s.Unit
		if name == "" {
			name, unit = noDriver, none
			none++
		}
		fmt.Fprintf(c.stdout, "%s%d@%v:\t%s\n", name, unit, s.Function.Location(), describe(s.Function))
		c.details(s)
	}
	return nil
}

// describe is the identity of a function as -l prints it.
func describe(f *pci.Function) string {
	id := f.Identity()
	return fmt.Sprintf("class=0x%06x rev=0x%02x hdr=0x%02x vendor=0x%04x device=0x%04x subvendor=0x%04x subdevice=0x%04x",
		id.Class, id.Revision, f.ReadConfig8(pci.RegHeaderType), id.Vendor, id.Device, id.SubVendor, id.SubDevice)
}

// details prints what the flags ask for beside a function's line.
func (c *command) details(s machine.Slot) {
	read := configOf(s.Function)
	if c.verbose {
		c.names(s.Function.Identity())
	}
	if c.bars {
		for _, r := range s.Function.Regions() {
			c.bar(r)
		}
	}
	if c.caps {
		c.capabilities(read)
	}
	if c.errors {
		c.listErrors(read)
	}
}

// names prints what pci.ids calls vendor and device, and what the class is (list_verbose).
func (c *command) names(id pci.Identity) {
	for _, n := range namesOf(id) {
		quote := ""
		if n.quoted {
			quote = "'"
		}
		fmt.Fprintf(c.stdout, "    %-10s = %s%s%s\n", n.key, quote, n.name, quote)
	}
}

// bar prints a base address register (print_bar).
func (c *command) bar(r pci.Region) {
	kind, bits := barKind(r)
	state := "disabled"
	if r.Enabled {
		state = "enabled"
	}
	fmt.Fprintf(c.stdout, "    bar   [%02x] = type %s, range %2d, base %#x, size %d, %s\n",
		pci.BARReg(r.Index), kind, bits, r.Addr, r.Size, state)
}

// barKind is the kind of a register's addresses, and how many bits they have.
func barKind(r pci.Region) (kind string, bits int) {
	switch r.Kind {
	case pci.IO:
		return "I/O Port", rangeOf32
	case pci.Mem64:
		return "Memory", rangeOf64
	}
	return "Memory", rangeOf32
}
