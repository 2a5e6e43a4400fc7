// Package e1000test is the bench for drivers of the e1000 family without a model of the
// hardware: a bank of registers that remembers what was written, with just enough
// behaviour behind it - NVM, PHY, reset - for a driver to attach. Only tests import it.
package e1000test

import "sync"

// BoardBytes is the size of the register BAR.
const BoardBytes = 0x20000

// Offsets of registers that behave (spec 1g 5).
const (
	ctrl     = 0x0000
	ctrlDup  = 0x0004
	status   = 0x0008
	eecd     = 0x0010
	eerd     = 0x0014
	mdic     = 0x0020
	icr      = 0x00c0
	ics      = 0x00c8
	ims      = 0x00d0
	imc      = 0x00d8
	eewr     = 0x102c
	eerdLate = 0x12014 // of I210, I225 and I226
	eewrLate = 0x12018
	ral0     = 0x5400
	rah0     = 0x5404
	statsLow = 0x4000
	statsTop = 0x4128

	ctrlRST = 1 << 26

	extcnf = 0x0f00
	swFlag = 1 << 5
)

// NVMWords is how many words the NVM has.
const NVMWords = 64

// Write is one register write.
type Write struct {
	Off uint64
	V   uint32
}

// Board is the bank. Registers without behaviour keep what is written. Fields other
// than the mutex may be changed before use, or between uses by the only goroutine that
// does.
type Board struct {
	mu   sync.Mutex
	regs [BoardBytes / 4]uint32
	log  []Write

	NVM [NVMWords]uint16
	PHY [32]uint16
	// MDI is the PHY's address, 1 of most parts. At 1 beside another one are the pages of
	// the pch parts, by page<<5 | register.
	MDI   uint32
	Pages map[uint32]uint16
	Flash *Flash // of I219, nil without
	Dead  bool   // reads are all ones, as of a part that fell off the bus

	// Fuzz, if set, supplies the value of every read.
	Fuzz func(off uint64, v uint32) uint32

	wire microwire
}

// NewBoard makes a board whose NVM holds mac, with a PHY of an id that has link at 1
// Gbit/s.
func NewBoard(mac [6]byte, phyID uint32) *Board {
	b := &Board{MDI: 1, Pages: map[uint32]uint16{}}
	for i := range 3 {
		b.NVM[i] = uint16(mac[2*i]) | uint16(mac[2*i+1])<<8
	}
	b.NVM[0x1b] = 4 << 7 // five MSI-X vectors
	b.Balance()
	b.PHY[0], b.PHY[1] = 0x1140, 0x796d
	b.PHY[2], b.PHY[3] = uint16(phyID>>16), uint16(phyID)
	b.PHY[4], b.PHY[5] = 0x0de1, 0x45e1
	b.PHY[9], b.PHY[10] = 0x0e00, 0x3c00
	b.regs[status/4] = 0x83 // full duplex, link, 1 Gbit/s
	b.regs[eecd/4] = 0x300  // present, loaded
	b.regs[eewr/4], b.regs[eewrLate/4] = 2, 2
	b.load()
	return b
}

// Balance makes the checksum of the NVM right.
func (b *Board) Balance() {
	sum := uint16(0)
	for _, w := range b.NVM[:0x3f] {
		sum += w
	}
	b.NVM[0x3f] = 0xbaba - sum
}

// load is what a reset loads from the NVM.
func (b *Board) load() {
	b.regs[ral0/4] = uint32(b.NVM[0]) | uint32(b.NVM[1])<<16
	b.regs[rah0/4] = uint32(b.NVM[2]) | 1<<31
}

// Reg is a register as it is, without the effects of reading.
func (b *Board) Reg(off uint64) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.regs[off/4]
}

// SetReg changes a register behind the driver's back.
func (b *Board) SetReg(off uint64, v uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.regs[off/4] = v
}

// Writes are those since the last call.
func (b *Board) Writes() []Write {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.log
	b.log = nil
	return w
}

// Read32 reads a register.
func (b *Board) Read32(off uint64) uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Dead {
		return ^uint32(0)
	}
	v := b.regs[off/4]
	switch {
	case b.inFlash(off):
		v = b.Flash.Read32(off - flashOwn)
	case off == icr, off >= statsLow && off < statsTop:
		b.regs[off/4] = 0
	case off == eecd:
		v |= b.wire.out()
	}
	if b.Fuzz != nil {
		v = b.Fuzz(off, v)
	}
	return v
}

// Write32 writes a register.
func (b *Board) Write32(off uint64, v uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, Write{off, v})
	if b.inFlash(off) {
		b.Flash.Write32(off-flashOwn, v)
		return
	}
	switch off {
	case ctrl, ctrlDup:
		if v&ctrlRST != 0 {
			b.load()
			b.regs[extcnf/4] &^= swFlag
			v &^= ctrlRST
		}
		off = ctrl
	case eecd:
		const grant, wires, keep = 1 << 7, wireSK | wireCS | wireDI, 0x300
		v = v&^(grant|keep|wireDO) | b.regs[eecd/4]&keep | v&(1<<6)<<1
		b.wire.move(v&wires, &b.NVM)
	case eerd, eerdLate:
		v = uint32(b.NVM[v>>2&(NVMWords-1)])<<16 | 2
	case eewr, eewrLate:
		b.NVM[v>>2&(NVMWords-1)] = uint16(v >> 16)
		v = 2
	case mdic:
		v = b.mdi(v)
	case ics:
		b.regs[icr/4] |= v
	case ims:
		v |= b.regs[ims/4]
	case imc:
		b.regs[ims/4] &^= v
	case status:
		return
	}
	b.regs[off/4] = v
}

// mdi serves a command of MDIC at once.
func (b *Board) mdi(v uint32) uint32 {
	const ready, write, reset = 1 << 28, 1 << 26, 1<<15 | 1<<9
	reg, addr := v>>16&0x1f, v>>21&0x1f
	switch {
	case addr == 1 && b.MDI != 1:
		return b.page(v, reg, v&write != 0) | ready
	case addr != b.MDI:
		return v | ready | 1<<30
	case b.MDI != 1 && reg == emiData:
		return b.keep(v, emiKey|uint32(b.PHY[emiAddr]), v&write != 0) | ready
	case v&write != 0:
		if reg == 0 {
			v &^= reset
		}
		b.PHY[reg] = uint16(v)
		return v | ready
	}
	return v&^0xffff | uint32(b.PHY[reg]) | ready
}

// page serves an access to a page of the PHY, which register 31 chooses.
func (b *Board) page(v, reg uint32, write bool) uint32 {
	const selector = 31
	key := reg
	if reg != selector {
		key |= uint32(b.Pages[selector])
	}
	return b.keep(v, key, write)
}

// keep serves an access to what Pages has under a key.
func (b *Board) keep(v, key uint32, write bool) uint32 {
	if write {
		b.Pages[key] = uint16(v)
		return v
	}
	return v&^0xffff | uint32(b.Pages[key])
}

// Registers of the extended management interface, which Pages has too, by EMI.
const (
	emiAddr = 16
	emiData = 17
	emiKey  = 1 << 20
)

// EMI is the key of such a register.
func EMI(addr uint32) uint32 { return emiKey | addr }

// Registers of I219's flash in the BAR.
const (
	flashOwn  = 0xe000
	flashLast = 0xe09c
)

func (b *Board) inFlash(off uint64) bool {
	return b.Flash != nil && off >= flashOwn && off <= flashLast
}

// IO is the I/O window of 8254x: an address register and the data behind it.
type IO struct {
	Board *Board
	addr  uint32
}

// Read32 reads the address, or the register that it names.
func (w *IO) Read32(off uint64) uint32 {
	if off == 0 {
		return w.addr
	}
	return w.Board.Read32(uint64(w.addr % BoardBytes))
}

// Write32 writes the address, or the register that it names.
func (w *IO) Write32(off uint64, v uint32) {
	if off == 0 {
		w.addr = v
		return
	}
	w.Board.Write32(uint64(w.addr%BoardBytes), v)
}
