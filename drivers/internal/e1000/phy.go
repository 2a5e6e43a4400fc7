package e1000

import (
	"fmt"
	"syscall"
	"time"
)

// MDIC, the window to the PHY's registers (spec 1g 5.1, 5.6).
const (
	mdicReg      = 0x0020
	mdicRegShift = 16
	mdicRegMask  = 0x1f
	mdicPHYShift = 21
	mdicWrite    = 1 << 26
	mdicRead     = 2 << 26
	mdicReady    = 1 << 28
	mdicError    = 1 << 30

	mdicStep  = 50 * time.Microsecond
	mdicTries = 1920 // 3 times E1000_GEN_POLL_TIMEOUT

	defaultPHYAddr = 1
)

// Registers that every PHY has (IEEE 802.3 clause 22 and 40; spec 1g 5.6).
const (
	PHYControl   = 0  // PHY_CONTROL
	PHYStatus    = 1  // PHY_STATUS
	PHYID1       = 2  // PHY_ID1
	PHYID2       = 3  // PHY_ID2
	PHYAdvertise = 4  // PHY_AUTONEG_ADV
	PHYPartner   = 5  // PHY_LP_ABILITY
	PHY1000TCtrl = 9  // PHY_1000T_CTRL
	PHYRegisters = 32 // registers of a page
)

// Bits of these registers.
const (
	controlSpeed1000 = 1 << 6
	controlFD        = 1 << 8
	controlRestart   = 1 << 9
	controlPowerDown = 1 << 11
	controlAutoNeg   = 1 << 12
	controlSpeed100  = 1 << 13

	statusLink = 1 << 2 // latches low

	adv10HD   = 1 << 5
	adv10FD   = 1 << 6
	adv100HD  = 1 << 7
	adv100FD  = 1 << 8
	advPause  = 1 << 10
	advAsmDir = 1 << 11

	adv1000HD = 1 << 8
	adv1000FD = 1 << 9
)

// Semaphore is what firmware or another function shares with software
// (e1000_phy_operations acquire and release). The ctx lock is held.
type Semaphore interface {
	Acquire() error
	Release()
}

// PHY is the transceiver of a copper port. The ctx lock is held. Errors wrap EIO, or are
// the semaphore's.
type PHY struct {
	*Regs
	Addr uint32    // on the MDI bus; 0 is where most parts have it, at 1
	Sem  Semaphore // held during each access; nil where nobody else is
}

// ReadReg reads a register of the page in force (e1000_read_phy_reg_mdic).
func (p PHY) ReadReg(reg int) (uint16, error) {
	v, err := p.access(reg, mdicRead)
	if err != nil {
		return 0, fmt.Errorf("reading PHY register %d: %w", reg, err)
	}
	return uint16(v), nil
}

// WriteReg writes a register of the page in force (e1000_write_phy_reg_mdic).
func (p PHY) WriteReg(reg int, v uint16) error {
	if _, err := p.access(reg, mdicWrite|uint32(v)); err != nil {
		return fmt.Errorf("writing PHY register %d: %w", reg, err)
	}
	return nil
}

func (p PHY) access(reg int, op uint32) (uint32, error) {
	if reg < 0 || reg >= PHYRegisters {
		return 0, fmt.Errorf("no such register: %w", syscall.EIO)
	}
	if p.Sem != nil {
		if err := p.Sem.Acquire(); err != nil {
			return 0, err
		}
		defer p.Sem.Release()
	}
	addr := p.Addr
	if addr == 0 {
		addr = defaultPHYAddr
	}
	p.Write32(mdicReg, op|uint32(reg)<<mdicRegShift|addr<<mdicPHYShift)
	v, ready := p.Poll(mdicReg, mdicReady, mdicReady, mdicStep, mdicTries)
	switch {
	case !ready:
		return 0, fmt.Errorf("MDI access did not complete: %w", syscall.EIO)
	case v&mdicError != 0:
		return 0, fmt.Errorf("MDI error: %w", syscall.EIO)
	case v>>mdicRegShift&mdicRegMask != uint32(reg):
		return 0, fmt.Errorf("MDI answer for register %d: %w", v>>mdicRegShift&mdicRegMask, syscall.EIO)
	}
	return v, nil
}

// ID reads the identifier with its revision (e1000_get_phy_id).
func (p PHY) ID() (uint32, error) {
	hi, err := p.ReadReg(PHYID1)
	if err != nil {
		return 0, err
	}
	lo, err := p.ReadReg(PHYID2)
	return uint32(hi)<<16 | uint32(lo), err
}

// Link reads whether there is a link now. The bit latches a loss, so the second
// reading counts (e1000_phy_has_link_generic).
func (p PHY) Link() (bool, error) {
	if _, err := p.ReadReg(PHYStatus); err != nil {
		return false, err
	}
	v, err := p.ReadReg(PHYStatus)
	return v&statusLink != 0, err
}

// control changes bits of the control register.
func (p PHY) control(clear, set uint16) error {
	v, err := p.ReadReg(PHYControl)
	if err != nil {
		return err
	}
	return p.WriteReg(PHYControl, v&^clear|set)
}
