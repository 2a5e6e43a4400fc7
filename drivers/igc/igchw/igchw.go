// Package igchw is the hardware behind the igc driver: register-level models of I225-V and
// I226-V. They are the advanced model of e1000hw with a PHY of 2.5 Gbit/s and without a
// VLAN table; here is what distinguishes the parts. FreeBSD has no counterpart: there it
// is the card. The facts are those of spec 1g sections 1, 3 and 5.
//
//	nic, err := igchw.New("I225-V", hw.Config{Kernel: k, Name: "igc0", Port: p, MAC: mac})
//	fn, err := pci.Of(k).Insert(loc, nic)
package igchw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// DefaultChip is what New makes of the empty name.
const DefaultChip = "I225-V"

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

// nvmWords is the size of the NVM: EECD's size class 2.
const (
	nvmWords     = 256
	nvmSizeClass = 2
)

// family are the parts, the default first.
func family() *e1000hw.Family {
	return &e1000hw.Family{Driver: "igc", Chips: []e1000hw.Chip{
		part(DefaultChip, igcreg.DevI225V, 3, igcreg.PHYIDI225),
		part("I226-V", igcreg.DevI226V, 4, igcreg.PHYIDI226),
	}}
}

// part is an I225 or I226: they differ in nothing else.
func part(name string, device uint16, revision uint8, phyID uint32) e1000hw.Chip {
	return e1000hw.Chip{
		Name: name, Link: pci.PCIeLink{Speed: 2, Width: 1},
		ID: pci.Identity{Vendor: emreg.VendorIntel, Device: device, SubVendor: emreg.VendorIntel,
			Revision: revision, Class: pci.ClassEthernet},
		Queues: 4, Vectors: 5, RARs: 16, Speeds: []int{10, 100, 1000, 2500}, NoVLANFilter: true, DevReset: true,
		PHY:  e1000hw.PHYConfig{ID: phyID, MMD: true},
		NVM:  e1000hw.NVMConfig{Words: nvmWords, Sections: []int{0}},
		EERD: igcreg.EERD, EEWR: igcreg.EEWR,
		Reset: []e1000hw.RegValue{
			{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlADVD3WUC},
			{Off: emreg.STATUS, Value: emreg.StatusPHYRA | igcreg.Status2P5SKU},
			{Off: emreg.EECD, Value: emreg.EECDPres | emreg.EECDAutoRD | e1000reg.EECDFlashPresent | nvmSizeClass<<emreg.EECDSizeExShift},
			{Off: e1000reg.MDICNFG, Value: emreg.PHYAddr << emreg.MDICPHYShift},
			{Off: e1000reg.PHPM, Value: e1000reg.PHPMRstCompl},
			{Off: e1000reg.RXPBS, Value: 0xa2}, {Off: e1000reg.TXPBS, Value: 0x04000014},
		},
	}
}
