package em

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/sysctl"
)

// tunables are hw.em.* as this device found them at attach (spec 1g 7.1).
type tunables struct {
	txDelay, rxDelay       int // us
	txAbsDelay, rxAbsDelay int // us
	unsupportedTSO         bool
	sbp                    bool // keep bad frames in promiscuous mode
	keepFCS                bool
	maxIntrRate            int // interrupts a second without AIM
}

// Defaults of the tunables.
const (
	defTxDelay  = 66
	defAbsDelay = 66
	defIntrRate = 8000
)

var tunableTable = []e1000.Tunable{
	{Name: "disable_crc_stripping", Flags: sysctl.RDTUN, Descr: "Disable CRC Stripping"},
	{Name: "tx_int_delay", Default: defTxDelay, Flags: sysctl.RDTUN, Descr: "Default transmit interrupt delay in usecs"},
	{Name: "rx_int_delay", Flags: sysctl.RDTUN, Descr: "Default receive interrupt delay in usecs"},
	{Name: "tx_abs_int_delay", Default: defAbsDelay, Flags: sysctl.RDTUN,
		Descr: "Default transmit interrupt delay limit in usecs"},
	{Name: "rx_abs_int_delay", Default: defAbsDelay, Flags: sysctl.RDTUN,
		Descr: "Default receive interrupt delay limit in usecs"},
	{Name: "unsupported_tso", Flags: sysctl.RDTUN, Descr: "Allow unsupported em(4) TSO configurations"},
	{Name: "sbp", Flags: sysctl.RDTUN, Descr: "Show bad packets in promiscuous mode"},
	{Name: "enable_aim", Default: e1000.AIMNormal, Flags: sysctl.RWTUN,
		Descr: "Enable adaptive interrupt moderation (1=normal, 2=lowlatency)"},
	{Name: "max_interrupt_rate", Default: defIntrRate, Flags: sysctl.RDTUN, Descr: "Maximum interrupts per second"},
}

// loadTunables reads hw.em. Delays outside their range become the nearest that is in
// it.
func (sc *softc) loadTunables() error {
	t, err := e1000.Tunables(sc.ctx.Kernel().Sysctl, Driver.Name, tunableTable)
	if err != nil {
		return err
	}
	delay := func(name string) int { return min(max(t[name], 0), maxDelayUs) }
	sc.tun = tunables{
		txDelay: delay("tx_int_delay"), rxDelay: delay("rx_int_delay"),
		txAbsDelay: delay("tx_abs_int_delay"), rxAbsDelay: delay("rx_abs_int_delay"),
		unsupportedTSO: t["unsupported_tso"] != 0,
		sbp:            t["sbp"] != 0,
		keepFCS:        t["disable_crc_stripping"] != 0,
		maxIntrRate:    t["max_interrupt_rate"],
	}
	if sc.tun.maxIntrRate <= 0 {
		sc.tun.maxIntrRate = defIntrRate
	}
	sc.aimMode.Store(int32(t["enable_aim"]))
	return nil
}

// addSysctls makes the leaves of dev.em.N (spec 1g 7.2).
func (sc *softc) addSysctls() {
	c, n := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	c.Int(n, "enable_aim", sysctl.RW, &sc.aimMode, "Interrupt Moderation (1=normal, 2=lowlatency)")
	c.Proc(n, "nvm", sysctl.RW, sysctl.KindInt, "", onWriteOne(sc.printNVM), "NVM Information")
	c.Proc(n, "debug", sysctl.RW, sysctl.KindInt, "", onWriteOne(sc.printDebug), "Debug Information")
	c.ConstString(n, "fw_version", sysctl.RD, sc.firmware(), "Prints FW/NVM Versions")
	c.FuncString(n, "reg_dump", sysctl.RD, sc.dumpRegisters, "Dump Registers")
	c.Proc(n, "fc", sysctl.RW, sysctl.KindInt, "", sc.FlowHandler, "Flow Control")
	c.Ulong(n, "dropped", sysctl.RD, &sc.path.errs.Dropped, "Driver dropped packets")
	c.Ulong(n, "link_irq", sysctl.RD, &sc.linkIRQ, "Link MSI-X IRQ Handled")
	c.Ulong(n, "rx_overruns", sysctl.RD, &sc.rxOverruns, "RX overruns")
	c.Ulong(n, "bad_writeback", sysctl.RD, &sc.path.errs.BadWriteback, "Descriptors that the device wrote out of bounds")
	c.Func(n, "device_control", sysctl.RD, sysctl.KindUint, sc.live(emreg.CTRL), "Device Control Register")
	c.Func(n, "rx_control", sysctl.RD, sysctl.KindUint, sc.live(emreg.RCTL), "Receiver Control Register")
	sc.AddMarks(c, n)
	sc.stats.AddSysctls(c, c.Node(n, "mac_stats", sysctl.RD, "Statistics"))
	in := c.Node(n, "interrupts", sysctl.RD, "Interrupt Statistics")
	for _, s := range interruptStats {
		c.Func(in, s.name, sysctl.RD, sysctl.KindU64, func() uint64 { return sc.stats.Sum(s.reg) }, s.descr)
	}
}

// addQueueSysctls makes queue_tx_N and queue_rx_N, once the queues exist.
func (sc *softc) addQueueSysctls() {
	c, n := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	for i := range sc.path.tx {
		v := sc.vectors[i%len(sc.vectors)]
		q := c.Node(n, "queue_tx_"+strconv.Itoa(i), sysctl.RD, "TX Queue Name")
		at := uint64(i) * emreg.RingStride
		c.Func(q, "interrupt_rate", sysctl.RD, sysctl.KindUint, v.rate, "Interrupt Rate")
		c.Func(q, "txd_head", sysctl.RD, sysctl.KindUint, sc.live(emreg.TDH+at), "Transmit Descriptor Head")
		c.Func(q, "txd_tail", sysctl.RD, sysctl.KindUint, sc.live(emreg.TDT+at), "Transmit Descriptor Tail")
		c.Ulong(q, "tx_irq", sysctl.RD, &v.irqs, "Queue MSI-X Transmit Interrupts")
	}
	for i := range sc.path.rx {
		v := sc.vectors[i]
		q := c.Node(n, "queue_rx_"+strconv.Itoa(i), sysctl.RD, "RX Queue Name")
		at := uint64(i) * emreg.RingStride
		c.Func(q, "interrupt_rate", sysctl.RD, sysctl.KindUint, v.rate, "Interrupt Rate")
		c.Func(q, "rxd_head", sysctl.RD, sysctl.KindUint, sc.live(emreg.RDH+at), "Receive Descriptor Head")
		c.Func(q, "rxd_tail", sysctl.RD, sysctl.KindUint, sc.live(emreg.RDT+at), "Receive Descriptor Tail")
		c.Ulong(q, "rx_irq", sysctl.RD, &v.irqs, "Queue MSI-X Receive Interrupts")
	}
}

// live reads a register at each reading of its leaf.
func (sc *softc) live(reg uint64) func() uint64 {
	return func() uint64 { return uint64(sc.hw.Read32(reg)) }
}

// rate is the highest interrupt rate that the timer allows, in interrupts a second
// (em_sysctl_interrupt_rate_handler).
func (v *vector) rate() uint64 {
	itr := v.itr.Load()
	if itr == 0 {
		return 0
	}
	return nsPerSecond / (uint64(itr) * emreg.ITRUnitNs)
}

// onWriteOne is the handler of a leaf that shows -1 and acts when 1 is written.
func onWriteOne(act func()) sysctl.Handler {
	return func(req *sysctl.Request) error {
		val, written, err := req.HandleInt(-1)
		if err == nil && written && val == 1 {
			act()
		}
		return err
	}
}

const (
	nvmPrinted = 32 // words
	nvmLine    = 8  // words a line
)

// printNVM prints the first words of the NVM (em_print_nvm_info).
func (sc *softc) printNVM() {
	var b strings.Builder
	b.WriteString("\nInterface EEPROM Dump:\nOffset\n0x0000  ")
	for i := range nvmPrinted {
		if i%nvmLine == 0 && i != 0 {
			fmt.Fprintf(&b, "\n0x00%x0  ", i/nvmLine)
		}
		w, err := sc.nvm.ReadWord(i)
		if err != nil {
			fmt.Fprintf(&b, "(%v)", err)
			break
		}
		fmt.Fprintf(&b, "%04x ", w)
	}
	sc.ctx.Printf("%s\n", b.String())
}

// printDebug prints the state of the interface and of its rings (em_print_debug_info).
func (sc *softc) printDebug() {
	running, active := "NOT RUNNING", "ACTIVE"
	if sc.ctx.IsRunning() {
		running, active = "RUNNING", "INACTIVE"
	}
	sc.ctx.Printf("Interface is %s and %s\n", running, active)
	for i := range sc.path.tx {
		at := uint64(i) * emreg.RingStride
		sc.ctx.Printf("TX Queue %d ------\n", i)
		sc.ctx.Printf("hw tdh = %d, hw tdt = %d\n", sc.hw.Read32(emreg.TDH+at), sc.hw.Read32(emreg.TDT+at))
	}
	for i := range sc.path.rx {
		at := uint64(i) * emreg.RingStride
		sc.ctx.Printf("RX Queue %d ------\n", i)
		sc.ctx.Printf("hw rdh = %d, hw rdt = %d\n", sc.hw.Read32(emreg.RDH+at), sc.hw.Read32(emreg.RDT+at))
	}
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

// dumped are the registers of reg_dump.
var dumped = []struct {
	name string
	reg  uint64
}{
	{"CTRL", emreg.CTRL}, {"STATUS", emreg.STATUS}, {"CTRL_EXT", emreg.CTRLExt},
	{"RCTL", emreg.RCTL}, {"RDLEN", emreg.RDLEN}, {"RDH", emreg.RDH}, {"RDT", emreg.RDT}, {"RXDCTL", emreg.RXDCTL},
	{"RDBAL", emreg.RDBAL}, {"RDBAH", emreg.RDBAH},
	{"TCTL", emreg.TCTL}, {"TDBAL", emreg.TDBAL}, {"TDBAH", emreg.TDBAH}, {"TDLEN", emreg.TDLEN},
	{"TDH", emreg.TDH}, {"TDT", emreg.TDT}, {"TXDCTL", emreg.TXDCTL},
}

// dumpRegisters is the text of reg_dump (em_get_regs).
func (sc *softc) dumpRegisters() string {
	var b strings.Builder
	b.WriteString("General Registers\n")
	for _, d := range dumped {
		fmt.Fprintf(&b, "\t%s\t %08x\n", d.name, sc.hw.Read32(d.reg))
	}
	return b.String()
}
