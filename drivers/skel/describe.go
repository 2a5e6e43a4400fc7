package skel

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

// What follows is for `ifsim dump`, and for the dumps that go with a broken contract or a
// failed rule of the conformance suite. A driver can do without; then a dump shows no
// registers, and descriptors as numbers.
var _ iflib.Describer = (*softc)(nil)

// Bits of the registers that have a name.
var (
	ctrlBits   = []iflib.Bit{{Mask: skelreg.CtrlReset, Name: "RESET"}, {Mask: skelreg.CtrlRxOn, Name: "RX_ON"}, {Mask: skelreg.CtrlTxOn, Name: "TX_ON"}}
	statusBits = []iflib.Bit{{Mask: skelreg.StatusLinkUp, Name: "LINK_UP"}, {Mask: skelreg.StatusFullDuplex, Name: "FULL_DUPLEX"}}
	rxmodeBits = []iflib.Bit{{Mask: skelreg.RxPromisc, Name: "PROMISC"}, {Mask: skelreg.RxAllMulti, Name: "ALLMULTI"},
		{Mask: skelreg.RxTakeTag, Name: "TAKE_TAG"}, {Mask: skelreg.RxCheck, Name: "CHECK"}, {Mask: skelreg.RxSpread, Name: "SPREAD"}}
)

// globalRegs are the registers without those of the queue pairs (datasheet 2). Reading
// ICAUSE would take the events.
var globalRegs = []iflib.RegisterSpec{
	{Name: "CTRL", Offset: skelreg.CTRL, Bits: ctrlBits},
	{Name: "STATUS", Offset: skelreg.STATUS, Bits: statusBits},
	{Name: "ICAUSE", Offset: skelreg.ICAUSE, Touchy: true},
	{Name: "IENABLE", Offset: skelreg.IENABLE},
	{Name: "MACLO", Offset: skelreg.MACLO},
	{Name: "MACHI", Offset: skelreg.MACHI},
	{Name: "RXMODE", Offset: skelreg.RXMODE, Bits: rxmodeBits},
	{Name: "MAXFRAME", Offset: skelreg.MAXFRAME},
	{Name: "GROUPLO", Offset: skelreg.GROUPLO},
	{Name: "GROUPHI", Offset: skelreg.GROUPHI},
}

// queueRegs are those of queue pair 0 (datasheet 3, 4). The bells are written only.
var queueRegs = []iflib.RegisterSpec{
	{Name: "TXBASELO", Offset: skelreg.TXBASELO}, {Name: "TXBASEHI", Offset: skelreg.TXBASEHI}, {Name: "TXLEN", Offset: skelreg.TXLEN},
	{Name: "RXBASELO", Offset: skelreg.RXBASELO}, {Name: "RXBASEHI", Offset: skelreg.RXBASEHI}, {Name: "RXLEN", Offset: skelreg.RXLEN},
	{Name: "RXBUF", Offset: skelreg.RXBUF},
}

// Registers reads the registers that may be read by anybody at any time.
func (sc *softc) Registers() []iflib.Register {
	table := append([]iflib.RegisterSpec(nil), globalRegs...)
	for q := range skelreg.QueuePairs {
		for _, r := range queueRegs {
			r.Name, r.Offset = fmt.Sprintf("%s(%d)", r.Name, q), qreg(q, r.Offset)
			table = append(table, r)
		}
	}
	return iflib.ReadRegisters(table, sc.regs.Read32)
}

// descBits are the names of a descriptor's bits.
var descBits = []struct {
	bit  uint64
	name string
}{
	{skelreg.DescOwn, "OWN"}, {skelreg.DescEnd, "END"}, {skelreg.DescNotify, "NOTIFY"}, {skelreg.DescTag, "TAG"},
	{skelreg.DescIPSum, "IPSUM"}, {skelreg.DescL4Sum, "L4SUM"}, {skelreg.DescHash, "HASH"},
}

// Descriptor explains a descriptor (datasheet 3.1, 4.1).
func (sc *softc) Descriptor(_ iflib.RingID, words []uint64) string {
	if len(words) != skelreg.DescWords {
		return ""
	}
	state := words[1]
	var names []string
	for _, b := range descBits {
		if state&b.bit != 0 {
			names = append(names, b.name)
		}
	}
	if rest := state &^ skelreg.DescAll; rest != 0 {
		names = append(names, fmt.Sprintf("%#x", rest))
	}
	if names == nil {
		names = []string{"-"}
	}
	return fmt.Sprintf("desc addr=%#x len=%d tag=%#04x bits=%s", words[0], state&skelreg.DescLenMask,
		state>>skelreg.DescTagShift&skelreg.DescLenMask, strings.Join(names, "|"))
}
