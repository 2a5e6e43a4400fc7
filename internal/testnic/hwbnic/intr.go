package hwbnic

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

// Vectors: the admin queue has the first.
const (
	adminVector      = 0
	firstQueueVector = 1
	vctlStride       = 4
)

// rid of a vector: messages count from 1.
func rid(vector uint32) int { return int(vector) + 1 }

// vector of queue pair i; extra transmit queues share those of receive queues. On
// one interrupt it is not used.
func (sc *softc) vector(i int) uint32 { return firstQueueVector + uint32(i%len(sc.rxqs)) }

// MSIXIntrAssign gives each queue pair a vector and the admin queue the first.
func (sc *softc) MSIXIntrAssign(int) error {
	for i := range sc.rxqs {
		irq, err := sc.ctx.IrqAllocGeneric(rid(sc.vector(i)), iflib.IntrRxTx, nil, i, fmt.Sprintf("que%d", i))
		if err != nil {
			return fmt.Errorf("assigning vector of queue pair %d: %w", i, err)
		}
		sc.irqs = append(sc.irqs, irq)
	}
	for i := range sc.txqs {
		err := sc.ctx.SoftirqAllocGeneric(sc.irqs[i%len(sc.irqs)], iflib.IntrTx, i, fmt.Sprintf("tx%d", i))
		if err != nil {
			return fmt.Errorf("assigning the task of transmit queue %d: %w", i, err)
		}
	}
	irq, err := sc.ctx.IrqAllocGeneric(rid(adminVector), iflib.IntrAdmin, nil, 0, "adminq")
	if err != nil {
		return fmt.Errorf("assigning admin vector: %w", err)
	}
	sc.irqs = append(sc.irqs, irq)
	return nil
}

func (sc *softc) setVector(v, value uint32) {
	sc.regs.Write32(hwbreg.VCTL0+uint64(v)*vctlStride, value)
}

// IntrEnable enables every vector in use.
func (sc *softc) IntrEnable() {
	sc.setVector(adminVector, hwbreg.VctlEnable)
	for i := range sc.rxqs {
		sc.setVector(sc.vector(i), hwbreg.VctlEnable)
	}
}

// IntrDisable disables the queue vectors. The admin queue's stays: its events are
// wanted on a downed interface too. On one interrupt that is the only vector, and
// the queues are silent once Stop has disabled them.
func (sc *softc) IntrDisable() {
	for i := range sc.rxqs {
		sc.setVector(sc.vector(i), 0)
	}
}

// RxQueueIntrEnable enables the vector of the queue pair; any goroutine.
func (sc *softc) RxQueueIntrEnable(qid int) error {
	sc.setVector(sc.vector(qid), hwbreg.VctlEnable)
	return nil
}

// TxQueueIntrEnable enables the vector of the queue pair; any goroutine.
func (sc *softc) TxQueueIntrEnable(qid int) error { return sc.RxQueueIntrEnable(qid) }

// LinkIntrEnable enables the admin vector.
func (sc *softc) LinkIntrEnable() { sc.setVector(adminVector, hwbreg.VctlEnable) }

// LegacyIntr reads the causes, which also takes the interrupt back and disables it
// until IntrEnable or LinkIntrEnable.
func (sc *softc) LegacyIntr() iflib.FilterResult {
	causes := sc.regs.Read32(hwbreg.ICR)
	if causes == 0 {
		return iflib.FilterStray
	}
	if causes&hwbreg.CauseAdmin != 0 {
		sc.ctx.AdminIntrDeferred()
	}
	return iflib.FilterScheduleThread
}
