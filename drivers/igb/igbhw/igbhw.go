// Package igbhw is the hardware behind the igb driver: register-level models of I210,
// 82576 and I350. They are the advanced model of e1000hw; here is what distinguishes the
// parts. FreeBSD has no counterpart: there it is the card. The facts are those of the
// datasheets as spec 1g sections 1, 3 and 5 give them.
//
//	nic, err := igbhw.New("I210", hw.Config{Kernel: k, Name: "igb0", Port: p, MAC: mac})
//	fn, err := pci.Of(k).Insert(loc, nic)
//
// Not modelled beside what e1000hw lists: more than one port, I210 without flash (iNVM),
// the VLAN table entries of I350 that get lost.
package igbhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// DefaultChip is what New makes of the empty name.
const DefaultChip = "I210"

// Count is a number that the model keeps beside its registers.
type Count = e1000hw.Count

// Counter is implemented by the NICs of this package.
type Counter = e1000hw.Counter

// Chips returns the names that New knows, the default first.
func Chips() []string { return family().Names() }

// New makes the NIC that name says, "" for DefaultChip, and binds it to cfg's port, which
// it closes in the end. After the port's link comes up two PHYs take hw.DefaultAutoneg
// to agree, or what hint.<driver>.<unit>.autoneg_ms says. An unknown name is ENODEV, no
// port EINVAL, else the error is that of Port.Bind. The NIC is a Counter.
func New(name string, cfg hw.Config) (hw.NIC, error) { return family().New(name, cfg) }

// Sizes of NVMs: 2^(6+class) words.
const (
	smallNVM      = 256
	smallNVMClass = 2
	largeNVM      = 512
	largeNVMClass = 3
)

// eecd is EECD with an NVM of a size class that has been read.
func eecd(class uint32) e1000hw.RegValue {
	return e1000hw.RegValue{Off: emreg.EECD, Value: emreg.EECDPres | emreg.EECDAutoRD | class<<emreg.EECDSizeExShift}
}

// mdicnfg is the address of the PHY where 82580 and later have it.
var mdicnfg = e1000hw.RegValue{Off: e1000reg.MDICNFG, Value: emreg.PHYAddr << emreg.MDICPHYShift}

func identity(device, subDevice uint16, revision uint8) pci.Identity {
	return pci.Identity{Vendor: emreg.VendorIntel, Device: device, SubVendor: emreg.VendorIntel,
		SubDevice: subDevice, Revision: revision, Class: pci.ClassEthernet}
}

// gigabit are the speeds of all parts in Mbit/s.
func gigabit() []int { return []int{10, 100, 1000} }

// family are the parts, the default first.
func family() *e1000hw.Family {
	return &e1000hw.Family{Driver: "igb", Chips: []e1000hw.Chip{i210(), i82576(), i350()}}
}

func i210() e1000hw.Chip {
	flash := eecd(smallNVMClass)
	flash.Value |= e1000reg.EECDFlashPresent
	return e1000hw.Chip{
		Name: DefaultChip, ID: identity(igbreg.DevI210Copper, 0x0001, 3), Link: pci.PCIeLink{Speed: 1, Width: 1},
		Queues: 4, Vectors: 5, RARs: 16, Speeds: gigabit(), DevReset: true,
		PHY:  e1000hw.PHYConfig{ID: igbreg.PHYIDI210, Page: igbreg.GS40GPage, Status: e1000hw.M88Status},
		NVM:  e1000hw.NVMConfig{Words: smallNVM, Sections: []int{0}},
		EERD: igbreg.EERDI210, EEWR: igbreg.EEWRI210,
		Reset: []e1000hw.RegValue{
			{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlADVD3WUC},
			{Off: emreg.STATUS, Value: emreg.StatusPHYRA},
			flash, mdicnfg,
			{Off: e1000reg.RXPBS, Value: 0xa2}, {Off: e1000reg.TXPBS, Value: 0x04000014},
		},
	}
}

func i82576() e1000hw.Chip {
	return e1000hw.Chip{
		Name: "82576", ID: identity(igbreg.Dev82576, 0xa03c, 1), Link: pci.PCIeLink{Speed: 1, Width: 4},
		Queues: 16, Vectors: 25, IVAR82576: true, RARs: 24, Speeds: gigabit(),
		PHY:  e1000hw.PHYConfig{ID: igbreg.PHYIDIGP03, Page: emreg.IGPPageSelect, Status: igpStatus},
		NVM:  e1000hw.NVMConfig{Words: smallNVM, Sections: []int{0}},
		EERD: emreg.EERD, EEWR: emreg.EEWR,
		Reset: []e1000hw.RegValue{
			{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlLRST | emreg.CtrlSpd1000 | emreg.CtrlADVD3WUC},
			{Off: emreg.STATUS, Value: emreg.StatusPHYRA | 1<<31},
			eecd(smallNVMClass),
			{Off: e1000reg.RXPBS, Value: 0x40}, {Off: e1000reg.TXPBS, Value: 0x28},
		},
	}
}

func i350() e1000hw.Chip {
	sections := igbreg.SectionWords()
	return e1000hw.Chip{
		Name: "I350", ID: identity(igbreg.DevI350Copper, 0x0001, 1), Link: pci.PCIeLink{Speed: 2, Width: 4},
		Queues: 8, Vectors: 25, RARs: 32, Speeds: gigabit(), DevReset: true,
		PHY:  e1000hw.PHYConfig{ID: igbreg.PHYIDI350, Status: i82580Status},
		NVM:  e1000hw.NVMConfig{Words: largeNVM, Sections: sections[:]},
		EERD: emreg.EERD, EEWR: emreg.EEWR,
		Reset: []e1000hw.RegValue{
			{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlADVD3WUC},
			{Off: emreg.STATUS, Value: emreg.StatusPHYRA},
			eecd(largeNVMClass), mdicnfg,
		},
	}
}

// igpStatus is the port status of the PHY of 82576.
func igpStatus(s hw.LinkState) (reg uint32, v uint16) {
	const fast = igbreg.IGPSpeedMask & (igbreg.IGPSpeed1000 << 1)
	switch s.Speed {
	case 1000:
		v = igbreg.IGPSpeed1000
	case 100:
		v = fast
	}
	if s.FullDuplex {
		v |= igbreg.IGPFullDuplex
	}
	return igbreg.IGPPortStatus, v
}

// i82580Status is the second status register of the PHY of I350.
func i82580Status(s hw.LinkState) (reg uint32, v uint16) {
	switch s.Speed {
	case 1000:
		v = igbreg.Status2Gig
	case 100:
		v = igbreg.Status2Gig >> 1
	}
	return igbreg.I82580Status2, v
}
