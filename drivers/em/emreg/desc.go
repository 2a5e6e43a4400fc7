package emreg

// Legacy transmit descriptor (spec 1g 3.1; struct e1000_tx_desc): d1:d0 address, d2
// length, CSO and command, d3 status, CSS and special.
const (
	TxdLenMask   = 0xffff  // d2: length
	TxdCSOShift  = 16      // d2: checksum offset
	TxdCmdEOP    = 1 << 24 // TXD_CMD_EOP: end of packet
	TxdCmdIFCS   = 1 << 25 // TXD_CMD_IFCS: insert FCS
	TxdCmdIC     = 1 << 26 // TXD_CMD_IC: insert checksum (legacy)
	TxdCmdRS     = 1 << 27 // TXD_CMD_RS: report status
	TxdCmdRPS    = 1 << 28 // TXD_CMD_RPS: report packet sent
	TxdCmdDEXT   = 1 << 29 // TXD_CMD_DEXT: extended descriptor
	TxdCmdVLE    = 1 << 30 // TXD_CMD_VLE: insert tag
	TxdCmdIDE    = 1 << 31 // TXD_CMD_IDE: delay the interrupt
	TxdStatDD    = 1 << 0  // TXD_STAT_DD: done (d3)
	TxdStatEC    = 1 << 1  // TXD_STAT_EC: excess collisions
	TxdStatLC    = 1 << 2  // TXD_STAT_LC: late collision
	TxdStatTU    = 1 << 3  // TXD_STAT_TU: underrun
	TxdStatMask  = 0xf
	TxdCSSShift  = 8  // d3: checksum start
	TxdVLANShift = 16 // d3: tag
)

// Extended data descriptor (spec 1g 3.1; struct e1000_data_desc).
const (
	TxdDataLenMask = 0xfffff   // d2: length
	TxdDtypMask    = 0xf << 20 // d2: descriptor type
	TxdDtypD       = 1 << 20   // TXD_DTYP_D: data
	TxdDtypC       = 0 << 20   // TXD_DTYP_C: context
	TxdCmdTSE      = 1 << 26   // TXD_CMD_TSE: segment (extended)
	TxdPoptsShift  = 8         // d3: packet options
	TxdPoptsIXSM   = 1 << 0    // TXD_POPTS_IXSM: insert IP checksum
	TxdPoptsTXSM   = 1 << 1    // TXD_POPTS_TXSM: insert TCP or UDP checksum
)

// Context descriptor (spec 1g 3.1; struct e1000_context_desc).
const (
	CtxCSSMask     = 0xff    // d0, d1: start
	CtxCSOShift    = 8       // d0, d1: field
	CtxCSEShift    = 16      // d0, d1: inclusive end
	CtxPayLenMask  = 0xfffff // d2: TSO payload
	CtxCmdTCP      = 1 << 24 // TXD_CMD_TCP: TCP, else UDP
	CtxCmdIP       = 1 << 25 // TXD_CMD_IP: IPv4, else IPv6
	CtxCmdTSE      = 1 << 26 // TXD_CMD_TSE
	CtxHdrLenShift = 8       // d3: header length
	CtxMSSShift    = 16      // d3: segment size
)

// Receive status and errors. In a legacy descriptor (spec 1g 3.2; struct e1000_rx_desc)
// status is d3 7:0 and errors d3 15:8; in an extended one (3.3; union
// e1000_rx_desc_extended) status is d2 19:0 and errors begin at d2 bit 24.
const (
	RxdStatDD    = 1 << 0  // RXD_STAT_DD: done
	RxdStatEOP   = 1 << 1  // RXD_STAT_EOP: end of packet
	RxdStatIXSM  = 1 << 2  // RXD_STAT_IXSM: ignore checksum bits
	RxdStatVP    = 1 << 3  // RXD_STAT_VP: tag taken out
	RxdStatUDPCS = 1 << 4  // RXD_STAT_UDPCS: UDP checked
	RxdStatTCPCS = 1 << 5  // RXD_STAT_TCPCS: TCP or UDP checked
	RxdStatIPCS  = 1 << 6  // RXD_STAT_IPCS: IPv4 header checked
	RxdStatPIF   = 1 << 7  // RXD_STAT_PIF: passed inexact filter
	RxdStatIPIDV = 1 << 9  // RXD_STAT_IPIDV: IP id valid (extended)
	RxdStatUDPV  = 1 << 10 // RXD_STAT_UDPV: packet checksum valid (extended)

	RxdErrCE   = 1 << 0 // RXD_ERR_CE: FCS
	RxdErrSE   = 1 << 1 // RXD_ERR_SE: symbol
	RxdErrSEQ  = 1 << 2 // RXD_ERR_SEQ: sequence
	RxdErrCXE  = 1 << 4 // RXD_ERR_CXE: carrier extension
	RxdErrTCPE = 1 << 5 // RXD_ERR_TCPE: TCP or UDP checksum
	RxdErrIPE  = 1 << 6 // RXD_ERR_IPE: IP checksum
	RxdErrRXE  = 1 << 7 // RXD_ERR_RXE: data

	// RxdErrFrameMask are the errors that make a frame bad (RXD_ERR_FRAME_ERR_MASK).
	RxdErrFrameMask = RxdErrCE | RxdErrSE | RxdErrSEQ | RxdErrCXE | RxdErrRXE

	RxdLegacyStatShift = 0  // d3: position of the status
	RxdLegacyErrShift  = 8  // d3: position of the errors
	RxdLegacyVLANShift = 16 // d3: tag
	RxdLegacyCsumShift = 16 // d2: packet checksum; length is 15:0

	RxdExtErrShift  = 24 // d2: position of the errors
	RxdExtVLANShift = 16 // d3: tag; length is 15:0
	RxdExtCsumShift = 16 // d1 without PCSD: packet checksum; IP id is 15:0

	// RxdExtErrFrameMask is RxdErrFrameMask in d2 (RXDEXT_ERR_FRAME_ERR_MASK).
	RxdExtErrFrameMask = RxdErrFrameMask << RxdExtErrShift

	RxdMRQTypeMask   = 0xf // d0: RSS type (RXDADV_RSSTYPE_MASK)
	RxdMRQQueueShift = 8   // d0: queue
)
