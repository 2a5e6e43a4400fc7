package emhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// The PHY of I217 and I219 has the registers of IEEE 802.3 at one address of the MDI bus
// and pages of its own at the other (spec 1g 5.6).
const (
	hvStatus2   = 26     // I82577_PHY_STATUS_2
	hvSpeed1000 = 0x0200 // I82577_PHY_STATUS2_SPEED_1000MBPS
	hvSpeed100  = 0x0100

	// emiKey is in the key of a register of the extended management interface.
	emiKey = 1 << 20
)

func (p *phy) hv() bool { return p.id == emreg.PHYIDI217 }

// resetHV gives the pages their values after a reset: EEE is advertised, but not enabled.
// Called with mu held.
func (p *phy) resetHV() {
	p.regs[emreg.M88PSCR], p.regs[emreg.M88EPSCR] = 0, 0
	p.pages[emiKey|emreg.EMIAdvertise] = emreg.EEE100 | emreg.EEE1000
	p.pages[emiKey|emreg.EMIPartner] = emreg.EEE100 | emreg.EEE1000
}

// pageHV is page for this PHY. Register 31 of the address of the pages chooses one, in the
// bits above a register's number. Called with mu held.
func (p *phy) pageHV(addr, reg uint32) (key uint32, ok bool) {
	switch {
	case addr == emreg.PHYAddrPages && reg != emreg.IGPPageSelect:
		return uint32(p.regs[emreg.IGPPageSelect])&^(phyRegs-1) | reg, true
	case addr == emreg.PHYAddrBase && reg == emreg.EMIData:
		return emiKey | uint32(p.regs[emreg.EMIAddr]), true
	}
	return 0, false
}

// readHV reads a base register from 16 on. Called with mu held.
func (p *phy) readHV(reg uint32, s hw.LinkState) uint16 {
	if reg != hvStatus2 {
		return p.regs[reg]
	}
	switch s.Speed {
	case 1000:
		return hvSpeed1000
	case 100:
		return hvSpeed100
	}
	return 0
}

// pageWord is a register on a page, by its key.
func (p *phy) pageWord(key uint32) uint16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pages[key]
}

// lose is the loss of the link: BMSR remembers it, and there is nothing to idle.
func (p *phy) lose() {
	p.lostLink.Store(true)
	if !p.hv() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[emreg.PHYLPICtrl] &^= emreg.LPICtrl100 | emreg.LPICtrl1000
}
