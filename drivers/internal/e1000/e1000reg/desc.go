package e1000reg

// Advanced transmit descriptors (spec 1g 3.4; union e1000_adv_tx_desc, struct
// e1000_adv_tx_context_desc): four dwords d0..d3.
const (
	TxdLenMask  = 0xffff    // d2: bytes in the buffer (DTALEN)
	TxdLinkSec  = 1 << 18   // d2: ADVTXD_MAC_LINKSEC
	TxdTstamp   = 1 << 19   // d2: ADVTXD_MAC_TSTAMP
	TxdDtypMask = 0xf << 20 // d2: descriptor type
	TxdDtypData = 3 << 20   // ADVTXD_DTYP_DATA
	TxdDtypCtxt = 2 << 20   // ADVTXD_DTYP_CTXT
	TxdEOP      = 1 << 24   // ADVTXD_DCMD_EOP: end of packet
	TxdIFCS     = 1 << 25   // ADVTXD_DCMD_IFCS: insert FCS
	TxdRS       = 1 << 27   // ADVTXD_DCMD_RS: report status
	TxdDEXT     = 1 << 29   // ADVTXD_DCMD_DEXT: not a legacy descriptor
	TxdVLE      = 1 << 30   // ADVTXD_DCMD_VLE: insert the context's tag
	TxdTSE      = 1 << 31   // ADVTXD_DCMD_TSE: segment

	TxdDD          = 1 << 0 // d3, written back: ADVTXD_STAT_DD
	TxdIdxShift    = 4      // d3 7:4: ADVTXD_IDX_SHIFT
	TxdIdxMask     = 0xf << 4
	TxdIXSM        = 1 << 8  // d3: TXD_POPTS_IXSM: insert IP checksum
	TxdTXSM        = 1 << 9  // d3: TXD_POPTS_TXSM: insert TCP, UDP or SCTP checksum
	TxdIPSec       = 1 << 10 // d3: ADVTXD_POPTS_IPSEC
	TxdPayLenShift = 14      // d3 31:14: ADVTXD_PAYLEN_SHIFT
	TxdPayLenMax   = 1<<18 - 1

	CtxIPLenMask   = 0x1ff // d0 8:0: bytes of IP header
	CtxMACLenShift = 9     // d0 15:9: ADVTXD_MACLEN_SHIFT
	CtxMACLenMask  = 0x7f
	CtxVLANShift   = 16      // d0 31:16: ADVTXD_VLAN_SHIFT
	CtxIPv4        = 1 << 10 // d2: ADVTXD_TUCMD_IPV4
	CtxL4Mask      = 3 << 11 // d2: L4T
	CtxL4UDP       = 0 << 11 // ADVTXD_TUCMD_L4T_UDP
	CtxL4TCP       = 1 << 11 // ADVTXD_TUCMD_L4T_TCP
	CtxL4SCTP      = 2 << 11 // ADVTXD_TUCMD_L4T_SCTP
	CtxL4Reserved  = 3 << 11
	CtxIPSecESP    = 1 << 13 // d2: ADVTXD_TUCMD_IPSEC_TYPE_ESP
	CtxIPSecEncr   = 1 << 14 // d2: ADVTXD_TUCMD_IPSEC_ENCRYPT_EN
	CtxL4LenShift  = 8       // d3 15:8: ADVTXD_L4LEN_SHIFT
	CtxL4LenMask   = 0xff
	CtxMSSShift    = 16 // d3 31:16: ADVTXD_MSS_SHIFT
)

// Advanced receive descriptors (spec 1g 3.5; union e1000_adv_rx_desc). Status is d2
// 19:0 and errors begin at d2 bit 24, with emreg.RxdStat* and emreg.RxdErr*.
const (
	RxdRSSMask = 0xf // d0 3:0: RXDADV_RSSTYPE_MASK

	RxdPktIPv4    = 1 << 4  // d0: RXDADV_PKTTYPE_IPV4
	RxdPktIPv4Ex  = 1 << 5  // RXDADV_PKTTYPE_IPV4_EX: with options
	RxdPktIPv6    = 1 << 6  // RXDADV_PKTTYPE_IPV6
	RxdPktIPv6Ex  = 1 << 7  // RXDADV_PKTTYPE_IPV6_EX: with extension headers
	RxdPktTCP     = 1 << 8  // RXDADV_PKTTYPE_TCP
	RxdPktUDP     = 1 << 9  // RXDADV_PKTTYPE_UDP
	RxdPktSCTP    = 1 << 10 // RXDADV_PKTTYPE_SCTP
	RxdPktNFS     = 1 << 11 // RXDADV_PKTTYPE_NFS
	RxdPktESP     = 1 << 12 // RXDADV_PKTTYPE_IPSEC_ESP
	RxdPktAH      = 1 << 13 // RXDADV_PKTTYPE_IPSEC_AH
	RxdPktLinkSec = 1 << 14 // RXDADV_PKTTYPE_LINKSEC
	RxdPktETQF    = 1 << 15 // RXDADV_PKTTYPE_ETQF: bits 6:4 are a filter
	RxdPktMask    = 0xfff0

	RxdHdrLenMask  = 0x7fe0 << 16 // d0: RXDADV_HDRBUFLEN_MASK
	RxdHdrLenShift = 16 + 5
	RxdSPH         = 0x8000 << 16 // d0: header was split

	RxdStatTSIP  = 1 << 15 // d2: RXDADV_STAT_TSIP: time stamp in the packet
	RxdStatTS    = 1 << 16 // d2: RXDADV_STAT_TS
	RxdStatLB    = 1 << 18 // d2: RXDADV_STAT_LB: from a virtual function
	RxdErrHBO    = 1 << 23 // d2: RXDADV_ERR_HBO: header buffer overflow
	RxdVLANShift = 16      // d3 31:16: tag; length is 15:0
)
