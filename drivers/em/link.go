package em

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/ifnet"
)

const bitsPerMega = 1_000_000

// media are what the part can be set to, in the order of em_setup_interface.
var media = []struct {
	word ifnet.MediaWord
	mode e1000.Modes
}{
	{ifnet.Media10T, e1000.Mode10HD},
	{ifnet.Media10T | ifnet.MediaFDX, e1000.Mode10FD},
	{ifnet.Media100TX, e1000.Mode100HD},
	{ifnet.Media100TX | ifnet.MediaFDX, e1000.Mode100FD},
	{ifnet.Media1000T | ifnet.MediaFDX, e1000.Mode1000FD},
	{ifnet.Media1000T, e1000.Mode1000FD},
	{ifnet.MediaAuto, e1000.ModesAll},
}

// setupMedia fills the interface's media list (spec 1g 2.3).
func (sc *softc) setupMedia() {
	m := sc.ctx.Media()
	for _, e := range media {
		m.Add(ifnet.MediaEther|e.word, 0)
	}
	m.Set(ifnet.MediaEther | ifnet.MediaAuto)
}

// MediaChange takes over the medium that was chosen; iflib stops and inits afterwards
// (em_if_media_change). Gigabit is never forced: only it is advertised.
func (sc *softc) MediaChange() error {
	word := sc.ctx.Media().Current()
	if word&ifnet.MediaTypeMask != ifnet.MediaEther {
		return fmt.Errorf("media type of %#x: %w", uint32(word), syscall.EINVAL)
	}
	want := word & (ifnet.MediaSubtypeMask | ifnet.MediaFDX)
	for _, e := range media {
		if e.word != want {
			continue
		}
		sc.modes, sc.forced = e.mode, 0
		if e.mode != e1000.ModesAll && e.mode != e1000.Mode1000FD {
			sc.forced = e.mode
		}
		return nil
	}
	return fmt.Errorf("media %#x: %w", uint32(word), syscall.EINVAL)
}

// MediaStatus reports the medium in use (em_if_media_status).
func (sc *softc) MediaStatus(req *ifnet.MediaReq) {
	req.Status = ifnet.MediaAValid
	req.Active = ifnet.MediaEther
	if !sc.linkUp {
		return
	}
	req.Status |= ifnet.MediaActive
	switch sc.speed.Load() {
	case speed10:
		req.Active |= ifnet.Media10T
	case speed100:
		req.Active |= ifnet.Media100TX
	case gigabit:
		req.Active |= ifnet.Media1000T
	}
	if sc.fullDuplex {
		req.Active |= ifnet.MediaFDX
	} else {
		req.Active |= ifnet.MediaHDX
	}
}

// Speeds in Mbit/s.
const (
	speed10  = 10
	speed100 = 100
)

// checkForLink asks the PHY whether there is a link and, if so, settles flow control
// and collision distance (e1000_check_for_copper_link_generic; spec 1g 6.8). An error
// means the PHY did not answer.
func (sc *softc) checkForLink() (bool, error) {
	up, err := sc.phy.Link()
	if err != nil {
		return false, fmt.Errorf("checking for link: %w", err)
	}
	sc.getLink.Store(!up)
	if !up {
		return false, nil
	}
	sc.hw.Change(emreg.TCTL, emreg.TCTLCOLD, emreg.CollisionDistance<<emreg.TCTLCOLDShift)
	fc := sc.flow()
	if sc.forced == 0 {
		if fc, err = sc.phy.ResolveFlow(fc); err != nil {
			return false, fmt.Errorf("resolving flow control: %w", err)
		}
	}
	sc.forceFlow(fc)
	return true, nil
}

// forceFlow has the part obey and send pause frames (e1000_force_mac_fc_generic).
func (sc *softc) forceFlow(fc e1000.FlowControl) {
	var set uint32
	if fc == e1000.FlowRx || fc == e1000.FlowFull {
		set |= emreg.CtrlRFCE
	}
	if fc == e1000.FlowTx || fc == e1000.FlowFull {
		set |= emreg.CtrlTFCE
	}
	sc.hw.Change(emreg.CTRL, emreg.CtrlRFCE|emreg.CtrlTFCE, set)
}

func (sc *softc) flow() e1000.FlowControl { return e1000.FlowControl(sc.fc.Load()) }

// UpdateAdminStatus follows the link and the statistics (em_if_update_admin_status;
// spec 1g 6.8).
func (sc *softc) UpdateAdminStatus() {
	up := true
	if sc.getLink.Load() {
		var err error
		if up, err = sc.checkForLink(); err != nil {
			sc.ctx.Printf("%v\n", err)
		}
	}
	switch {
	case up && !sc.linkUp:
		sc.linkCameUp()
	case !up && sc.linkUp:
		sc.linkUp = false
		sc.speed.Store(0)
		sc.ctx.LinkStateChange(false, 0)
	}
	if sc.wantFlow.Swap(false) {
		sc.forceFlow(sc.flow())
	}
	if sc.wantStats.Swap(false) {
		sc.updateStats()
	}
	if sc.chip.mac == mac82571 {
		sc.writeRAR(0, sc.mac, true)
	}
}

func (sc *softc) linkCameUp() {
	status := sc.hw.Read32(emreg.STATUS)
	speed := int32(gigabit)
	switch status & emreg.StatusSpeedMask {
	case emreg.StatusSpeed10:
		speed = speed10
	case emreg.StatusSpeed100:
		speed = speed100
	}
	sc.speed.Store(speed)
	sc.fullDuplex = status&emreg.StatusFD != 0
	sc.linkUp = true
	if sc.chip.mac == mac82571 && speed != gigabit {
		sc.hw.Clear(emreg.TARC, tarcSpeedMode)
	}
	sc.automaskTSO(speed)
	sc.ctx.LinkStateChange(true, uint64(speed)*bitsPerMega)
}

// automaskTSO keeps segmentation off below gigabit, where the parts stall under it, and
// brings it back (em_automask_tso). The reset tells the stack.
func (sc *softc) automaskTSO(speed int32) {
	s := sc.ctx.Softc()
	switch tso := s.Capenable & ifnet.CapTSO; {
	case speed != gigabit && tso != 0 && !sc.tun.unsupportedTSO:
		sc.ctx.Printf("Disabling TSO for 10/100 Ethernet.\n")
		sc.tsoAutomasked = tso
		s.Capenable &^= ifnet.CapTSO
		sc.ctx.Ifp().SetCapenable(0, ifnet.CapTSO)
	case speed == gigabit && sc.tsoAutomasked != 0:
		sc.ctx.Printf("Re-enabling TSO for GbE.\n")
		s.Capenable |= sc.tsoAutomasked
		sc.ctx.Ifp().SetCapenable(sc.tsoAutomasked, 0)
		sc.tsoAutomasked = 0
	default:
		return
	}
	sc.ctx.RequestReset()
	sc.ctx.AdminIntrDeferred()
}

// Modes of LED 0 in LEDCTL (spec 1g 5.1).
const (
	led0Mask = 0xff
	led0On   = 0xe
)

// LEDFunc turns the identification LED on, or back to what it shows otherwise
// (em_if_led_func).
func (sc *softc) LEDFunc(on bool) {
	v := sc.ledDefault
	if on {
		v = v&^led0Mask | led0On
	}
	sc.hw.Write32(emreg.LEDCTL, v)
}
