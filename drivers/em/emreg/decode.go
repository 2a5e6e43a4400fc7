package emreg

import (
	"fmt"
	"strings"
)

// bitName names a bit of a word.
type bitName struct {
	bit  uint32
	name string
}

// Commands of the three kinds of transmit descriptor (spec 1g 3.1): the same bits mean
// other things.
var (
	legacyCmds = []bitName{{TxdCmdEOP, "EOP"}, {TxdCmdIFCS, "IFCS"}, {TxdCmdIC, "IC"}, {TxdCmdRS, "RS"},
		{TxdCmdRPS, "RPS"}, {TxdCmdVLE, "VLE"}, {TxdCmdIDE, "IDE"}}
	dataCmds = []bitName{{TxdCmdEOP, "EOP"}, {TxdCmdIFCS, "IFCS"}, {TxdCmdTSE, "TSE"}, {TxdCmdRS, "RS"},
		{TxdCmdRPS, "RPS"}, {TxdCmdDEXT, "DEXT"}, {TxdCmdVLE, "VLE"}, {TxdCmdIDE, "IDE"}}
	contextCmds = []bitName{{CtxCmdTCP, "TCP"}, {CtxCmdIP, "IP"}, {CtxCmdTSE, "TSE"}, {TxdCmdRS, "RS"},
		{TxdCmdDEXT, "DEXT"}, {TxdCmdIDE, "IDE"}}
	txdStats = []bitName{{TxdStatDD, "DD"}, {TxdStatEC, "EC"}, {TxdStatLC, "LC"}, {TxdStatTU, "TU"}}
	popts    = []bitName{{TxdPoptsIXSM, "IXSM"}, {TxdPoptsTXSM, "TXSM"}}
	causes   = []bitName{{ICRTXDW, "TXDW"}, {ICRTXQE, "TXQE"}, {ICRLSC, "LSC"}, {ICRRXSEQ, "RXSEQ"},
		{ICRRXDMT0, "RXDMT0"}, {ICRRXO, "RXO"}, {ICRRXT0, "RXT0"}, {ICRMDAC, "MDAC"}, {ICRSRPD, "SRPD"},
		{ICRACK, "ACK"}, {ICRRXQ0, "RXQ0"}, {ICRRXQ1, "RXQ1"}, {ICRTXQ0, "TXQ0"}, {ICRTXQ1, "TXQ1"},
		{ICROther, "OTHER"}, {ICRIntAsserted, "INT_ASSERTED"}}
)

const (
	dwordBits = 32
	byteField = 0xff
)

// names lists the bits of w, and in hexadecimal those that have no name.
func names(w uint32, table []bitName) string {
	var out []string
	for _, b := range table {
		if w&b.bit != 0 {
			out = append(out, b.name)
			w &^= b.bit
		}
	}
	if w != 0 {
		out = append(out, fmt.Sprintf("%#x", w))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, "|")
}

// CauseNames lists the causes of an interrupt register (ICR, ICS, IMS, IMC) by name.
func CauseNames(v uint32) string { return names(v, causes) }

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
	s := fmt.Sprintf("legacy addr=%#x len=%d cmd=%s sta=%s", addr, d2&TxdLenMask, names(d2&cmdBits, legacyCmds),
		names(d3&TxdStatMask, txdStats))
	if d2&TxdCmdIC != 0 {
		s += fmt.Sprintf(" CSS=%d CSO=%d", d3>>TxdCSSShift&byteField, d2>>TxdCSOShift&byteField)
	}
	return s + special(d2, d3)
}

func decodeData(addr uint64, d2, d3 uint32) string {
	return fmt.Sprintf("extended addr=%#x len=%d cmd=%s sta=%s popts=%s", addr, d2&TxdDataLenMask,
		names(d2&cmdBits, dataCmds), names(d3&TxdStatMask, txdStats),
		names(d3>>TxdPoptsShift&byteField, popts)) + special(d2, d3)
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
		d2&CtxPayLenMask, names(d2&cmdBits, contextCmds), names(d3&TxdStatMask, txdStats),
		d3>>CtxHdrLenShift&byteField, d3>>CtxMSSShift)
}
