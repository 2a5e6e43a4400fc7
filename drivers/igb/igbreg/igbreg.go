// Package igbreg holds what only the parts of the igb driver (82575, 82576, 82580, I350,
// I210, I211) have: their identities, PHYs, and the registers that igc does not share.
// What they share with em is in emreg, with igc in e1000reg. Constants only; the comment
// of each gives its name in FreeBSD's sys/dev/e1000 without the prefix E1000_ where that
// differs, numbers are those of spec 1g.
package igbreg

// PCI ids (spec 1g 1; e1000_hw.h DEV_ID_*). The vendor is emreg.VendorIntel.
const (
	Dev82575EBCopper   = 0x10a7
	Dev82576           = 0x10c9
	Dev82580Copper     = 0x150e
	DevI350Copper      = 0x1521
	DevI210Copper      = 0x1533
	DevI210CopperNoNVM = 0x157b // I210_COPPER_FLASHLESS
	DevI211Copper      = 0x1539
)

// PHY ids (spec 1g 5.6).
const (
	PHYIDIGP03 = 0x02a80390 // IGP03E1000_E_PHY_ID: 82576
	PHYIDIGP04 = 0x02a80391 // IGP04E1000_E_PHY_ID
	PHYID82580 = 0x015403a0 // I82580_I_PHY_ID
	PHYIDI350  = 0x015403b0 // I350_I_PHY_ID
	PHYIDI210  = 0x01410c00 // I210_I_PHY_ID: I210, I211
)

// Registers of PHYs beside emreg's.
const (
	IGPPortConfig = 16     // IGP01E1000_PHY_PORT_CONFIG
	IGPPortStatus = 17     // IGP01E1000_PHY_PORT_STATUS
	IGPPortCtrl   = 18     // IGP01E1000_PHY_PORT_CTRL
	IGPHealth     = 19     // IGP01E1000_PHY_LINK_HEALTH
	IGPSpeedMask  = 0xc000 // IGP01E1000_PSSR_SPEED_MASK of IGPPortStatus
	IGPSpeed1000  = 0xc000 // IGP01E1000_PSSR_SPEED_1000MBPS
	IGPFullDuplex = 0x0200 // IGP01E1000_PSSR_FULL_DUPLEX
	GS40GPage     = 22     // GS40G_PAGE_SELECT of I210
	I82580Status2 = 26     // I82580_PHY_STATUS_2 of 82580 and I350
	Status2Speed  = 0x0300 // I82580_PHY_STATUS2_SPEED_MASK
	Status2Gig    = 0x0200 // I82580_PHY_STATUS2_SPEED_1000MBPS
)

// NVM (spec 1g 5.7).
const (
	EERDI210     = 0x12014 // EEPROM read of I210 with flash, laid out as emreg.EERD
	EEWRI210     = 0x12018 // EEPROM write, as emreg.EEWR
	INVMData     = 0x12120 // INVM_DATA_REG(n) of parts without flash, emreg.RegStride apart
	I350Sections = 4       // sections of 64 words with a checksum each

	Compat82580 = 1 << 15 // NVM_COMPATIBILITY_BIT_MASK of emreg.NVMCompat: 82580 checks all sections

	EECDFLUPDI210   = 1 << 23 // EECD_FLUPD_I210
	EECDFLUDoneI210 = 1 << 26 // EECD_FLUDONE_I210
)

// SectionWords are the first words of the sections of 82580 and I350 (spec 1g 5.7).
func SectionWords() [I350Sections]int { return [...]int{0, 0x80, 0xc0, 0x100} }

// Registers (spec 1g 5.1, 5.2).
const (
	MSIXBM = 0x1600 // MSIXBM(v) of 82575: causes of vector v
	THSTAT = 0x8110 // thermal sensor status of I350: 0 is fine

	RXPBS82576Mask = 0x7f // RXPBS_SIZE_MASK_82576: KiB
	EITR82575Shift = 16   // of the second copy of EITR's interval
	VFTAWritesI350 = 10   // times a VLAN table entry of I350 has to be written

	TxPthresh   = 8  // IGB_TX_PTHRESH
	RxWthresh   = 4  // IGB_RX_WTHRESH without MSI-X
	RxPthresh   = 8  // IGB_RX_PTHRESH
	RxHthresh   = 8  // IGB_RX_HTHRESH
	TxHthresh   = 1  // IGB_TX_HTHRESH
	I354Pthresh = 20 // of transmit queues of I354; 12 of receive queues
)
