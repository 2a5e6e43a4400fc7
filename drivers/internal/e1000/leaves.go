package e1000

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

// Leaves are the sysctls that all drivers of the family have below dev.<driver>.<unit>
// (spec 1g 7.2).
type Leaves struct {
	Regs       *Regs
	NVM        NVM
	Print      func(format string, a ...any) // of the device, for nvm
	Debug      func()
	Reports    func() // prints the report queues, for rs_dump
	Firmware   string
	AIM        *atomic.Int32
	Errors     *RxErrors
	LinkIRQ    *atomic.Uint64
	RxOverruns *atomic.Uint64
	Stats      *Stats
	Interrupts []Stat // leaves of the node interrupts
}

// Add makes the leaves. The handlers read registers of the part.
func (l *Leaves) Add(c *sysctl.Ctx, n *sysctl.OID, p *Port) {
	c.Int(n, "enable_aim", sysctl.RW, l.AIM, "Interrupt Moderation (1=normal, 2=lowlatency)")
	c.Proc(n, "nvm", sysctl.RW, sysctl.KindInt, "", OnWriteOne(l.printNVM), "NVM Information")
	c.Proc(n, "debug", sysctl.RW, sysctl.KindInt, "", OnWriteOne(l.Debug), "Debug Information")
	c.Proc(n, "rs_dump", sysctl.RW, sysctl.KindInt, "", OnWriteOne(l.Reports), "Dump RS indexes")
	c.ConstString(n, "fw_version", sysctl.RD, l.Firmware, "Prints FW/NVM Versions")
	c.FuncString(n, "reg_dump", sysctl.RD, l.dumpRegisters, "Dump Registers")
	c.Proc(n, "fc", sysctl.RW, sysctl.KindInt, "", p.flowHandler, "Flow Control")
	c.Ulong(n, "dropped", sysctl.RD, &l.Errors.Dropped, "Driver dropped packets")
	c.Ulong(n, "link_irq", sysctl.RD, l.LinkIRQ, "Link MSI-X IRQ Handled")
	c.Ulong(n, "rx_overruns", sysctl.RD, l.RxOverruns, "RX overruns")
	c.Ulong(n, "bad_writeback", sysctl.RD, &l.Errors.BadWriteback, "Descriptors that the device wrote out of bounds")
	c.Func(n, "device_control", sysctl.RD, sysctl.KindUint, l.Regs.live(emreg.CTRL), "Device Control Register")
	c.Func(n, "rx_control", sysctl.RD, sysctl.KindUint, l.Regs.live(emreg.RCTL), "Receiver Control Register")
	c.Uint(n, "fc_high_water", sysctl.RD, &p.fcHigh, "Flow Control High Watermark")
	c.Uint(n, "fc_low_water", sysctl.RD, &p.fcLow, "Flow Control Low Watermark")
	l.Stats.AddSysctls(c, c.Node(n, "mac_stats", sysctl.RD, "Statistics"))
	in := c.Node(n, "interrupts", sysctl.RD, "Interrupt Statistics")
	for _, s := range l.Interrupts {
		c.Func(in, s.Name, sysctl.RD, sysctl.KindU64, func() uint64 { return l.Stats.Sum(s.Reg) }, s.Descr)
	}
}

// live reads a register at each reading of its leaf.
func (r *Regs) live(reg uint64) func() uint64 {
	return func() uint64 { return uint64(r.Read32(reg)) }
}

// HeadTail are the offsets of a queue's TDH and TDT, or RDH and RDT.
type HeadTail struct{ Head, Tail uint64 }

// addQueues makes queue_tx_N and queue_rx_N, once the queues exist. vector is the
// moderation of a receive queue, which transmit queues of the same number modulo share.
func (r *Regs) addQueues(ctx *iflib.Ctx, tx, rx []HeadTail, vector func(int) *Moderator) {
	for i, at := range tx {
		r.addQueue(ctx, i, vector(i%len(rx)), at, &txLeaves)
	}
	for i, at := range rx {
		r.addQueue(ctx, i, vector(i), at, &rxLeaves)
	}
}

// queueLeaves are the names of a queue's leaves.
type queueLeaves struct{ node, nodeDescr, head, headDescr, tail, tailDescr, irq, irqDescr string }

var (
	txLeaves = queueLeaves{"queue_tx_", "TX Queue Name", "txd_head", "Transmit Descriptor Head",
		"txd_tail", "Transmit Descriptor Tail", "tx_irq", "Queue MSI-X Transmit Interrupts"}
	rxLeaves = queueLeaves{"queue_rx_", "RX Queue Name", "rxd_head", "Receive Descriptor Head",
		"rxd_tail", "Receive Descriptor Tail", "rx_irq", "Queue MSI-X Receive Interrupts"}
)

func (r *Regs) addQueue(ctx *iflib.Ctx, id int, m *Moderator, at HeadTail, l *queueLeaves) {
	c := ctx.SysctlCtx()
	q := c.Node(ctx.SysctlNode(), l.node+strconv.Itoa(id), sysctl.RD, l.nodeDescr)
	c.Func(q, "interrupt_rate", sysctl.RD, sysctl.KindUint, m.Rate, "Interrupt Rate")
	c.Func(q, l.head, sysctl.RD, sysctl.KindUint, r.live(at.Head), l.headDescr)
	c.Func(q, l.tail, sysctl.RD, sysctl.KindUint, r.live(at.Tail), l.tailDescr)
	c.Ulong(q, l.irq, sysctl.RD, &m.IRQs, l.irqDescr)
}

// OnWriteOne is the handler of a leaf that shows -1 and acts when 1 is written.
func OnWriteOne(act func()) sysctl.Handler {
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
func (l *Leaves) printNVM() {
	var b strings.Builder
	b.WriteString("\nInterface EEPROM Dump:\nOffset\n0x0000  ")
	for i := range nvmPrinted {
		if i%nvmLine == 0 && i != 0 {
			fmt.Fprintf(&b, "\n0x00%x0  ", i/nvmLine)
		}
		w, err := l.NVM.ReadWord(i)
		if err != nil {
			fmt.Fprintf(&b, "(%v)", err)
			break
		}
		fmt.Fprintf(&b, "%04x ", w)
	}
	l.Print("%s\n", b.String())
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
func (l *Leaves) dumpRegisters() string {
	var b strings.Builder
	b.WriteString("General Registers\n")
	for _, d := range dumped {
		fmt.Fprintf(&b, "\t%s\t %08x\n", d.name, l.Regs.Read32(d.reg))
	}
	return b.String()
}

// PrintState prints the state of the interface and of its rings
// (em_print_debug_info).
func (r *Regs) PrintState(ctx *iflib.Ctx, tx, rx []HeadTail) {
	running, active := "NOT RUNNING", "ACTIVE"
	if ctx.IsRunning() {
		running, active = "RUNNING", "INACTIVE"
	}
	ctx.Printf("Interface is %s and %s\n", running, active)
	for i, at := range tx {
		ctx.Printf("TX Queue %d ------\n", i)
		ctx.Printf("hw tdh = %d, hw tdt = %d\n", r.Read32(at.Head), r.Read32(at.Tail))
	}
	for i, at := range rx {
		ctx.Printf("RX Queue %d ------\n", i)
		ctx.Printf("hw rdh = %d, hw rdt = %d\n", r.Read32(at.Head), r.Read32(at.Tail))
	}
}
