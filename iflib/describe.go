package iflib

import "github.com/ifsim/ifsim/internal/bitname"

// What a driver describes its registers with, by alias.
type (
	RegisterSpec = bitname.Register // a register and its bits
	Bit          = bitname.Bit      // a bit, or several, with a name
)

// Describer is an optional interface of a Device that can explain what a dump shows. The
// methods are called from any goroutine, without a lock, between attach and detach; they
// change nothing, neither here nor in the hardware.
type Describer interface {
	// Registers are the registers of the part as they are, in the order of the datasheet.
	Registers() []Register
	// Descriptor explains a descriptor by the names of its fields: a word for its kind,
	// then NAME=VALUE for each, parted by spaces. words are as in memory, and may be
	// anything.
	Descriptor(r RingID, words []uint64) string
}

// RingID names a descriptor ring of a device.
type RingID struct {
	Tx    bool
	Queue int // queue set
	Index int // ring within the set, as in SharedCtx
}

// Register is a register as it was read.
type Register struct {
	Name   string
	Offset uint64 // of the BAR
	// Read says that Value and Bits are valid: the register was read, as reading it
	// changes nothing.
	Read  bool
	Value uint64
	Bits  string // names of the bits that are set; "" if none has a name
}

// ReadRegisters reads the registers of a table, those that may be read.
func ReadRegisters(table []RegisterSpec, read func(off uint64) uint32) []Register {
	out := make([]Register, len(table))
	for i := range table {
		s := &table[i]
		out[i] = Register{Name: s.Name, Offset: s.Offset}
		if s.Touchy {
			continue
		}
		v := read(s.Offset)
		out[i].Read, out[i].Value = true, uint64(v)
		if s.Bits != nil {
			out[i].Bits = bitname.List(v, s.Bits)
		}
	}
	return out
}

// Describe explains a descriptor, if the driver can: "" otherwise. Pure; any goroutine.
func (ctx *Ctx) Describe(r RingID, words []uint64) string {
	if d, ok := Method[Describer](ctx.dev); ok {
		return d.Descriptor(r, words)
	}
	return ""
}
