package emhw

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

const (
	phyRegs = 32

	// maxPHYPages is how many registers of other pages than 0 are kept: more than any
	// driver writes; what comes later is lost.
	maxPHYPages = 256

	bmcrReset   = 0x1140 // spec 1g 5.6
	bmsrBase    = 0x7949
	anarReset   = 0x0de1
	gigReset    = 0x0e00 // register 9
	gigPartner  = 0x3c00 // register 10: partner does 1000BASE-T
	extReset    = 0x3000 // register 15
	pscrReset   = 0x0360
	epscrReset  = 0x0d60
	anerPartner = 0x0001 // register 6: partner negotiates
	anlparUp    = 0x45e1
)

// phy is a PHY behind MDIC: of the Marvell family, or I217's (spec 1g 5.6, phy_hv.go). The
// link itself is nic.link.
type phy struct {
	id       uint32
	lostLink atomic.Bool // BMSR's link bit latches low

	mu    sync.Mutex // guards what follows
	regs  [phyRegs]uint16
	pages map[uint32]uint16 // page<<5 | register
}

func (p *phy) init(id uint32) {
	p.id = id
	p.reset()
}

// reset gives the registers their values after a reset.
func (p *phy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.regs = [phyRegs]uint16{emreg.PHYControl: bmcrReset, emreg.PHYANAR: anarReset,
		emreg.PHY1000TCtrl: gigReset, emreg.M88PSCR: pscrReset, emreg.M88EPSCR: epscrReset}
	p.pages = make(map[uint32]uint16)
	if p.hv() {
		p.resetHV()
	}
}

// page is the key of a register that is not on page 0; ok is false for one that is.
// The BME1000 pages everything by register 22, the M88E1011 register 30 by 29.
func (p *phy) page(addr, reg uint32) (key uint32, ok bool) {
	switch {
	case p.hv():
		return p.pageHV(addr, reg)
	case p.id == emreg.PHYIDBME1000 && reg != emreg.BMPageSelect && p.regs[emreg.BMPageSelect] != 0:
		return uint32(p.regs[emreg.BMPageSelect])<<5 | reg, true
	case p.id != emreg.PHYIDBME1000 && reg == emreg.M88GenControl:
		return uint32(p.regs[emreg.M88PageSelect])<<5 | reg, true
	}
	return 0, false
}

// read returns a register, given the state of the link.
func (p *phy) read(addr, reg uint32, s hw.LinkState) uint16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key, ok := p.page(addr, reg); ok {
		return p.pages[key]
	}
	if p.hv() && reg >= emreg.M88PSCR {
		return p.readHV(reg, s)
	}
	switch reg {
	case emreg.PHYStatus:
		return p.status(s)
	case emreg.PHYID1:
		return uint16(p.id >> 16)
	case emreg.PHYID2:
		return uint16(p.id)
	case emreg.PHYExtStatus:
		return extReset
	case emreg.PHYANLPAR:
		return ifUp(s, anlparUp)
	case emreg.PHYANER:
		return ifUp(s, anerPartner)
	case emreg.PHY1000TStat:
		if s.Speed == 1000 {
			return gigPartner
		}
		return 0
	case emreg.M88PSSR:
		return pssr(s)
	}
	return p.regs[reg]
}

func ifUp(s hw.LinkState, v uint16) uint16 {
	if s.Up {
		return v
	}
	return 0
}

// status is BMSR: the link bit is low once more after the link was lost.
func (p *phy) status(s hw.LinkState) uint16 {
	v := uint16(bmsrBase)
	if s.Up {
		v |= emreg.BMSRANDone
	}
	if lost := p.lostLink.Swap(false); s.Up && !lost {
		v |= emreg.BMSRLink
	}
	return v
}

// pssr is the Marvell status register.
func pssr(s hw.LinkState) uint16 {
	if !s.Up {
		return 0
	}
	v := uint16(emreg.PSSRResolved | emreg.PSSRLink)
	switch s.Speed {
	case 1000:
		v |= emreg.PSSR1000
	case 100:
		v |= emreg.PSSR100
	}
	if s.FullDuplex {
		v |= emreg.PSSRDuplex
	}
	return v
}

// phyAct is what a write asks of the link.
type phyAct int

const (
	phyNothing phyAct = iota
	phyUpdate         // speed, duplex or power may have changed
	phyRestart        // negotiate anew
)

// write changes a register and returns what the link has to do.
func (p *phy) write(addr, reg uint32, v uint16) phyAct {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key, ok := p.page(addr, reg); ok {
		if _, there := p.pages[key]; there || len(p.pages) < maxPHYPages {
			p.pages[key] = v
		}
		return phyNothing
	}
	if p.hv() && reg >= emreg.M88PSCR {
		p.regs[reg] = v
		return phyNothing
	}
	switch reg {
	case emreg.PHYStatus, emreg.PHYID1, emreg.PHYID2, emreg.PHYANLPAR, emreg.PHYANER,
		emreg.PHY1000TStat, emreg.PHYExtStatus, emreg.M88PSSR:
		return phyNothing
	case emreg.PHYControl:
		p.regs[reg] = v &^ (emreg.BMCRReset | emreg.BMCRRestartAN)
		if v&(emreg.BMCRReset|emreg.BMCRRestartAN) != 0 {
			return phyRestart
		}
		return phyUpdate
	}
	p.regs[reg] = v
	return phyNothing
}

// limit is the highest speed in Mbit/s that the PHY may agree to, 0 for all.
func (p *phy) limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	bmcr, anar := p.regs[emreg.PHYControl], p.regs[emreg.PHYANAR]
	giga := p.regs[emreg.PHY1000TCtrl]&(emreg.CR1000TFD|emreg.CR1000THD) != 0
	fast := anar&(emreg.ANAR100FD|emreg.ANAR100HD) != 0
	if bmcr&emreg.BMCRAutoNeg == 0 {
		giga = bmcr&emreg.BMCRSpeed1000 != 0 && bmcr&emreg.BMCRSpeed100 == 0
		fast = bmcr&emreg.BMCRSpeed100 != 0
	}
	switch {
	case giga:
		return 0
	case fast:
		return 100
	}
	return 10
}

func (p *phy) poweredDown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.regs[emreg.PHYControl]&emreg.BMCRPowerDown != 0
}

// writeMDIC carries out a PHY access at once. What is read back has the fields that were
// written, as newer drivers verify.
func (n *nic) writeMDIC(v uint32) {
	reg, addr := v&emreg.MDICRegMask>>emreg.MDICRegShift, v&emreg.MDICPHYMask>>emreg.MDICPHYShift
	out := v&^(emreg.MDICError|emreg.MDICReady) | emreg.MDICReady
	act := phyNothing
	switch {
	case addr != emreg.PHYAddr && (addr != emreg.PHYAddrBase || !n.phy.hv()):
		out |= emreg.MDICError
	case !n.ownsMDIO():
		n.refuse(ruleMDIO, 0, v)
		out |= emreg.MDICError
	case v&emreg.MDICOpMask == emreg.MDICOpRead:
		n.link.Poll()
		out = out&^emreg.MDICDataMask | uint32(n.phy.read(addr, reg, n.link.State()))
	case v&emreg.MDICOpMask == emreg.MDICOpWrite:
		act = n.phy.write(addr, reg, uint16(v))
		n.updateLPI()
	default:
		out |= emreg.MDICError
	}
	n.setReg(emreg.MDIC, out)
	if act != phyNothing {
		n.wantLink()
	}
	if act == phyRestart {
		n.link.Restart()
	}
	if v&emreg.MDICIntEn != 0 {
		n.raise(emreg.ICRMDAC)
	}
}
