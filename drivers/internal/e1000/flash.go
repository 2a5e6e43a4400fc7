package e1000

import (
	"fmt"
	"syscall"
	"time"
)

// Halves are 16-bit accesses to registers at byte offsets.
type Halves interface {
	Read16(off uint64) uint16
	Write16(off uint64, v uint16)
}

// FlashNVM is NVM in a region of the platform's flash, behind the hardware sequencing of
// its controller (spec 1g 5.7; e1000_read_nvm_ich8lan, e1000_read_nvm_spt). The region
// has two banks, of which the one with the signature counts.
type FlashNVM struct {
	*Regs
	Base  uint64 // of the controller's registers
	Half  Halves // the same from Base on, of parts before pch_spt; nil: whole words only
	Start uint32 // byte address of the region
	Bank  uint32 // words of a bank
}

// Registers of the controller and their bits (ICH_FLASH_*).
const (
	flashStatus  = 0x04
	flashControl = 0x06
	flashAddr    = 0x08
	flashData    = 0x10

	flashDone     = 1 << 0
	flashError    = 1 << 1
	flashAccess   = 1 << 2
	flashBusy     = 1 << 5
	flashValid    = 1 << 14
	flashGo       = 1 << 0
	flashCycle    = 3 << 1 // 0 reads
	flashCount    = 3 << 8
	flashCountPos = 8
	flashHighPos  = 16 // of the control in the word that begins with the status

	flashWords     = 2048 // E1000_SHADOW_RAM_WORDS
	flashSigWord   = 0x13
	flashSigMask   = 0xc000
	flashSigValid  = 0x8000
	flashAddrMask  = 0xffffff
	flashWordLen   = 2
	flashDwordLen  = 4
	flashRepeats   = 10 // ICH_FLASH_CYCLE_REPEAT_COUNT
	flashQuick     = 100
	flashStep      = time.Microsecond
	flashSlowStep  = time.Millisecond
	flashSlowTries = 10_000 // firmware may use the flash for 10 s
)

// ReadWord reads a word of the bank that is in use.
func (n FlashNVM) ReadWord(word int) (uint16, error) {
	if word < 0 || word >= flashWords {
		return 0, fmt.Errorf("NVM word %#x of %#x: %w", word, flashWords, syscall.EIO)
	}
	bank, err := n.bank()
	if err != nil {
		return 0, fmt.Errorf("looking for the bank of NVM word %#x: %w", word, err)
	}
	v, err := n.word(bank*n.Bank + uint32(word))
	if err != nil {
		return 0, fmt.Errorf("reading NVM word %#x: %w", word, err)
	}
	return v, nil
}

// WriteWord refuses: these drivers never change the flash.
func (n FlashNVM) WriteWord(word int, _ uint16) error {
	return fmt.Errorf("writing NVM word %#x in flash: %w", word, syscall.EIO)
}

// bank is the bank with the signature; the first if none has it
// (e1000_valid_nvm_bank_detect_ich8lan).
func (n FlashNVM) bank() (uint32, error) {
	for b := range uint32(2) {
		sig, err := n.word(b*n.Bank + flashSigWord)
		if err != nil || sig&flashSigMask == flashSigValid {
			return b, err
		}
	}
	return 0, nil
}

// word reads a word of the region.
func (n FlashNVM) word(at uint32) (uint16, error) {
	if n.Half != nil {
		v, err := n.read(at*flashWordLen, flashWordLen)
		return uint16(v), err
	}
	v, err := n.read(at/2*flashDwordLen, flashDwordLen)
	return uint16(v >> (at % 2 * flashHighPos)), err
}

var (
	errFlashDescriptor = fmt.Errorf("flash without a descriptor: %w", syscall.EIO)
	errFlashBusy       = fmt.Errorf("flash cycle does not end: %w", syscall.EIO)
	errFlashCycle      = fmt.Errorf("flash cycle failed: %w", syscall.EIO)
)

// read reads size bytes at a byte offset of the region. A cycle that fails is tried
// again (e1000_read_flash_data_ich8lan, e1000_read_flash_data32_ich8lan).
func (n FlashNVM) read(off, size uint32) (uint32, error) {
	for range flashRepeats {
		n.Delay(flashStep)
		if err := n.prepare(); err != nil {
			return 0, err
		}
		control := n.control()&^(flashCount|flashCycle) | uint16(size-1)<<flashCountPos
		n.setControl(control)
		n.Write32(n.Base+flashAddr, off&flashAddrMask+n.Start)
		n.setControl(control | flashGo)
		status, done := n.await(flashDone, flashDone)
		switch {
		case !done:
			return 0, errFlashBusy
		case status&flashError == 0:
			return n.Read32(n.Base + flashData), nil
		}
	}
	return 0, errFlashCycle
}

// prepare readies the controller for a cycle (e1000_flash_cycle_init_ich8lan).
func (n FlashNVM) prepare() error {
	status := n.status()
	if status&flashValid == 0 {
		return errFlashDescriptor
	}
	n.setStatus(status | flashError | flashAccess)
	status, idle := n.await(flashBusy, 0)
	if !idle {
		return errFlashBusy
	}
	n.setStatus(status | flashDone)
	return nil
}

// await polls the status until the bits of mask are want: quickly at first, then with
// patience.
func (n FlashNVM) await(mask, want uint16) (uint16, bool) {
	var v uint16
	for i := range flashQuick + flashSlowTries {
		if v = n.status(); v&mask == want {
			return v, true
		}
		if i < flashQuick {
			n.Delay(flashStep)
		} else {
			n.Delay(flashSlowStep)
		}
	}
	return v, false
}

// status and control are the halves of one word, setStatus and setControl write one of
// them: bits of the status are cleared by ones, so zeros leave it alone.
func (n FlashNVM) status() uint16 {
	if n.Half != nil {
		return n.Half.Read16(n.Base + flashStatus)
	}
	return uint16(n.Read32(n.Base + flashStatus))
}

func (n FlashNVM) control() uint16 {
	if n.Half != nil {
		return n.Half.Read16(n.Base + flashControl)
	}
	return uint16(n.Read32(n.Base+flashStatus) >> flashHighPos)
}

func (n FlashNVM) setStatus(v uint16) {
	if n.Half != nil {
		n.Half.Write16(n.Base+flashStatus, v)
		return
	}
	n.Write32(n.Base+flashStatus, uint32(v))
}

func (n FlashNVM) setControl(v uint16) {
	if n.Half != nil {
		n.Half.Write16(n.Base+flashControl, v)
		return
	}
	n.Write32(n.Base+flashStatus, uint32(v)<<flashHighPos)
}
