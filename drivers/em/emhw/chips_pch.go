package emhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// pch is what distinguishes the parts in a platform controller hub: I217, whose flash has
// a BAR of its own, and I219.
type pch struct {
	ownFlash bool   // the flash registers are in BAR 0 and count from the NIC's region
	bank     uint32 // of the flash that holds the NVM
	mustSink bool   // rings must be flushed before a reset
}

// resetPCH are the reset values of the pch parts (spec 1g 5.1, 5.3).
var resetPCH = []e1000hw.RegValue{
	{Off: emreg.CTRL, Value: emreg.CtrlFD | emreg.CtrlSLU | emreg.CtrlSpd1000 | emreg.CtrlADVD3WUC},
	{Off: emreg.TIPG, Value: 0x00602008},
	{Off: emreg.PBA, Value: 0x0006001a},
	{Off: emreg.TARC, Value: 0x403},
	{Off: emreg.TARC + emreg.RingStride, Value: 0x403},
	{Off: emreg.RXCSUM, Value: emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL},
	{Off: emreg.FWSM, Value: emreg.FWSMRspPCIPHY},
	{Off: emreg.WUC, Value: emreg.WUCAPME},
}

// nvmPCH are the words that parts with flash have differently.
var nvmPCH = []e1000hw.NVMValue{
	{Word: emreg.NVMCompat, Value: 0x0420 | emreg.NVMCompatCsum},
	{Word: emreg.NVMSignature, Value: emreg.NVMSignatureValid},
}

func pchChip(name string, device uint16, p pch) chip {
	return chip{
		name: name, queues: 1, msi: 1, phyID: emreg.PHYIDI217, pch: &p,
		id: pci.Identity{Vendor: emreg.VendorIntel, Device: device,
			SubVendor: emreg.VendorIntel, SubDevice: device, Class: pci.ClassEthernet},
		reset: resetPCH, nvm: nvmPCH,
	}
}

// pchChips are the parts, the oldest first. The NVM of I219 is in the second bank, as
// after one update.
func pchChips() []chip {
	i219 := pch{ownFlash: true, bank: 1, mustSink: true}
	return []chip{
		pchChip("I217-LM", emreg.DevI217LM, pch{}),
		pchChip("I217-V", emreg.DevI217V, pch{}),
		pchChip("I219-LM", emreg.DevI219LM, i219),
		pchChip("I219-V", emreg.DevI219V, i219),
		pchChip("I219-LM6", emreg.DevI219LM6, i219),
		pchChip("I219-V6", emreg.DevI219V6, i219),
	}
}
