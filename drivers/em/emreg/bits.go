package emreg

// Bits of CTRL.
const (
	CtrlFD               = 1 << 0  // CTRL_FD: full duplex
	CtrlGIOMasterDisable = 1 << 2  // CTRL_GIO_MASTER_DISABLE: stop DMA (PCIe)
	CtrlLRST             = 1 << 3  // CTRL_LRST: link reset
	CtrlASDE             = 1 << 5  // CTRL_ASDE: auto-speed detection
	CtrlSLU              = 1 << 6  // CTRL_SLU: set link up
	CtrlILOS             = 1 << 7  // CTRL_ILOS: invert loss of signal
	CtrlSpdSel           = 3 << 8  // CTRL_SPD_SEL: forced speed
	CtrlSpd10            = 0 << 8  // CTRL_SPD_10
	CtrlSpd100           = 1 << 8  // CTRL_SPD_100
	CtrlSpd1000          = 2 << 8  // CTRL_SPD_1000
	CtrlFrcSpd           = 1 << 11 // CTRL_FRCSPD: force speed
	CtrlFrcDpx           = 1 << 12 // CTRL_FRCDPX: force duplex
	CtrlSWDPIN0          = 1 << 18 // CTRL_SWDPIN0
	CtrlSWDPIN1          = 1 << 19 // CTRL_SWDPIN1
	CtrlSWDPIN2          = 1 << 20 // CTRL_SWDPIN2 of 8254x
	CtrlADVD3WUC         = 1 << 20 // CTRL_ADVD3WUC of later parts
	CtrlRST              = 1 << 26 // CTRL_RST: reset, self-clearing
	CtrlRFCE             = 1 << 27 // CTRL_RFCE: receive flow control
	CtrlTFCE             = 1 << 28 // CTRL_TFCE: transmit flow control
	CtrlVME              = 1 << 30 // CTRL_VME: VLAN mode
	CtrlPHYRST           = 1 << 31 // CTRL_PHY_RST: PHY reset, self-clearing
)

// Bits of STATUS.
const (
	StatusFD              = 1 << 0  // STATUS_FD
	StatusLU              = 1 << 1  // STATUS_LU: link up
	StatusFunc            = 3 << 2  // STATUS_FUNC_MASK
	StatusTXOFF           = 1 << 4  // STATUS_TXOFF: paused
	StatusSpeedMask       = 3 << 6  // STATUS_SPEED_MASK
	StatusSpeed10         = 0 << 6  // STATUS_SPEED_10
	StatusSpeed100        = 1 << 6  // STATUS_SPEED_100
	StatusSpeed1000       = 2 << 6  // STATUS_SPEED_1000
	StatusLANInitDone     = 1 << 9  // STATUS_LAN_INIT_DONE
	StatusPHYRA           = 1 << 10 // STATUS_PHYRA: PHY reset asserted
	StatusPCIXMode        = 1 << 13 // STATUS_PCIX_MODE: the bus is PCI-X (8254x)
	StatusGIOMasterEnable = 1 << 19 // STATUS_GIO_MASTER_ENABLE: DMA may be in progress
)

// Bits of EECD.
const (
	EECDSK          = 1 << 0    // EECD_SK: clock
	EECDCS          = 1 << 1    // EECD_CS: chip select
	EECDDI          = 1 << 2    // EECD_DI: data to the NVM
	EECDDO          = 1 << 3    // EECD_DO: data from the NVM
	EECDReq         = 1 << 6    // EECD_REQ
	EECDGnt         = 1 << 7    // EECD_GNT
	EECDPres        = 1 << 8    // EECD_PRES: NVM present
	EECDSize        = 1 << 9    // EECD_SIZE of 8254x: 256 words, 8 address bits
	EECDAutoRD      = 1 << 9    // EECD_AUTO_RD of 82571 and later: auto-load done
	EECDAddrBits    = 1 << 10   // EECD_ADDR_BITS: SPI with 16 address bits
	EECDType        = 1 << 13   // EECD_TYPE of 8254x: SPI
	EECDSizeExMask  = 0xf << 11 // EECD_SIZE_EX_MASK of 82571 and later
	EECDSizeExShift = 11        // EECD_SIZE_EX_SHIFT: 2^(6+value) words
	EECDFLUPD       = 1 << 19   // EECD_FLUPD
	EECDAUPDEN      = 1 << 20   // EECD_AUPDEN
)

// Fields of EERD and EEWR.
const (
	NVMRWStart     = 1 << 0 // NVM_RW_REG_START
	NVMRWDone      = 1 << 1 // NVM_RW_REG_DONE
	NVMRWAddrShift = 2      // NVM_RW_ADDR_SHIFT
	NVMRWAddrMask  = 0x3fff // 14 bits of word address
	NVMRWDataShift = 16     // NVM_RW_REG_DATA
)

// Bits of CTRLExt.
const (
	CtrlExtEERST    = 1 << 13 // CTRL_EXT_EE_RST: reload the NVM, self-clearing
	CtrlExtSpdByps  = 1 << 15 // CTRL_EXT_SPD_BYPS
	CtrlExtRODis    = 1 << 17 // CTRL_EXT_RO_DIS
	CtrlExtPHYPDEN  = 1 << 20 // CTRL_EXT_PHYPDEN
	CtrlExtLinkMode = 3 << 22 // CTRL_EXT_LINK_MODE_MASK: 0 is copper
	CtrlExtEIAME    = 1 << 24 // CTRL_EXT_EIAME
	CtrlExtIAME     = 1 << 27 // CTRL_EXT_IAME: ICR read applies IAM
	CtrlExtDrvLoad  = 1 << 28 // CTRL_EXT_DRV_LOAD
	CtrlExtPBAClr   = 1 << 31 // CTRL_EXT_PBA_CLR: clear MSI-X pending bits
)

// Fields of MDIC.
const (
	MDICDataMask = 0xffff     // data
	MDICRegMask  = 0x1f << 16 // MDIC_REG_MASK
	MDICRegShift = 16         // MDIC_REG_SHIFT
	MDICPHYMask  = 0x1f << 21 // MDIC_PHY_MASK
	MDICPHYShift = 21         // MDIC_PHY_SHIFT
	MDICOpMask   = 3 << 26
	MDICOpWrite  = 1 << 26 // MDIC_OP_WRITE
	MDICOpRead   = 2 << 26 // MDIC_OP_READ
	MDICReady    = 1 << 28 // MDIC_READY
	MDICIntEn    = 1 << 29 // MDIC_INT_EN
	MDICError    = 1 << 30 // MDIC_ERROR
)

// Bits of EXTCNFCtrl, EEMNGCTL, SWSM, MANC, GCR, PBA.
const (
	EXTCNFSWOwnership  = 1 << 5  // EXTCNF_CTRL_SWFLAG, MDIO_SW_OWNERSHIP
	EEMNGCfgDone0      = 1 << 18 // NVM_CFG_DONE_PORT_0 (and the next bits for other ports)
	SWSMSMBI           = 1 << 0  // SWSM_SMBI: set by reading
	SWSMSWESMBI        = 1 << 1  // SWSM_SWESMBI
	SWSMDrvLoad        = 1 << 3  // SWSM_DRV_LOAD
	MANCSMBus          = 1 << 0  // MANC_SMBUS_EN
	MANCASF            = 1 << 1  // MANC_ASF_EN
	MANCARPEn          = 1 << 13 // MANC_ARP_EN
	MANCRcvTCOEn       = 1 << 17 // MANC_RCV_TCO_EN
	MANCBlkPHYRst      = 1 << 18 // MANC_BLK_PHY_RST_ON_IDE
	MANCEnMacFilter    = 1 << 20 // MANC_EN_MAC_ADDR_FILTER
	MANCEnMng2Host     = 1 << 21 // MANC_EN_MNG2HOST
	MANC2HPort623      = 1 << 5  // MNG2HOST_PORT_623
	MANC2HPort664      = 1 << 6  // MNG2HOST_PORT_664
	GCRCapVer2         = 1 << 18 // GCR_CAP_VER2
	GCRL1ActWithoutL0s = 1 << 27 // GCR_L1_ACT_WITHOUT_L0S_RX
	PBARxMask          = 0xffff  // PBA_RXA_MASK
	PBATxShift         = 16      // transmit part
	FCRTLXONE          = 1 << 31 // FCRTL_XONE
)

// Bits of ICR, ICS, IMS, IMC and EIAC (spec 1g 5.2).
const (
	ICRTXDW        = 1 << 0  // ICR_TXDW: transmit descriptor written back
	ICRTXQE        = 1 << 1  // ICR_TXQE: transmit queue empty
	ICRLSC         = 1 << 2  // ICR_LSC: link status change
	ICRRXSEQ       = 1 << 3  // ICR_RXSEQ: receive sequence error
	ICRRXDMT0      = 1 << 4  // ICR_RXDMT0: receive descriptors low
	ICRRXO         = 1 << 6  // ICR_RXO: receive overrun
	ICRRXT0        = 1 << 7  // ICR_RXT0: receive timer
	ICRMDAC        = 1 << 9  // ICR_MDAC: MDIO access complete
	ICRTXDLow      = 1 << 15 // ICR_TXD_LOW
	ICRSRPD        = 1 << 16 // ICR_SRPD
	ICRACK         = 1 << 17 // ICR_ACK
	ICRRXQ0        = 1 << 20 // ICR_RXQ0: 82574 receive queue 0
	ICRRXQ1        = 1 << 21 // ICR_RXQ1
	ICRTXQ0        = 1 << 22 // ICR_TXQ0
	ICRTXQ1        = 1 << 23 // ICR_TXQ1
	ICROther       = 1 << 24 // ICR_OTHER
	ICRIntAsserted = 1 << 31 // ICR_INT_ASSERTED

	// IMSEnableMask are the causes that the driver enables (IMS_ENABLE_MASK).
	IMSEnableMask = ICRRXT0 | ICRTXDW | ICRRXDMT0 | ICRRXSEQ | ICRLSC
)

// Fields of IVAR and units of the interrupt timers.
const (
	IVARRxQ0Shift  = 0 // nibble of a cause: vector and valid bit
	IVARRxQ1Shift  = 4
	IVARTxQ0Shift  = 8
	IVARTxQ1Shift  = 12
	IVAROtherShift = 16
	IVARNibble     = 0xf
	IVARVector     = 7
	IVARValid      = 8       // IVAR_INT_ALLOC_VALID of this part
	IVAREveryWB    = 1 << 31 // interrupt on every write-back

	ITRUnitNs   = 256    // ITR and EITR count in 256 ns
	ITRMask     = 0xffff // ITR, EITR: interval
	DelayUnitNs = 1024   // RDTR, RADV, TIDV and TADV count in 1.024 us
	DelayMask   = 0xffff
	DelayFPD    = 1 << 31 // RDTR_FPD, TIDV_FPD: flush now
)

// Bits of RCTL.
const (
	RCTLRST        = 1 << 0 // RCTL_RST
	RCTLEN         = 1 << 1 // RCTL_EN
	RCTLSBP        = 1 << 2 // RCTL_SBP: store bad packets
	RCTLUPE        = 1 << 3 // RCTL_UPE: unicast promiscuous
	RCTLMPE        = 1 << 4 // RCTL_MPE: multicast promiscuous
	RCTLLPE        = 1 << 5 // RCTL_LPE: long packets
	RCTLLBMMask    = 3 << 6 // RCTL_LBM: loopback
	RCTLLBMMAC     = 1 << 6 // RCTL_LBM_MAC
	RCTLRDMTSMask  = 3 << 8 // RCTL_RDMTS: minimum threshold, 1/2, 1/4, 1/8 of the ring
	RCTLRDMTSShift = 8
	RCTLDTYPMask   = 3 << 10 // RCTL_DTYP
	RCTLMOMask     = 3 << 12 // RCTL_MO: multicast offset
	RCTLMOShift    = 12      // RCTL_MO_SHIFT
	RCTLBAM        = 1 << 15 // RCTL_BAM: accept broadcasts
	RCTLSzMask     = 3 << 16 // RCTL_SZ: buffer size
	RCTLSz2048     = 0 << 16 // RCTL_SZ_2048
	RCTLSz1024     = 1 << 16 // RCTL_SZ_1024
	RCTLSz512      = 2 << 16 // RCTL_SZ_512
	RCTLSz256      = 3 << 16 // RCTL_SZ_256
	RCTLSz16384    = 1 << 16 // RCTL_SZ_16384, with BSEX
	RCTLSz8192     = 2 << 16 // RCTL_SZ_8192, with BSEX
	RCTLSz4096     = 3 << 16 // RCTL_SZ_4096, with BSEX
	RCTLSzShift    = 16
	RCTLVFE        = 1 << 18 // RCTL_VFE: VLAN filter
	RCTLCFIEN      = 1 << 19 // RCTL_CFIEN: CFI filter
	RCTLCFI        = 1 << 20 // RCTL_CFI
	RCTLDPF        = 1 << 22 // RCTL_DPF: discard pause frames
	RCTLPMCF       = 1 << 23 // RCTL_PMCF: pass MAC control frames
	RCTLBSEX       = 1 << 25 // RCTL_BSEX: buffer size times 16
	RCTLSECRC      = 1 << 26 // RCTL_SECRC: strip FCS
)

// Bits of TCTL, TIPG and TARC.
const (
	TCTLEN        = 1 << 1      // TCTL_EN
	TCTLPSP       = 1 << 3      // TCTL_PSP: pad short packets
	TCTLCT        = 0xff << 4   // TCTL_CT: collision threshold
	TCTLCTShift   = 4           // CT_SHIFT
	TCTLCOLD      = 0x3ff << 12 // TCTL_COLD: collision distance
	TCTLCOLDShift = 12          // COLD_SHIFT
	TCTLRTLC      = 1 << 24     // TCTL_RTLC: retransmit on late collision
	TCTLMULR      = 1 << 28     // TCTL_MULR: multiple requests

	CollisionThreshold = 15 // COLLISION_THRESHOLD
	CollisionDistance  = 63 // COLLISION_DISTANCE

	TIPGIPGTCopper = 8  // DEFAULT_82543_TIPG_IPGT_COPPER
	TIPGIPGTFiber  = 9  // DEFAULT_82543_TIPG_IPGT_FIBER
	TIPGIPGR1      = 8  // DEFAULT_82543_TIPG_IPGR1
	TIPGIPGR2      = 6  // DEFAULT_82543_TIPG_IPGR2
	TIPGIPGR1Shift = 10 // TIPG_IPGR1_SHIFT
	TIPGIPGR2Shift = 20 // TIPG_IPGR2_SHIFT
)

// Fields of RXDCTL and TXDCTL.
const (
	DCTLPthresh      = 0x3f      // prefetch threshold
	DCTLHthresh      = 0x3f << 8 // host threshold
	DCTLHthreshShift = 8
	DCTLWthresh      = 0x3f << 16 // write-back threshold
	DCTLWthreshShift = 16
	TXDCTLCountDesc  = 1 << 22 // TXDCTL_COUNT_DESC
	DCTLGran         = 1 << 24 // TXDCTL_GRAN: thresholds count descriptors
	TXDCTLLwthresh   = 1 << 25 // low bit of LWTHRESH
)

// Bits of RXCSUM, RFCTL and MRQC.
const (
	RXCSUMPCSSMask = 0xff    // RXCSUM_PCSS_MASK: packet checksum start
	RXCSUMIPOFL    = 1 << 8  // RXCSUM_IPOFL: check IPv4 headers
	RXCSUMTUOFL    = 1 << 9  // RXCSUM_TUOFL: check TCP and UDP
	RXCSUMIPV6OFL  = 1 << 10 // RXCSUM_IPV6OFL: check IPv6, lem class
	RXCSUMIPPCSE   = 1 << 12 // RXCSUM_IPPCSE
	RXCSUMPCSD     = 1 << 13 // RXCSUM_PCSD: RSS hash instead of packet checksum

	RFCTLACKDis    = 1 << 12 // RFCTL_ACK_DIS
	RFCTLEXTEN     = 1 << 15 // RFCTL_EXTEN: extended receive descriptors
	RFCTLIPv6ExDis = 1 << 16 // RFCTL_IPV6_EX_DIS

	MRQCEnableMask = 7       // MRQC_ENABLE_MASK
	MRQCRSS2Queues = 1       // MRQC_ENABLE_RSS_2Q
	MRQCTCPIPv4    = 1 << 16 // MRQC_RSS_FIELD_IPV4_TCP
	MRQCIPv4       = 1 << 17 // MRQC_RSS_FIELD_IPV4
	MRQCTCPIPv6Ex  = 1 << 18 // MRQC_RSS_FIELD_IPV6_TCP_EX
	MRQCIPv6Ex     = 1 << 19 // MRQC_RSS_FIELD_IPV6_EX
	MRQCIPv6       = 1 << 20 // MRQC_RSS_FIELD_IPV6
	MRQCTCPIPv6    = 1 << 21 // MRQC_RSS_FIELD_IPV6_TCP

	RETAQueueBit = 1 << 7 // queue of a byte of RETA on 82574

	RAHAV = 1 << 31 // RAH_AV: address valid
)
