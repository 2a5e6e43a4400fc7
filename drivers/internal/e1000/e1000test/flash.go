package e1000test

import "encoding/binary"

// Registers of the flash controller and their bits (spec 1g 5.7).
const (
	flashRegion  = 0x00
	flashStatus  = 0x04
	flashControl = 0x06
	flashAddr    = 0x08
	flashData    = 0x10

	flashDone   = 1 << 0
	flashError  = 1 << 1
	flashLatch  = 0x7 // cleared by ones
	flashValid  = 1 << 14
	flashGo     = 1 << 0
	flashCycle  = 3 << 1
	flashSizeAt = 8
	halfBits    = 16
)

// FlashBytes is the size of the flash: a sector that is not the NIC's and the two banks
// of its region.
const FlashBytes = 3 * 4096

// FlashStart is where the region begins.
const FlashStart = 4096

// Flash is a flash controller with its memory. Fields may be changed before use, or
// between uses by the only goroutine that does.
type Flash struct {
	Mem    [FlashBytes]byte
	Status uint16
	Fails  int // cycles that fail from now on
	Cycles int // cycles so far
	Stuck  bool
	NIC    bool // addresses begin at the NIC's region (I219)

	control uint16
	addr    uint32
	data    uint32
}

// NewFlash makes a flash whose given bank holds the words, with their signature.
func NewFlash(nvm []uint16, bank int) *Flash {
	f := &Flash{Status: flashValid}
	for i := range f.Mem {
		f.Mem[i] = 0xff
	}
	const bankBytes = (FlashBytes - FlashStart) / 2
	for i, w := range nvm {
		binary.LittleEndian.PutUint16(f.Mem[FlashStart+bank*bankBytes+2*i:], w)
	}
	return f
}

// Read32 reads a register.
func (f *Flash) Read32(off uint64) uint32 {
	switch off {
	case flashRegion:
		return 1 | 2<<halfBits
	case flashStatus:
		return uint32(f.Status) | uint32(f.control)<<halfBits
	case flashAddr:
		return f.addr
	case flashData:
		return f.data
	}
	return 0
}

// Write32 writes a register; of the first, both halves.
func (f *Flash) Write32(off uint64, v uint32) {
	switch off {
	case flashStatus:
		f.Write16(flashStatus, uint16(v))
		f.Write16(flashControl, uint16(v>>halfBits))
	case flashAddr:
		f.addr = v
	case flashData:
		f.data = v
	}
}

// Read16 reads half of a register.
func (f *Flash) Read16(off uint64) uint16 {
	return uint16(f.Read32(off&^3) >> (off & 2 * 8))
}

// Write16 writes status or control.
func (f *Flash) Write16(off uint64, v uint16) {
	switch {
	case off == flashStatus:
		f.Status &^= v & flashLatch
	case off == flashControl:
		f.control = v &^ flashGo
		if v&flashGo != 0 && !f.Stuck {
			f.cycle(v)
		}
	}
}

// cycle carries out a read.
func (f *Flash) cycle(control uint16) {
	f.Cycles++
	f.Status |= flashDone
	at := int(f.addr)
	if f.NIC {
		at += FlashStart
	}
	size := int(control>>flashSizeAt&3) + 1
	if f.Fails > 0 || control&flashCycle != 0 || at+size > len(f.Mem) {
		f.Fails--
		f.Status |= flashError
		return
	}
	var word [4]byte
	copy(word[:], f.Mem[at:at+size])
	f.data = binary.LittleEndian.Uint32(word[:])
}
