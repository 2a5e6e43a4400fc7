package e1000

import (
	"fmt"
	"syscall"
	"time"
)

// MicrowireNVM is a serial EEPROM whose wires the driver moves through EECD, as on
// 8254x (spec 1g 5.7; e1000_read_nvm_microwire).
type MicrowireNVM struct {
	*Regs
	EECD     uint64 // offset of the register
	AddrBits int    // 6 for 64 words, 8 for 256
}

const (
	eecdSK  = 1 << 0 // clock
	eecdCS  = 1 << 1 // chip select
	eecdDI  = 1 << 2 // to the chip
	eecdDO  = 1 << 3 // from the chip
	eecdReq = 1 << 6
	eecdGnt = 1 << 7

	microwireRead     = 6 // NVM_READ_OPCODE_MICROWIRE, with its start bit
	microwireOpBits   = 3
	microwireWordBits = 16
	microwireHalf     = 50 * time.Microsecond // half a clock

	grantStep  = 5 * time.Microsecond
	grantTries = 1000 // NVM_GRANT_ATTEMPTS
)

// ReadWord reads one word.
func (n MicrowireNVM) ReadWord(word int) (uint16, error) {
	if word < 0 || word >= 1<<n.AddrBits {
		return 0, fmt.Errorf("NVM word %#x of %#x: %w", word, 1<<n.AddrBits, syscall.EIO)
	}
	if err := n.acquire(); err != nil {
		return 0, fmt.Errorf("reading NVM word %#x: %w", word, err)
	}
	defer n.Clear(n.EECD, eecdReq)
	n.Change(n.EECD, eecdDI|eecdSK, eecdCS)
	n.send(microwireRead, microwireOpBits)
	n.send(uint32(word), n.AddrBits)
	v := n.receive()
	// Deselect, with one clock, so that the chip takes another command.
	n.Clear(n.EECD, eecdCS|eecdDI)
	n.clock()
	return v, nil
}

// WriteWord refuses: these drivers never change such a chip.
func (n MicrowireNVM) WriteWord(word int, _ uint16) error {
	return fmt.Errorf("writing NVM word %#x of a serial EEPROM: %w", word, syscall.EIO)
}

// acquire asks for the wires (e1000_acquire_nvm_generic).
func (n MicrowireNVM) acquire() error {
	n.Set(n.EECD, eecdReq)
	if _, ok := n.Poll(n.EECD, eecdGnt, eecdGnt, grantStep, grantTries); !ok {
		n.Clear(n.EECD, eecdReq)
		return fmt.Errorf("no grant: %w", syscall.EIO)
	}
	return nil
}

// clock raises and lowers SK: the chip takes DI at the rise and moves DO at the fall.
func (n MicrowireNVM) clock() {
	n.Set(n.EECD, eecdSK)
	n.Flush()
	n.Delay(microwireHalf)
	n.Clear(n.EECD, eecdSK)
	n.Flush()
	n.Delay(microwireHalf)
}

// send shifts out the low bits of v, the highest first.
func (n MicrowireNVM) send(v uint32, bits int) {
	for i := bits - 1; i >= 0; i-- {
		var di uint32
		if v>>i&1 != 0 {
			di = eecdDI
		}
		n.Change(n.EECD, eecdDI, di)
		n.Flush()
		n.clock()
	}
	n.Clear(n.EECD, eecdDI)
}

// receive shifts in one word, the highest bit first: the rise of the clock brings a bit
// out, which is taken before the fall (e1000_shift_in_eec_bits).
func (n MicrowireNVM) receive() (v uint16) {
	for range microwireWordBits {
		n.Set(n.EECD, eecdSK)
		n.Flush()
		n.Delay(microwireHalf)
		v <<= 1
		if n.Read32(n.EECD)&eecdDO != 0 {
			v |= 1
		}
		n.Clear(n.EECD, eecdSK)
		n.Flush()
		n.Delay(microwireHalf)
	}
	return v
}
