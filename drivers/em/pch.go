package em

import (
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/ifnet"
)

// Waits of the pch parts (spec 1g 5.6, 6.2, 8; e1000_ich8lan.c).
const (
	swFlagStep     = time.Millisecond
	swFlagFree     = 100  // tries until another owner lets go (PHY_CFG_TIMEOUT)
	swFlagTries    = 1000 // until the grant (SW_FLAG_TIMEOUT)
	resetPCHWait   = 20 * time.Millisecond
	lanInitStep    = 100 * time.Microsecond
	lanInitTries   = 1500 // E1000_ICH8_LAN_INIT_TIMEOUT
	sptLinkWait    = 50 * time.Millisecond
	flushTxWait    = 250 * time.Microsecond
	flushRxWait    = 150 * time.Microsecond
	flushDummyLen  = 512 // bytes of the descriptor that flushes
	flashPageShift = 12
)

// swFlag is the right to use PHY and flash, which firmware wants too: a bit of
// EXTCNF_CTRL that reads 1 once it is granted (e1000_acquire_swflag_ich8lan).
type swFlag struct{ r *e1000.Regs }

// Acquire asks for the flag. The error wraps EIO: somebody does not let go.
func (f swFlag) Acquire() error {
	const flag = emreg.EXTCNFSWOwnership
	if _, free := f.r.Poll(emreg.EXTCNFCtrl, flag, 0, swFlagStep, swFlagFree); !free {
		return fmt.Errorf("another owner holds the PHY: %w", syscall.EIO)
	}
	f.r.Set(emreg.EXTCNFCtrl, flag)
	if _, granted := f.r.Poll(emreg.EXTCNFCtrl, flag, flag, swFlagStep, swFlagTries); !granted {
		f.r.Clear(emreg.EXTCNFCtrl, flag)
		return fmt.Errorf("firmware holds the PHY: %w", syscall.EIO)
	}
	return nil
}

// Release gives it back.
func (f swFlag) Release() { f.r.Clear(emreg.EXTCNFCtrl, emreg.EXTCNFSWOwnership) }

// mapFlash maps the flash registers of I217, which have a BAR of their own
// (em_if_attach_pre; spec 1g 1).
func (sc *softc) mapFlash() error {
	bar, err := sc.ctx.Function().MapBAR(barReg0 + emreg.FlashBAR*barStep)
	if err != nil {
		sc.ctx.Printf("Mapping of Flash failed\n")
		return fmt.Errorf("mapping the flash: %w", err)
	}
	sc.flash = bar
	return nil
}

// flashNVM is the NVM of a pch part. I217 says where its region begins and ends, I219 how
// long it is (e1000_init_nvm_params_ich8lan).
func (sc *softc) flashNVM() e1000.NVM {
	const wordLen, banks = 2, 2
	if sc.flash == nil {
		strap := sc.hw.Read32(emreg.STRAP)
		sectors := strap&emreg.StrapSizeMask>>emreg.StrapSizeShift + 1
		return e1000.FlashNVM{Regs: &sc.hw, Base: emreg.FlashOwn,
			Bank: sectors << flashPageShift / (banks * wordLen)}
	}
	gfp := sc.flash.Read32(emreg.FlashGFPREG)
	first, end := gfp&emreg.GFPREGMask, gfp>>emreg.GFPREGEndShift&emreg.GFPREGMask+1
	regs := &e1000.Regs{BAR: sc.flash, Delay: sc.hw.Delay}
	return e1000.FlashNVM{Regs: regs, Half: sc.flash, Start: first << flashPageShift,
		Bank: (end - first) << flashPageShift / (banks * wordLen)}
}

// hasChecksum reports whether the NVM says that it has a checksum. FreeBSD would make one
// and write the flash; this driver leaves the flash alone (spec 1g 5.7).
func (sc *softc) hasChecksum() (bool, error) {
	if !sc.chip.pch() {
		return true, nil
	}
	w, err := sc.nvm.ReadWord(emreg.NVMCompat)
	if err != nil || w&emreg.NVMCompatCsum != 0 {
		return true, err
	}
	sc.ctx.Printf("The EEPROM has no checksum\n")
	return false, nil
}

// resetPCH resets MAC and, if firmware lets it, PHY (e1000_reset_hw_ich8lan; spec 1g 6.2).
func (sc *softc) resetPCH() {
	r := &sc.hw
	sc.stopMaster()
	sc.drain(emreg.TCTLPSP)
	bits := uint32(emreg.CtrlRST)
	phy := r.Read32(emreg.FWSM)&emreg.FWSMRspPCIPHY != 0
	if phy {
		bits |= emreg.CtrlPHYRST
	}
	// An owner that does not let go loses the flag by the reset, as we do.
	if err := (swFlag{r}).Acquire(); err != nil {
		sc.ctx.Printf("%v\n", err)
	}
	r.Set(emreg.CTRL, bits)
	r.Delay(resetPCHWait) // reading now would hang the part
	if phy {
		r.Poll(emreg.STATUS, emreg.StatusLANInitDone, emreg.StatusLANInitDone, lanInitStep, lanInitTries)
		r.Clear(emreg.STATUS, emreg.StatusLANInitDone|emreg.StatusPHYRA)
	}
	r.Write32(emreg.IMC, allBits)
	r.Read32(emreg.ICR)
	r.Set(emreg.KABGTXD, emreg.KABGTXDBias)
}

// tarcPCH0 and tarcPCH1 are the bits of TARC(n) that the pch parts want.
const (
	tarcPCH0    = 1<<23 | 1<<24 | 1<<26 | 1<<27
	tarcPCH1    = 1<<24 | 1<<26 | 1<<30
	tarcNotMULR = 1 << 28 // of TARC(1), unless TCTL.MULR
)

// initBitsPCH sets bits that these parts want (e1000_initialize_hw_bits_ich8lan).
func (sc *softc) initBitsPCH() {
	r := &sc.hw
	r.Set(emreg.CTRLExt, emreg.CtrlExtOwn22|emreg.CtrlExtPHYPDEN|emreg.CtrlExtRODis)
	r.Set(emreg.TXDCTL, emreg.TXDCTLCountDesc)
	r.Set(emreg.TXDCTL+emreg.RingStride, emreg.TXDCTLCountDesc)
	r.Set(emreg.TARC, tarcPCH0)
	if r.Read32(emreg.TCTL)&emreg.TCTLMULR != 0 {
		r.Change(emreg.TARC+emreg.RingStride, tarcNotMULR, tarcPCH1)
	} else {
		r.Set(emreg.TARC+emreg.RingStride, tarcNotMULR|tarcPCH1)
	}
	r.Set(emreg.RFCTL, emreg.RFCTLNFSWDis|emreg.RFCTLNFSRDis)
	r.Set(emreg.PBECCSTS, emreg.PBECCEnable)
	r.Set(emreg.CTRL, emreg.CtrlMEHE)
}

// Flow control of the pch parts (spec 1g 6.3 step 3).
const (
	fcHighPCH    = 0x5c20
	fcLowPCH     = 0x5048
	fcPausePCH   = 0x0650
	fcRefreshPCH = 0x0400
	pbaPCH       = 26 // KiB, all pch parts
	pbaPCHJumbo  = 12
)

// setMarksPCH are the marks of these parts; long frames get a smaller buffer.
func (sc *softc) setMarksPCH() {
	sc.FixMarks(fcHighPCH, fcLowPCH, fcPausePCH)
	pba := uint32(pbaPCH)
	if sc.ctx.Ifp().MTU() > ifnet.EtherMTU {
		pba = pbaPCHJumbo
	}
	sc.hw.Write32(emreg.PBA, pba)
}

// setupLinkPCH is what comes after SetupLink on these parts
// (e1000_setup_link_ich8lan).
func (sc *softc) setupLinkPCH() error {
	sc.hw.Write32(emreg.FCRTVPCH, fcRefreshPCH)
	if err := sc.withPHY(func(p phyPages) error { return p.write(emreg.PHYPauseTime, fcPausePCH) }); err != nil {
		return err
	}
	for _, at := range [...]uint64{0, emreg.RingStride} {
		sc.hw.Change(emreg.TXDCTL+at, emreg.DCTLWthresh|emreg.DCTLPthresh,
			1<<emreg.DCTLWthreshShift|emreg.DCTLGran|emreg.TXDCTLCountDesc|emreg.TXDCTLMaxPrefetch)
	}
	return nil
}

// initTransmitPCH is what I219 wants of the transmit unit (spec 1g 6.4 transmit unit 6).
func (sc *softc) initTransmitPCH() {
	if sc.chip.mac != macPCHSPT {
		return
	}
	sc.hw.Set(emreg.IOSFPC, emreg.IOSFPCRdmtsHex)
	sc.hw.Change(emreg.TARC, emreg.TARCRequests, emreg.TARCTwoRequests)
}

// flushRings empties the rings of I219, which would hang at a reset with descriptors in
// them (em_flush_desc_rings; spec 1g 8).
func (sc *softc) flushRings() {
	if sc.chip.mac < macPCHSPT || len(sc.path.tx) == 0 {
		return
	}
	sc.hw.Set(emreg.FEXTNVM11, emreg.FEXTNVM11NoMULR)
	if sc.hw.Read32(emreg.TDLEN) == 0 || !sc.mustFlush() {
		return
	}
	sc.flushTransmit()
	if sc.mustFlush() {
		sc.flushReceive()
	}
}

func (sc *softc) mustFlush() bool {
	return sc.ctx.Function().ReadConfig32(emreg.ConfigDescRing)&emreg.FlushRequired != 0
}

// flushTransmit gives the part a descriptor without an end of packet behind all others
// (em_flush_tx_ring). FreeBSD writes it where the last reclaimed one was; this is where
// the part looks for it. Its data is the ring itself and goes nowhere.
func (sc *softc) flushTransmit() {
	r, q := &sc.hw, &sc.path.tx[0]
	r.Set(emreg.TCTL, emreg.TCTLEN)
	next := q.Write(r.Read32(emreg.TDT), uint64(q.Addr), emreg.TxdCmdIFCS|flushDummyLen)
	r.Write32(emreg.TDT, next)
	r.Delay(flushTxWait)
}

// flushReceive has the part give its receive descriptors back (em_flush_rx_ring).
func (sc *softc) flushReceive() {
	const thresholds = emreg.DCTLPthresh | emreg.DCTLHthresh
	r := &sc.hw
	sc.StopReceive()
	r.Flush()
	r.Delay(flushRxWait)
	r.Change(emreg.RXDCTL, thresholds, emreg.TXDCTLMaxPrefetch|1<<emreg.DCTLHthreshShift|emreg.DCTLGran)
	rctl := r.Read32(emreg.RCTL)
	sc.WriteRCTL(rctl | emreg.RCTLEN)
	r.Flush()
	r.Delay(flushRxWait)
	sc.WriteRCTL(rctl)
}

// statTable is the statistics block of a part.
func statTable(c *chip) []e1000.Stat {
	t := e1000.StatTable()
	if c.pch() {
		t = append(t, e1000.EEEStats()...)
	}
	return t
}
