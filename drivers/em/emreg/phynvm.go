package emreg

// PHY address and ids (spec 1g 5.6).
const (
	PHYAddr = 1 // address on the MDI bus

	PHYIDM88E1011 = 0x01410c20 // M88E1011_I_PHY_ID: 82540, 82545
	PHYIDM88E1111 = 0x01410cc0 // M88E1111_I_PHY_ID: 82573
	PHYIDIGP01    = 0x02a80380 // IGP01E1000_I_PHY_ID: 82541, 82547, 82571
	PHYIDBME1000  = 0x01410cb1 // BME1000_E_PHY_ID_R2: 82574, 82583

	PHYRevisionMask = 0xfffffff0 // PHY_REVISION_MASK
)

// PHY registers (spec 1g 5.6; e1000_defines.h PHY_*, e1000_phy.h M88E1000_*).
const (
	PHYControl    = 0  // PHY_CONTROL, BMCR
	PHYStatus     = 1  // PHY_STATUS, BMSR
	PHYID1        = 2  // PHY_ID1
	PHYID2        = 3  // PHY_ID2
	PHYANAR       = 4  // PHY_AUTONEG_ADV
	PHYANLPAR     = 5  // PHY_LP_ABILITY
	PHYANER       = 6  // PHY_AUTONEG_EXP
	PHY1000TCtrl  = 9  // PHY_1000T_CTRL
	PHY1000TStat  = 10 // PHY_1000T_STATUS
	PHYExtStatus  = 15 // PHY_EXT_STATUS
	M88PSCR       = 16 // M88E1000_PHY_SPEC_CTRL
	M88PSSR       = 17 // M88E1000_PHY_SPEC_STATUS
	M88IntEnable  = 18 // M88E1000_INT_ENABLE
	M88IntStatus  = 19 // M88E1000_INT_STATUS
	M88EPSCR      = 20 // M88E1000_EXT_PHY_SPEC_CTRL
	M88RXERRCntr  = 21 // M88E1000_RX_ERR_CNTR
	BMPageSelect  = 22 // BM_PHY_PAGE_SELECT of BME1000
	M88PageSelect = 29 // M88E1000_PHY_PAGE_SELECT
	M88GenControl = 30 // M88E1000_PHY_GEN_CONTROL: data of the page
	IGPPageSelect = 31 // IGP01E1000_PHY_PAGE_SELECT
)

// Bits of PHY registers.
const (
	BMCRSpeed1000 = 1 << 6  // MII_CR_SPEED_1000 with bit 13 clear
	BMCRFD        = 1 << 8  // MII_CR_FULL_DUPLEX
	BMCRRestartAN = 1 << 9  // MII_CR_RESTART_AUTO_NEG
	BMCRIsolate   = 1 << 10 // MII_CR_ISOLATE
	BMCRPowerDown = 1 << 11 // MII_CR_POWER_DOWN
	BMCRAutoNeg   = 1 << 12 // MII_CR_AUTO_NEG_EN
	BMCRSpeed100  = 1 << 13 // MII_CR_SPEED_100
	BMCRLoopback  = 1 << 14 // MII_CR_LOOPBACK
	BMCRReset     = 1 << 15 // MII_CR_RESET

	BMSRLink   = 1 << 2 // MII_SR_LINK_STATUS: latching low
	BMSRANDone = 1 << 5 // MII_SR_AUTONEG_COMPLETE

	ANAR10HD   = 1 << 5  // NWAY_AR_10T_HD_CAPS
	ANAR10FD   = 1 << 6  // NWAY_AR_10T_FD_CAPS
	ANAR100HD  = 1 << 7  // NWAY_AR_100TX_HD_CAPS
	ANAR100FD  = 1 << 8  // NWAY_AR_100TX_FD_CAPS
	ANARPause  = 1 << 10 // NWAY_AR_PAUSE
	ANARAsmDir = 1 << 11 // NWAY_AR_ASM_DIR
	CR1000THD  = 1 << 8  // CR_1000T_HD_CAPS
	CR1000TFD  = 1 << 9  // CR_1000T_FD_CAPS

	IGP2PowerMgmt      = 0x19   // IGP02E1000_PHY_POWER_MGMT: PHY of 82571
	IGP2SmartPowerDown = 1 << 0 // IGP02E1000_PM_SPD

	PSSRSpeedMask = 3 << 14 // M88E1000_PSSR_SPEED
	PSSR1000      = 2 << 14 // M88E1000_PSSR_1000MBS
	PSSR100       = 1 << 14 // M88E1000_PSSR_100MBS
	PSSRDuplex    = 1 << 13 // M88E1000_PSSR_DPLX
	PSSRResolved  = 1 << 11 // M88E1000_PSSR_SPD_DPLX_RESOLVED
	PSSRLink      = 1 << 10 // M88E1000_PSSR_LINK
	PSSRDownshift = 1 << 5  // M88E1000_PSSR_DOWNSHIFT
)

// NVM words (spec 1g 5.7).
const (
	NVMMacAddr    = 0x00    // NVM_MAC_ADDR: words 0..2
	NVMCompat     = 0x03    // NVM_COMPAT
	NVMIDLED      = 0x04    // NVM_ID_LED_SETTINGS
	NVMVersion    = 0x05    // NVM_VERSION
	NVMSubDevice  = 0x0b    // subsystem device id
	NVMSubVendor  = 0x0c    // subsystem vendor id
	NVMDevice     = 0x0d    // device id
	NVMVendor     = 0x0e    // vendor id
	NVMInitCtrl2  = 0x0f    // NVM_INIT_CONTROL2_REG
	NVMSize       = 0x12    // NVM_CFG: size class 12:10
	NVMPCIeCtrl   = 0x1b    // NVM_PCIE_CTRL: 82574, MSI-X vectors less one in 9:7
	NVMInitCtrl3A = 0x24    // NVM_INIT_CONTROL3_PORT_A
	NVMAltMacPtr  = 0x37    // NVM_ALT_MAC_ADDR_PTR
	NVMChecksum   = 0x3f    // NVM_CHECKSUM_REG
	NVMSum        = 0xbaba  // NVM_SUM of words 0..0x3f
	NVMMSIXShift  = 7       // EM_NVM_MSIX_N_SHIFT
	NVMMSIXMask   = 7 << 7  // EM_NVM_MSIX_N_MASK
	NVMAPMEnable  = 0x0400  // NVM_APME_82575, WUC.APME of word 0x24 and 0x0f
	NVMPauseBits  = 3 << 12 // NVM_WORD0F_PAUSE_MASK

	MicrowireReadOp  = 6 // NVM_READ_OPCODE_MICROWIRE
	MicrowireWriteOp = 5 // NVM_WRITE_OPCODE_MICROWIRE
	MicrowireOpBits  = 3 // bits of an opcode, start bit included
	MicrowireAddr6   = 6 // address bits of 64 words
	MicrowireAddr8   = 8 // address bits of 256 words
)

// PCI ids (spec 1g 1; e1000_hw.h E1000_DEV_ID_*).
const (
	VendorIntel      = 0x8086
	Dev82540EM       = 0x100e
	Dev82545EMCopper = 0x100f
	Dev82545GMCopper = 0x1026
	Dev82571EBCopper = 0x105e
	Dev82573E        = 0x108b
	Dev82573L        = 0x109a
	Dev82574L        = 0x10d3
	Dev82583V        = 0x150c
)
