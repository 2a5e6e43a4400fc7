package emhw

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// DefaultChip is what New makes of the empty name.
const DefaultChip = "82574L"

// chip is what distinguishes one part from another.
type chip struct {
	name      string
	id        pci.Identity
	lem       bool // 8254x: legacy receive descriptors, INTx, microwire, I/O BAR
	pch       *pch // of I217 and I219, nil elsewhere
	queues    int
	msix, msi int
	phyID     uint32
	reset     []regValue // registers that are not 0 after a reset
	nvm       []nvmValue // words beside those that every part has
}

type regValue struct {
	off   uint64
	value uint32
}

type nvmValue struct {
	word  int
	value uint16
}

// nvmWords is the size of the NVM: EECD's size class 2 on 82574; 8254x uses the first 64.
const (
	nvmWords     = 256
	nvmSizeClass = 2
	lemNVMWords  = 64
)

// resetLem are the reset values of 8254x (spec 1g 5.1, 5.3).
var resetLem = []regValue{
	{emreg.CTRL, emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlSWDPIN0 | emreg.CtrlSWDPIN2},
	{emreg.EECD, emreg.EECDPres},
	{emreg.LEDCTL, 0x602},
	{emreg.TIPG, 0x00602008},
	{emreg.PBA, 0x00100030},
	{emreg.MANC, emreg.MANCEnMng2Host | emreg.MANCRcvTCOEn | emreg.MANCARPEn},
}

// reset82574 are the reset values of 82574 (spec 1g 5.1, 5.3).
var reset82574 = []regValue{
	{emreg.CTRL, emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlSWDPIN0 | emreg.CtrlADVD3WUC},
	{emreg.EECD, emreg.EECDPres | emreg.EECDAutoRD | nvmSizeClass<<emreg.EECDSizeExShift},
	{emreg.EERD, emreg.NVMRWDone},
	{emreg.EEWR, emreg.NVMRWDone},
	{emreg.EXTCNFCtrl, 0x8},
	{emreg.TIPG, 0x00602008},
	{emreg.PBA, 0x00140014},
	{emreg.PBS, 0x28},
	{emreg.EEMNGCTL, 1<<31 | 0xf*emreg.EEMNGCfgDone0},
	{emreg.GCR, emreg.GCRCapVer2},
	{emreg.RXDCTL, 1 << emreg.DCTLWthreshShift},
	{emreg.RXDCTL + emreg.RingStride, 1 << emreg.DCTLWthreshShift},
	{emreg.TARC, 0x403},
	{emreg.TARC + emreg.RingStride, 0x403},
	{emreg.RXCSUM, emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL},
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
		nvm:   []nvmValue{{emreg.NVMPCIeCtrl, (emreg.EITRCount - 1) << emreg.NVMMSIXShift}},
	},
	{
		name: "82545EM", lem: true, queues: 1, phyID: emreg.PHYIDM88E1011,
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
