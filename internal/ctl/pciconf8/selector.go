package pciconf8

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/machine"
)

// maxName is the longest name of a driver (PCI_MAXNAMELEN).
const maxName = 16

// digits are what numbers in names and selectors consist of.
const digits = "0123456789"

// locate is the place that a word names: a selector as "pci0:2:0:0", which has a colon, or
// the name of a device (getsel).
func (c *command) locate(word string) (pci.Location, error) {
	if strings.Contains(word, ":") {
		return parseSelector(word)
	}
	return c.named(word)
}

// named is where the device of a name is (getdevice).
func (c *command) named(name string) (pci.Location, error) {
	driver := strings.TrimRight(name, digits)
	unit, err := strconv.Atoi(name[len(driver):])
	switch {
	case name == "":
		return pci.Location{}, tool.Messagef("Empty device name")
	case driver == "" || err != nil:
		return pci.Location{}, tool.Messagef("Invalid device name")
	case len(driver) > maxName:
		return pci.Location{}, tool.Messagef("Device name is too long")
	}
	i := slices.IndexFunc(c.slots, func(s machine.Slot) bool { return s.Driver == driver && s.Unit == unit })
	if i < 0 {
		return pci.Location{}, tool.Messagef("Device not found")
	}
	return c.slots[i].Function.Location(), nil
}

// parseSelector reads "pci0:2:0:0", with whatever stands before an "@", as -l prints it,
// colon at the end and all (parsesel). Fewer numbers are bus, slot and function, or bus and
// slot, or the slot on bus 0.
func parseSelector(word string) (loc pci.Location, err error) {
	bad := tool.Messagef("cannot parse selector %s", word)
	text := word
	if _, behind, ok := strings.Cut(word, "@"); ok {
		text = behind
	}
	text, ok := strings.CutPrefix(text, "pci")
	text = strings.TrimSuffix(text, ":")
	if !ok {
		return loc, bad
	}
	var n []int
	for part := range strings.SplitSeq(text, ":") {
		v, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return loc, bad
		}
		n = append(n, int(v))
	}
	const all, withFunction = 4, 3
	switch len(n) {
	case all:
		return pci.Location{Domain: n[0], Bus: n[1], Slot: n[2], Func: n[3]}, nil
	case withFunction:
		return pci.Location{Bus: n[0], Slot: n[1], Func: n[2]}, nil
	case 2:
		return pci.Location{Bus: n[0], Slot: n[1]}, nil
	case 1:
		return pci.Location{Slot: n[0]}, nil
	}
	return loc, bad
}

// at is the slot at a place; ok is false if there is none.
func (c *command) at(loc pci.Location) (s machine.Slot, ok bool) {
	i := slices.IndexFunc(c.slots, func(s machine.Slot) bool { return s.Function.Location() == loc })
	if i < 0 {
		return s, false
	}
	return c.slots[i], true
}
