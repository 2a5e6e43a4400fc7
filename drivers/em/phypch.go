package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
)

// phyPages is the PHY of the pch parts while its flag is held: the registers of IEEE
// 802.3 and the pages, each at an address of its own (spec 1g 5.6).
type phyPages struct{ base, pages e1000.PHY }

// withPHY calls fn with the flag held. The error is fn's or the flag's.
func (sc *softc) withPHY(fn func(phyPages) error) error {
	flag := swFlag{&sc.hw}
	if err := flag.Acquire(); err != nil {
		return err
	}
	defer flag.Release()
	return fn(phyPages{base: e1000.PHY{Regs: &sc.hw, Addr: emreg.PHYAddrBase},
		pages: e1000.PHY{Regs: &sc.hw, Addr: emreg.PHYAddrPages}})
}

// open turns to the page of a register, page<<HVPageShift | register, and returns the
// register (e1000_read_phy_reg_hv). The first page has number 0 there.
func (p phyPages) open(key uint32) (int, error) {
	page := key >> emreg.HVPageShift
	if page == emreg.HVFirstPage {
		page = 0
	}
	return int(key & (e1000.PHYRegisters - 1)), p.pages.WriteReg(emreg.IGPPageSelect, uint16(page<<emreg.HVPageShift))
}

func (p phyPages) read(key uint32) (uint16, error) {
	reg, err := p.open(key)
	if err != nil {
		return 0, err
	}
	return p.pages.ReadReg(reg)
}

func (p phyPages) write(key uint32, v uint16) error {
	reg, err := p.open(key)
	if err != nil {
		return err
	}
	return p.pages.WriteReg(reg, v)
}

// readEMI reads a register of the extended management interface, writeEMI writes one
// (e1000_read_emi_reg_locked, e1000_write_emi_reg_locked).
func (p phyPages) readEMI(addr uint16) (uint16, error) {
	if err := p.base.WriteReg(emreg.EMIAddr, addr); err != nil {
		return 0, err
	}
	return p.base.ReadReg(emreg.EMIData)
}

func (p phyPages) writeEMI(addr, v uint16) error {
	if err := p.base.WriteReg(emreg.EMIAddr, addr); err != nil {
		return err
	}
	return p.base.WriteReg(emreg.EMIData, v)
}

// Gaps between packets for a link's speed and duplex (TIPG.IPGT).
const (
	ipgtHalf10 = 0xff // 10 Mbit/s, half duplex: collisions
	ipgtSlow   = 0x0c // I219 at 10 and 100 Mbit/s, full duplex
)

// tuneLink sets MAC and PHY for the link that there is
// (e1000_check_for_copper_link_ich8lan).
func (sc *softc) tuneLink() {
	r := &sc.hw
	status := r.Read32(emreg.STATUS)
	speed, full := status&emreg.StatusSpeedMask, status&emreg.StatusFD != 0
	gap, analog := uint32(emreg.TIPGIPGTCopper), uint16(1)
	switch {
	case !full && speed == emreg.StatusSpeed10:
		gap, analog = ipgtHalf10, 0
	case full && speed != emreg.StatusSpeed1000 && sc.chip.mac >= macPCHSPT:
		gap = ipgtSlow
	}
	r.Change(emreg.TIPG, emreg.TIPGIPGTMask, gap)
	r.Change(emreg.FEXTNVM4, emreg.FEXTNVM4Beacon, emreg.Beacon8us)
	err := sc.withPHY(func(p phyPages) error {
		if err := p.writeEMI(emreg.EMIRxConfig, analog); err != nil {
			return err
		}
		if sc.chip.mac >= macPCHSPT {
			if err := p.widenGap(speed == emreg.StatusSpeed1000); err != nil {
				return err
			}
		}
		return p.setEEE(sc.EEEOff.Load() == 0)
	})
	if err != nil {
		sc.ctx.Printf("%v\n", err)
	}
}

// widenGap keeps the pointers of the PHY's FIFO apart.
func (p phyPages) widenGap(gigabit bool) error {
	if !gigabit {
		return p.write(emreg.PHYPtrGap, emreg.PtrGapSlow)
	}
	v, err := p.read(emreg.PHYPtrGap)
	if err != nil || v&emreg.PtrGapMask >= emreg.PtrGapMin {
		return err
	}
	return p.write(emreg.PHYPtrGap, v&^emreg.PtrGapMask|emreg.PtrGapMin)
}

// setEEE lets the link idle at the speeds for which both ends said they can
// (e1000_set_eee_pchlan).
func (p phyPages) setEEE(on bool) error {
	ctrl, err := p.read(emreg.PHYLPICtrl)
	if err != nil {
		return err
	}
	ctrl &^= emreg.LPICtrl100 | emreg.LPICtrl1000
	if on {
		bits, err := p.sharedEEE()
		if err != nil {
			return err
		}
		ctrl |= bits
	}
	if _, err := p.readEMI(emreg.EMIPCSStatus); err != nil { // clears it
		return err
	}
	return p.write(emreg.PHYLPICtrl, ctrl)
}

// sharedEEE are the bits of LPI_CTRL for what both ends can do.
func (p phyPages) sharedEEE() (bits uint16, err error) {
	partner, err := p.readEMI(emreg.EMIPartner)
	if err != nil {
		return 0, err
	}
	own, err := p.readEMI(emreg.EMIAdvertise)
	if err != nil {
		return 0, err
	}
	ability, err := p.base.ReadReg(emreg.PHYANLPAR)
	if own&partner&emreg.EEE1000 != 0 {
		bits |= emreg.LPICtrl1000
	}
	if own&partner&emreg.EEE100 != 0 && ability&emreg.ANLPAR100FD != 0 {
		bits |= emreg.LPICtrl100
	}
	return bits, err
}

// ledPCH turns LED 0 of the PHY on or back. There is no mode that is always on: it shows
// a link, or, inverted, that there is none (e1000_led_on_pchlan).
func (sc *softc) ledPCH(on bool) {
	v := uint16(sc.LEDDefault())
	if on {
		v = v&^led0MaskPCH | emreg.LEDModeLinkUp
		if sc.hw.Read32(emreg.STATUS)&emreg.StatusLU == 0 {
			v |= emreg.LEDInvert
		}
	}
	if err := sc.withPHY(func(p phyPages) error { return p.write(emreg.HVLEDConfig, v) }); err != nil {
		sc.ctx.Printf("%v\n", err)
	}
}

// led0MaskPCH are mode and inversion of LED 0 (E1000_PHY_LED0_MASK).
const led0MaskPCH = 0x1f
