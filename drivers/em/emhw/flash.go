package emhw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// The flash of a platform with a pch part: the NIC's region of two banks, each a sector
// (spec 1g 5.7).
const (
	flashFirst = 1 // sector where the region of I217 begins
	flashBanks = 2

	halfBits = 16
	// hsfstsLatch are the bits of the status that ones clear.
	hsfstsLatch = emreg.HSFSTSDone | emreg.HSFSTSError | emreg.HSFSTSAccess
)

// flash is the controller's hardware sequencing. Only reads are granted to the NIC.
type flash struct {
	n *nic

	mu      sync.Mutex // guards what follows
	status  uint16
	control uint16
	addr    uint32
	data    uint32
}

func (f *flash) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.control, f.addr, f.data = emreg.HSFSTSValid, 0, 0, 0
}

// read32 reads a register.
func (f *flash) read32(off uint64) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch off {
	case emreg.FlashGFPREG:
		if !f.n.chip.pch.ownFlash {
			return flashFirst | (flashFirst+flashBanks-1)<<emreg.GFPREGEndShift
		}
	case emreg.FlashHSFSTS:
		return uint32(f.status) | uint32(f.control)<<halfBits
	case emreg.FlashFADDR:
		return f.addr
	case emreg.FlashFDATA0:
		return f.data
	}
	return 0
}

// write32 writes a register; status and control are one.
func (f *flash) write32(off uint64, v uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch off {
	case emreg.FlashHSFSTS:
		f.writeStatus(uint16(v))
		f.writeControl(uint16(v >> halfBits))
	case emreg.FlashFADDR:
		f.addr = v & emreg.FlashAddrMask
	case emreg.FlashFDATA0:
		f.data = v
	}
}

// writeStatus and writeControl are called with mu held.
func (f *flash) writeStatus(v uint16) { f.status &^= v & hsfstsLatch }

func (f *flash) writeControl(v uint16) {
	f.control = v &^ emreg.HSFCTLGo
	if v&emreg.HSFCTLGo != 0 {
		f.cycle(v)
	}
}

// cycle carries out, at once, what the control asks for. Called with mu held.
func (f *flash) cycle(control uint16) {
	f.status |= emreg.HSFSTSDone
	if control&emreg.HSFCTLCycle != 0 {
		f.n.Refuse(ruleFlashWrite, 0, uint32(control))
		f.status |= emreg.HSFSTSError
		return
	}
	off, size := f.addr, uint32(control&emreg.HSFCTLCount)>>emreg.HSFCTLCountShift+1
	if !f.n.chip.pch.ownFlash {
		off -= flashFirst * emreg.FlashSector // wraps in front of the region
	}
	const region = flashBanks * emreg.FlashSector
	if off >= region || size > region-off {
		f.n.Refuse(ruleFlashRange, 0, f.addr)
		f.status |= emreg.HSFSTSError | emreg.HSFSTSAccess
		return
	}
	var data uint64
	first := off &^ 1
	for at := first; at < off+size; at += 2 {
		data |= uint64(f.word(at)) << (8 * (at - first))
	}
	f.data = uint32(data>>(8*(off-first))) & (^uint32(0) >> (32 - 8*size))
}

// word is a word of the region, at a byte offset: of the NVM in one bank, erased in the
// other.
func (f *flash) word(off uint32) uint16 {
	if off/emreg.FlashSector != f.n.chip.pch.bank {
		return 0xffff
	}
	return f.n.Faults.NVMWord(f.n.NVM.Read(off % emreg.FlashSector / 2))
}

// flashBAR is the BAR of I217's flash registers: status and control can be accessed
// alone.
type flashBAR struct {
	pci.Regs32
	f *flash
}

func newFlashBAR(f *flash) flashBAR {
	return flashBAR{Regs32: pci.Regs32{Registers32: flashWords{f}}, f: f}
}

// Write16 writes status or control.
func (b flashBAR) Write16(off uint64, v uint16) {
	switch off {
	case emreg.FlashHSFSTS:
		b.f.mu.Lock()
		defer b.f.mu.Unlock()
		b.f.writeStatus(v)
	case emreg.FlashHSFCTL:
		b.f.mu.Lock()
		defer b.f.mu.Unlock()
		b.f.writeControl(v)
	default:
		b.Regs32.Write16(off, v)
	}
}

// flashWords are the registers as words.
type flashWords struct{ f *flash }

// Read32 implements pci.Registers32.
func (w flashWords) Read32(off uint64) uint32 { return w.f.read32(off) }

// Write32 implements pci.Registers32.
func (w flashWords) Write32(off uint64, v uint32) { w.f.write32(off, v) }
