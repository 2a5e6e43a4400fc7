package pciconf8

import "github.com/ifsim/ifsim/iflib/pci"

// deviceID is a vendor's device.
type deviceID struct{ vendor, device uint16 }

// Vendors of the table below.
const (
	intel = 0x8086
)

// vendors are the names that pci.ids has for vendors.
var vendors = map[uint16]string{intel: "Intel Corporation"}

// devices are the names that pci.ids has for parts that ifsim models or drives.
var devices = map[deviceID]string{
	{intel, 0x100e}: "82540EM Gigabit Ethernet Controller",
	{intel, 0x100f}: "82545EM Gigabit Ethernet Controller (Copper)",
	{intel, 0x1026}: "82545GM Gigabit Ethernet Controller",
	{intel, 0x105e}: "82571EB/82571GB Gigabit Ethernet Controller D0/D1 (copper applications)",
	{intel, 0x108b}: "82573V Gigabit Ethernet Controller (Copper)",
	{intel, 0x108c}: "82573E Gigabit Ethernet Controller (Copper)",
	{intel, 0x109a}: "82573L Gigabit Ethernet Controller",
	{intel, 0x10a7}: "82575EB Gigabit Network Connection",
	{intel, 0x10c9}: "82576 Gigabit Network Connection",
	{intel, 0x10d3}: "82574L Gigabit Network Connection",
	{intel, 0x125b}: "Ethernet Controller I226-LM",
	{intel, 0x125c}: "Ethernet Controller I226-V",
	{intel, 0x150c}: "82583V Gigabit Network Connection",
	{intel, 0x150e}: "82580 Gigabit Network Connection",
	{intel, 0x1521}: "I350 Gigabit Network Connection",
	{intel, 0x1533}: "I210 Gigabit Network Connection",
	{intel, 0x1539}: "I211 Gigabit Network Connection",
	{intel, 0x153a}: "Ethernet Connection I217-LM",
	{intel, 0x153b}: "Ethernet Connection I217-V",
	{intel, 0x156f}: "Ethernet Connection I219-LM",
	{intel, 0x1570}: "Ethernet Connection I219-V",
	{intel, 0x15b7}: "Ethernet Connection (2) I219-LM",
	{intel, 0x15b8}: "Ethernet Connection (2) I219-V",
	{intel, 0x15bd}: "Ethernet Connection (6) I219-LM",
	{intel, 0x15be}: "Ethernet Connection (6) I219-V",
	{intel, 0x15f2}: "Ethernet Controller I225-LM",
	{intel, 0x15f3}: "Ethernet Controller I225-V",
}

// class is a base class of PCI, with the names of its subclasses.
type class struct {
	name       string
	subclasses map[uint8]string
}

// classes are those of the table in FreeBSD's pci.c that a machine has.
var classes = map[uint8]class{
	0x02: {"network", map[uint8]string{0x00: "ethernet", 0x01: "token ring", 0x02: "fddi", 0x03: "ATM", 0x04: "ISDN"}},
}

// name is what something of a function is called; those of pci.ids are quoted.
type name struct {
	key, name string
	quoted    bool
}

// namesOf are the names that are known of a function. A device has one only if its vendor
// has.
func namesOf(id pci.Identity) (names []name) {
	if vendor, ok := vendors[id.Vendor]; ok {
		names = append(names, name{"vendor", vendor, true})
		if device, ok := devices[deviceID{id.Vendor, id.Device}]; ok {
			names = append(names, name{"device", device, true})
		}
	}
	const classShift, subclassShift = 16, 8
	if class, ok := classes[uint8(id.Class>>classShift)]; ok {
		names = append(names, name{"class", class.name, false})
		if subclass, ok := class.subclasses[uint8(id.Class>>subclassShift)]; ok {
			names = append(names, name{"subclass", subclass, false})
		}
	}
	return names
}
