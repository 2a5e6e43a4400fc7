package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/ifnet"
)

// UpdateAdminStatus follows the link and the statistics (em_if_update_admin_status;
// spec 1g 6.8).
func (sc *softc) UpdateAdminStatus() {
	if sc.chip.mac == macPCHSPT && sc.LinkAsked() {
		sc.hw.Delay(sptLinkWait)
	}
	sc.UpdateLink(sc.linkCameUp)
	sc.UpdateStats()
	if sc.chip.mac == mac82571 {
		sc.WriteRAR(0, sc.mac, true)
	}
}

// linkCameUp is what the parts need to hear of a link.
func (sc *softc) linkCameUp(speed int32) {
	if sc.chip.mac == mac82571 && speed != e1000.Speed1000 {
		sc.hw.Clear(emreg.TARC, tarcSpeedMode)
	}
	if sc.chip.pch() {
		sc.tuneLink()
	}
	sc.automaskTSO(speed)
}

// automaskTSO keeps segmentation off below gigabit, where the parts stall under it, and
// brings it back (em_automask_tso). The reset tells the stack.
func (sc *softc) automaskTSO(speed int32) {
	s := sc.ctx.Softc()
	switch tso := s.Capenable & ifnet.CapTSO; {
	case speed != e1000.Speed1000 && tso != 0 && !sc.tun.unsupportedTSO:
		sc.ctx.Printf("Disabling TSO for 10/100 Ethernet.\n")
		sc.tsoAutomasked = tso
		s.Capenable &^= ifnet.CapTSO
		sc.ctx.Ifp().SetCapenable(0, ifnet.CapTSO)
	case speed == e1000.Speed1000 && sc.tsoAutomasked != 0:
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

// LEDFunc turns the identification LED on or off (em_if_led_func). The pch parts have
// theirs behind the PHY.
func (sc *softc) LEDFunc(on bool) {
	if sc.chip.pch() {
		sc.ledPCH(on)
		return
	}
	sc.Common.LEDFunc(on)
}
