package e1000test

import "github.com/ifsim/ifsim/iflib/pci"

// Card is a board in a slot that has nothing but registers.
type Card struct {
	*Board
	Device uint16 // PCI id
	MSIX   int    // vectors
	MSI    int    // messages
}

// Identity is Intel's with the device id.
func (c *Card) Identity() pci.Identity {
	return pci.Identity{Vendor: 0x8086, Device: c.Device, Class: pci.ClassEthernet}
}

// BARs is the register BAR.
func (c *Card) BARs() []pci.BARInfo {
	return []pci.BARInfo{{Index: 0, Size: BoardBytes, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: c.Board}}}
}

// Vectors are what the card was given.
func (c *Card) Vectors() (msix, msi int) { return c.MSIX, c.MSI }

// Plug does nothing.
func (c *Card) Plug(*pci.Function) {}

// Reset does nothing.
func (c *Card) Reset() {}

// Close does nothing.
func (c *Card) Close() error { return nil }
