package pci

import "math/bits"

// Capability numbers (FreeBSD's PCIY_*).
const (
	CapPowerManagement = 0x01
	CapMSI             = 0x05
	CapPCIe            = 0x10
	CapMSIX            = 0x11
)

// Where the capabilities lie: as on the 82576 and everything after it, because the
// shared code of ixgbe reads 0x72 and 0xb2 without looking (spec 10g).
const (
	regPM   = 0x40
	regMSI  = 0x50
	regMSIX = 0x70
	regPCIe = 0xa0

	capNext = 1 // offset of the link to the next capability
	capBody = 2
)

// Power management (PCI PM 1.2 section 3.2).
const (
	regPMCSR        = regPM + 4
	pmCapabilities  = 0xc823 // PME# from D0, D3hot and D3cold; version 3
	pmStateMask     = 0x0003
	pmStateD3       = 3
	pmNoSoftReset   = 0x0008
	pmEnablePME     = 0x0100
	pmStatusPMEHigh = 0x80 // in the register's second byte; write 1 to clear
)

// MSI (PCI 3.0 section 6.8.1): 64-bit address, mask per message.
const (
	regMSICtrl    = regMSI + 2
	regMSIAddr    = regMSI + 4
	regMSIAddrHi  = regMSI + 8
	regMSIData    = regMSI + 12
	regMSIMask    = regMSI + 16
	regMSIPending = regMSI + 20

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
	regMSIXCtrl  = regMSIX + 2
	regMSIXTable = regMSIX + 4
	regMSIXPBA   = regMSIX + 8

	msixEnable  = 0x8000
	msixMaskAll = 0x4000
	msixSize    = 0x07ff
	maxMSIX     = msixSize + 1
)

// PCI Express (base specification 3.0 section 7.8).
const (
	regDevCap   = regPCIe + 0x04
	regDevCtl   = regPCIe + 0x08
	regDevSta   = regPCIe + 0x0a
	regLinkCap  = regPCIe + 0x0c
	regLinkCtl  = regPCIe + 0x10
	regLinkSta  = regPCIe + 0x12
	regDevCap2  = regPCIe + 0x24
	regDevCtl2  = regPCIe + 0x28
	regLinkCtl2 = regPCIe + 0x30

	pcieEndpointV2   = 0x0002
	devCapFLR        = 1 << 28
	devCapRoleErrors = 1 << 15
	devCapPayload512 = 2
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

var defaultLink = PCIeLink{Speed: 3, Width: 8}

// capabilities builds the list; msix and msi are the sizes, pba and bir say where
// the pending bits and the table lie.
func (s *space) capabilities(msix, msi, bir int, pba uint32, link PCIeLink) {
	last := RegCapPtr
	add := func(reg int, id byte) {
		s.val[last] = byte(reg)
		s.val[reg] = id
		last = reg + capNext
	}
	add(regPM, CapPowerManagement)
	s.set16(regPM+capBody, pmCapabilities, 0)
	s.set16(regPMCSR, pmNoSoftReset, pmStateMask|pmEnablePME)
	s.clear[regPMCSR+1] = pmStatusPMEHigh
	if msi > 0 {
		add(regMSI, CapMSI)
		log2 := uint16(bits.Len(uint(msi)) - 1)
		s.set16(regMSICtrl, log2<<msiMultiShift|msi64|msiMaskable, msiEnable|msiGrantMask)
		s.set32(regMSIAddr, 0, msiAddrMask)
		s.set32(regMSIAddrHi, 0, ^uint32(0))
		s.set16(regMSIData, 0, ^uint16(0))
		s.set32(regMSIMask, 0, uint32(uint64(1)<<msi-1))
	}
	if msix > 0 {
		add(regMSIX, CapMSIX)
		s.set16(regMSIXCtrl, uint16(msix-1), msixEnable|msixMaskAll)
		s.set32(regMSIXTable, uint32(bir), 0)
		s.set32(regMSIXPBA, pba|uint32(bir), 0)
	}
	add(regPCIe, CapPCIe)
	s.set16(regPCIe+capBody, pcieEndpointV2, 0)
	s.set32(regDevCap, devCapFLR|devCapRoleErrors|devCapPayload512, 0)
	s.set16(regDevCtl, devCtlDefault, devCtlWritable)
	s.clear[regDevSta] = devStaErrors
	lanes := uint16(link.Width)<<linkWidthShift | uint16(link.Speed)
	s.set32(regLinkCap, uint32(lanes), 0)
	s.set16(regLinkCtl, 0, linkCtlWritable)
	s.set16(regLinkSta, lanes, 0)
	s.set32(regDevCap2, devCap2Timeout, 0)
	s.set16(regDevCtl2, 0, devCtl2Writable)
	s.set16(regLinkCtl2, uint16(link.Speed), linkSpeedMask)
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
