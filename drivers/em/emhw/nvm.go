package emhw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

// nvm is the EEPROM: its words, and the microwire shift register of 8254x
// (spec 1g 5.7).
type nvm struct {
	mu    sync.Mutex // guards what follows
	words [nvmWords]uint16
	wire  microwire
}

// init fills the words and balances the checksum.
func (m *nvm) init(c *chip, mac [6]byte) {
	for i := range m.words {
		m.words[i] = 0xffff
	}
	for i := range 3 {
		m.words[emreg.NVMMacAddr+i] = uint16(mac[2*i]) | uint16(mac[2*i+1])<<8
	}
	const version = 1<<12 | 8<<4 // 1.8.0
	values := []nvmValue{
		{emreg.NVMCompat, 0x0420}, {emreg.NVMVersion, version},
		{emreg.NVMSubDevice, c.id.SubDevice}, {emreg.NVMSubVendor, c.id.SubVendor},
		{emreg.NVMDevice, c.id.Device}, {emreg.NVMVendor, c.id.Vendor},
		{emreg.NVMInitCtrl2, emreg.NVMPauseBits}, {emreg.NVMInitCtrl3A, emreg.NVMAPMEnable},
		{emreg.NVMPCIeCtrl, 0}, {emreg.NVMAltMacPtr, 0xffff},
	}
	for _, v := range append(values, c.nvm...) {
		m.words[v.word] = v.value
	}
	sum := uint16(0)
	for _, w := range m.words[:emreg.NVMChecksum] {
		sum += w
	}
	m.words[emreg.NVMChecksum] = emreg.NVMSum - sum
	m.wire.mask = lemNVMWords - 1
}

// address returns the words of the MAC address.
func (m *nvm) address() [3]uint16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return [3]uint16(m.words[emreg.NVMMacAddr : emreg.NVMMacAddr+3])
}

// read returns a word, all ones beyond the end.
func (m *nvm) read(addr uint32) uint16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if addr >= nvmWords {
		return 0xffff
	}
	return m.words[addr]
}

// write changes a word; beyond the end nothing happens.
func (m *nvm) write(addr uint32, v uint16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if addr < nvmWords {
		m.words[addr] = v
	}
}

// writeEERD does a read that START asks for, at once (spec 1g 5.1).
func (n *nic) writeEERD(v uint32) {
	if v&emreg.NVMRWStart != 0 {
		addr := v >> emreg.NVMRWAddrShift & emreg.NVMRWAddrMask
		w := n.faults.NVMWord(n.nvm.read(addr))
		v = addr<<emreg.NVMRWAddrShift | emreg.NVMRWDone | uint32(w)<<emreg.NVMRWDataShift
	}
	n.setReg(emreg.EERD, v)
}

// writeEEWR does a write that START asks for.
func (n *nic) writeEEWR(v uint32) {
	if v&emreg.NVMRWStart != 0 {
		n.nvm.write(v>>emreg.NVMRWAddrShift&emreg.NVMRWAddrMask, uint16(v>>emreg.NVMRWDataShift))
		v = v&^emreg.NVMRWStart | emreg.NVMRWDone
	}
	n.setReg(emreg.EEWR, v)
}

// Bits of EECD that software writes.
const eecdWritable = emreg.EECDSK | emreg.EECDCS | emreg.EECDDI | emreg.EECDReq

// writeEECD moves the pins of the NVM.
func (n *nic) writeEECD(v uint32) {
	old := n.reg(emreg.EECD)
	v = old&^eecdWritable | v&eecdWritable
	n.setReg(emreg.EECD, v)
	if n.chip.lem {
		n.nvm.mu.Lock()
		n.nvm.wire.pins(old, v, func(addr int) uint16 { return n.faults.NVMWord(n.nvm.words[addr]) })
		n.nvm.mu.Unlock()
	}
}

// readEECD shows the pins; a request for the NVM is granted at once.
func (n *nic) readEECD() uint32 {
	v := n.reg(emreg.EECD)
	if v&emreg.EECDReq != 0 {
		v |= emreg.EECDGnt
	}
	n.nvm.mu.Lock()
	defer n.nvm.mu.Unlock()
	if n.nvm.wire.out() {
		v |= emreg.EECDDO
	}
	return v
}

// microwire is the serial interface of an EEPROM of 64 words: opcode of 3 bits, 6 of
// address, then the word, most significant bit first, and on with the next word. DI is
// taken when SK rises, DO changes when it falls.
type microwire struct {
	mask    int    // words less one
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
		*w = microwire{mask: w.mask}
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
		w.addr = int(w.in) & w.mask
		w.reading = w.in>>emreg.MicrowireAddr6 == emreg.MicrowireReadOp
		w.data, w.nout = load(w.addr), 16
	case w.nout > 1:
		w.data <<= 1
		w.nout--
	default:
		w.addr = (w.addr + 1) & w.mask
		w.data, w.nout = load(w.addr), 16
	}
}

// out is DO: a data bit while reading, else high, ready.
func (w *microwire) out() bool { return !w.reading || w.data>>15 != 0 }
