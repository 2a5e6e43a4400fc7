package e1000

// MMD access through two registers of clause 22 (IEEE 802.3 annex 22D;
// __igc_access_xmdio_reg).
const (
	mmdControl = 13 // IGC_MMDAC: device, and what mmdData is
	mmdData    = 14 // IGC_MMDAAD
	mmdIsData  = 1 << 14

	mmdAutoNeg  = 7      // device of auto-negotiation
	multiGigCtl = 32     // ANEG_MULTIGBT_AN_CTRL
	adv2500     = 1 << 7 // CR_2500T_FD_CAPS
)

// ReadMMD reads a register of a manageable device behind the PHY.
func (p PHY) ReadMMD(dev, reg uint16) (uint16, error) {
	if err := p.selectMMD(dev, reg); err != nil {
		return 0, err
	}
	v, err := p.ReadReg(mmdData)
	if err != nil {
		return 0, err
	}
	return v, p.WriteReg(mmdControl, 0)
}

// WriteMMD writes one.
func (p PHY) WriteMMD(dev, reg, v uint16) error {
	if err := p.selectMMD(dev, reg); err != nil {
		return err
	}
	if err := p.WriteReg(mmdData, v); err != nil {
		return err
	}
	return p.WriteReg(mmdControl, 0)
}

func (p PHY) selectMMD(dev, reg uint16) error {
	for _, w := range [...]struct {
		reg int
		v   uint16
	}{{mmdControl, dev}, {mmdData, reg}, {mmdControl, mmdIsData | dev}} {
		if err := p.WriteReg(w.reg, w.v); err != nil {
			return err
		}
	}
	return nil
}

// advertise2500 offers 2.5 Gbit/s or not (igc_phy_setup_autoneg).
func (p PHY) advertise2500(on bool) error {
	v, err := p.ReadMMD(mmdAutoNeg, multiGigCtl)
	if err != nil {
		return err
	}
	v &^= adv2500
	if on {
		v |= adv2500
	}
	return p.WriteMMD(mmdAutoNeg, multiGigCtl, v)
}
