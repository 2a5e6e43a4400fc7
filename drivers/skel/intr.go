package skel

import (
	"fmt"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

// rid is the resource number of a vector: messages count from 1.
func rid(vector int) int { return vector + 1 }

// pair is the queue pair whose event transmit queue i has: its own, or, when there are
// more transmit than receive queues, one that it shares.
func (sc *softc) pair(i int) int { return i % len(sc.rxqs) }

// MSIXIntrAssign is called if iflib has obtained MSI-X: a vector for each queue pair and
// one for the link. The filters are iflib's own: the part has masked the event by itself,
// so there is nothing for us to do in interrupt context.
func (sc *softc) MSIXIntrAssign(int) error {
	for i := range sc.rxqs {
		if err := sc.assign(i, iflib.IntrRxTx, i, fmt.Sprintf("que%d", i)); err != nil {
			return err
		}
	}
	for i := range sc.txqs {
		// The task of a queue without a vector of its own needs a CPU.
		err := sc.ctx.SoftirqAllocGeneric(sc.irqs[sc.pair(i)], iflib.IntrTx, i, fmt.Sprintf("tx%d", i))
		if err != nil {
			return fmt.Errorf("task of transmit queue %d: %w", i, err)
		}
	}
	return sc.assign(skelreg.EventLink, iflib.IntrAdmin, 0, "link")
}

func (sc *softc) assign(vector int, typ iflib.IntrType, qid int, name string) error {
	irq, err := sc.ctx.IrqAllocGeneric(rid(vector), typ, nil, qid, name)
	if err != nil {
		return fmt.Errorf("vector %d: %w", vector, err)
	}
	sc.irqs = append(sc.irqs, irq)
	return nil
}

// IntrEnable enables every event; at the end of init, and without the ctx lock after a
// task or filter if all share one interrupt.
func (sc *softc) IntrEnable() { sc.regs.Write32(skelreg.IENABLE, skelreg.EventAll) }

// IntrDisable disables every event. One that is on its way may still arrive.
func (sc *softc) IntrDisable() { sc.regs.Write32(skelreg.IDISABLE, skelreg.EventAll) }

// RxQueueIntrEnable enables the event of a pair again when its task has found no more
// work. What happened meanwhile is pending and comes at once, so nothing is lost between
// the task's last look and this write.
func (sc *softc) RxQueueIntrEnable(qid int) error {
	sc.regs.Write32(skelreg.IENABLE, 1<<sc.pair(qid))
	return nil
}

// TxQueueIntrEnable is RxQueueIntrEnable for the other direction: the same event.
func (sc *softc) TxQueueIntrEnable(qid int) error { return sc.RxQueueIntrEnable(qid) }

// LinkIntrEnable enables the link's event again after the admin task.
func (sc *softc) LinkIntrEnable() { sc.regs.Write32(skelreg.IENABLE, 1<<skelreg.EventLink) }

// LegacyIntr is the filter if all events share one interrupt, MSI or INTx, which others
// may share too. Reading the causes takes the interrupt back.
func (sc *softc) LegacyIntr() iflib.FilterResult {
	causes := sc.regs.Read32(skelreg.ICAUSE)
	if causes == 0 {
		return iflib.FilterStray
	}
	if causes&(1<<skelreg.EventLink) != 0 {
		sc.ctx.AdminIntrDeferred()
	}
	return iflib.FilterScheduleThread
}
