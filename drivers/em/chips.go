package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
)

// macType orders the parts as enum e1000_mac_type does: comparisons with < and >= mean
// something.
type macType uint8

const (
	mac82540 macType = iota
	mac82545
	mac82545Rev3
	mac82571 // em_mac_min: the first of class em
	mac82573
	mac82574
	mac82583
	macPCHLPT
	macPCHSPT
	macPCHCNP
)

// chip is what the driver knows about a part beside its MAC type (spec 1g 1, 5.6).
type chip struct {
	device  uint16
	name    string
	mac     macType
	phyID   uint32
	phyMask uint32 // bits of the id that must match
}

// exactPHY is the mask of a PHY of which only one revision is known to work.
const exactPHY = 0xffffffff

var chips = []chip{
	{emreg.Dev82540EM, "Intel(R) Legacy PRO/1000 MT 82540EM", mac82540, emreg.PHYIDM88E1011, emreg.PHYRevisionMask},
	{emreg.Dev82545EMCopper, "Intel(R) Legacy PRO/1000 MT 82545EM (Copper)", mac82545, emreg.PHYIDM88E1011, emreg.PHYRevisionMask},
	{emreg.Dev82545GMCopper, "Intel(R) Legacy PRO/1000 MT 82545GM (Copper)", mac82545Rev3, emreg.PHYIDM88E1011, emreg.PHYRevisionMask},
	{emreg.Dev82571EBCopper, "Intel(R) PRO/1000 PT 82571EB/82571GB (Copper)", mac82571, emreg.PHYIDIGP01, emreg.PHYRevisionMask},
	{emreg.Dev82573E, "Intel(R) PRO/1000 PM 82573E (Copper)", mac82573, emreg.PHYIDM88E1111, emreg.PHYRevisionMask},
	{emreg.Dev82573L, "Intel(R) PRO/1000 PM 82573L (Copper)", mac82573, emreg.PHYIDM88E1111, emreg.PHYRevisionMask},
	{emreg.Dev82574L, "Intel(R) Gigabit CT 82574L", mac82574, emreg.PHYIDBME1000, exactPHY},
	{emreg.Dev82583V, "Intel(R) 82583V", mac82583, emreg.PHYIDBME1000, exactPHY},
	{emreg.DevI217LM, "Intel(R) I217-LM LPT", macPCHLPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI217V, "Intel(R) I217-V LPT", macPCHLPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219LM, "Intel(R) I219-LM SPT", macPCHSPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219V, "Intel(R) I219-V SPT", macPCHSPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219LM2, "Intel(R) I219-LM SPT-H(2)", macPCHSPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219V2, "Intel(R) I219-V SPT-H(2)", macPCHSPT, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219LM6, "Intel(R) I219-LM CNP(6)", macPCHCNP, emreg.PHYIDI217, emreg.PHYRevisionMask},
	{emreg.DevI219V6, "Intel(R) I219-V CNP(6)", macPCHCNP, emreg.PHYIDI217, emreg.PHYRevisionMask},
}

// vendorInfo is the identity table for iflib.
func vendorInfo() []iflib.VendorInfo {
	v := make([]iflib.VendorInfo, len(chips))
	for i, c := range chips {
		v[i] = iflib.VendorInfo{Vendor: emreg.VendorIntel, Device: c.device, Name: c.name}
	}
	return v
}

// chipOf returns the part with a device id; nil if the driver does not know it.
func chipOf(device uint16) *chip {
	for i := range chips {
		if chips[i].device == device {
			return &chips[i]
		}
	}
	return nil
}

// lem reports whether the part belongs to the lem class.
func (c *chip) lem() bool { return c.mac < mac82571 }

// pch reports whether the part is in a platform controller hub: I217, I219.
func (c *chip) pch() bool { return c.mac >= macPCHLPT }

// addresses and groups are how many receive addresses and dwords of the multicast table
// there are (spec 1g 1).
func (c *chip) addresses() int {
	if c.pch() {
		return emreg.PCHRARCount
	}
	return emreg.RARCount
}

func (c *chip) groups() int {
	if c.pch() {
		return emreg.PCHMTACount
	}
	return emreg.MTACount
}

// Limits of frames with FCS (spec 1g 2.3).
const (
	maxFrameLEM = 16128
	maxFrameEM  = 9234
)

// maxFrame is the longest frame with FCS that the driver lets a part take.
func (c *chip) maxFrame() int {
	if c.lem() {
		return maxFrameLEM
	}
	return maxFrameEM
}

// jumboFrame is from where on the receive side gets less of the packet buffer, for the
// transmit side must hold a whole frame.
const jumboFrame = 8192

// packetBuffer is the KiB of the packet buffer that the receive side gets (spec 1g 6.3
// step 2).
func (c *chip) packetBuffer(frame int) uint32 {
	const (
		lemJumbo, lemDefault     = 40, 48
		pba82571, pba82573       = 32, 12
		pba82574Jumbo, pba82574x = 22, 32
	)
	jumbo := frame > jumboFrame
	switch {
	case c.pch():
		return pbaPCH
	case c.lem() && jumbo:
		return lemJumbo
	case c.lem():
		return lemDefault
	case c.mac == mac82571:
		return pba82571
	case c.mac == mac82573:
		return pba82573
	case jumbo:
		return pba82574Jumbo
	}
	return pba82574x
}

// queues is how many queues the driver uses in each direction: more than one only with
// MSI-X.
func (c *chip) queues() int {
	if c.mac == mac82574 {
		return 2
	}
	return 1
}

// externalLock reports whether software shares the part with firmware through EXTCNF
// (e1000_get_hw_semaphore_82573).
func (c *chip) externalLock() bool { return c.mac >= mac82573 && !c.pch() }
