package pciconf8

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib/pci"
)

// Registers and bits of the capabilities (FreeBSD's PCIR_* and PCIER_*).
const (
	capNext = 1

	pmCap       = 2
	pmStatus    = 4
	pmSpec      = 0x0007
	pmD1        = 0x0200
	pmD2        = 0x0400
	pmStateMask = 0x0003

	msgCtrl       = 2 // of MSI and MSI-X
	msiCapable    = 0x000e
	msiGranted    = 0x0070
	msiGrantShift = 4
	msiEnabled    = 0x0001
	msi64         = 0x0080
	msiMasks      = 0x0100

	msixSize    = 0x07ff
	msixEnabled = 0x8000
	msixTable   = 4
	msixPending = 8
	msixBIR     = 0x7

	pcixStatus     = 4
	pcix64         = 1 << 16
	pcix133        = 1 << 17
	pcixReadShift  = 21
	pcixReadMask   = 3
	pcixSplitShift = 23
	pcixSplitMask  = 7

	afCap = 3
	afTP  = 0x01
	afFLR = 0x02

	// noList is what the link reads as where nothing answers.
	noList = 0xff
)

// continued begins the second line of a capability.
const continued = "\n                 "

// splits are how many transactions a PCI-X function may have split.
var splits = [...]int{1, 2, 3, 4, 8, 12, 16, 32}

// capabilities prints the list of capabilities (list_caps).
func (c *command) capabilities(read config) {
	if read(pci.RegStatus, halfWidth)&pci.StatusCapList == 0 {
		return
	}
	for reg := range walk(read) {
		id := read(reg, byteWidth)
		fmt.Fprintf(c.stdout, "    cap %02x[%02x] = %s\n", id, reg, capText(read, uint8(id), reg))
	}
}

// walk yields the registers of the capabilities in the order of the list, each once.
func walk(read config) func(yield func(reg int) bool) {
	return func(yield func(reg int) bool) {
		var seen [pci.ConfigSize]bool
		reg := read(pci.RegCapPtr, byteWidth)
		for reg != 0 && reg != noList && !seen[reg] {
			seen[reg] = true
			if !yield(int(reg)) {
				return
			}
			reg = read(int(reg)+capNext, byteWidth)
		}
	}
}

// capText is what is printed of a capability.
func capText(read config, id uint8, reg int) string {
	switch id {
	case pci.CapPowerManagement:
		return powerText(read, reg)
	case pci.CapMSI:
		return msiText(read, reg)
	case pci.CapPCIX:
		return pcixText(read, reg)
	case pci.CapPCIe:
		return expressText(read, reg)
	case pci.CapMSIX:
		return msixText(read, reg)
	case pci.CapAF:
		can := read(reg+afCap, byteWidth)
		return "PCI Advanced Features:" + when(can&afFLR != 0, " FLR") + when(can&afTP != 0, " TP")
	}
	return "unknown"
}

// when is text if on, else nothing.
func when(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

// messages is a number of messages.
func messages(n uint32) string { return fmt.Sprintf("%d message%s", n, when(n != 1, "s")) }

func powerText(read config, reg int) string {
	can := read(reg+pmCap, halfWidth)
	return fmt.Sprintf("powerspec %d  supports D0%s%s D3  current D%d", can&pmSpec,
		when(can&pmD1 != 0, " D1"), when(can&pmD2 != 0, " D2"), read(reg+pmStatus, halfWidth)&pmStateMask)
}

func msiText(read config, reg int) string {
	ctrl := read(reg+msgCtrl, halfWidth)
	text := "MSI supports " + messages(1<<(ctrl&msiCapable>>1)) + when(ctrl&msi64 != 0, ", 64 bit") +
		when(ctrl&msiMasks != 0, ", vector masks") + " "
	if ctrl&msiEnabled != 0 {
		text += "enabled with " + messages(1<<(ctrl&msiGranted>>msiGrantShift))
	}
	return text
}

func msixText(read config, reg int) string {
	ctrl := read(reg+msgCtrl, halfWidth)
	place := func(at int) string {
		v := read(reg+at, 4)
		return fmt.Sprintf("map 0x%x[0x%x]", pci.BARReg(int(v&msixBIR)), v&^msixBIR)
	}
	return "MSI-X supports " + messages(ctrl&msixSize+1) + when(ctrl&msixEnabled != 0, ", enabled") + continued +
		"Table in " + place(msixTable) + ", PBA in " + place(msixPending)
}

func pcixText(read config, reg int) string {
	const smallestRead = 512
	status := read(reg+pcixStatus, 4)
	n := splits[status>>pcixSplitShift&pcixSplitMask]
	fast := status&pcix133 != 0
	return fmt.Sprintf("PCI-X %ssupports%s %d burst read, %d split transaction%s", when(status&pcix64 != 0, "64-bit "),
		when(fast, " 133MHz,"), smallestRead<<(status>>pcixReadShift&pcixReadMask), n, when(n != 1, "s"))
}
