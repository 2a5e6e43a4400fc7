package e1000reg

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bitname"
)

var (
	txdCmds = []bitname.Bit{{Mask: TxdEOP, Name: "EOP"}, {Mask: TxdIFCS, Name: "IFCS"}, {Mask: TxdRS, Name: "RS"},
		{Mask: TxdDEXT, Name: "DEXT"}, {Mask: TxdVLE, Name: "VLE"}, {Mask: TxdTSE, Name: "TSE"},
		{Mask: TxdLinkSec, Name: "LINKSEC"}, {Mask: TxdTstamp, Name: "1588"}}
	txdPopts = []bitname.Bit{{Mask: TxdIXSM, Name: "IXSM"}, {Mask: TxdTXSM, Name: "TXSM"}, {Mask: TxdIPSec, Name: "IPSEC"}}
	txdStats = []bitname.Bit{{Mask: TxdDD, Name: "DD"}}
	ctxCmds  = []bitname.Bit{{Mask: CtxIPv4, Name: "IPV4"}, {Mask: CtxIPSecESP, Name: "ESP"}, {Mask: CtxIPSecEncr, Name: "ENCRYPT"},
		{Mask: TxdDEXT, Name: "DEXT"}}
	pktTypes = []bitname.Bit{{Mask: RxdPktIPv4, Name: "IPV4"}, {Mask: RxdPktIPv4Ex, Name: "IPV4E"}, {Mask: RxdPktIPv6, Name: "IPV6"},
		{Mask: RxdPktIPv6Ex, Name: "IPV6E"}, {Mask: RxdPktTCP, Name: "TCP"}, {Mask: RxdPktUDP, Name: "UDP"}, {Mask: RxdPktSCTP, Name: "SCTP"},
		{Mask: RxdPktNFS, Name: "NFS"}, {Mask: RxdPktESP, Name: "ESP"}, {Mask: RxdPktAH, Name: "AH"}, {Mask: RxdPktLinkSec, Name: "LINKSEC"},
		{Mask: RxdPktETQF, Name: "ETQF"}}
	rxdStatus = []bitname.Bit{{Mask: 1 << 0, Name: "DD"}, {Mask: 1 << 1, Name: "EOP"}, {Mask: 1 << 3, Name: "VP"},
		{Mask: 1 << 4, Name: "UDPCS"}, {Mask: 1 << 5, Name: "L4CS"}, {Mask: 1 << 6, Name: "IPCS"}, {Mask: 1 << 7, Name: "PIF"},
		{Mask: RxdStatTSIP, Name: "TSIP"}, {Mask: RxdStatTS, Name: "TS"}, {Mask: RxdStatLB, Name: "LB"}, {Mask: RxdErrHBO, Name: "HBO"},
		{Mask: 1 << 29, Name: "L4E"}, {Mask: 1 << 30, Name: "IPE"}, {Mask: 1 << 31, Name: "RXE"}}
	l4Names = [...]string{"UDP", "TCP", "SCTP", "reserved"}
)

const (
	dwordBits = 32
	halfMask  = 0xffff
	cmdBits   = 0xff<<24 | TxdLinkSec | TxdTstamp
	poptsBits = 0x3f << 8
	ctxBits   = CtxIPv4 | CtxIPSecESP | CtxIPSecEncr | 0xff<<24
	l4Shift   = 11
)

// DecodeTxDesc describes an advanced transmit descriptor (spec 1g 3.4) by the names of
// its fields. words are d1:d0 and d3:d2, as in memory. Any words will do.
func DecodeTxDesc(words [2]uint64) string {
	d2, d3 := uint32(words[1]), uint32(words[1]>>dwordBits)
	switch {
	case d2&TxdDEXT == 0:
		return fmt.Sprintf("legacy %#016x %#016x", words[0], words[1])
	case d2&TxdDtypMask == TxdDtypData:
		return fmt.Sprintf("advanced addr=%#x len=%d cmd=%s sta=%s idx=%d popts=%s paylen=%d", words[0], d2&TxdLenMask,
			bitname.List(d2&cmdBits, txdCmds), bitname.List(d3&TxdDD, txdStats), d3&TxdIdxMask>>TxdIdxShift,
			bitname.List(d3&poptsBits, txdPopts), d3>>TxdPayLenShift)
	case d2&TxdDtypMask == TxdDtypCtxt:
		return decodeContext(words[0], d2, d3)
	}
	return fmt.Sprintf("unknown DTYP=%d %#016x %#016x", d2&TxdDtypMask/(1<<20), words[0], words[1])
}

func decodeContext(d01 uint64, d2, d3 uint32) string {
	d0 := uint32(d01)
	return fmt.Sprintf("context MACLEN=%d IPLEN=%d VLAN=%#04x L4T=%s TUCMD=%s idx=%d L4LEN=%d MSS=%d",
		d0>>CtxMACLenShift&CtxMACLenMask, d0&CtxIPLenMask, d0>>CtxVLANShift, l4Names[d2&CtxL4Mask>>l4Shift],
		bitname.List(d2&ctxBits, ctxCmds), d3&TxdIdxMask>>TxdIdxShift, d3>>CtxL4LenShift&CtxL4LenMask, d3>>CtxMSSShift)
}

// DecodeRxDesc describes an advanced receive descriptor that was written back (spec 1g
// 3.5) by the names of its fields. words are d1:d0 and d3:d2, as in memory. Any words
// will do.
func DecodeRxDesc(words [2]uint64) string {
	d0, d3 := uint32(words[0]), uint32(words[1]>>dwordBits)
	return fmt.Sprintf("rsstype=%d pkttype=%s hash=%#08x status=%s len=%d vlan=%#04x", d0&RxdRSSMask,
		bitname.List(d0&RxdPktMask, pktTypes), uint32(words[0]>>dwordBits), bitname.List(uint32(words[1]), rxdStatus),
		d3&halfMask, d3>>RxdVLANShift)
}
