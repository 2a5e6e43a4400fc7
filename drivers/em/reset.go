package em

import (
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

// Waits of a reset (spec 1g 6.2).
const (
	resetDrain     = 10 * time.Millisecond
	resetLEM       = 5 * time.Millisecond
	resetEM        = 25 * time.Millisecond
	masterStep     = 100 * time.Microsecond
	masterTries    = 800
	ownershipStep  = 2 * time.Millisecond
	ownershipTries = 10
	autoReadStep   = time.Millisecond
	autoReadTries  = 10

	allBits = 0xffffffff
)

// reset puts the part into its reset state (e1000_reset_hw; spec 1g 6.2).
func (sc *softc) reset() error {
	switch {
	case sc.chip.lem():
		sc.reset8254x()
		return nil
	case sc.chip.pch():
		sc.resetPCH()
		return nil
	}
	return sc.reset8257x()
}

// stopMaster ends DMA (e1000_disable_pcie_master_generic). A part that does not end it is
// reset nevertheless.
func (sc *softc) stopMaster() {
	sc.hw.Set(emreg.CTRL, emreg.CtrlGIOMasterDisable)
	sc.hw.Poll(emreg.STATUS, emreg.StatusGIOMasterEnable, 0, masterStep, masterTries)
}

func (sc *softc) reset8254x() {
	r := &sc.hw
	sc.drain(emreg.TCTLPSP)
	ctrl := r.Read32(emreg.CTRL) | emreg.CtrlRST
	if sc.chip.mac == mac82545Rev3 {
		r.Write32(emreg.CTRLDup, ctrl)
	} else {
		// These parts may hang on a reset that comes by memory.
		sc.io.Write32(emreg.IOAddr, emreg.CTRL)
		sc.io.Write32(emreg.IOData, ctrl)
	}
	r.Delay(resetLEM)
	r.Clear(emreg.MANC, emreg.MANCARPEn)
	r.Write32(emreg.IMC, allBits)
	r.Read32(emreg.ICR)
}

func (sc *softc) reset8257x() error {
	r := &sc.hw
	sc.stopMaster()
	sc.drain(r.Read32(emreg.TCTL) &^ emreg.TCTLEN)
	if sc.chip.externalLock() {
		sc.takeOwnership()
	}
	r.Set(emreg.CTRL, emreg.CtrlRST)
	if sc.chip.externalLock() {
		r.Clear(emreg.EXTCNFCtrl, emreg.EXTCNFSWOwnership)
	}
	if v, ok := r.Poll(emreg.EECD, emreg.EECDAutoRD, emreg.EECDAutoRD, autoReadStep, autoReadTries); !ok {
		return fmt.Errorf("reset: the NVM was not loaded (EECD %#x): %w", v, syscall.EIO)
	}
	if sc.chip.mac == mac82571 {
		r.Clear(emreg.EECD, emreg.EECDReq|emreg.EECDGnt)
	} else {
		r.Delay(resetEM)
	}
	r.Write32(emreg.IMC, allBits)
	r.Read32(emreg.ICR)
	return nil
}

// drain masks interrupts, stops both units, the transmit unit by a value of TCTL, and lets
// what is under way end.
func (sc *softc) drain(tctl uint32) {
	r := &sc.hw
	r.Write32(emreg.IMC, allBits)
	sc.WriteRCTL(0)
	r.Write32(emreg.TCTL, tctl)
	r.Flush()
	r.Delay(resetDrain)
}

// takeOwnership asks for the part while its firmware might use it
// (e1000_get_hw_semaphore_82573). A firmware that does not let go is passed over.
func (sc *softc) takeOwnership() {
	for range ownershipTries {
		sc.hw.Set(emreg.EXTCNFCtrl, emreg.EXTCNFSWOwnership)
		if sc.hw.Read32(emreg.EXTCNFCtrl)&emreg.EXTCNFSWOwnership != 0 {
			return
		}
		sc.hw.Delay(ownershipStep)
	}
}

const (
	fcHysteresis  = 1500 // between the flow control marks (spec 1g 6.3 step 3)
	vlanEtherType = 0x8100
)

// resetAndInit brings the part from any state to one in which only the rings are
// missing (em_reset; spec 1g 6.3).
func (sc *softc) resetAndInit() error {
	frame := sc.ctx.Softc().MaxFrameSize
	sc.takeControl()
	if err := sc.stopSmartPowerDown(); err != nil {
		return err
	}
	pba := sc.chip.packetBuffer(frame)
	sc.hw.Write32(emreg.PBA, pba)
	sc.Tight.Store(sc.SetMarks(pba, frame, fcHysteresis))
	if sc.chip.pch() {
		sc.setMarksPCH()
	}
	sc.flushRings()
	if err := sc.reset(); err != nil {
		return err
	}
	sc.hw.Write32(emreg.WUFC, 0)
	if err := sc.initHW(); err != nil {
		sc.ctx.Printf("Hardware Initialization Failed\n")
		return err
	}
	sc.hw.Write32(emreg.VET, vlanEtherType)
	up, err := sc.CheckForLink()
	if up && sc.chip.pch() {
		sc.tuneLink()
	}
	return err
}

// takeControl tells the firmware that a driver is there (em_get_hw_control), release
// that it is gone (em_release_hw_control).
func (sc *softc) takeControl() { sc.hw.Set(sc.controlBit()) }
func (sc *softc) release()     { sc.hw.Clear(sc.controlBit()) }

func (sc *softc) controlBit() (reg uint64, bit uint32) {
	if sc.chip.mac == mac82573 {
		return emreg.SWSM, emreg.SWSMDrvLoad
	}
	return emreg.CTRLExt, emreg.CtrlExtDrvLoad
}

// initHW is e1000_init_hw (spec 1g 6.3).
func (sc *softc) initHW() error {
	r := &sc.hw
	switch {
	case sc.chip.pch():
		sc.initBitsPCH()
	case sc.chip.lem():
		sc.ClearVLANs()
	default:
		sc.ClearVLANs()
		sc.initBits8257x()
	}
	sc.InitAddresses(sc.mac)
	if err := sc.SetupLink(); err != nil {
		return fmt.Errorf("setting up the link: %w", err)
	}
	if sc.chip.pch() {
		if err := sc.setupLinkPCH(); err != nil {
			return fmt.Errorf("setting up the link: %w", err)
		}
	}
	set := uint32(1<<emreg.DCTLWthreshShift | emreg.DCTLGran)
	if !sc.chip.lem() {
		set |= emreg.TXDCTLCountDesc
	}
	r.Change(emreg.TXDCTL, emreg.DCTLWthresh, set)
	sc.Stats.Discard(r)
	if sc.chip.mac == mac82574 {
		r.Write32(emreg.IVAR, emreg.IVARValid<<emreg.IVAROtherShift)
	}
	return nil
}

// initBits8257x sets bits that these parts want (e1000_initialize_hw_bits_82571).
func (sc *softc) initBits8257x() {
	sc.hw.Set(emreg.TXDCTL, emreg.TXDCTLCountDesc)
	sc.hw.Set(emreg.TXDCTL+emreg.RingStride, emreg.TXDCTLCountDesc)
	if sc.chip.mac >= mac82574 {
		// The link of the bus enters L1 also without L0s: the "Tx hang" of 82574.
		sc.hw.Set(emreg.GCR, emreg.GCRL1ActWithoutL0s)
	}
}

// Stop quiets the part (em_if_stop; spec 1g 6.8). A reset that fails leaves it quiet.
func (sc *softc) Stop() {
	sc.flushRings()
	if err := sc.reset(); err != nil {
		sc.ctx.Printf("%v\n", err)
	}
	sc.hw.Write32(emreg.WUFC, 0)
}
