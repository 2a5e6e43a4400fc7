package adv

import (
	"fmt"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
)

const allBits = 0xffffffff

// vector is the interrupt of a receive queue and of the transmit queues that share it;
// without MSI-X the only one. Its filter owns the moderation.
type vector struct {
	e1000.Moderator
	sc  *Softc
	id  int
	reg uint64 // EITR
	ims uint32 // its bits in EICR
}

func newVector(sc *Softc, id int) *vector {
	v := &vector{sc: sc, id: id, reg: e1000reg.EITR + uint64(id)*emreg.RegStride}
	v.InitModerator(v.reg, sc.Part.Scale)
	return v
}

// start programs the throttle for the rate without AIM; the reset has forgotten it.
func (v *vector) start() { v.sc.Regs.Write32(v.reg, v.Start(v.sc.set.MaxIntrRate)) }

// moderate adapts the interrupt rate to the traffic since the last interrupt.
func (v *vector) moderate() {
	sc := v.sc
	v.Adapt(sc.bar, sc.Conditions(sc.set.MaxIntrRate), sc.txLoad(v.id, len(sc.vectors)), sc.rxLoad(v.id))
}

// queueFilter serves a queue's vector (em_msix_que).
func (v *vector) queueFilter() iflib.FilterResult {
	v.IRQs.Add(1)
	v.moderate()
	return iflib.FilterScheduleThread
}

// linkFilter serves the vector of the other causes (em_msix_link) and arms it again.
func (sc *Softc) linkFilter() iflib.FilterResult {
	sc.LinkIRQ.Add(1)
	if icr := sc.Regs.Read32(emreg.ICR); icr != allBits {
		sc.NoteCauses(icr)
	}
	sc.Regs.Write32(emreg.IMS, emreg.ICRLSC)
	sc.Regs.Write32(e1000reg.EIMS, sc.linkMask)
	return iflib.FilterHandled
}

// legacyFilter serves INTx and MSI (em_intr; spec 1g 6.6).
func (sc *Softc) legacyFilter() iflib.FilterResult {
	icr, ok := sc.ReadCauses(true)
	if !ok {
		return iflib.FilterStray
	}
	sc.IntrDisable()
	sc.NoteCauses(icr)
	return sc.vectors[0].queueFilter()
}

// MSIXIntrAssign binds the vectors: one a receive queue, which the transmit queues of
// the same number modulo shares, and the last for the rest (em_if_msix_intr_assign).
func (sc *Softc) MSIXIntrAssign(int) error {
	for i, v := range sc.vectors {
		if err := sc.AllocIrq(iflib.IntrRxTx, v.queueFilter, fmt.Sprintf("rxq%d", i)); err != nil {
			return err
		}
	}
	for i := range sc.tx {
		if err := sc.ShareIrq(i%len(sc.vectors), i); err != nil {
			return err
		}
	}
	if err := sc.AllocIrq(iflib.IntrAdmin, sc.linkFilter, "aq"); err != nil {
		return err
	}
	sc.msix = true
	return nil
}

// Causes of 82575 in EICR and MSIXBM, which has no IVAR.
const (
	causeRxQ0  = 1 << 0  // EICR_RX_QUEUE0
	causeTxQ0  = 1 << 8  // EICR_TX_QUEUE0
	causeOther = 1 << 31 // EIMS_OTHER

	bitmapIRCA = 1 << 0 // CTRL_EXT_IRCA
)

// routeInterrupts tells the part which causes go to which vector
// (igb_configure_queues, igc_configure_queues; spec 1g 6.4 step 15).
func (sc *Softc) routeInterrupts() {
	sc.queueMask = 0
	if sc.Part.Route == nil {
		sc.routeByBitmap()
	} else {
		sc.routeByIVAR()
	}
	for _, v := range sc.vectors {
		sc.queueMask |= v.ims
		v.start()
	}
}

func (sc *Softc) routeByIVAR() {
	r := &sc.Regs
	r.Write32(e1000reg.GPIE, e1000reg.GPIEMSIXMode|e1000reg.GPIEEIAME|e1000reg.GPIEPBA|e1000reg.GPIENSICR)
	put := func(reg uint64, shift, vec int) {
		const keep = e1000reg.IVARValid | e1000reg.IVARVector
		r.Change(reg, keep<<shift, uint32(e1000reg.IVARValid|vec)<<shift)
	}
	for i, v := range sc.vectors {
		reg, shift := sc.Part.Route(i)
		put(reg, shift, i)
		v.ims = 1 << i
	}
	for i := range sc.tx {
		reg, shift := sc.Part.Route(i)
		put(reg, shift+e1000reg.IVARTx, i%len(sc.vectors))
	}
	put(e1000reg.IVARMisc, e1000reg.IVAROther, len(sc.vectors))
	sc.linkMask = 1 << len(sc.vectors)
}

// msixbm is MSIXBM(0) of 82575.
const msixbm = 0x1600

func (sc *Softc) routeByBitmap() {
	r := &sc.Regs
	r.Set(emreg.CTRLExt, emreg.CtrlExtPBAClr|emreg.CtrlExtEIAME|bitmapIRCA)
	for i, v := range sc.vectors {
		v.ims = causeRxQ0 << i
		for q := i; q < len(sc.tx); q += len(sc.vectors) {
			v.ims |= causeTxQ0 << q
		}
		r.Write32(msixbm+uint64(i)*emreg.RegStride, v.ims)
	}
	r.Write32(msixbm+uint64(len(sc.vectors))*emreg.RegStride, causeOther)
	sc.linkMask = causeOther
}

// IntrEnable lets the part interrupt (em_if_intr_enable, igb_if_intr_enable).
func (sc *Softc) IntrEnable() {
	if !sc.msix {
		sc.Regs.Write32(emreg.IMS, emreg.IMSEnableMask)
		return
	}
	mask := sc.queueMask | sc.linkMask
	sc.Regs.Write32(e1000reg.EIAC, mask)
	sc.Regs.Write32(e1000reg.EIAM, mask)
	sc.Regs.Write32(e1000reg.EIMS, mask)
	sc.Regs.Write32(emreg.IMS, emreg.ICRLSC)
}

// IntrDisable keeps it from interrupting (igb_if_intr_disable).
func (sc *Softc) IntrDisable() {
	if sc.msix {
		sc.Regs.Write32(e1000reg.EIMC, allBits)
		sc.Regs.Write32(e1000reg.EIAC, 0)
	}
	sc.Regs.Write32(emreg.IMC, allBits)
}

// RxQueueIntrEnable unmasks a receive queue's vector (igb_if_rx_queue_intr_enable).
func (sc *Softc) RxQueueIntrEnable(qid int) error {
	sc.Regs.Write32(e1000reg.EIMS, sc.vectors[qid].ims)
	return nil
}

// TxQueueIntrEnable unmasks the vector that a transmit queue shares
// (igb_if_tx_queue_intr_enable).
func (sc *Softc) TxQueueIntrEnable(qid int) error { return sc.RxQueueIntrEnable(qid % len(sc.vectors)) }
