package e1000hw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// NVMConfig says what is in an NVM.
type NVMConfig struct {
	Words    int          // how many there are
	ID       pci.Identity // of the part
	Values   []NVMValue   // words beside those that every part has
	Sections []int        // first words of the sections with a checksum
}

// NVMValue is a word and what it holds.
type NVMValue struct {
	Word  int
	Value uint16
}

// NVM is the EEPROM or flash: its words (spec 1g 5.7). Any goroutine.
type NVM struct {
	mu    sync.Mutex // guards what follows
	words []uint16
}

// init fills the words and balances the checksums.
func (m *NVM) init(c *NVMConfig, mac [6]byte) {
	m.words = make([]uint16, c.Words)
	for i := range m.words {
		m.words[i] = 0xffff
	}
	for i := range 3 {
		m.words[emreg.NVMMacAddr+i] = uint16(mac[2*i]) | uint16(mac[2*i+1])<<8
	}
	const version = 1<<12 | 8<<4 // 1.8.0
	values := []NVMValue{
		{emreg.NVMCompat, 0x0420}, {emreg.NVMVersion, version},
		{emreg.NVMSubDevice, c.ID.SubDevice}, {emreg.NVMSubVendor, c.ID.SubVendor},
		{emreg.NVMDevice, c.ID.Device}, {emreg.NVMVendor, c.ID.Vendor},
		{emreg.NVMInitCtrl2, emreg.NVMPauseBits}, {emreg.NVMInitCtrl3A, emreg.NVMAPMEnable},
		{emreg.NVMPCIeCtrl, 0}, {emreg.NVMAltMacPtr, 0xffff},
	}
	for _, v := range append(values, c.Values...) {
		m.words[v.Word] = v.Value
	}
	for _, first := range c.Sections {
		sum := uint16(0)
		for _, w := range m.words[first : first+emreg.NVMChecksum] {
			sum += w
		}
		m.words[first+emreg.NVMChecksum] = emreg.NVMSum - sum
	}
}

// address returns the words of the MAC address.
func (m *NVM) address() [3]uint16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return [3]uint16(m.words[emreg.NVMMacAddr : emreg.NVMMacAddr+3])
}

// Read returns a word, all ones beyond the end.
func (m *NVM) Read(addr uint32) uint16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(addr) >= len(m.words) {
		return 0xffff
	}
	return m.words[addr]
}

// Write changes a word; beyond the end nothing happens.
func (m *NVM) Write(addr uint32, v uint16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(addr) < len(m.words) {
		m.words[addr] = v
	}
}

// WriteEERD does a read that START asks for, at once, in the register at off
// (spec 1g 5.1).
func (c *Core) WriteEERD(off uint64, v uint32) {
	if v&emreg.NVMRWStart != 0 {
		addr := v >> emreg.NVMRWAddrShift & emreg.NVMRWAddrMask
		w := c.Faults.NVMWord(c.NVM.Read(addr))
		v = addr<<emreg.NVMRWAddrShift | emreg.NVMRWDone | uint32(w)<<emreg.NVMRWDataShift
	}
	c.SetReg(off, v)
}

// WriteEEWR does a write that START asks for, in the register at off.
func (c *Core) WriteEEWR(off uint64, v uint32) {
	if v&emreg.NVMRWStart != 0 {
		c.NVM.Write(v>>emreg.NVMRWAddrShift&emreg.NVMRWAddrMask, uint16(v>>emreg.NVMRWDataShift))
		v = v&^emreg.NVMRWStart | emreg.NVMRWDone
	}
	c.SetReg(off, v)
}
