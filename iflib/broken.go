package iflib

import "fmt"

// broken reports that the driver broke its contract. In checking mode that is a
// panic with the text of the KASSERT; otherwise each rule is logged once, every
// breach is counted, and the interface is reset. format names the rule. Any
// goroutine.
func (ctx *Ctx) broken(format string, a ...any) {
	ctx.breach(format, a...)
	ctx.RequestReset()
	ctx.AdminIntrDeferred()
}

// breach is broken without the reset, for rules that a reset would only break
// again.
func (ctx *Ctx) breach(format string, a ...any) {
	msg := fmt.Sprintf(format, a...)
	if ctx.k.Invariants() {
		panic(ctx.name + ": " + msg)
	}
	ctx.brokenCount.Add(1)
	if _, told := ctx.brokenRules.LoadOrStore(format, struct{}{}); !told {
		ctx.printf("driver contract broken: %s\n", msg)
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
