package emhw

import "github.com/ifsim/ifsim/iflib/pci"

// Where the capabilities of the parts lie (datasheets of 82574 section 9.1, 8254x 4.1.3,
// I217 12.2).
const (
	capPM    = 0xc8
	capMSI   = 0xd0
	capPCIe  = 0xe0
	capAF    = 0xe0
	capMSIX  = 0xa0
	lemPM    = 0xdc
	lemPCIX  = 0xe4
	pmOfThen = 2 // version of power management in all parts
)

// Caps implements pci.CapsDevice: 8254x are PCI-X parts, those of a hub lie on a
// conventional bus. I219 has nothing at 0xe0: the state of its rings is there.
func (n *nic) Caps() pci.Caps {
	c := pci.Caps{PMVersion: pmOfThen}
	switch {
	case n.chip.lem:
		c.List = []pci.CapPlace{{ID: pci.CapPowerManagement, Reg: lemPM}, {ID: pci.CapPCIX, Reg: lemPCIX}}
		c.Wide = n.chip.wide
	case n.chip.pch != nil:
		c.List = []pci.CapPlace{{ID: pci.CapPowerManagement, Reg: capPM}, {ID: pci.CapMSI, Reg: capMSI}}
		if !n.chip.pch.ownFlash {
			c.List = append(c.List, pci.CapPlace{ID: pci.CapAF, Reg: capAF})
		}
	default:
		c.PCIeVersion, c.Payload = 1, 1
		c.List = []pci.CapPlace{{ID: pci.CapPowerManagement, Reg: capPM}, {ID: pci.CapMSI, Reg: capMSI},
			{ID: pci.CapPCIe, Reg: capPCIe}, {ID: pci.CapMSIX, Reg: capMSIX}}
	}
	return c
}
