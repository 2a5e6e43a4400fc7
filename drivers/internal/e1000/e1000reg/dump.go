package e1000reg

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bitname"
)

var (
	dctlBits   = []bitname.Bit{{Mask: DCTLEnable, Name: "ENABLE"}, {Mask: DCTLFlush, Name: "SWFLUSH"}}
	gpieBits   = []bitname.Bit{{Mask: GPIENSICR, Name: "NSICR"}, {Mask: GPIEMSIXMode, Name: "MSIX_MODE"}, {Mask: GPIEEIAME, Name: "EIAME"}, {Mask: GPIEPBA, Name: "PBA"}}
	srrctlBits = []bitname.Bit{{Mask: SRRCTLDescOneBuf, Name: "ADV_ONEBUF"}, {Mask: SRRCTLTimestamp, Name: "TIMESTAMP"}, {Mask: SRRCTLDropEn, Name: "DROP_EN"}}
)

// dumpedVectors are the registers of extended interrupts. EICS reads as EICR does, and
// clears nothing.
var dumpedVectors = []bitname.Register{
	{Name: "GPIE", Offset: GPIE, Bits: gpieBits}, {Name: "EICR", Offset: EICR, Touchy: true}, {Name: "EICS", Offset: EICS},
	{Name: "EIMS", Offset: EIMS}, {Name: "EIAC", Offset: EIAC}, {Name: "EIAM", Offset: EIAM}, {Name: "IVAR_MISC", Offset: IVARMisc},
}

// Registers of a queue that dumps show, from its first.
var (
	dumpedRx = []bitname.Register{
		{Name: "RDBAL", Offset: BAL}, {Name: "RDBAH", Offset: BAH}, {Name: "RDLEN", Offset: LEN}, {Name: "SRRCTL", Offset: SRRCTL, Bits: srrctlBits},
		{Name: "RDH", Offset: HEAD}, {Name: "RDT", Offset: TAIL}, {Name: "RXDCTL", Offset: DCTL, Bits: dctlBits},
		{Name: "RQDPC", Offset: RQDPC, Touchy: true},
	}
	dumpedTx = []bitname.Register{
		{Name: "TDBAL", Offset: BAL}, {Name: "TDBAH", Offset: BAH}, {Name: "TDLEN", Offset: LEN}, {Name: "TDH", Offset: HEAD},
		{Name: "TDT", Offset: TAIL}, {Name: "TXDCTL", Offset: DCTL, Bits: dctlBits},
	}
)

// DescribeRxDesc describes a receive descriptor as it is in a ring: a buffer, or what was
// written back over it (DecodeRxDesc). Any words will do.
func DescribeRxDesc(words [2]uint64) string {
	const done = 1 << 0 // DD, in d2
	if words[1]&done == 0 {
		return fmt.Sprintf("buffer addr=%#x", words[0])
	}
	return "advanced " + DecodeRxDesc(words)
}

// Dumped adds to the registers of control those that a dump shows of a part with so many
// receive and transmit queues and interrupt vectors.
func Dumped(control []bitname.Register, rx, tx, vectors int) []bitname.Register {
	const word = 4
	list := append(control, dumpedVectors...)
	for v := range uint64(vectors) {
		list = append(list, bitname.Register{Name: fmt.Sprintf("EITR(%d)", v), Offset: EITR + v*word})
	}
	add := func(table []bitname.Register, q int, base uint64) {
		for _, r := range table {
			r.Name, r.Offset = fmt.Sprintf("%s(%d)", r.Name, q), r.Offset+base
			list = append(list, r)
		}
	}
	for q := range rx {
		add(dumpedRx, q, RxQueue(q))
	}
	for q := range tx {
		add(dumpedTx, q, TxQueue(q))
	}
	return list
}
