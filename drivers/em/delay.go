package em

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
)

// Units of the delay registers (EM_TICKS_TO_USECS, EM_USECS_TO_TICKS).
const (
	tickNs        = emreg.DelayUnitNs
	nsPerUs       = 1000
	maxDelayTicks = emreg.DelayMask
	maxDelayUs    = (tickNs*maxDelayTicks + nsPerUs/2) / nsPerUs
	itrPerTick    = tickNs / emreg.ITRUnitNs
)

// delays are the delay sysctls, in us.
type delays struct {
	rx, tx, rxAbs, txAbs, itr iflib.IntDelayInfo
}

// delayTicks converts us.
func delayTicks(us int) uint32 {
	return uint32((nsPerUs*us + tickNs/2) / tickNs)
}

// addDelaySysctls makes rx_int_delay and its relatives (em_add_int_delay_sysctl). itr
// begins with the register's raw value, as in FreeBSD.
func (sc *softc) addDelaySysctls() {
	d := &sc.delays
	for _, k := range []struct {
		name, descr string
		info        *iflib.IntDelayInfo
		reg         uint64
		value       int
	}{
		{"rx_int_delay", "receive interrupt delay in usecs", &d.rx, emreg.RDTR, sc.rxDelay()},
		{"tx_int_delay", "transmit interrupt delay in usecs", &d.tx, emreg.TIDV, sc.tun.txDelay},
		{"rx_abs_int_delay", "receive interrupt delay limit in usecs", &d.rxAbs, emreg.RADV, sc.tun.rxAbsDelay},
		{"tx_abs_int_delay", "transmit interrupt delay limit in usecs", &d.txAbs, emreg.TADV, sc.tun.txAbsDelay},
		{"itr", "interrupt delay limit in usecs/4", &d.itr, emreg.ITR, int(itrOf(sc.tun.maxIntrRate))},
	} {
		sc.ctx.AddIntDelaySysctl(k.name, k.descr, k.info, k.reg, k.value)
	}
}

// rxDelay82573 is the delay that 82573 is slow without (spec 1g 8).
const rxDelay82573 = 0x20

func (sc *softc) rxDelay() int {
	if sc.chip.mac == mac82573 && sc.tun.rxDelay == 0 {
		return rxDelay82573
	}
	return sc.tun.rxDelay
}

// SysctlIntDelay writes a delay into its register (em_sysctl_int_delay; spec 1g 7.2).
// The error wraps EINVAL outside 0 to 67108 us.
func (sc *softc) SysctlIntDelay(info *iflib.IntDelayInfo) error {
	if !info.Write {
		return nil
	}
	if info.New < 0 || info.New > maxDelayUs {
		return fmt.Errorf("delay of %d us, not 0 to %d: %w", info.New, maxDelayUs, syscall.EINVAL)
	}
	ticks := delayTicks(info.New)
	switch info.Offset {
	case emreg.TIDV:
		sc.path.cmd.Store(ideFor(info.New))
		ticks = max(ticks, 1) // the register must not be 0
	case emreg.ITR:
		ticks = min(ticks*itrPerTick, emreg.ITRMask)
	}
	sc.hw.Change(info.Offset, emreg.DelayMask, min(ticks, emreg.DelayMask))
	return nil
}

// ideFor is txd_cmd: with a delay, descriptors ask for it.
func ideFor(us int) uint32 {
	if us > 0 {
		return emreg.TxdCmdIDE
	}
	return 0
}
