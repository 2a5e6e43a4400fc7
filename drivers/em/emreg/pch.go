package emreg

// Registers that only the pch parts have, or have with another meaning (spec 1g 5.1, 6.2,
// 8; e1000_regs.h, e1000_ich8lan.h).
const (
	STRAP      = 0x000c  // strapping options, read only: size of the flash in 5:1 (E1000_STRAP)
	FEXTNVM4   = 0x0024  // E1000_FEXTNVM4
	IOSFPC     = 0x00f28 // TX corrupted data (E1000_IOSFPC)
	PBECCSTS   = 0x0100c // packet buffer ECC (E1000_PBECCSTS)
	KABGTXD    = 0x03004 // analog band gap (E1000_KABGTXD)
	TLPIC      = 0x4148  // times that transmit went into low-power idle
	RLPIC      = 0x414c  // times that receive did
	FEXTNVM11  = 0x05bbc // E1000_FEXTNVM11
	FCRTVPCH   = 0x05f40 // FCRTV_PCH: flow control refresh timer value
	FlashOwn   = 0xe000  // E1000_FLASH_BASE_ADDR: the flash registers of I219 in BAR 0
	FlashBAR   = 1       // the BAR of I217's
	FlashBytes = 0x1000  // of that BAR

	// ConfigDescRing is PCICFG_DESC_RING_STATUS, in configuration space.
	ConfigDescRing = 0xe4
)

// Registers of the flash controller, from its base on (ICH_FLASH_*; spec 1g 5.7).
const (
	FlashGFPREG = 0x00 // sectors of the region: first in 12:0, last in 28:16
	FlashHSFSTS = 0x04 // status, 16 bits
	FlashHSFCTL = 0x06 // control, 16 bits
	FlashFADDR  = 0x08 // byte address
	FlashFDATA0 = 0x10 // data
	FlashLast   = 0x9c // last register (ICH_FLASH_REG_MAPSIZE)
)

// Bits of the flash registers.
const (
	HSFSTSDone       = 1 << 0    // flcdone: cycle done, write 1 clears
	HSFSTSError      = 1 << 1    // flcerr: write 1 clears
	HSFSTSAccess     = 1 << 2    // dael: access error log, write 1 clears
	HSFSTSInProgress = 1 << 5    // flcinprog
	HSFSTSValid      = 1 << 14   // fldesvalid: there is a descriptor
	HSFCTLGo         = 1 << 0    // flcgo
	HSFCTLCycle      = 3 << 1    // flcycle: 0 reads (ICH_CYCLE_READ)
	HSFCTLCount      = 3 << 8    // fldbcount: bytes less one
	HSFCTLCountShift = 8         //
	GFPREGMask       = 0x1fff    // FLASH_GFPREG_BASE_MASK
	GFPREGEndShift   = 16        //
	FlashAddrMask    = 0xffffff  // ICH_FLASH_LINEAR_ADDR_MASK
	FlashSector      = 4096      // ICH_FLASH_SECTOR_SIZE, NVM_SIZE_MULTIPLIER
	StrapSizeShift   = 1         // of STRAP: (n + 1) sectors
	StrapSizeMask    = 0x1f << 1 //
	ShadowWords      = 2048      // E1000_SHADOW_RAM_WORDS: words of the NVM

	NVMSignature      = 0x13   // E1000_ICH_NVM_SIG_WORD
	NVMSignatureMask  = 0xc000 // E1000_ICH_NVM_SIG_MASK
	NVMSignatureValid = 0x8000 // the bank is in use
	NVMCompatCsum     = 1 << 0 // NVM_COMPAT_VALID_CSUM of word 3
)

// Bits of registers of the pch parts.
const (
	FWSMRspPCIPHY     = 1 << 6  // E1000_ICH_FWSM_RSPCIPHY: the PHY may be reset
	FWSMValid         = 1 << 15 // E1000_ICH_FWSM_FW_VALID: firmware runs
	CtrlMEHE          = 1 << 19 // E1000_CTRL_MEHE: memory errors are handled
	CtrlExtOwn22      = 1 << 22 // of CTRL_EXT, named nowhere
	RFCTLNFSWDis      = 1 << 6  // RFCTL_NFSW_DIS
	RFCTLNFSRDis      = 1 << 7  // RFCTL_NFSR_DIS
	PBECCEnable       = 1 << 16 // E1000_PBECCSTS_ECC_ENABLE
	KABGTXDBias       = 0x50000 // E1000_KABGTXD_BGSQLBIAS
	IOSFPCRdmtsHex    = 1 << 16 // E1000_RCTL_RDMTS_HEX
	TARCRequests      = 3 << 28 // E1000_TARC0_CB_MULTIQ_3_REQ
	TARCTwoRequests   = 2 << 28 // E1000_TARC0_CB_MULTIQ_2_REQ
	FEXTNVM11NoMULR   = 1 << 13 // E1000_FEXTNVM11_DISABLE_MULR_FIX
	FlushRequired     = 1 << 8  // FLUSH_DESC_REQUIRED of ConfigDescRing
	FEXTNVM4Beacon    = 7       // E1000_FEXTNVM4_BEACON_DURATION_MASK
	Beacon8us         = 7       // E1000_FEXTNVM4_BEACON_DURATION_8USEC
	WUCAPME           = 1 << 0  // WUC_APME: wake-up by magic packet is allowed
	PCHRARCount       = 12      // E1000_PCH_LPT_RAR_ENTRIES
	PCHMTACount       = 32      // dwords of the multicast table
	TIPGIPGTMask      = 0x3ff   // E1000_TIPG_IPGT_MASK
	LEDModeLinkUp     = 2       // E1000_LEDCTL_MODE_LINK_UP
	LEDInvert         = 1 << 3  // E1000_PHY_LED0_IVRT
	TXDCTLMaxPrefetch = 0x1f    // E1000_TXDCTL_MAX_TX_DESC_PREFETCH: prefetch threshold
)

// PHY of the pch parts: IEEE registers at one address of the MDI bus, pages from
// HVFirstPage on at the other, chosen by register 31 (e1000_get_phy_addr_for_hv_page).
const (
	PHYIDI217    = 0x015400a0 // I217_E_PHY_ID
	PHYAddrPages = 1
	PHYAddrBase  = 2
	HVFirstPage  = 768 // HV_INTC_FC_PAGE_START
	HVPageShift  = 5   // IGP_PAGE_SHIFT: of register 31

	// Registers as page<<HVPageShift | register.
	HVLEDConfig  = 768<<HVPageShift | 30 // HV_LED_CONFIG
	PHYPauseTime = 769<<HVPageShift | 27 // PHY_REG(BM_PORT_CTRL_PAGE, 27)
	PHYLPICtrl   = 772<<HVPageShift | 20 // I82579_LPI_CTRL
	PHYPtrGap    = 776<<HVPageShift | 20 // PHY_REG(776, 20)

	LPICtrl100   = 1 << 13    // I82579_LPI_CTRL_100_ENABLE
	LPICtrl1000  = 1 << 14    // I82579_LPI_CTRL_1000_ENABLE
	PtrGapMask   = 0x3ff << 2 // of PHYPtrGap
	PtrGapMin    = 0x18 << 2  //
	PtrGapSlow   = 0xc023     // PHYPtrGap below gigabit
	EMIAddr      = 0x10       // I82579_EMI_ADDR, a base register
	EMIData      = 0x11       // I82579_EMI_DATA
	EMIAdvertise = 0x8001     // I217_EEE_ADVERTISEMENT
	EMIPartner   = 0x8002     // I217_EEE_LP_ABILITY
	EMIRxConfig  = 0xb20c     // I217_RX_CONFIG
	EMIPCSStatus = 0x9401     // I217_EEE_PCS_STATUS
	EEE100       = 1 << 1     // I82579_EEE_100_SUPPORTED
	EEE1000      = 1 << 2     // I82579_EEE_1000_SUPPORTED
	ANLPAR100FD  = 1 << 8     // NWAY_LPAR_100TX_FD_CAPS
)

// PCI ids of the pch parts (spec 1g 1; e1000_hw.h E1000_DEV_ID_PCH_*).
const (
	DevI217LM  = 0x153a // LPT_I217_LM
	DevI217V   = 0x153b // LPT_I217_V
	DevI219LM  = 0x156f // SPT_I219_LM
	DevI219V   = 0x1570 // SPT_I219_V
	DevI219LM2 = 0x15b7 // SPT_I219_LM2
	DevI219V2  = 0x15b8 // SPT_I219_V2
	DevI219LM6 = 0x15bd // CNP_I219_LM6
	DevI219V6  = 0x15be // CNP_I219_V6
)
