package adv

import (
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/sysctl"
)

// addSysctls makes the leaves of dev.<driver>.N (spec 1g 7.2).
func (sc *Softc) addSysctls() {
	c, n := sc.Ctx.SysctlCtx(), sc.Ctx.SysctlNode()
	l := e1000.Leaves{Regs: &sc.Regs, NVM: sc.NVM, Print: sc.Ctx.Printf, Debug: sc.printDebug, Reports: sc.printReports,
		Firmware: e1000.FirmwareText(sc.NVM), AIM: &sc.AIMMode, Errors: &sc.RxErrors, LinkIRQ: &sc.LinkIRQ,
		RxOverruns: &sc.RxOverruns, Stats: sc.Stats, Interrupts: sc.Part.Intrs}
	l.Add(c, n, &sc.Port)
	if sc.Part.HasDMAC {
		c.Proc(n, "dmac", sysctl.RW, sysctl.KindInt, "", sc.dmacHandler, "DMA Coalesce")
	}
	if sc.Part.HasEEE {
		sc.AddEEE(sc.Part.CountsLPI)
	}
}

// headsAndTails are where the queues have TDH and TDT, RDH and RDT.
func (sc *Softc) headsAndTails() (tx, rx []e1000.HeadTail) {
	for i := range sc.tx {
		tx = append(tx, e1000.HeadTail{Head: e1000reg.TxQueue(i) + e1000reg.HEAD, Tail: sc.tx[i].Tail.Offset()})
	}
	for i := range sc.rx {
		rx = append(rx, e1000.HeadTail{Head: e1000reg.RxQueue(i) + e1000reg.HEAD, Tail: sc.rx[i].Tail})
	}
	return tx, rx
}

// printDebug prints the state of the interface and of its rings (em_print_debug_info).
func (sc *Softc) printDebug() {
	tx, rx := sc.headsAndTails()
	sc.Regs.PrintState(sc.Ctx, tx, rx)
}

// printReports prints the report queues (em_dump_rs).
func (sc *Softc) printReports() {
	var rings []*e1000.TxRing
	for i := range sc.tx {
		rings = append(rings, &sc.tx[i].TxRing)
	}
	e1000.PrintReports(sc.Ctx.Kernel().Printf, rings)
}
