package pci

import "math/bits"

// Capability numbers (FreeBSD's PCIY_*).
const (
	CapPowerManagement = 0x01
	CapMSI             = 0x05
	CapPCIX            = 0x07
	CapPCIe            = 0x10
	CapMSIX            = 0x11
	CapAF              = 0x13 // advanced features of a function on a conventional bus
)

// Offsets in every capability.
const (
	capNext = 1 // link to the next one
	capBody = 2
)

// Power management (PCI PM 1.2 section 3.2).
const (
	pmCSR           = 4
	pmBytes         = 8
	pmCapabilities  = 0xc820 // PME# from D0, D3hot and D3cold; initialised by the driver; above the version
	pmStateMask     = 0x0003
	pmStateD3       = 3
	pmNoSoftReset   = 0x0008
	pmEnablePME     = 0x0100
	pmStatusPMEHigh = 0x80 // in the register's second byte; write 1 to clear
)

// MSI (PCI 3.0 section 6.8.1): 64-bit address, and on some a mask per message.
const (
	msiAddr    = 4
	msiAddrHi  = 8
	msiData    = 12
	msiMask    = 16
	msiPending = 20
	msiBytes   = 14
	msiAll     = 24 // with masks

	msiEnable     = 0x0001
	msiMultiShift = 1 // messages supported, log2
	msiGrantShift = 4 // messages granted, log2
	msiGrantMask  = 0x0070
	msi64         = 0x0080
	msiMaskable   = 0x0100
	msiAddrMask   = 0xfffffffc
	maxMSI        = 32
)

// MSI-X (PCI 3.0 section 6.8.2).
const (
	msixTableAt = 4
	msixPBA     = 8
	msixBytes   = 12

	msixEnable  = 0x8000
	msixMaskAll = 0x4000
	msixSize    = 0x07ff
	maxMSIX     = msixSize + 1
)

// PCI Express (base specification 3.0 section 7.8).
const (
	devCap   = 0x04
	devCtl   = 0x08
	devSta   = 0x0a
	linkCap  = 0x0c
	linkCtl  = 0x10
	linkSta  = 0x12
	devCap2  = 0x24
	devCtl2  = 0x28
	linkCtl2 = 0x30
	// Sizes of the capability by its version.
	pcieBytes1 = 0x14
	pcieBytes2 = 0x3c

	devCapFLR        = 1 << 28
	devCapRoleErrors = 1 << 15
	devCtlDefault    = 0x2810 // read requests of 512 bytes, relaxed ordering, no snoop
	devCtlWritable   = 0x7fff
	devCtlFLRHigh    = 0x80 // start a function-level reset; in the second byte
	devStaErrors     = 0x0f
	linkCtlWritable  = 0x01fb
	linkWidthShift   = 4
	devCap2Timeout   = 0x1f // completion timeout ranges and disable
	devCtl2Writable  = 0x1f
	linkSpeedMask    = 0x0f
)

// PCI-X (PCI-X 2.0 section 7.2).
const (
	pcixStatus      = 4
	pcixBytes       = 8
	pcixRelaxed     = 0x0002
	pcixCmdWritable = 0x007f
	pcix64Bit       = 1 << 16
	pcix133MHz      = 1 << 17
	pcixRead2048    = 2 << 21
	pcixBusShift    = 8
	pcixSlotShift   = 3
)

// Advanced features (conventional PCI ECN "Advanced Capabilities").
const (
	afLength   = 2
	afCap      = 3
	afCtrl     = 4
	afBytes    = 6
	afPending  = 0x01
	afFLR      = 0x02
	afStartFLR = 0x01
)

var defaultLink = PCIeLink{Speed: 3, Width: 8}

// standardCaps are the capabilities of the 82576 and of everything after it.
var standardCaps = Caps{
	List:      []CapPlace{{CapPowerManagement, 0x40}, {CapMSI, 0x50}, {CapMSIX, 0x70}, {CapPCIe, 0xa0}},
	PMVersion: 3, MSIMask: true, PCIeVersion: 2, Payload: 2, FLR: true,
}

// CapsOf are the capabilities of a device: its own if it says, else those of the 82576.
func CapsOf(dev Device) Caps {
	if d, ok := dev.(CapsDevice); ok {
		return d.Caps()
	}
	return standardCaps
}

// places are the registers of the capabilities that a space has; 0: it has none.
type places struct{ pm, msi, msix, pcie, af int }

// capabilities builds the list for a function of msix and msi vectors whose table lies in
// BAR bir and its pending bits at pba; without vectors there is no such capability.
func (s *space) capabilities(caps *Caps, loc Location, msix, msi, bir int, pba uint32, link PCIeLink) {
	last := RegCapPtr
	for _, c := range caps.List {
		if c.ID == CapMSI && msi == 0 || c.ID == CapMSIX && msix == 0 {
			continue
		}
		s.val[last] = byte(c.Reg)
		s.val[c.Reg] = c.ID
		last = c.Reg + capNext
		switch c.ID {
		case CapPowerManagement:
			s.addPM(c.Reg, caps.PMVersion)
		case CapMSI:
			s.addMSI(c.Reg, msi, caps.MSIMask)
		case CapMSIX:
			s.addMSIX(c.Reg, msix, bir, pba)
		case CapPCIe:
			s.addPCIe(c.Reg, caps, link)
		case CapPCIX:
			s.addPCIX(c.Reg, loc, caps.Wide)
		case CapAF:
			s.addAF(c.Reg)
		}
	}
}

// owns marks registers that belong to a capability.
func (s *space) owns(reg, bytes int) {
	for r := reg; r < reg+bytes; r++ {
		s.owned[r] = true
	}
}

func (s *space) addPM(reg int, version uint8) {
	s.at.pm = reg
	s.owns(reg, pmBytes)
	s.set16(reg+capBody, pmCapabilities|uint16(version), 0)
	s.set16(reg+pmCSR, pmNoSoftReset, pmStateMask|pmEnablePME)
	s.clear[reg+pmCSR+1] = pmStatusPMEHigh
}

func (s *space) addMSI(reg, n int, masks bool) {
	s.at.msi, s.msiMasks = reg, masks
	ctrl, bytes := uint16(bits.Len(uint(n))-1)<<msiMultiShift|msi64, msiBytes
	if masks {
		ctrl, bytes = ctrl|msiMaskable, msiAll
		s.set32(reg+msiMask, 0, uint32(uint64(1)<<n-1))
	}
	s.owns(reg, bytes)
	s.set16(reg+capBody, ctrl, msiEnable|msiGrantMask)
	s.set32(reg+msiAddr, 0, msiAddrMask)
	s.set32(reg+msiAddrHi, 0, ^uint32(0))
	s.set16(reg+msiData, 0, ^uint16(0))
}

func (s *space) addMSIX(reg, n, bir int, pba uint32) {
	s.at.msix = reg
	s.owns(reg, msixBytes)
	s.set16(reg+capBody, uint16(n-1), msixEnable|msixMaskAll)
	s.set32(reg+msixTableAt, uint32(bir), 0)
	s.set32(reg+msixPBA, pba|uint32(bir), 0)
}

func (s *space) addPCIe(reg int, caps *Caps, link PCIeLink) {
	s.at.pcie = reg
	s.owns(reg, pcieBytes1)
	can := devCapRoleErrors | uint32(caps.Payload)
	if caps.FLR {
		can |= devCapFLR
	}
	s.set16(reg+capBody, uint16(caps.PCIeVersion), 0)
	s.set32(reg+devCap, can, 0)
	s.set16(reg+devCtl, devCtlDefault, devCtlWritable)
	s.clear[reg+devSta] = devStaErrors
	lanes := uint16(link.Width)<<linkWidthShift | uint16(link.Speed)
	s.set32(reg+linkCap, uint32(lanes), 0)
	s.set16(reg+linkCtl, 0, linkCtlWritable)
	s.set16(reg+linkSta, lanes, 0)
	if caps.PCIeVersion < 2 {
		return
	}
	s.owns(reg, pcieBytes2)
	s.set32(reg+devCap2, devCap2Timeout, 0)
	s.set16(reg+devCtl2, 0, devCtl2Writable)
	s.set16(reg+linkCtl2, uint16(link.Speed), linkSpeedMask)
}

func (s *space) addPCIX(reg int, loc Location, wide bool) {
	s.owns(reg, pcixBytes)
	status := pcixRead2048 | uint32(loc.Bus)<<pcixBusShift | uint32(loc.Slot)<<pcixSlotShift | uint32(loc.Func)
	if wide {
		status |= pcix64Bit | pcix133MHz
	}
	s.set16(reg+capBody, pcixRelaxed, pcixCmdWritable)
	s.set32(reg+pcixStatus, status, 0)
}

func (s *space) addAF(reg int) {
	s.at.af = reg
	s.owns(reg, afBytes)
	s.val[reg+afLength] = afBytes
	s.val[reg+afCap] = afPending | afFLR
}

// startsFLR reports whether a write of p at reg starts a function-level reset.
func (s *space) startsFLR(reg int, p []byte) bool {
	wrote := func(at int, bit byte) bool { return at >= reg && at < reg+len(p) && p[at-reg]&bit != 0 }
	can := s.at.pcie != 0 && s.get32(s.at.pcie+devCap)&devCapFLR != 0
	return can && wrote(s.at.pcie+devCtl+1, devCtlFLRHigh) || s.at.af != 0 && wrote(s.at.af+afCtrl, afStartFLR)
}

// awake reports whether the power state is not D3.
func (s *space) awake() bool {
	return s.at.pm == 0 || s.val[s.at.pm+pmCSR]&pmStateMask != pmStateD3
}

// find returns the register of capability id. The list is walked for at most as many
// steps as it can have.
func (s *space) find(id byte) (reg int, ok bool) {
	reg = int(s.val[RegCapPtr])
	for range ConfigSize / wordSize {
		if reg == 0 {
			return 0, false
		}
		if s.val[reg] == id {
			return reg, true
		}
		reg = int(s.val[reg+capNext])
	}
	return 0, false
}
