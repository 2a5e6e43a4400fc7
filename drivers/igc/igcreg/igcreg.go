// Package igcreg holds what only the parts of the igc driver (I225, I226) have: their
// identities, the PHY, the NVM's registers and the bits for 2.5 Gbit/s. What they share
// with em is in emreg, with igb in e1000reg. Constants only; the comment of each gives
// its name in FreeBSD's sys/dev/igc without the prefix IGC_ where that differs, numbers
// are those of spec 1g.
package igcreg

// PCI ids (spec 1g 1; igc_hw.h DEV_ID_*). The vendor is emreg.VendorIntel.
const (
	DevI225LM    = 0x15f2
	DevI225V     = 0x15f3
	DevI220V     = 0x15f7
	DevI225I     = 0x15f8
	DevI225K     = 0x3100
	DevI225K2    = 0x3101
	DevI225LMvP  = 0x5502
	DevI225IT    = 0x0d9f
	DevI226LM    = 0x125b
	DevI226V     = 0x125c
	DevI226IT    = 0x125d
	DevI226K     = 0x3102
	DevI226LMvP  = 0x5503
	DevI221V     = 0x125e
	DevI225Blank = 0x15fd // I225_BLANK_NVM
	DevI226Blank = 0x125f // I226_BLANK_NVM
)

// PHY (spec 1g 5.6).
const (
	PHYIDI225 = 0x67c9dc00 // I225_I_PHY_ID
	PHYIDI226 = 0x67c9dc10
	PHYIDMask = 0xfffffc00 // I225_I_PHY_ID is compared under it

	MMDControl  = 13      // MMDAC: device and function
	MMDData     = 14      // MMDAAD: address or data
	MMDAddress  = 0 << 14 // function of MMDControl
	MMDDataFunc = 1 << 14 // MMDAC_FUNC_DATA
	MMDDevMask  = 0x1f

	MMDDevAN   = 7      // STANDARD_AN_REG_MASK's device: auto-negotiation
	ANGBTCtrl  = 32     // ANEG_MULTIGBT_AN_CTRL
	AdvGBT2500 = 1 << 7 // CR_2500T_FD_CAPS
)

// NVM (spec 1g 5.7).
const (
	EERD = 0x12014 // EEPROM read, laid out as emreg.EERD
	EEWR = 0x12018 // EEPROM write, as emreg.EEWR
)

// Bits of emreg.STATUS and statistics that differ (spec 1g 5.1, 5.5).
const (
	Status2P5SKU     = 1 << 12 // STATUS_2P5_SKU
	Status2P5SKUOver = 1 << 13 // STATUS_2P5_SKU_OVER
	StatusSpeed2500  = 1 << 22 // STATUS_SPEED_2500: with 1000 it means 2500

	RERC   = 0x402c // receive error count
	HTDPMC = 0x403c // host transmit discarded packets
)
