package machine

import "github.com/ifsim/ifsim/iflib/pci"

// Slot is a NIC in its place on the bus, with what newbus knows of it.
type Slot struct {
	Function *pci.Function
	// Driver and Unit are those of the driver that is attached; a device without one has
	// no name (DF_FIXEDCLASS is not set on PCI), and Driver is "".
	Driver string
	Unit   int
	// Disabled is a device that no driver may have (DF_ENABLED is off), Suspended one that
	// sleeps (DF_SUSPENDED).
	Disabled, Suspended bool
}

// Slots are the NICs of the machine in the order of the bus. It waits for an attach or
// detach that is under way.
func (m *Machine) Slots() []Slot {
	m.topology.Lock()
	defer m.topology.Unlock()
	list := make([]Slot, len(m.nics))
	for i, n := range m.nics {
		list[i] = Slot{Function: n.fn, Disabled: n.disabled, Suspended: n.suspended}
		if n.ctx.Load() != nil {
			list[i].Driver, list[i].Unit = n.entry.Driver.Name, n.unit
		}
	}
	return list
}
