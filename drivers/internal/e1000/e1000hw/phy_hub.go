package e1000hw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// The PHY of I217 and I219 has the registers of IEEE 802.3 at one address of the MDI bus
// and pages of its own at the other (spec 1g 5.6).
const (
	hubStatus2   = 26     // I82577_PHY_STATUS_2
	hubSpeed1000 = 0x0200 // I82577_PHY_STATUS2_SPEED_1000MBPS
	hubSpeed100  = 0x0100

	// emiKey is in the key of a register of the extended management interface.
	emiKey = 1 << 20
)

// resetHub gives the pages their values after a reset: EEE is advertised, but not enabled.
// Called with mu held.
func (p *PHY) resetHub() {
	p.pages[emiKey|emreg.EMIAdvertise] = emreg.EEE100 | emreg.EEE1000
	p.pages[emiKey|emreg.EMIPartner] = emreg.EEE100 | emreg.EEE1000
}

// pageHub is page for this PHY. Register 31 of the address of the pages chooses one, in the
// bits above a register's number. Called with mu held.
func (p *PHY) pageHub(addr, reg uint32) (key uint32, ok bool) {
	switch {
	case addr == emreg.PHYAddrPages && reg != emreg.IGPPageSelect:
		return uint32(p.regs[emreg.IGPPageSelect])&^(phyRegs-1) | reg, true
	case addr == emreg.PHYAddrBase && reg == emreg.EMIData:
		return emiKey | uint32(p.regs[emreg.EMIAddr]), true
	}
	return 0, false
}

// HubStatus is the status register of the PHY of I217.
func HubStatus(s hw.LinkState) (reg uint32, v uint16) {
	return hubStatus2, bySpeed(s, hubSpeed1000, hubSpeed100)
}

// PageWord is a register on a page, by its key.
func (p *PHY) PageWord(key uint32) uint16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pages[key]
}

// lose is the loss of the link: BMSR remembers it, and there is nothing to idle.
func (p *PHY) lose() {
	p.lostLink.Store(true)
	if !p.cfg.Hub {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[emreg.PHYLPICtrl] &^= emreg.LPICtrl100 | emreg.LPICtrl1000
}
