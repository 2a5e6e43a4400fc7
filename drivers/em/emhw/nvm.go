package emhw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

// serialNVM is the microwire interface of the NVM of 8254x (spec 1g 5.7).
type serialNVM struct {
	mu    sync.Mutex // guards what follows
	shift microwire
}

// Bits of EECD that software writes.
const eecdWritable = emreg.EECDSK | emreg.EECDCS | emreg.EECDDI | emreg.EECDReq

// writeEECD moves the pins of the NVM.
func (n *nic) writeEECD(v uint32) {
	old := n.Reg(emreg.EECD)
	v = old&^eecdWritable | v&eecdWritable
	n.SetReg(emreg.EECD, v)
	if n.chip.lem {
		n.wire.mu.Lock()
		n.wire.shift.pins(old, v, func(addr int) uint16 { return n.Faults.NVMWord(n.NVM.Read(uint32(addr))) })
		n.wire.mu.Unlock()
	}
}

// readEECD shows the pins; a request for the NVM is granted at once.
func (n *nic) readEECD() uint32 {
	v := n.Reg(emreg.EECD)
	if v&emreg.EECDReq != 0 {
		v |= emreg.EECDGnt
	}
	n.wire.mu.Lock()
	defer n.wire.mu.Unlock()
	if n.wire.shift.out() {
		v |= emreg.EECDDO
	}
	return v
}

// microwire is the serial interface of an EEPROM of 64 words: opcode of 3 bits, 6 of
// address, then the word, most significant bit first, and on with the next word. DI is
// taken when SK rises, DO changes when it falls.
type microwire struct {
	in      uint32 // bits shifted in
	nin     int
	reading bool
	addr    int
	data    uint16 // word being shifted out
	nout    int    // bits of it still to come, the one on DO included
}

// pins sees the pins change from old to now; load reads a word.
func (w *microwire) pins(old, now uint32, load func(addr int) uint16) {
	const frame = emreg.MicrowireOpBits + emreg.MicrowireAddr6
	switch {
	case now&emreg.EECDCS == 0:
		*w = microwire{}
	case now&^old&emreg.EECDSK != 0: // rising
		if w.nin == frame {
			return
		}
		w.in <<= 1
		if now&emreg.EECDDI != 0 {
			w.in |= 1
		}
		if w.nin == 0 && w.in == 0 {
			return // the start bit is still to come
		}
		w.nin++
	case old&^now&emreg.EECDSK != 0 && w.nin == frame: // falling
		w.shiftOut(load)
	}
}

// shiftOut puts the next bit on DO.
func (w *microwire) shiftOut(load func(addr int) uint16) {
	switch {
	case !w.reading && w.nout == 0:
		w.addr = int(w.in) & (lemNVMWords - 1)
		w.reading = w.in>>emreg.MicrowireAddr6 == emreg.MicrowireReadOp
		w.data, w.nout = load(w.addr), 16
	case w.nout > 1:
		w.data <<= 1
		w.nout--
	default:
		w.addr = (w.addr + 1) & (lemNVMWords - 1)
		w.data, w.nout = load(w.addr), 16
	}
}

// out is DO: a data bit while reading, else high, ready.
func (w *microwire) out() bool { return !w.reading || w.data>>15 != 0 }
