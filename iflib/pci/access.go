package pci

import (
	"encoding/binary"
	"math/bits"
)

// ReadConfig8 reads a byte of the configuration space (pci_read_config). Outside the
// space, or across its end, every width reads all ones.
func (f *Function) ReadConfig8(reg int) uint8 { return uint8(f.readConfig(reg, 1)) }

// ReadConfig16 reads two bytes, little-endian.
func (f *Function) ReadConfig16(reg int) uint16 { return uint16(f.readConfig(reg, 2)) }

// ReadConfig32 reads four bytes, little-endian.
func (f *Function) ReadConfig32(reg int) uint32 { return f.readConfig(reg, wordSize) }

// WriteConfig8 writes a byte (pci_write_config). Bits that the register does not let
// software write stay as they are; outside the space nothing happens.
func (f *Function) WriteConfig8(reg int, v uint8) { f.writeConfig(reg, 1, uint32(v)) }

// WriteConfig16 writes two bytes, little-endian.
func (f *Function) WriteConfig16(reg int, v uint16) { f.writeConfig(reg, 2, uint32(v)) }

// WriteConfig32 writes four bytes, little-endian.
func (f *Function) WriteConfig32(reg int, v uint32) { f.writeConfig(reg, wordSize, v) }

// FindCap returns the register of a capability (pci_find_cap).
func (f *Function) FindCap(id uint8) (reg int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cfg.find(id)
}

func (f *Function) readConfig(reg, width int) uint32 {
	if d, ok := f.dev.(ConfigDevice); ok && f.private(reg, width) {
		v := d.ReadConfig(reg&^wordMask) >> (reg & wordMask * 8)
		return v & (^uint32(0) >> ((wordSize - width) * 8))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live()
	return f.cfg.word(reg, width)
}

// private reports whether width bytes at reg are a register of the device's own.
func (f *Function) private(reg, width int) bool {
	return reg >= RegPrivate && reg <= ConfigSize-width && reg&wordMask+width <= wordSize && !f.cfg.owned[reg]
}

// live puts into the space what the hardware shows there at each moment. Called with
// mu held.
func (f *Function) live() {
	f.cfg.val[RegStatus] &^= StatusINTx
	if f.intxLine.Load() {
		f.cfg.val[RegStatus] |= StatusINTx
	}
	if f.cfg.msiMasks {
		var pending uint32
		for i := range f.msi {
			if f.msi[i].state.Load()&vecPending != 0 {
				pending |= 1 << i
			}
		}
		f.cfg.set32(f.cfg.at.msi+msiPending, pending, 0)
	}
}

func (f *Function) writeConfig(reg, width int, v uint32) {
	if reg < 0 || reg > ConfigSize-width {
		return
	}
	var b [wordSize]byte
	binary.LittleEndian.PutUint32(b[:], v)

	f.mu.Lock()
	csr := f.cfg.at.pm + pmCSR
	power := f.cfg.val[csr]
	f.cfg.software(reg, b[:width])
	if s := f.cfg.val[csr] & pmStateMask; f.cfg.at.pm != 0 && s != 0 && s != pmStateD3 {
		f.cfg.val[csr] = power // D1 and D2 do not exist: the write is discarded
	}
	flr := f.cfg.startsFLR(reg, b[:width])
	f.apply()
	f.mu.Unlock()
	if flr {
		f.reset()
	}
}

// apply derives mode and masks from the space and sends what can now be sent. Called
// with mu held.
func (f *Function) apply() {
	f.mode.Store(f.cfg.mode(len(f.msi), len(f.msix.entries)))
	if len(f.msi) > 0 {
		var masks uint32
		if f.cfg.msiMasks {
			masks = f.cfg.get32(f.cfg.at.msi + msiMask)
		}
		for i := range f.msi {
			f.msi[i].setMask(masks>>i&1 != 0)
			f.retry(&f.msi[i], modeMSI)
		}
	}
	for i := range f.msix.entries {
		f.retry(&f.msix.entries[i].vector, modeMSIX)
	}
	f.postINTx()
}

// mode sums up the space for a function with msi and msix vectors.
func (s *space) mode(msi, msix int) uint32 {
	var m uint32
	set := func(on bool, bit uint32) {
		if on {
			m |= bit
		}
	}
	cmd := s.get16(RegCommand)
	awake := s.awake()
	set(awake && cmd&CmdMem != 0, modeMem)
	set(awake && cmd&CmdIO != 0, modeIO)
	set(awake && cmd&CmdBusMaster != 0, modeMaster)
	set(!awake || cmd&CmdINTxDis != 0, modeINTxOff)
	if msi > 0 {
		ctrl := s.get16(s.at.msi + capBody)
		set(ctrl&msiEnable != 0, modeMSI)
		granted := min(int(ctrl&msiGrantMask>>msiGrantShift), bits.Len(uint(msi))-1)
		m |= uint32(granted) << modeGrantShift
	}
	if msix > 0 {
		ctrl := s.get16(s.at.msix + capBody)
		set(ctrl&msixEnable != 0, modeMSIX)
		set(ctrl&msixMaskAll != 0, modeMSIXMask)
	}
	return m
}

// reset puts the function into the state after power on, except for the BARs, which
// keep the addresses that firmware gave them.
func (f *Function) reset() {
	f.mu.Lock()
	f.cfg.val = f.initial
	f.intxLine.Store(false)
	f.msix.reset()
	for i := range f.msi {
		f.msi[i].state.Store(0)
	}
	f.apply()
	f.mu.Unlock()
	f.dev.Reset()
}

// FLR resets the function and gives it back configuration space and messages as they
// were (pcie_flr between pci_save_state and pci_restore_state).
func (f *Function) FLR() {
	f.mu.Lock()
	saved := f.cfg.val
	f.mu.Unlock()
	f.reset()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range saved {
		f.cfg.val[i] = f.cfg.val[i]&^f.cfg.write[i] | saved[i]&f.cfg.write[i]
	}
	for i := range f.msix.entries {
		e := &f.msix.entries[i]
		if intr := e.intr.Load(); intr != nil {
			e.program(intr.CPU(), i)
			e.setMask(false)
		}
	}
	f.apply()
}
