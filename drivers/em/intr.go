package em

import (
	"fmt"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
)

const (
	nsPerSecond = 1_000_000_000

	ivarNibbleBits = 4
)

// vector is the interrupt of a receive queue and of the transmit queues that share it;
// without MSI-X the only one. Its filter owns the moderation.
type vector struct {
	e1000.Moderator
	sc  *softc
	id  int
	ims uint32 // cause of the receive queue, with MSI-X
}

func newVector(sc *softc, id int) *vector {
	v := &vector{sc: sc, id: id}
	v.InitModerator(emreg.ITR, itrScale)
	return v
}

var itrScale = e1000.Scale{Value: itrOf, Rate: func(itr uint32) uint64 { return nsPerSecond / (uint64(itr) * emreg.ITRUnitNs) }}

// itrOf is the register's value for a rate in interrupts a second (spec 1g 6.6).
func itrOf(rate int) uint32 {
	return uint32(min(nsPerSecond/(max(rate, 1)*emreg.ITRUnitNs), emreg.ITRMask))
}

// moderate adapts the interrupt rate to the traffic since the last interrupt.
func (v *vector) moderate() {
	sc := v.sc
	v.Adapt(sc.hw.BAR, sc.Conditions(sc.tun.maxIntrRate), sc.path.txLoad(v.id, len(sc.vectors)), sc.path.rxLoad(v.id))
}

// initModeration programs the interrupt timers for the rate without AIM and the receive
// delays (spec 1g 6.4 receive unit 2).
func (sc *softc) initModeration() {
	itr := itrOf(sc.tun.maxIntrRate)
	sc.hw.Write32(emreg.RADV, uint32(sc.delays.rxAbs.Value))
	sc.hw.Write32(emreg.ITR, itr)
	sc.hw.Write32(emreg.RDTR, uint32(sc.delays.rx.Value))
	if sc.chip.mac == mac82574 {
		for i := range uint64(emreg.EITRCount - 1) {
			sc.hw.Write32(emreg.EITR+i*emreg.RegStride, itr)
		}
	}
	for _, v := range sc.vectors {
		v.Start(sc.tun.maxIntrRate)
	}
}

// legacyFilter serves INTx and MSI (em_intr; spec 1g 6.6).
func (sc *softc) legacyFilter() iflib.FilterResult {
	icr, ok := sc.ReadCauses(!sc.chip.lem())
	if !ok {
		return iflib.FilterStray
	}
	sc.IntrDisable()
	sc.NoteCauses(icr)
	return sc.vectors[0].queueFilter()
}

// queueFilter serves a queue's vector (em_msix_que).
func (v *vector) queueFilter() iflib.FilterResult {
	v.IRQs.Add(1)
	v.moderate()
	return iflib.FilterScheduleThread
}

// linkFilter serves the vector of the other causes (em_msix_link). Reading ICR clears
// the causes of the queues too, so they are raised again; not the cause that led here,
// which would never end.
func (sc *softc) linkFilter() iflib.FilterResult {
	sc.LinkIRQ.Add(1)
	icr := sc.hw.Read32(emreg.ICR)
	if icr != allBits {
		sc.NoteCauses(icr)
	}
	sc.hw.Write32(emreg.IMS, emreg.ICRLSC|emreg.ICROther)
	if icr != 0 {
		sc.hw.Write32(emreg.ICS, sc.queueIMS)
	}
	return iflib.FilterHandled
}

// MSIXIntrAssign binds the vectors of 82574: one a receive queue, which the transmit
// queue of the same number shares, and the last for the rest
// (em_if_msix_intr_assign).
func (sc *softc) MSIXIntrAssign(int) error {
	sc.ivar, sc.queueIMS = emreg.IVAREveryWB, 0
	nrx := len(sc.path.rx)
	for i, v := range sc.vectors {
		v.InitModerator(emreg.EITR+uint64(i)*emreg.RegStride, itrScale)
		v.ims = emreg.ICRRXQ0 << i
		sc.queueIMS |= v.ims
		sc.route(emreg.IVARRxQ0Shift+i*ivarNibbleBits, i)
		if err := sc.AllocIrq(iflib.IntrRxTx, v.queueFilter, fmt.Sprintf("rxq%d", i)); err != nil {
			return err
		}
	}
	for i := range sc.path.tx {
		sc.queueIMS |= emreg.ICRTXQ0 << i
		sc.route(emreg.IVARTxQ0Shift+i*ivarNibbleBits, i%nrx)
		if err := sc.ShareIrq(i%nrx, i); err != nil {
			return err
		}
	}
	sc.route(emreg.IVAROtherShift, nrx)
	if err := sc.AllocIrq(iflib.IntrAdmin, sc.linkFilter, "aq"); err != nil {
		return err
	}
	sc.msix = true
	return nil
}

// route sends the causes of an IVAR nibble to a vector.
func (sc *softc) route(shift, vec int) { sc.ivar |= uint32(emreg.IVARValid|vec) << shift }

// IntrEnable lets the part interrupt (em_if_intr_enable).
func (sc *softc) IntrEnable() {
	mask := uint32(emreg.IMSEnableMask)
	if sc.msix {
		all := sc.queueIMS | emreg.ICROther
		sc.hw.Write32(emreg.EIAC, all)
		mask |= all
	}
	sc.hw.Write32(emreg.IMS, mask)
}

// IntrDisable keeps it from interrupting (em_if_intr_disable).
func (sc *softc) IntrDisable() {
	if sc.msix {
		sc.hw.Write32(emreg.EIAC, 0)
	}
	sc.hw.Write32(emreg.IMC, allBits)
}

// RxQueueIntrEnable unmasks a receive queue's cause (em_if_rx_queue_intr_enable).
func (sc *softc) RxQueueIntrEnable(qid int) error {
	sc.hw.Write32(emreg.IMS, emreg.ICRRXQ0<<qid)
	return nil
}

// TxQueueIntrEnable unmasks a transmit queue's cause (em_if_tx_queue_intr_enable).
func (sc *softc) TxQueueIntrEnable(qid int) error {
	sc.hw.Write32(emreg.IMS, emreg.ICRTXQ0<<qid)
	return nil
}
