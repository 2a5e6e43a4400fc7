package pci

import (
	"fmt"
	"slices"
	"syscall"
)

// Limits of what a device says about its capabilities.
const (
	firstCap   = 0x40 // behind the header
	maxPM      = 3
	maxPCIe    = 2
	maxPayload = 5
)

// check says what is impossible about the capabilities of a device with msix and msi
// vectors.
func (c *Caps) check(msix, msi int) error {
	var taken [ConfigSize]bool
	for i, p := range c.List {
		if slices.ContainsFunc(c.List[:i], func(o CapPlace) bool { return o.ID == p.ID }) {
			return fmt.Errorf("capability %#x twice: %w", p.ID, syscall.EINVAL)
		}
		bytes := c.bytes(p.ID)
		if bytes == 0 || p.Reg < firstCap || p.Reg&wordMask != 0 || p.Reg+bytes > ConfigSize {
			return fmt.Errorf("capability %#x cannot lie at %#x: %w", p.ID, p.Reg, syscall.EINVAL)
		}
		for r := p.Reg; r < p.Reg+bytes; r++ {
			if taken[r] {
				return fmt.Errorf("capability %#x at %#x lies in another: %w", p.ID, p.Reg, syscall.EINVAL)
			}
			taken[r] = true
		}
	}
	if msi > 0 && !c.has(CapMSI) || msix > 0 && !c.has(CapMSIX) {
		return fmt.Errorf("%d MSI-X and %d MSI vectors without the capability: %w", msix, msi, syscall.EINVAL)
	}
	if c.PMVersion > maxPM || c.PCIeVersion > maxPCIe || c.Payload > maxPayload {
		return fmt.Errorf("power management %d, PCI Express %d, payload %d: %w", c.PMVersion, c.PCIeVersion, c.Payload, syscall.EINVAL)
	}
	return nil
}

func (c *Caps) has(id uint8) bool {
	return slices.ContainsFunc(c.List, func(p CapPlace) bool { return p.ID == id })
}

// bytes is the size of a capability, 0 for one that there is not.
func (c *Caps) bytes(id uint8) int {
	switch id {
	case CapPowerManagement:
		return pmBytes
	case CapMSI:
		if c.MSIMask {
			return msiAll
		}
		return msiBytes
	case CapMSIX:
		return msixBytes
	case CapPCIe:
		if c.PCIeVersion < maxPCIe {
			return pcieBytes1
		}
		return pcieBytes2
	case CapPCIX:
		return pcixBytes
	case CapAF:
		return afBytes
	}
	return 0
}
