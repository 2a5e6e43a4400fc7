package iflib

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// IntrType says what an interrupt is for (iflib_intr_type_t).
type IntrType uint8

// Interrupt types (IFLIB_INTR_*).
const (
	IntrTx    IntrType = iota // one transmit queue
	IntrRx                    // one receive queue
	IntrRxTx                  // a receive queue and the transmit queues that share its vector
	IntrAdmin                 // link and admin queue
	IntrIOV                   // virtual functions
)

// Irq is an interrupt of a device (struct if_irq with its filter info).
type Irq struct {
	ctx    *Ctx
	rid    int
	typ    IntrType
	intr   *kern.Intr
	filter func() FilterResult // the driver's, may be nil
	task   *kern.Task
	rxq    *Rxq   // RxTx
	txqs   []*Txq // RxTx: the transmit queues that this vector serves
}

// Count is how often the interrupt's filter has run; any goroutine.
func (irq *Irq) Count() uint64 { return irq.intr.Count() }

// IrqAllocGeneric sets up an interrupt (iflib_irq_alloc_generic, spec iflib
// 2.6): rid 0 is INTx, 1 and up the messages. filter, which may be nil, is the
// driver's and runs first. name ends the vector's description. Called from
// MSIXIntrAssign, with the ctx lock held. The errors wrap EINVAL for a type
// that has no interrupt of its own or a queue that does not exist, ENOMEM for a
// message that was not obtained.
func (ctx *Ctx) IrqAllocGeneric(rid int, typ IntrType, filter func() FilterResult, qid int, name string) (*Irq, error) {
	irq := &Irq{ctx: ctx, rid: rid, typ: typ, filter: filter}
	cpu := ctx.cpus.First()
	var tramp func()
	switch typ {
	case IntrTx:
		if qid < 0 || qid >= len(ctx.txqs) {
			return nil, fmt.Errorf("%s: interrupt for TX queue %d of %d: %w", ctx.name, qid, len(ctx.txqs), syscall.EINVAL)
		}
		cpu = ctx.queueCPU(qid, true)
		irq.task, tramp = ctx.txqs[qid].task, irq.fastIntr
	case IntrRx, IntrRxTx:
		if qid < 0 || qid >= len(ctx.rxqs) {
			return nil, fmt.Errorf("%s: interrupt for RX queue %d of %d: %w", ctx.name, qid, len(ctx.rxqs), syscall.EINVAL)
		}
		cpu = ctx.queueCPU(qid, false)
		irq.task, tramp = ctx.rxqs[qid].task, irq.fastIntr
		if typ == IntrRxTx {
			irq.shareVector(qid)
			tramp = irq.fastIntrRxTx
		}
	case IntrAdmin:
		irq.task, tramp = ctx.adminTask, irq.fastIntr
	default:
		ctx.printf("unknown net intr type\n")
		return nil, fmt.Errorf("%s: interrupt type %d: %w", ctx.name, typ, syscall.EINVAL)
	}
	if err := ctx.setupIrq(irq, cpu, name, tramp); err != nil {
		ctx.printf("_iflib_irq_alloc failed %d\n", sysctl.Number(err))
		return nil, err
	}
	if typ != IntrAdmin {
		irq.task.Bind(cpu)
	}
	return irq, nil
}

// shareVector ties the transmit queues that use receive queue qid's vector to
// the interrupt: the one of the same number and, when there are more transmit
// than receive queues, those that the surplus is dealt out to, so that no queue
// is without service.
func (irq *Irq) shareVector(qid int) {
	irq.rxq = irq.ctx.rxqs[qid]
	for i := qid; i < len(irq.ctx.txqs); i += len(irq.ctx.rxqs) {
		irq.txqs = append(irq.txqs, irq.ctx.txqs[i])
	}
}

// setupIrq is _iflib_irq_alloc.
func (ctx *Ctx) setupIrq(irq *Irq, cpu int, name string, tramp func()) error {
	err := ctx.fail("irq_alloc")
	if err == nil {
		irq.intr, err = ctx.fn.SetupIntr(irq.rid, ctx.name+":"+name, cpu, tramp)
		if errors.Is(err, syscall.EINVAL) {
			ctx.printf("failed to allocate IRQ for rid %d, name %s.\n", irq.rid, name)
			return fmt.Errorf("%s: allocating IRQ %d (%w): %w", ctx.name, irq.rid, err, syscall.ENOMEM)
		}
	}
	if err != nil {
		ctx.printf("failed to setup interrupt for rid %d, name %s: %d\n", irq.rid, name, sysctl.Number(err))
		return fmt.Errorf("%s: setting up IRQ %d: %w", ctx.name, irq.rid, err)
	}
	ctx.irqs = append(ctx.irqs, irq)
	return nil
}

// SoftirqAllocGeneric binds the task of a queue that has no interrupt of its
// own, because it shares irq's (iflib_softirq_alloc_generic). Only transmit and
// receive queues have such tasks; IntrIOV needs nothing. The error wraps EINVAL
// for a queue that does not exist.
func (ctx *Ctx) SoftirqAllocGeneric(_ *Irq, typ IntrType, qid int, name string) error {
	switch {
	case typ == IntrIOV:
		return nil
	case typ == IntrTx && qid >= 0 && qid < len(ctx.txqs):
		ctx.txqs[qid].task.Bind(ctx.queueCPU(qid, true))
		return nil
	case typ == IntrRx && qid >= 0 && qid < len(ctx.rxqs):
		ctx.rxqs[qid].task.Bind(ctx.queueCPU(qid, false))
		return nil
	}
	ctx.broken("iflib_softirq_alloc_generic: type %d, queue %d, name %s", typ, qid, name)
	return fmt.Errorf("%s: task of type %d for queue %d: %w", ctx.name, typ, qid, syscall.EINVAL)
}

// IrqFree ends an interrupt: its filter does not run any more when it returns
// (iflib_irq_free). nil, and an interrupt that has ended, are fine. Not from a
// filter.
func (ctx *Ctx) IrqFree(irq *Irq) {
	if irq == nil || irq.intr == nil {
		return
	}
	// The handler is ours, so there is one to tear down.
	_ = ctx.fn.TeardownIntr(irq.rid)
	irq.intr = nil
	ctx.irqs = slices.DeleteFunc(ctx.irqs, func(o *Irq) bool { return o == irq })
}

// freeQueueIrqs ends the interrupts whose filters look at queues; the queues are
// about to go.
func (ctx *Ctx) freeQueueIrqs() {
	for _, irq := range slices.Clone(ctx.irqs) {
		if irq.typ != IntrAdmin {
			ctx.IrqFree(irq)
		}
	}
}

// freeIntrMem ends every interrupt that the driver left, gives the messages back
// and unmaps the MSI-X table (iflib_free_intr_mem).
func (ctx *Ctx) freeIntrMem() {
	for _, irq := range slices.Clone(ctx.irqs) {
		ctx.IrqFree(irq)
	}
	if ctx.scctx.Intr != IntrLegacy && ctx.sctx.Flags&FlagSkipMSIX == 0 {
		// No handler is left, so the messages can be given back.
		_ = ctx.fn.Release()
	}
	ctx.unmapMSIX()
}

// declined runs the driver's filter and reports whether it keeps the interrupt
// from going further.
func (irq *Irq) declined() bool {
	res := FilterScheduleThread
	if irq.filter != nil {
		res = irq.filter()
	}
	if p := irq.ctx.k.Probes; p.On() {
		p.Fire2(probeFilter, irq.ctx.name, -1, uint64(irq.rid), boolBit(res&FilterScheduleThread != 0))
	}
	return res&FilterScheduleThread == 0
}

func (ctx *Ctx) countFastIntr() {
	if d := ctx.g.dbg; d != nil {
		d.fastIntrs.Add(1)
	}
}

// fastIntr is iflib_fast_intr and iflib_fast_intr_ctx.
func (irq *Irq) fastIntr() {
	irq.ctx.countFastIntr()
	if !irq.declined() {
		irq.task.Enqueue()
	}
}

// fastIntrRxTx is iflib_fast_intr_rxtx: it looks at both directions, runs the
// tasks that have work and enables the interrupt of the others again.
func (irq *Irq) fastIntrRxTx() {
	ctx := irq.ctx
	ctx.countFastIntr()
	if irq.declined() {
		return
	}
	legacy := ctx.flags.Load()&uint32(ctxLegacy) != 0
	enable := false
	for _, q := range irq.txqs {
		switch {
		case q.txrx.TxdCreditsUpdate(q.id, false) != 0:
			q.task.Enqueue()
		case legacy:
			enable = true
		default:
			ctx.txQueueIntrEnable(q.id)
		}
	}
	switch {
	case irq.rxq.peek():
		irq.task.Enqueue()
	case legacy:
		enable = true
	default:
		ctx.rxQueueIntrEnable(irq.rxq.id)
		if d := ctx.g.dbg; d != nil {
			d.rxIntrEnables.Add(1)
		}
	}
	if enable {
		ctx.dev.IntrEnable()
	}
}

// legacySetup runs the device on one interrupt, INTx or one MSI message
// (iflib_legacy_setup).
func (ctx *Ctx) legacySetup(rid int) error {
	ctx.setFlags(ctxLegacy, 0)
	irq := &Irq{ctx: ctx, rid: rid, typ: IntrRxTx, task: ctx.rxqs[0].task}
	if l, ok := Method[LegacyIntr](ctx.txrx); ok {
		irq.filter = l.LegacyIntr
	}
	irq.shareVector(0)
	tramp := irq.fastIntrRxTx
	if ctx.sctx.Flags&FlagSingleIRQRxOnly != 0 {
		tramp = irq.fastIntr
	}
	return ctx.setupIrq(irq, ctx.cpus.First(), "irq0", tramp)
}

// txQueueIntrEnable unmasks a transmit vector; any goroutine.
func (ctx *Ctx) txQueueIntrEnable(qid int) {
	if e := ctx.txIntr; e != nil {
		// FreeBSD ignores the result too: a driver that cannot has no vector.
		_ = e.TxQueueIntrEnable(qid)
	}
}

// rxQueueIntrEnable unmasks a receive vector; any goroutine.
func (ctx *Ctx) rxQueueIntrEnable(qid int) {
	if e := ctx.rxIntr; e != nil {
		_ = e.RxQueueIntrEnable(qid)
	}
}
