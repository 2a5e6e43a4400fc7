package emreg

// Control, status, NVM, PHY and semaphores (spec 1g 5.1).
const (
	CTRL       = 0x0000 // device control
	CTRLDup    = 0x0004 // CTRL_DUP: alias of CTRL, for the reset of rev_3 parts
	STATUS     = 0x0008 // device status
	EECD       = 0x0010 // EEPROM control and data
	EERD       = 0x0014 // EEPROM read
	CTRLExt    = 0x0018 // CTRL_EXT: extended device control
	FLA        = 0x001c // flash access
	MDIC       = 0x0020 // MDI control
	SCTL       = 0x0024 // SerDes control
	FCAL       = 0x0028 // flow control address low
	FCAH       = 0x002c // flow control address high
	FCT        = 0x0030 // flow control type
	VET        = 0x0038 // VLAN EtherType
	FCTTV      = 0x0170 // flow control transmit timer value
	TXCW       = 0x0178 // transmit configuration word (fiber)
	RXCW       = 0x0180 // receive configuration word (fiber)
	TCTL       = 0x0400 // transmit control
	TCTLExt    = 0x0404 // TCTL_EXT
	TIPG       = 0x0410 // transmit inter-packet gap
	AIT        = 0x0458 // adaptive IFS throttle
	LEDCTL     = 0x0e00 // LED control
	EXTCNFCtrl = 0x0f00 // EXTCNF_CTRL: extended configuration control
	EXTCNFSize = 0x0f08 // EXTCNF_SIZE
	PHYCtrl    = 0x0f10 // PHY_CTRL
	PBA        = 0x1000 // packet buffer allocation, KiB
	PBS        = 0x1008 // packet buffer size, KiB
	EEMNGCTL   = 0x1010 // management EEPROM control
	EEWR       = 0x102c // EEPROM write
	FCRTL      = 0x2160 // flow control receive threshold low
	FCRTH      = 0x2168 // flow control receive threshold high
	WUC        = 0x5800 // wake-up control
	WUFC       = 0x5808 // wake-up filter control
	WUS        = 0x5810 // wake-up status
	MANC       = 0x5820 // management control
	MANC2H     = 0x5860 // management control to host
	GCR        = 0x5b00 // PCIe control
	FACTPS     = 0x5b30 // function active and power state
	SWSM       = 0x5b50 // software semaphore
	FWSM       = 0x5b54 // firmware semaphore
	SWSM2      = 0x5b58 // driver-only software semaphore
	SWFWSync   = 0x5b5c // SW_FW_SYNC
	GCR2       = 0x5b64 // PCIe control 2
)

// Interrupts (spec 1g 5.2).
const (
	ICR  = 0x00c0 // cause read
	ITR  = 0x00c4 // throttle, 256 ns
	ICS  = 0x00c8 // cause set
	IMS  = 0x00d0 // mask set and read
	IMC  = 0x00d8 // mask clear
	EIAC = 0x00dc // EIAC_82574: auto-clear with MSI-X
	IAM  = 0x00e0 // acknowledge auto-mask
	IVAR = 0x00e4 // IVAR_82574: vector allocation
	EITR = 0x00e8 // EITR_82574(n): throttle of vector n, 256 ns
)

// Receive (spec 1g 5.3). Those of queue n are RingStride*n further.
const (
	RCTL   = 0x0100 // receive control
	RDBAL  = 0x2800 // descriptor base address low
	RDBAH  = 0x2804 // descriptor base address high
	RDLEN  = 0x2808 // descriptor length in bytes
	RDH    = 0x2810 // descriptor head
	RDT    = 0x2818 // descriptor tail
	RDTR   = 0x2820 // delay timer, 1.024 us
	RXDCTL = 0x2828 // descriptor control
	RADV   = 0x282c // absolute delay timer, 1.024 us
	RXCSUM = 0x5000 // checksum control
	RFCTL  = 0x5008 // filter control
	MTA    = 0x5200 // multicast table
	RAL    = 0x5400 // RAL(n): receive address low, RAStride apart
	RAH    = 0x5404 // RAH(n): receive address high
	VFTA   = 0x5600 // VLAN table
	MRQC   = 0x5818 // multiple receive queues control
	RETA   = 0x5c00 // redirection table
	RSSRK  = 0x5c80 // RSS random key
)

// Transmit (spec 1g 5.3). Those of queue n are RingStride*n further.
const (
	TDBAL  = 0x3800 // descriptor base address low
	TDBAH  = 0x3804 // descriptor base address high
	TDLEN  = 0x3808 // descriptor length in bytes
	TDH    = 0x3810 // descriptor head
	TDT    = 0x3818 // descriptor tail
	TIDV   = 0x3820 // interrupt delay value, 1.024 us
	TXDCTL = 0x3828 // descriptor control
	TADV   = 0x382c // absolute interrupt delay value, 1.024 us
	TARC   = 0x3840 // arbitration count
)

// Statistics (spec 1g 5.5): cleared by reading, octets as pairs.
const (
	CRCERRS  = 0x4000 // frames with bad FCS
	ALGNERRC = 0x4004 // alignment errors
	SYMERRS  = 0x4008 // symbol errors
	RXERRC   = 0x400c // receive errors
	MPC      = 0x4010 // missed packets
	SCC      = 0x4014 // single collisions
	ECOL     = 0x4018 // excessive collisions
	MCC      = 0x401c // multiple collisions
	LATECOL  = 0x4020 // late collisions
	COLC     = 0x4028 // collisions
	DC       = 0x4030 // defers
	TNCRS    = 0x4034 // transmits without carrier sense
	SEC      = 0x4038 // sequence errors
	CEXTERR  = 0x403c // carrier extension errors
	RLEC     = 0x4040 // receive length errors
	XONRXC   = 0x4048 // XON received
	XONTXC   = 0x404c // XON transmitted
	XOFFRXC  = 0x4050 // XOFF received
	XOFFTXC  = 0x4054 // XOFF transmitted
	FCRUC    = 0x4058 // unsupported flow control received
	PRC64    = 0x405c // received, 64 bytes with FCS
	PRC127   = 0x4060 // received, 65-127
	PRC255   = 0x4064 // received, 128-255
	PRC511   = 0x4068 // received, 256-511
	PRC1023  = 0x406c // received, 512-1023
	PRC1522  = 0x4070 // received, 1024 and more
	GPRC     = 0x4074 // good packets received
	BPRC     = 0x4078 // broadcasts received
	MPRC     = 0x407c // multicasts received
	GPTC     = 0x4080 // good packets transmitted
	GORCL    = 0x4088 // good octets received
	GORCH    = 0x408c
	GOTCL    = 0x4090 // good octets transmitted
	GOTCH    = 0x4094
	RNBC     = 0x40a0 // no buffers for a frame
	RUC      = 0x40a4 // undersize
	RFC      = 0x40a8 // fragments
	ROC      = 0x40ac // oversize
	RJC      = 0x40b0 // jabber
	MGTPRC   = 0x40b4 // management packets received
	MGTPDC   = 0x40b8 // management packets dropped
	MGTPTC   = 0x40bc // management packets transmitted
	TORL     = 0x40c0 // total octets received
	TORH     = 0x40c4
	TOTL     = 0x40c8 // total octets transmitted
	TOTH     = 0x40cc
	TPR      = 0x40d0 // total packets received
	TPT      = 0x40d4 // total packets transmitted
	PTC64    = 0x40d8 // transmitted, 64 bytes with FCS
	PTC127   = 0x40dc // transmitted, 65-127
	PTC255   = 0x40e0 // transmitted, 128-255
	PTC511   = 0x40e4 // transmitted, 256-511
	PTC1023  = 0x40e8 // transmitted, 512-1023
	PTC1522  = 0x40ec // transmitted, 1024 and more
	MPTC     = 0x40f0 // multicasts transmitted
	BPTC     = 0x40f4 // broadcasts transmitted
	TSCTC    = 0x40f8 // TSO contexts transmitted
	TSCTFC   = 0x40fc // TSO contexts that failed
	IAC      = 0x4100 // interrupts asserted
	ICRXPTC  = 0x4104 // interrupts by receive packet timer
	ICRXATC  = 0x4108 // interrupts by receive absolute timer
	ICTXPTC  = 0x410c // interrupts by transmit packet timer
	ICTXATC  = 0x4110 // interrupts by transmit absolute timer
	ICTXQEC  = 0x4118 // interrupts by transmit queue empty
	ICTXQMTC = 0x411c // interrupts by transmit queue minimum threshold
	ICRXDMTC = 0x4120 // interrupts by receive descriptor minimum threshold
	ICRXOC   = 0x4124 // interrupts by receive overrun

	StatsFirst = CRCERRS // first and last register of the block
	StatsLast  = RLPIC
)
