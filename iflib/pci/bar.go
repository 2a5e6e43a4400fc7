package pci

import "encoding/binary"

// BAR is a window onto a device's registers: what bus_space(9) calls a tag and handle.
// Offsets are bytes from the BAR's start, data is little-endian. Any goroutine; an
// access never blocks for long and never runs a filter.
type BAR interface {
	Read8(off uint64) uint8
	Read16(off uint64) uint16
	Read32(off uint64) uint32
	Read64(off uint64) uint64
	Write8(off uint64, v uint8)
	Write16(off uint64, v uint16)
	Write32(off uint64, v uint32)
	Write64(off uint64, v uint64)
	ReadBlock(off uint64, p []byte)
	WriteBlock(off uint64, p []byte)
}

// Registers32 is hardware that knows only aligned 32-bit accesses, as most NICs do. It
// sees only offsets inside its BAR.
type Registers32 interface {
	Read32(off uint64) uint32
	Write32(off uint64, v uint32)
}

// Regs32 makes a BAR of 32-bit registers. Wider accesses and blocks become words in
// rising order; a narrower or unaligned read takes its bytes from the words it touches,
// each read once; a narrower write reads the word and writes it back, so a driver
// should not make one to a register whose reading has effects.
type Regs32 struct{ Registers32 }

var _ BAR = Regs32{}

const (
	wordSize = 4
	wordMask = wordSize - 1
)

// Read8 returns one byte.
func (r Regs32) Read8(off uint64) uint8 {
	return uint8(r.Registers32.Read32(off&^wordMask) >> (off & wordMask * 8))
}

// Read16 returns two bytes.
func (r Regs32) Read16(off uint64) uint16 {
	var b [2]byte
	r.ReadBlock(off, b[:])
	return binary.LittleEndian.Uint16(b[:])
}

// Read32 returns a word; aligned, it is the register's own.
func (r Regs32) Read32(off uint64) uint32 {
	if off&wordMask == 0 {
		return r.Registers32.Read32(off)
	}
	var b [4]byte
	r.ReadBlock(off, b[:])
	return binary.LittleEndian.Uint32(b[:])
}

// Read64 reads the low word, then the high one.
func (r Regs32) Read64(off uint64) uint64 {
	if off&wordMask == 0 {
		low := r.Registers32.Read32(off)
		return uint64(r.Registers32.Read32(off+wordSize))<<32 | uint64(low)
	}
	var b [8]byte
	r.ReadBlock(off, b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Write8 changes one byte of a word.
func (r Regs32) Write8(off uint64, v uint8) {
	b := [1]byte{v}
	r.WriteBlock(off, b[:])
}

// Write16 changes two bytes.
func (r Regs32) Write16(off uint64, v uint16) {
	var b [2]byte
	binary.LittleEndian.PutUint16(b[:], v)
	r.WriteBlock(off, b[:])
}

// Write32 writes a word; aligned, it is the register's own write.
func (r Regs32) Write32(off uint64, v uint32) {
	if off&wordMask == 0 {
		r.Registers32.Write32(off, v)
		return
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	r.WriteBlock(off, b[:])
}

// Write64 writes the low word, then the high one.
func (r Regs32) Write64(off uint64, v uint64) {
	if off&wordMask == 0 {
		r.Registers32.Write32(off, uint32(v))
		r.Registers32.Write32(off+wordSize, uint32(v>>32))
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	r.WriteBlock(off, b[:])
}

// ReadBlock fills p from off on.
func (r Regs32) ReadBlock(off uint64, p []byte) {
	var word [wordSize]byte
	for len(p) > 0 {
		binary.LittleEndian.PutUint32(word[:], r.Registers32.Read32(off&^wordMask))
		n := copy(p, word[off&wordMask:])
		p, off = p[n:], off+uint64(n)
	}
}

// WriteBlock writes p from off on.
func (r Regs32) WriteBlock(off uint64, p []byte) {
	var word [wordSize]byte
	for len(p) > 0 {
		base, at := off&^wordMask, off&wordMask
		if at != 0 || len(p) < wordSize {
			binary.LittleEndian.PutUint32(word[:], r.Registers32.Read32(base))
		}
		n := copy(word[at:], p)
		r.Registers32.Write32(base, binary.LittleEndian.Uint32(word[:]))
		p, off = p[n:], off+uint64(n)
	}
}
