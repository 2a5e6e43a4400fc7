package cqnic

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// firstQueueVector follows the admin vector.
const firstQueueVector = cqreg.AdminVector + 1

// rid of a vector: messages count from 1.
func rid(vector uint32) int { return int(vector) + 1 }

func (sc *softc) rxVector(i int) uint32 { return firstQueueVector + uint32(i) }

// txVector shares the vectors of the receive queues (spec iflib 2.4).
func (sc *softc) txVector(i int) uint32 { return sc.rxVector(i % len(sc.rxqs)) }

// MSIXIntrAssign gives each receive queue a vector, shared with the transmit
// queue of the same number, and the link event the first.
func (sc *softc) MSIXIntrAssign(int) error {
	for i := range sc.rxqs {
		irq, err := sc.ctx.IrqAllocGeneric(rid(sc.rxVector(i)), iflib.IntrRxTx, nil, i, fmt.Sprintf("rxq%d", i))
		if err != nil {
			return fmt.Errorf("assigning vector of receive queue %d: %w", i, err)
		}
		sc.irqs = append(sc.irqs, irq)
	}
	for i := range sc.txqs {
		err := sc.ctx.SoftirqAllocGeneric(sc.irqs[i%len(sc.irqs)], iflib.IntrTx, i, fmt.Sprintf("txq%d", i))
		if err != nil {
			return fmt.Errorf("assigning the task of transmit queue %d: %w", i, err)
		}
	}
	irq, err := sc.ctx.IrqAllocGeneric(rid(cqreg.AdminVector), iflib.IntrAdmin, nil, 0, "aq")
	if err != nil {
		return fmt.Errorf("assigning admin vector: %w", err)
	}
	sc.irqs = append(sc.irqs, irq)
	return nil
}

// IntrEnable arms every completion queue and unmasks all causes.
func (sc *softc) IntrEnable() {
	for i := range sc.txqs {
		sc.armTx(i)
	}
	for i := range sc.rxqs {
		sc.armRx(i)
	}
	sc.regs.Write32(cqreg.IMS, cqreg.CauseAll)
}

// IntrDisable masks all causes; the part keeps its events.
func (sc *softc) IntrDisable() { sc.regs.Write32(cqreg.IMC, cqreg.CauseAll) }

// RxQueueIntrEnable arms the queue's event; any goroutine.
func (sc *softc) RxQueueIntrEnable(qid int) error {
	sc.armRx(qid)
	return nil
}

// TxQueueIntrEnable arms the queue's event; any goroutine.
func (sc *softc) TxQueueIntrEnable(qid int) error {
	sc.armTx(qid)
	return nil
}

// LinkIntrEnable unmasks the link event.
func (sc *softc) LinkIntrEnable() { sc.regs.Write32(cqreg.IMS, cqreg.CauseLink) }

// armTx arms past the entries that were there at the last call and still are. iflib's
// transmit task does not always consume completions (an idle ring waits for more
// traffic), so an event for them would come again and again; but each has had an
// interrupt, and a run of the task, since that call.
func (sc *softc) armTx(i int) {
	q := &sc.txqs[i]
	done := q.cq.done.Load()
	end := done
	for n := uint32(0); n < q.cq.size && q.cq.typeAt(end) != 0; n++ {
		end++
	}
	if seen := q.seen.Swap(end); int32(seen-done) > 0 {
		done = seen
	}
	sc.regs.Write32(qreg(i, cqreg.TXCQARM), done)
}

// armRx arms past the notes that nobody has consumed yet: they bring no packet,
// so the event would come again and again for them.
func (sc *softc) armRx(i int) {
	cq := &sc.rxqs[i].cq
	count := cq.done.Load()
	for n := uint32(0); n < cq.size && cq.typeAt(count) == cqreg.CqeTypeNote; n++ {
		count++
	}
	sc.regs.Write32(qreg(i, cqreg.RXCQARM), count)
}

// LegacyIntr reads the causes, which also takes the interrupt back.
func (sc *softc) LegacyIntr() iflib.FilterResult {
	causes := sc.regs.Read32(cqreg.ICR)
	if causes == 0 {
		return iflib.FilterStray
	}
	if causes&cqreg.CauseLink != 0 {
		sc.ctx.AdminIntrDeferred()
	}
	return iflib.FilterScheduleThread
}
