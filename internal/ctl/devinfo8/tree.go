package devinfo8

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/machine"
)

// device is a node of the tree (struct devinfo_dev).
type device struct {
	name              string // "" without a driver
	pnpinfo, location string
	attached          bool
	disabled          bool
	suspended         bool
	children          []*device
}

// text is the device on one line (print_dev).
func (d *device) text(verbose bool) string {
	s := d.name
	if s == "" {
		s = "unknown"
	}
	if verbose && d.pnpinfo != "" {
		s += " pnpinfo " + d.pnpinfo
	}
	if verbose && d.location != "" {
		s += " at " + d.location
	}
	switch {
	case d.disabled:
		s += " (disabled)"
	case d.suspended:
		s += " (suspended)"
	}
	return s
}

// wayTo is the device of a name in the tree below d, and those above it, up to d; nil if
// there is none.
func (d *device) wayTo(name string) []*device {
	if d.name == name {
		return []*device{d}
	}
	for _, child := range d.children {
		if way := child.wayTo(name); way != nil {
			return append(way, d)
		}
	}
	return nil
}

// tree is the machine's devices, and what they have.
type tree struct {
	nexus    *device
	managers []*manager
}

// The order of the managers of every machine; those of PCI domains come behind.
const (
	interrupts = iota
	ports
	memory
)

// newTree makes the tree of a machine's slots, which are in the order of the bus.
func newTree(slots []machine.Slot) *tree {
	t := &tree{nexus: bridge("nexus", 0)}
	firstLine, lastLine := pci.LineIRQs()
	firstPort, lastPort := pci.AddressRange(pci.IO)
	first32, last32 := pci.AddressRange(pci.Mem32)
	first64, last64 := pci.AddressRange(pci.Mem64)
	t.managers = []*manager{
		interrupts: {name: "Interrupt request lines", hex: true, spans: []span{{first: uint64(firstLine), last: uint64(lastLine)}}},
		ports:      {name: "I/O ports", hex: true, spans: []span{{first: firstPort, last: lastPort}}},
		memory:     {name: "I/O memory addresses", hex: true, spans: []span{{first: first32, last: last32}, {first: first64, last: last64}}},
	}
	var bus *device
	var at pci.Location
	for i, s := range slots {
		loc := s.Function.Location()
		if i == 0 || loc.Domain != at.Domain || loc.Bus != at.Bus {
			bus = t.addBus(loc, i == 0 || loc.Domain != at.Domain)
			at = loc
		}
		bus.children = append(bus.children, t.function(s))
	}
	return t
}

// bridge is a device of which only the name is known.
func bridge(name string, unit int) *device {
	return &device{name: fmt.Sprintf("%s%d", name, unit), attached: true}
}

// addBus adds the host bridge and the bus of a place, and the manager of a domain's bus
// numbers before its first.
func (t *tree) addBus(loc pci.Location, newDomain bool) *device {
	const lastBus = 255
	if newDomain {
		t.managers = append(t.managers, &manager{name: fmt.Sprintf("PCI domain %d bus numbers", loc.Domain),
			spans: []span{{first: 0, last: lastBus}}})
	}
	pcib, bus := bridge("pcib", loc.Bus), bridge("pci", loc.Bus)
	pcib.children = []*device{bus}
	t.nexus.children = append(t.nexus.children, pcib)
	t.managers[len(t.managers)-1].give(bus, uint64(loc.Bus), 1)
	return bus
}

// function is the device in a slot; its resources are given to it.
func (t *tree) function(s machine.Slot) *device {
	f := s.Function
	d := &device{pnpinfo: f.PnpInfo(), location: f.LocationText(), disabled: s.Disabled, suspended: s.Suspended}
	if s.Driver != "" {
		d.name, d.attached = fmt.Sprintf("%s%d", s.Driver, s.Unit), true
	}
	for _, irq := range f.IRQs() {
		t.managers[interrupts].give(d, uint64(irq), 1)
	}
	for _, r := range f.Regions() {
		kind := memory
		if r.Kind == pci.IO {
			kind = ports
		}
		t.managers[kind].give(d, r.Addr, r.Size)
	}
	return d
}
