package iflib

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Breach is a broken contract, or a broken invariant of the framework.
type Breach struct {
	Device string
	Rule   string // one text for all breaches of a rule
	Text   string // what happened
	Panic  bool   // a panic follows: the machine is in checking mode

	ctx  *Ctx
	mine any // the *Txq or *Rxq that the caller owns
}

// Look looks at the device without waiting, as the owner of the queue whose rule was
// broken. Only while the breach is being told of.
func (b *Breach) Look(v mbuf.Visit) Sight {
	v.Patient = false
	return b.ctx.look(v, b.mine)
}

// OnBreach has fn called at the first breach of each rule by each device of the machine,
// with whatever locks the caller holds: it must not wait for any. ENXIO: Init has not run.
func OnBreach(k *kern.Kernel, fn func(b *Breach)) error {
	g, ok := kern.Lookup[*globals](k)
	if !ok {
		return errNotInit
	}
	g.onBreach.Store(&fn)
	return nil
}

// errNotInit is a kernel without Init.
var errNotInit = fmt.Errorf("iflib: not initialised: %w", syscall.ENXIO)

// broken reports that the driver broke its contract. In checking mode that is a
// panic with the text of the KASSERT; otherwise each rule is logged once, every
// breach is counted, and the interface is reset. format names the rule. Any
// goroutine.
func (ctx *Ctx) broken(format string, a ...any) { ctx.brokenBy(nil, format, a...) }

// broken is the broken of a transmit queue's owner.
func (q *Txq) broken(format string, a ...any) { q.ctx.brokenBy(q, format, a...) }

// broken is the broken of the receive task.
func (q *Rxq) broken(format string, a ...any) { q.ctx.brokenBy(q, format, a...) }

func (ctx *Ctx) brokenBy(mine any, format string, a ...any) {
	ctx.breach(mine, format, a...)
	ctx.RequestReset()
	ctx.AdminIntrDeferred()
}

// breach is broken without the reset, for rules that a reset would only break
// again. mine is the queue that the caller owns, a *Txq or *Rxq, or nil.
func (ctx *Ctx) breach(mine any, format string, a ...any) {
	b := &Breach{Device: ctx.name, Rule: format, Text: fmt.Sprintf(format, a...), Panic: ctx.k.Invariants(), ctx: ctx, mine: mine}
	_, told := ctx.brokenRules.LoadOrStore(format, struct{}{})
	if !b.Panic {
		ctx.brokenCount.Add(1)
	}
	if !told && !b.Panic {
		ctx.printf("driver contract broken: %s\n", b.Text)
	}
	if fn := ctx.g.onBreach.Load(); fn != nil && !told {
		(*fn)(b)
	}
	if b.Panic {
		panic(ctx.name + ": " + b.Text)
	}
}

// TxGarbage reports that the device wrote something about packets of transmit queue qid
// that cannot be, as err says. The first of each queue is logged, and the interface is
// reset; the driver counts. Any goroutine, without the state lock.
func (ctx *Ctx) TxGarbage(qid int, err error) {
	if !ctx.txqs[qid].told.Swap(true) {
		ctx.printf("TX(%d): %v\n", qid, err)
	}
	ctx.RequestReset()
	ctx.AdminIntrDeferred()
}

// printf writes a console line that begins with the device's name
// (device_printf).
func (ctx *Ctx) printf(format string, a ...any) {
	ctx.k.Printf("%s: %s", ctx.name, fmt.Sprintf(format, a...))
}

// verbosef is printf for a machine that boots verbosely.
func (ctx *Ctx) verbosef(format string, a ...any) {
	if ctx.k.Verbose() {
		ctx.printf(format, a...)
	}
}
