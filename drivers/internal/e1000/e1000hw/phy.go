package e1000hw

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
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
	anerPartner = 0x0001 // register 6: partner negotiates
	anlparUp    = 0x45e1
)

// PHYConfig says which PHY a part has (spec 1g 5.6).
type PHYConfig struct {
	ID     uint32
	Page   uint32     // register that pages all others, 0 for none
	Window bool       // register 30 is a window to the page that register 29 selects
	Hub    bool       // I217: a base at one address, pages of its own at the other
	MMD    bool       // registers 13 and 14 are a window to MMDs; 2.5 Gbit/s is advertised there
	Reset  []PHYValue // registers that are not 0 after a reset, beside the common ones

	// Status returns the vendor's register that shows the link, and its number; nil for
	// none.
	Status func(hw.LinkState) (reg uint32, v uint16)
}

// PHYValue is a register and what it holds.
type PHYValue struct {
	Reg   uint32
	Value uint16
}

// PHY is a PHY behind MDIC. The link itself is Core.Link. Any goroutine.
type PHY struct {
	cfg      *PHYConfig
	lostLink atomic.Bool // BMSR's link bit latches low

	mu    sync.Mutex // guards what follows
	regs  [phyRegs]uint16
	pages map[uint32]uint16 // page<<5 | register, or mmdKey
	mmd   uint32            // address that MMDAAD has set, device<<16 | register
}

func (p *PHY) init(cfg *PHYConfig) {
	p.cfg = cfg
	p.Reset()
}

// Reset gives the registers their values after a reset.
func (p *PHY) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.regs = [phyRegs]uint16{emreg.PHYControl: bmcrReset, emreg.PHYANAR: anarReset, emreg.PHY1000TCtrl: gigReset}
	for _, v := range p.cfg.Reset {
		p.regs[v.Reg] = v.Value
	}
	p.pages = make(map[uint32]uint16)
	p.mmd = 0
	if p.cfg.Hub {
		p.resetHub()
	}
	if p.cfg.MMD {
		p.pages[mmdKey|igcreg.MMDDevAN<<mmdDevShift|igcreg.ANGBTCtrl] = igcreg.AdvGBT2500
	}
}

// Keys of MMD registers among the pages.
const (
	mmdKey      = 1 << 31
	mmdDevShift = 16
	pageShift   = 5
)

// page is the key of a register that is not on page 0; ok is false for one that is.
func (p *PHY) page(addr, reg uint32) (key uint32, ok bool) {
	sel := p.cfg.Page
	switch {
	case p.cfg.Hub:
		return p.pageHub(addr, reg)
	case sel != 0 && reg != sel && p.regs[sel] != 0:
		return uint32(p.regs[sel])<<pageShift | reg, true
	case p.cfg.Window && reg == emreg.M88GenControl:
		return uint32(p.regs[emreg.M88PageSelect])<<pageShift | reg, true
	case p.cfg.MMD && reg == igcreg.MMDData && p.regs[igcreg.MMDControl]&igcreg.MMDDataFunc != 0:
		return mmdKey | p.mmd, true
	}
	return 0, false
}

// read returns a register, given the state of the link.
func (p *PHY) read(addr, reg uint32, s hw.LinkState) uint16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key, ok := p.page(addr, reg); ok {
		return p.pages[key]
	}
	switch reg {
	case emreg.PHYStatus:
		return p.status(s)
	case emreg.PHYID1:
		return uint16(p.cfg.ID >> 16)
	case emreg.PHYID2:
		return uint16(p.cfg.ID)
	case emreg.PHYExtStatus:
		return extReset
	case emreg.PHYANLPAR:
		return ifUp(s, anlparUp)
	case emreg.PHYANER:
		return ifUp(s, anerPartner)
	case emreg.PHY1000TStat:
		if s.Speed >= 1000 {
			return gigPartner
		}
		return 0
	}
	if r, v, ok := p.vendor(s); ok && r == reg {
		return v
	}
	return p.regs[reg]
}

// vendor is the vendor's status register.
func (p *PHY) vendor(s hw.LinkState) (reg uint32, v uint16, ok bool) {
	if p.cfg.Status == nil {
		return 0, 0, false
	}
	reg, v = p.cfg.Status(s)
	return reg, ifUp(s, v), true
}

func ifUp(s hw.LinkState, v uint16) uint16 {
	if s.Up {
		return v
	}
	return 0
}

// status is BMSR: the link bit is low once more after the link was lost.
func (p *PHY) status(s hw.LinkState) uint16 {
	v := uint16(bmsrBase)
	if s.Up {
		v |= emreg.BMSRANDone
	}
	if lost := p.lostLink.Swap(false); s.Up && !lost {
		v |= emreg.BMSRLink
	}
	return v
}

// bySpeed returns the value for the speed of a link.
func bySpeed(s hw.LinkState, giga, fast uint16) uint16 {
	switch s.Speed {
	case 1000:
		return giga
	case 100:
		return fast
	}
	return 0
}

// M88Status is the status register of Marvell's PHYs.
func M88Status(s hw.LinkState) (reg uint32, v uint16) {
	v = emreg.PSSRResolved | emreg.PSSRLink | bySpeed(s, emreg.PSSR1000, emreg.PSSR100)
	if s.FullDuplex {
		v |= emreg.PSSRDuplex
	}
	return emreg.M88PSSR, v
}

// phyAct is what a write asks of the link.
type phyAct int

const (
	phyNothing phyAct = iota
	phyUpdate         // speed, duplex or power may have changed
	phyRestart        // negotiate anew
)

// write changes a register and returns what the link has to do.
func (p *PHY) write(addr, reg uint32, v uint16) phyAct {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key, ok := p.page(addr, reg); ok {
		if _, there := p.pages[key]; there || len(p.pages) < maxPHYPages {
			p.pages[key] = v
		}
		return phyNothing
	}
	if r, _, ok := p.vendor(hw.LinkState{}); ok && r == reg {
		return phyNothing
	}
	switch reg {
	case emreg.PHYStatus, emreg.PHYID1, emreg.PHYID2, emreg.PHYANLPAR, emreg.PHYANER,
		emreg.PHY1000TStat, emreg.PHYExtStatus:
		return phyNothing
	case emreg.PHYControl:
		p.regs[reg] = v &^ (emreg.BMCRReset | emreg.BMCRRestartAN)
		if v&(emreg.BMCRReset|emreg.BMCRRestartAN) != 0 {
			return phyRestart
		}
		return phyUpdate
	case igcreg.MMDData:
		if p.cfg.MMD {
			p.mmd = uint32(p.regs[igcreg.MMDControl]&igcreg.MMDDevMask)<<mmdDevShift | uint32(v)
		}
	}
	p.regs[reg] = v
	return phyNothing
}

// limit is the highest speed in Mbit/s that the PHY may agree to, 0 for all.
func (p *PHY) limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	bmcr, anar := p.regs[emreg.PHYControl], p.regs[emreg.PHYANAR]
	giga := p.regs[emreg.PHY1000TCtrl]&(emreg.CR1000TFD|emreg.CR1000THD) != 0
	fast := anar&(emreg.ANAR100FD|emreg.ANAR100HD) != 0
	more := p.pages[mmdKey|igcreg.MMDDevAN<<mmdDevShift|igcreg.ANGBTCtrl]&igcreg.AdvGBT2500 != 0
	if bmcr&emreg.BMCRAutoNeg == 0 {
		giga = bmcr&emreg.BMCRSpeed1000 != 0 && bmcr&emreg.BMCRSpeed100 == 0
		fast = bmcr&emreg.BMCRSpeed100 != 0
		more = false
	}
	switch {
	case more:
		return 0
	case giga:
		return 1000
	case fast:
		return 100
	}
	return 10
}

func (p *PHY) poweredDown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.regs[emreg.PHYControl]&emreg.BMCRPowerDown != 0
}

// WriteMDIC carries out a PHY access at once. What is read back has the fields that were
// written, as newer drivers verify.
func (c *Core) WriteMDIC(v uint32) {
	reg, addr := v&emreg.MDICRegMask>>emreg.MDICRegShift, v&emreg.MDICPHYMask>>emreg.MDICPHYShift
	out := v&^(emreg.MDICError|emreg.MDICReady) | emreg.MDICReady
	act := phyNothing
	switch {
	case addr != emreg.PHYAddr && (addr != emreg.PHYAddrBase || !c.PHY.cfg.Hub):
		out |= emreg.MDICError
	case !c.ownsMDIO():
		c.Refuse(RuleMDIO, 0, v)
		out |= emreg.MDICError
	case v&emreg.MDICOpMask == emreg.MDICOpRead:
		c.Link.Poll()
		out = out&^emreg.MDICDataMask | uint32(c.PHY.read(addr, reg, c.Link.State()))
	case v&emreg.MDICOpMask == emreg.MDICOpWrite:
		act = c.PHY.write(addr, reg, uint16(v))
		c.follow()
	default:
		out |= emreg.MDICError
	}
	c.SetReg(emreg.MDIC, out)
	if act != phyNothing {
		c.WantLink()
	}
	if act == phyRestart {
		c.Link.Restart()
	}
	if v&emreg.MDICIntEn != 0 {
		c.raise(emreg.ICRMDAC)
	}
}
