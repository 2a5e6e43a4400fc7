package emhw

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// DefaultChip is what New makes of the empty name.
const DefaultChip = "82574L"

// chip is what distinguishes one part from another.
type chip struct {
	name      string
	id        pci.Identity
	lem       bool // 8254x: legacy receive descriptors, INTx, microwire, I/O BAR
	wide      bool // of 8254x: a bus of 64 bits
	pch       *pch // of I217 and I219, nil elsewhere
	queues    int
	msix, msi int
	phyID     uint32
	reset     []e1000hw.RegValue // registers that are not 0 after a reset
	nvm       []e1000hw.NVMValue // words beside those that every part has
}

// nvmWords is the size of the NVM: EECD's size class 2 on 82574; 8254x uses the first 64.
const (
	nvmWords     = 256
	nvmSizeClass = 2
	lemNVMWords  = 64
)

// resetLem are the reset values of 8254x (spec 1g 5.1, 5.3).
var resetLem = []e1000hw.RegValue{
	{Off: emreg.CTRL, Value: emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlSWDPIN0 | emreg.CtrlSWDPIN2},
	{Off: emreg.EECD, Value: emreg.EECDPres},
	{Off: emreg.LEDCTL, Value: 0x602},
	{Off: emreg.TIPG, Value: 0x00602008},
	{Off: emreg.PBA, Value: 0x00100030},
	{Off: emreg.MANC, Value: emreg.MANCEnMng2Host | emreg.MANCRcvTCOEn | emreg.MANCARPEn},
}

// reset82574 are the reset values of 82574 (spec 1g 5.1, 5.3).
var reset82574 = []e1000hw.RegValue{
	{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlSWDPIN0 | emreg.CtrlADVD3WUC},
	{Off: emreg.EECD, Value: emreg.EECDPres | emreg.EECDAutoRD | nvmSizeClass<<emreg.EECDSizeExShift},
	{Off: emreg.EERD, Value: emreg.NVMRWDone},
	{Off: emreg.EEWR, Value: emreg.NVMRWDone},
	{Off: emreg.EXTCNFCtrl, Value: 0x8},
	{Off: emreg.TIPG, Value: 0x00602008},
	{Off: emreg.PBA, Value: 0x00140014},
	{Off: emreg.PBS, Value: 0x28},
	{Off: emreg.EEMNGCTL, Value: 1<<31 | 0xf*emreg.EEMNGCfgDone0},
	{Off: emreg.GCR, Value: emreg.GCRCapVer2},
	{Off: emreg.RXDCTL, Value: 1 << emreg.DCTLWthreshShift},
	{Off: emreg.RXDCTL + emreg.RingStride, Value: 1 << emreg.DCTLWthreshShift},
	{Off: emreg.TARC, Value: 0x403},
	{Off: emreg.TARC + emreg.RingStride, Value: 0x403},
	{Off: emreg.RXCSUM, Value: emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL},
}

// survivors are the registers that CTRL.RST leaves alone (spec 1g 5.3, Reset).
var survivors = []uint64{emreg.PBA, emreg.PBS, emreg.FLA}

// chips are the parts, the default first.
var chips = append([]chip{
	{
		name: DefaultChip, queues: 2, msix: emreg.EITRCount, msi: 1, phyID: emreg.PHYIDBME1000,
		id: pci.Identity{Vendor: emreg.VendorIntel, Device: emreg.Dev82574L,
			SubVendor: emreg.VendorIntel, SubDevice: 0xa01f, Class: pci.ClassEthernet},
		reset: reset82574,
		nvm:   []e1000hw.NVMValue{{Word: emreg.NVMPCIeCtrl, Value: (emreg.EITRCount - 1) << emreg.NVMMSIXShift}},
	},
	{
		name: "82545EM", lem: true, wide: true, queues: 1, phyID: emreg.PHYIDM88E1011,
		id: pci.Identity{Vendor: emreg.VendorIntel, Device: emreg.Dev82545EMCopper,
			SubVendor: emreg.VendorIntel, SubDevice: 0x1001, Revision: 1, Class: pci.ClassEthernet},
		reset: resetLem,
	},
	{
		name: "82540EM", lem: true, queues: 1, phyID: emreg.PHYIDM88E1011,
		id: pci.Identity{Vendor: emreg.VendorIntel, Device: emreg.Dev82540EM,
			SubVendor: emreg.VendorIntel, SubDevice: 0x001e, Revision: 2, Class: pci.ClassEthernet},
		reset: resetLem,
	},
}, pchChips()...)

// Chips returns the names that New knows, the default first.
func Chips() []string {
	names := make([]string, len(chips))
	for i := range chips {
		names[i] = chips[i].name
	}
	return names
}

// phy is the PHY of the part: I217's, or of the Marvell family, where BME1000 pages
// everything by register 22, M88E1011 register 30 by 29.
func (c *chip) phy() e1000hw.PHYConfig {
	cfg := e1000hw.PHYConfig{ID: c.phyID, Status: e1000hw.M88Status,
		Reset: []e1000hw.PHYValue{{Reg: emreg.M88PSCR, Value: 0x0360}, {Reg: emreg.M88EPSCR, Value: 0x0d60}}}
	switch c.phyID {
	case emreg.PHYIDI217:
		cfg.Hub, cfg.Status, cfg.Reset = true, e1000hw.HubStatus, nil
	case emreg.PHYIDBME1000:
		cfg.Page = emreg.BMPageSelect
	default:
		cfg.Window = true
	}
	return cfg
}

// chipNamed finds a part; the empty name is the default. The error wraps ENODEV.
func chipNamed(name string) (*chip, error) {
	if name == "" {
		name = DefaultChip
	}
	for i := range chips {
		if chips[i].name == name {
			return &chips[i], nil
		}
	}
	return nil, fmt.Errorf("em: no chip %q (known: %s): %w", name, strings.Join(Chips(), ", "), syscall.ENODEV)
}
