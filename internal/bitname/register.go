package bitname

// Register describes a register for a dump.
type Register struct {
	Name   string
	Offset uint64
	// Bits are those that have a name.
	Bits []Bit
	// Touchy: reading the register changes something, so a dump does not.
	Touchy bool
}
