package e1000

// FlowControl is which pause frames a port obeys and sends (enum e1000_fc_mode).
type FlowControl uint8

// The modes, numbered as the sysctl fc has them.
const (
	FlowNone FlowControl = 0
	FlowRx   FlowControl = 1 // obeys, sends none
	FlowTx   FlowControl = 2
	FlowFull FlowControl = 3
)

// Modes are speed and duplex combinations that a port may negotiate or is forced to
// (ADVERTISE_*).
type Modes uint8

// The combinations.
const (
	Mode10HD   Modes = 0x01
	Mode10FD   Modes = 0x02
	Mode100HD  Modes = 0x04
	Mode100FD  Modes = 0x08
	Mode1000FD Modes = 0x20
	Mode2500FD Modes = 0x80

	// ModesAll is what a gigabit port offers: gigabit at half duplex does not exist.
	ModesAll = Mode10HD | Mode10FD | Mode100HD | Mode100FD | Mode1000FD
)

// pause is what a mode says in the advertisement (IEEE 802.3 annex 28B). A port that
// only obeys says the same as one that does both and settles the rest afterwards.
func (fc FlowControl) pause() uint16 {
	switch fc {
	case FlowRx, FlowFull:
		return advPause | advAsmDir
	case FlowTx:
		return advAsmDir
	}
	return 0
}

// StartAutoNeg advertises the modes and the flow control and starts negotiation
// (e1000_phy_setup_autoneg, e1000_copper_link_autoneg).
func (p PHY) StartAutoNeg(modes Modes, fc FlowControl) error {
	adv, err := p.ReadReg(PHYAdvertise)
	if err != nil {
		return err
	}
	adv &^= adv10HD | adv10FD | adv100HD | adv100FD | advPause | advAsmDir
	for _, m := range [...]struct {
		mode Modes
		bit  uint16
	}{{Mode10HD, adv10HD}, {Mode10FD, adv10FD}, {Mode100HD, adv100HD}, {Mode100FD, adv100FD}} {
		if modes&m.mode != 0 {
			adv |= m.bit
		}
	}
	giga, err := p.ReadReg(PHY1000TCtrl)
	if err != nil {
		return err
	}
	giga &^= adv1000HD | adv1000FD
	if modes&Mode1000FD != 0 {
		giga |= adv1000FD
	}
	if err := p.WriteReg(PHYAdvertise, adv|fc.pause()); err != nil {
		return err
	}
	if err := p.WriteReg(PHY1000TCtrl, giga); err != nil {
		return err
	}
	return p.control(controlPowerDown, controlAutoNeg|controlRestart)
}

// Force sets one mode of 10 or 100 Mbit/s without negotiation
// (e1000_phy_force_speed_duplex_setup).
func (p PHY) Force(mode Modes) error {
	var set uint16
	if mode&(Mode100HD|Mode100FD) != 0 {
		set |= controlSpeed100
	}
	if mode&(Mode10FD|Mode100FD) != 0 {
		set |= controlFD
	}
	return p.control(controlAutoNeg|controlSpeed1000|controlSpeed100|controlFD|controlPowerDown, set)
}

// ResolveFlow is the flow control that results from what this port wanted and what both
// advertised (e1000_config_fc_after_link_up_generic, IEEE 802.3 table 28B-3).
func (p PHY) ResolveFlow(want FlowControl) (FlowControl, error) {
	adv, err := p.ReadReg(PHYAdvertise)
	if err != nil {
		return FlowNone, err
	}
	partner, err := p.ReadReg(PHYPartner)
	if err != nil {
		return FlowNone, err
	}
	return resolveFlow(want, adv, partner), nil
}

func resolveFlow(want FlowControl, adv, partner uint16) FlowControl {
	const both = advPause | advAsmDir
	switch {
	case adv&partner&advPause != 0 && want == FlowFull:
		return FlowFull
	case adv&partner&advPause != 0:
		return FlowRx
	case adv&both == advAsmDir && partner&both == both:
		return FlowTx
	case adv&both == both && partner&both == advAsmDir:
		return FlowRx
	}
	return FlowNone
}
