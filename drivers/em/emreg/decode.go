package emreg

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bitname"
)

// Commands of the three kinds of transmit descriptor (spec 1g 3.1): the same bits mean
// other things.
var (
	legacyCmds = []bitname.Bit{{Mask: TxdCmdEOP, Name: "EOP"}, {Mask: TxdCmdIFCS, Name: "IFCS"}, {Mask: TxdCmdIC, Name: "IC"}, {Mask: TxdCmdRS, Name: "RS"},
		{Mask: TxdCmdRPS, Name: "RPS"}, {Mask: TxdCmdVLE, Name: "VLE"}, {Mask: TxdCmdIDE, Name: "IDE"}}
	dataCmds = []bitname.Bit{{Mask: TxdCmdEOP, Name: "EOP"}, {Mask: TxdCmdIFCS, Name: "IFCS"}, {Mask: TxdCmdTSE, Name: "TSE"}, {Mask: TxdCmdRS, Name: "RS"},
		{Mask: TxdCmdRPS, Name: "RPS"}, {Mask: TxdCmdDEXT, Name: "DEXT"}, {Mask: TxdCmdVLE, Name: "VLE"}, {Mask: TxdCmdIDE, Name: "IDE"}}
	contextCmds = []bitname.Bit{{Mask: CtxCmdTCP, Name: "TCP"}, {Mask: CtxCmdIP, Name: "IP"}, {Mask: CtxCmdTSE, Name: "TSE"}, {Mask: TxdCmdRS, Name: "RS"},
		{Mask: TxdCmdDEXT, Name: "DEXT"}, {Mask: TxdCmdIDE, Name: "IDE"}}
	txdStats = []bitname.Bit{{Mask: TxdStatDD, Name: "DD"}, {Mask: TxdStatEC, Name: "EC"}, {Mask: TxdStatLC, Name: "LC"}, {Mask: TxdStatTU, Name: "TU"}}
	popts    = []bitname.Bit{{Mask: TxdPoptsIXSM, Name: "IXSM"}, {Mask: TxdPoptsTXSM, Name: "TXSM"}}
	causes   = []bitname.Bit{{Mask: ICRTXDW, Name: "TXDW"}, {Mask: ICRTXQE, Name: "TXQE"}, {Mask: ICRLSC, Name: "LSC"}, {Mask: ICRRXSEQ, Name: "RXSEQ"},
		{Mask: ICRRXDMT0, Name: "RXDMT0"}, {Mask: ICRRXO, Name: "RXO"}, {Mask: ICRRXT0, Name: "RXT0"}, {Mask: ICRMDAC, Name: "MDAC"}, {Mask: ICRSRPD, Name: "SRPD"},
		{Mask: ICRACK, Name: "ACK"}, {Mask: ICRRXQ0, Name: "RXQ0"}, {Mask: ICRRXQ1, Name: "RXQ1"}, {Mask: ICRTXQ0, Name: "TXQ0"}, {Mask: ICRTXQ1, Name: "TXQ1"},
		{Mask: ICROther, Name: "OTHER"}, {Mask: ICRIntAsserted, Name: "INT_ASSERTED"}}
)

const (
	dwordBits = 32
	byteField = 0xff
)

// CauseNames lists the causes of an interrupt register (ICR, ICS, IMS, IMC) by name.
func CauseNames(v uint32) string { return bitname.List(v, causes) }

// DecodeTxDesc describes a transmit descriptor (spec 1g 3.1) by the names of its fields.
// words are d1:d0 and d3:d2, as in memory. Any words will do.
func DecodeTxDesc(words [2]uint64) string {
	d2 := uint32(words[1])
	switch {
	case d2&TxdCmdDEXT == 0:
		return decodeLegacy(words[0], d2, uint32(words[1]>>dwordBits))
	case d2&TxdDtypMask == TxdDtypD:
		return decodeData(words[0], d2, uint32(words[1]>>dwordBits))
	case d2&TxdDtypMask == TxdDtypC:
		return decodeContext(words[0], d2, uint32(words[1]>>dwordBits))
	}
	return fmt.Sprintf("unknown DTYP=%d %#016x %#016x", d2&TxdDtypMask/TxdDtypD, words[0], words[1])
}

// cmdBits are the command byte of d2.
const cmdBits = 0xff << 24

func decodeLegacy(addr uint64, d2, d3 uint32) string {
	s := fmt.Sprintf("legacy addr=%#x len=%d cmd=%s sta=%s", addr, d2&TxdLenMask, bitname.List(d2&cmdBits, legacyCmds),
		bitname.List(d3&TxdStatMask, txdStats))
	if d2&TxdCmdIC != 0 {
		s += fmt.Sprintf(" CSS=%d CSO=%d", d3>>TxdCSSShift&byteField, d2>>TxdCSOShift&byteField)
	}
	return s + special(d2, d3)
}

func decodeData(addr uint64, d2, d3 uint32) string {
	return fmt.Sprintf("extended addr=%#x len=%d cmd=%s sta=%s popts=%s", addr, d2&TxdDataLenMask,
		bitname.List(d2&cmdBits, dataCmds), bitname.List(d3&TxdStatMask, txdStats),
		bitname.List(d3>>TxdPoptsShift&byteField, popts)) + special(d2, d3)
}

// special is the tag, if it is used.
func special(d2, d3 uint32) string {
	if d2&TxdCmdVLE == 0 {
		return ""
	}
	return fmt.Sprintf(" special=%#04x", d3>>TxdVLANShift)
}

func decodeContext(d01 uint64, d2, d3 uint32) string {
	ip, tu := uint32(d01), uint32(d01>>dwordBits)
	return fmt.Sprintf("context IPCSS=%d IPCSO=%d IPCSE=%d TUCSS=%d TUCSO=%d TUCSE=%d PAYLEN=%d TUCMD=%s sta=%s HDRLEN=%d MSS=%d",
		ip&CtxCSSMask, ip>>CtxCSOShift&byteField, ip>>CtxCSEShift,
		tu&CtxCSSMask, tu>>CtxCSOShift&byteField, tu>>CtxCSEShift,
		d2&CtxPayLenMask, bitname.List(d2&cmdBits, contextCmds), bitname.List(d3&TxdStatMask, txdStats),
		d3>>CtxHdrLenShift&byteField, d3>>CtxMSSShift)
}
