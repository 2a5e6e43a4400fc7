package em

import (
	"fmt"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
)

// tunables are hw.em.* as this device found them at attach (spec 1g 7.1).
type tunables struct {
	txDelay, rxDelay       int // us
	txAbsDelay, rxAbsDelay int // us
	unsupportedTSO         bool
	smartPowerDown         bool // leave it on in the PHY
	sbp                    bool // keep bad frames in promiscuous mode
	keepFCS                bool
	maxIntrRate            int // interrupts a second without AIM
}

// loadTunables reads hw.em. Delays outside their range become the nearest that is in
// it.
func (sc *softc) loadTunables() error {
	t, err := e1000.EMTunables(sc.ctx.Kernel().Sysctl)
	if err != nil {
		return err
	}
	delay := func(name string) int { return min(max(t[name], 0), maxDelayUs) }
	sc.tun = tunables{
		txDelay: delay("tx_int_delay"), rxDelay: delay("rx_int_delay"),
		txAbsDelay: delay("tx_abs_int_delay"), rxAbsDelay: delay("rx_abs_int_delay"),
		unsupportedTSO: t["unsupported_tso"] != 0,
		smartPowerDown: t["smart_pwr_down"] != 0,
		sbp:            t["sbp"] != 0,
		keepFCS:        t["disable_crc_stripping"] != 0,
		maxIntrRate:    t["max_interrupt_rate"],
	}
	sc.AIMMode.Store(int32(t["enable_aim"]))
	sc.SetEEEOff(t["eee_setting"] != 0)
	return nil
}

// addSysctls makes the leaves of dev.em.N (spec 1g 7.2).
func (sc *softc) addSysctls() {
	l := e1000.Leaves{Regs: &sc.hw, NVM: sc.nvm, Print: sc.ctx.Printf, Debug: sc.printDebug, Reports: sc.printReports, Firmware: sc.firmware(),
		AIM: &sc.AIMMode, Errors: &sc.RxErrors, LinkIRQ: &sc.LinkIRQ, RxOverruns: &sc.RxOverruns,
		Stats: sc.Stats, Interrupts: e1000.InterruptStats()}
	l.Add(sc.ctx.SysctlCtx(), sc.ctx.SysctlNode(), &sc.Port)
}

// headsAndTails are where the queues have TDH and TDT, RDH and RDT.
func (sc *softc) headsAndTails() (tx, rx []e1000.HeadTail) {
	for i := range sc.path.tx {
		tx = append(tx, e1000.HeadTail{Head: emreg.TDH + uint64(i)*emreg.RingStride, Tail: sc.path.tx[i].Tail.Offset()})
	}
	for i := range sc.path.rx {
		rx = append(rx, e1000.HeadTail{Head: emreg.RDH + uint64(i)*emreg.RingStride, Tail: sc.path.rx[i].Tail})
	}
	return tx, rx
}

// printDebug prints the state of the interface and of its rings (em_print_debug_info).
func (sc *softc) printDebug() {
	tx, rx := sc.headsAndTails()
	sc.hw.PrintState(sc.ctx, tx, rx)
}

// printReports prints the report queues (em_dump_rs).
func (sc *softc) printReports() {
	var rings []*e1000.TxRing
	for i := range sc.path.tx {
		rings = append(rings, &sc.path.tx[i].TxRing)
	}
	e1000.PrintReports(sc.ctx.Kernel().Printf, rings)
}

// firmware is fw_version: the version word of the NVM (em_sysctl_print_fw_version).
func (sc *softc) firmware() string {
	const (
		majorShift, minorShift = 12, 4
		minorMask, buildMask   = 0xff, 0xf
	)
	w, err := sc.nvm.ReadWord(emreg.NVMVersion)
	if err != nil || w == 0 || w == 0xffff {
		return ""
	}
	return fmt.Sprintf("NVM V%d.%d-%d", w>>majorShift, w>>minorShift&minorMask, w&buildMask)
}
