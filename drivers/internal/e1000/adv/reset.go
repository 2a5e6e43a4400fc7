package adv

import (
	"fmt"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

// Waits of a reset (spec 1g 6.2).
const (
	resetDrain    = 10 * time.Millisecond
	masterStep    = 100 * time.Microsecond
	masterTries   = 800
	autoReadStep  = time.Millisecond
	autoReadTries = 10

	vlanEtherType = 0x8100
)

// ResetMAC is what the resets of all parts have in common: DMA is stopped, interrupts and
// both units are turned off, and CTRL.RST is written (e1000_reset_hw_82575,
// e1000_reset_hw_82580, igc_reset_hw_i225; spec 1g 6.2). settle is how long the part
// takes. A part that does not end its DMA is reset nevertheless, and one that does not
// load its NVM in time is used.
func (sc *Softc) ResetMAC(settle time.Duration) {
	r := &sc.Regs
	r.Set(emreg.CTRL, emreg.CtrlGIOMasterDisable)
	r.Poll(emreg.STATUS, emreg.StatusGIOMasterEnable, 0, masterStep, masterTries)
	r.Write32(emreg.IMC, allBits)
	sc.WriteRCTL(0)
	r.Write32(emreg.TCTL, emreg.TCTLPSP)
	r.Flush()
	r.Delay(resetDrain)
	r.Set(emreg.CTRL, emreg.CtrlRST)
	if settle > 0 {
		r.Delay(settle)
	}
	r.Poll(emreg.EECD, emreg.EECDAutoRD, emreg.EECDAutoRD, autoReadStep, autoReadTries)
}

// EndReset masks and takes back the causes that a reset left.
func (sc *Softc) EndReset() {
	sc.Regs.Write32(emreg.IMC, allBits)
	sc.Regs.Read32(emreg.ICR)
}

// resetAndInit brings the part from any state to one in which only the rings are missing
// (em_reset, igc_reset; spec 1g 6.3).
func (sc *Softc) resetAndInit() error {
	r := &sc.Regs
	frame := sc.Ctx.Softc().MaxFrameSize
	r.Set(emreg.CTRLExt, emreg.CtrlExtDrvLoad)
	pba := sc.Part.PacketBuffer(r)
	sc.Tight.Store(sc.SetMarks(pba, frame, sc.Part.Hysteresis))
	if err := sc.Part.Reset(sc); err != nil {
		return err
	}
	r.Write32(emreg.WUC, 0)
	if err := sc.initHW(); err != nil {
		sc.Ctx.Printf("Hardware Initialization Failed\n")
		return err
	}
	if sc.Part.HasDMAC {
		sc.initDMAC(pba, frame)
	}
	r.Write32(emreg.VET, vlanEtherType)
	_, err := sc.CheckForLink()
	return err
}

// release tells the firmware that the driver is gone (em_release_hw_control).
func (sc *Softc) release() { sc.Regs.Clear(emreg.CTRLExt, emreg.CtrlExtDrvLoad) }

// initHW is e1000_init_hw (e1000_init_hw_base; spec 1g 6.3).
func (sc *Softc) initHW() error {
	sc.ClearVLANs()
	sc.InitAddresses(sc.mac)
	if sc.Part.Route != nil { // 82575 has no such table
		for i := range uint64(e1000reg.UTACount) {
			sc.Regs.Write32(e1000reg.UTA+i*emreg.RegStride, 0)
		}
	}
	if err := sc.SetupLink(); err != nil {
		return fmt.Errorf("setting up the link: %w", err)
	}
	sc.Stats.Discard(&sc.Regs)
	return nil
}

// Stop quiets the part (em_if_stop; spec 1g 6.8). A reset that fails leaves it quiet.
func (sc *Softc) Stop() {
	if err := sc.Part.Reset(sc); err != nil {
		sc.Ctx.Printf("%v\n", err)
	}
	sc.Regs.Write32(emreg.WUC, 0)
}
