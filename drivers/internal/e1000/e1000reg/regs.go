package e1000reg

// Interrupts (spec 1g 5.2).
const (
	ICR      = 0x1500 // alias of emreg.ICR
	ICS      = 0x1504 // alias of emreg.ICS
	IMS      = 0x1508 // alias of emreg.IMS
	IMC      = 0x150c // alias of emreg.IMC
	IAM      = 0x1510 // alias of emreg.IAM
	GPIE     = 0x1514 // general purpose interrupt enable
	EICS     = 0x1520 // extended cause set
	EIMS     = 0x1524 // extended mask set and read
	EIMC     = 0x1528 // extended mask clear
	EIAC     = 0x152c // extended auto clear
	EIAM     = 0x1530 // extended auto mask
	EICR     = 0x1580 // extended cause: bit v is vector v
	EITR     = 0x1680 // EITR(v): throttle of vector v, emreg.RegStride apart
	IVAR0    = 0x1700 // IVAR0(k): vectors of queues, emreg.RegStride apart
	IVARMisc = 0x1740 // IVAR_MISC: vectors of other causes
)

// Bits of GPIE, EITR, IVAR0 and IVAR_MISC.
const (
	GPIENSICR    = 1 << 0  // GPIE_NSICR: reading ICR clears whatever is set
	GPIEMSIXMode = 1 << 4  // GPIE_MSIX_MODE: causes go to vectors by IVAR
	GPIEEIAME    = 1 << 30 // GPIE_EIAME: a message masks what EIAM has
	GPIEPBA      = 1 << 31 // GPIE_PBA: pending bits

	EITRMask    = 0x7ffc // EITR_INTERVAL: 14:2
	EITRShift   = 2
	EITRUnitNs  = 1000    // of the interval: 1 us
	EITRCntIgnr = 1 << 31 // EITR_CNT_IGNR: the counter goes on

	IVARValid  = 0x80 // IVAR_VALID of a byte
	IVARVector = 0x1f // vector of a byte
	IVARByte   = 8    // bits of a byte
	IVARTx     = 8    // shift of a transmit queue's byte from its receive queue's
	IVAROdd    = 16   // shift of an odd queue (82580 and later), or of one from 8 on (82576)
	IVAROther  = 8    // shift of the other causes in IVAR_MISC; the timer's is 0
	IVARs      = 8    // IVAR0 registers
	IVAR82576  = 8    // queues of 82576 that have the low half of a register: q&7
)

// Receive and transmit (spec 1g 5.3).
const (
	RXPBS      = 0x2404 // receive packet buffer size
	TXPBS      = 0x3404 // transmit packet buffer size
	DMACR      = 0x2508 // DMA coalescing control
	DMCTXTH    = 0x3550 // DMA coalescing transmit threshold
	DMCRTRH    = 0x5dd0 // DMA coalescing receive rate threshold
	DMCTLX     = 0x2514 // DMA coalescing time to LX
	DTXCTL     = 0x3590 // DMA transmit control
	DTXTCPFLGL = 0x359c // TCP flags of the first and the middle segments
	DTXTCPFLGH = 0x35a0 // TCP flags of the last segment
	RLPML      = 0x5004 // longest packet with RCTL.LPE, FCS included
	UTA        = 0xa000 // unicast table
	RAHigh     = 0x54e0 // RAL(n) from RAHighFirst on, emreg.RAStride apart; RAH(n) behind
)

// Fields of these registers, and of RXCSUM and MRQC beside what emreg has.
const (
	DTXFlagsMask     = 0xfff // TCP flags that are kept
	DTXMiddleShift   = 16    // middle segments in DTXTCPFLGL
	RAHighFirst      = 16    // first receive address at RAHigh
	RAHPoolMask      = 3 << 18
	RXCSUMCRCOFL     = 1 << 11 // RXCSUM_CRCOFL: check SCTP
	RFCTLNewIPv6XDis = 1 << 17 // RFCTL_NEW_IPV6_EXT_DIS
	RFCTLLEF         = 1 << 18 // RFCTL_LEF

	MRQCRSS       = 2       // MRQC_ENABLE_RSS_4Q, _MQ: RSS over the part's queues
	MRQCUDPIPv4   = 1 << 22 // MRQC_RSS_FIELD_IPV4_UDP
	MRQCUDPIPv6   = 1 << 23 // MRQC_RSS_FIELD_IPV6_UDP
	MRQCUDPIPv6Ex = 1 << 24 // MRQC_RSS_FIELD_IPV6_UDP_EX
)

// Control, PHY and the rest (spec 1g 5.1).
const (
	CONNSW   = 0x0034 // copper and fiber switch
	MDICNFG  = 0x0e04 // MDI configuration, 82580 and later
	PHPM     = 0x0e14 // PHY power management
	EEER     = 0x0e30 // energy-efficient Ethernet
	EEESU    = 0x0e34 // EEE_SU
	IPCNFG   = 0x0e38 // internal PHY configuration
	PCIEMISC = 0x5bb8 // miscellaneous PCIe bits

	CtrlDevRST       = 1 << 29 // CTRL_DEV_RST: reset of the device, self-clearing (82580 and later)
	StatusDevRSTSet  = 1 << 20 // STATUS_DEV_RST_SET: there was one; writing 1 clears
	CtrlExtNSICR     = 1 << 0  // CTRL_EXT_NSICR
	EECDFlashPresent = 1 << 19 // EECD_FLASH_DETECTED_I210
	WUCAPME          = 1 << 0  // WUC_APME
	WUFCLNKC         = 1 << 0  // WUFC_LNKC
	PHPMSPD          = 1 << 0  // 82580_PM_SPD
	PHPMD0LPLU       = 1 << 1  // 82580_PM_D0_LPLU
	PHPMD3LPLU       = 1 << 2  // 82580_PM_D3_LPLU
	PHPMGoLinkD      = 1 << 5  // 82580_PM_GO_LINKD
	PHPMRstCompl     = 1 << 8  // PHPM_RST_COMPL
	MDICDest         = 1 << 31 // MDIC_DEST
	MDICNFGExtMDIO   = 1 << 31 // MDICNFG_EXT_MDIO
	MDICNFGComMDIO   = 1 << 30 // MDICNFG_COM_MDIO
	SyncNVM          = 1 << 0  // SWFW_EEP_SM in emreg.SWFWSync
	SyncPHY0         = 1 << 1  // SWFW_PHY0_SM
	SyncPHY1         = 1 << 2  // SWFW_PHY1_SM
	SyncPHY2         = 1 << 5  // SWFW_PHY2_SM
	SyncPHY3         = 1 << 6  // SWFW_PHY3_SM
	SyncFirmware     = 16      // shift of the firmware's bits
)

// Cause bits of ICR beside emreg's.
const (
	ICRVMMB  = 1 << 8     // ICR_VMMB: mailbox
	ICRTS    = 1 << 19    // ICR_TS: time stamp
	ICRFER   = 1 << 22    // ICR_FER: fatal error
	ICRTHS   = 1 << 23    // ICR_THS: thermal sensor
	ICRMDDET = 1 << 28    // ICR_MDDET: malicious driver
	ICRDRSTA = 1 << 30    // ICR_DRSTA: device reset
	IMSMask  = 0x77d4fbfd // causes that IMS has bits for
)

// Statistics beside emreg's (spec 1g 5.5).
const (
	CBTMPC  = 0x402c // circuit breaker transmit missed packets (RERC on igc)
	HGORCL  = 0x4128 // host good octets received
	HGORCH  = 0x412c
	HGOTCL  = 0x4130 // host good octets transmitted
	HGOTCH  = 0x4134
	LENERRS = 0x4138 // length errors
	TLPIC   = 0x4148 // transmit low power idle
	RLPIC   = 0x414c // receive low power idle
)
