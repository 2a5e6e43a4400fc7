package igc

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// Driver is igc.
var Driver = iflib.Driver{
	Name:   "igc",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
}

var shared = e1000.SharedCtx("1", vendorInfo(), rxMaxSize)

// rxMaxSize is the largest frame that is received (MAX_JUMBO_FRAME_SIZE; spec 1g 2.1).
const rxMaxSize = 0x3f00

// softc is one controller (struct igc_softc).
type softc struct {
	adv.Softc
	ctx       *iflib.Ctx
	watchdogs atomic.Uint64 // queues that hung
}

var (
	_ iflib.Device           = (*softc)(nil)
	_ iflib.WatchdogResetter = (*softc)(nil)
)

// AttachPre identifies the part and attaches it (igc_if_attach_pre; spec 1g 6.1).
func (sc *softc) AttachPre() error {
	id := sc.ctx.Function().Identity().Device
	part := partOf(id)
	if part == nil {
		return fmt.Errorf("device %#x: %w", id, syscall.ENXIO)
	}
	t, err := e1000.Tunables(sc.ctx.Kernel().Sysctl, Driver.Name, tunables)
	if err != nil {
		return err
	}
	err = sc.Attach(sc.ctx, part, adv.SettingsOf(t))
	if err == nil {
		sc.ctx.SysctlCtx().Ulong(sc.ctx.SysctlNode(), "watchdog_timeouts", sysctl.RD, &sc.watchdogs, "Watchdog timeouts")
	}
	return err
}

// tunables are hw.igc (spec 1g 7.1). Unlike hw.em's, sbp is on.
var tunables = []e1000.Tunable{
	{Name: "disable_crc_stripping", Flags: sysctl.RDTUN, Descr: "Disable CRC Stripping"},
	e1000.SmartPowerDown,
	{Name: "sbp", Default: 1, Flags: sysctl.RDTUN, Descr: "Show bad packets in promiscuous mode"},
	{Name: "eee_setting", Default: 1, Flags: sysctl.RDTUN, Descr: "Enable Energy Efficient Ethernet"},
	{Name: "enable_aim", Default: e1000.AIMNormal, Flags: sysctl.RWTUN,
		Descr: "Enable adaptive interrupt moderation (1=normal, 2=lowlatency)"},
	{Name: "max_interrupt_rate", Default: e1000.DefaultIntrRate, Flags: sysctl.RDTUN, Descr: "Maximum interrupts per second"},
}

// WatchdogReset counts a queue that hung (igc_if_watchdog_reset); iflib resets the
// interface.
func (sc *softc) WatchdogReset() { sc.watchdogs.Add(1) }

// GetCounter adds what igc counts and igb does not (igc_if_get_counter; spec 1g 7.2).
func (sc *softc) GetCounter(c ifnet.Counter) uint64 {
	n := sc.Common.GetCounter(c)
	switch c {
	case ifnet.CounterCollisions:
		return n + sc.Stats.Sum(igcreg.RERC)
	case ifnet.CounterOErrors:
		return n + sc.watchdogs.Load()
	}
	return n
}

// stats is the statistics block: the addresses of two counters of igb's count something
// else, and no sysctl shows them.
func stats() []e1000.Stat {
	return append(e1000.StatTable(emreg.CEXTERR, emreg.TSCTFC), e1000.Stat{Reg: igcreg.HTDPMC}, e1000.Stat{Reg: igcreg.RERC})
}

// interrupts are the leaves of the node of this name.
func interrupts() []e1000.Stat {
	return e1000.InterruptStats(emreg.ICRXPTC, emreg.ICRXATC, emreg.ICTXPTC, emreg.ICTXATC, emreg.ICTXQEC, emreg.ICTXQMTC,
		emreg.ICRXOC)
}
