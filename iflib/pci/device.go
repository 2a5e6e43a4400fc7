package pci

import "fmt"

// ClassEthernet is the class code of a NIC: network, Ethernet, no interface.
const ClassEthernet = 0x020000

// Identity is who a function says it is in its configuration space.
type Identity struct {
	Vendor, Device       uint16
	SubVendor, SubDevice uint16
	Revision             uint8
	Class                uint32 // class, subclass and programming interface: 0xCCSSPP
}

// PnpInfo is the text of the %pnpinfo leaf (spec ifnet 3).
func (id Identity) PnpInfo() string {
	return fmt.Sprintf("vendor=0x%04x device=0x%04x subvendor=0x%04x subdevice=0x%04x class=0x%06x",
		id.Vendor, id.Device, id.SubVendor, id.SubDevice, id.Class&0xffffff)
}

// BARKind is what a base address register decodes.
type BARKind uint8

// The kinds of base address registers.
const (
	Mem32 BARKind = iota // memory below 4 GiB
	Mem64                // memory anywhere; takes the next register too
	IO                   // I/O ports
)

// BARInfo describes one base address register of a Device.
type BARInfo struct {
	Index int    // 0..5
	Size  uint64 // a power of two, in bytes: at least 16 for memory, 4 for I/O
	Kind  BARKind
	BAR   BAR // the registers behind it; nil if MSIXTable
	// MSIXTable marks the BAR that holds the MSI-X table and pending bits, which this
	// package implements. Table at 0, pending bits at 0x2000 (or behind a longer table).
	MSIXTable bool
}

// Device is the hardware in a slot. Bus calls its methods one at a time; BARs are
// accessed from any goroutine.
type Device interface {
	// Identity, BARs and Vectors must not change once the device is inserted.
	Identity() Identity
	BARs() []BARInfo
	// Vectors returns the sizes of the MSI-X table (0..2048) and of the MSI capability
	// (0, 1, 2, .. 32); 0 leaves the capability out. A device with MSI-X that marks no
	// BAR as MSIXTable gets one at index 3.
	Vectors() (msix, msi int)
	// Plug is called once, by Insert, before anything else can reach the device. The
	// hardware raises its interrupts through fn.
	Plug(fn *Function)
	// Reset is a function-level reset: everything as after power on. No lock is held.
	Reset()
	// Close ends the hardware's goroutines.
	Close() error
}

// PCIeLink is what the PCI Express link status says.
type PCIeLink struct {
	Speed uint8 // 1: 2.5 GT/s, 2: 5, 3: 8, 4: 16
	Width uint8 // lanes
}

// PCIeDevice is implemented by a Device whose link is not 8 GT/s x8, the default.
type PCIeDevice interface{ PCIeLink() PCIeLink }

// CapPlace is where a capability lies in the configuration space.
type CapPlace struct {
	ID  uint8 // CapPowerManagement, ..
	Reg int   // a multiple of 4, from 0x40 on
}

// Caps are the capabilities of a device.
type Caps struct {
	// List is where they lie, in the order of the linked list. CapMSI and CapMSIX are left
	// out of a device without such vectors, and must be there for one with.
	List        []CapPlace
	PMVersion   uint8 // of power management: 1..3
	MSIMask     bool  // MSI has a mask per message
	PCIeVersion uint8 // of the PCI Express capability: 1 or 2
	Payload     uint8 // largest payload: 128 bytes << Payload, up to 5
	FLR         bool  // PCI Express: can reset the function
	Wide        bool  // PCI-X: 64 bits, 133 MHz
}

// CapsDevice is implemented by a Device whose capabilities do not lie where those of the
// 82576 and everything after it do: power management at 0x40, MSI at 0x50, MSI-X at 0x70,
// PCI Express at 0xa0. The shared code of ixgbe reads 0x72 and 0xb2 without looking
// (spec 10g).
type CapsDevice interface{ Caps() Caps }

// ConfigDevice is implemented by a Device with configuration registers of its own, from
// RegPrivate on. Software can only read them.
type ConfigDevice interface {
	// ReadConfig returns the aligned word at reg. Any goroutine; no lock is held.
	ReadConfig(reg int) uint32
}
