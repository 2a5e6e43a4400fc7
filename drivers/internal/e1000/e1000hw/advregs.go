package e1000hw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// oldQueueMask takes the queue's number out of the offset of a register at the old
// place.
const oldQueueMask = uint64((e1000reg.OldQueues - 1) * e1000reg.OldStride)

// canonical is the offset that a register is kept at: of the aliases of spec 1g 5.2 and
// 5.3 the one that em's parts have.
func canonical(off uint64) uint64 {
	const queuesNew = e1000reg.OldQueues * e1000reg.NewStride
	switch {
	case off >= e1000reg.RxQueuesNew && off < e1000reg.RxQueuesNew+queuesNew:
		return oldPlace(e1000reg.RxQueues, off-e1000reg.RxQueuesNew)
	case off >= e1000reg.TxQueuesNew && off < e1000reg.TxQueuesNew+queuesNew:
		return oldPlace(e1000reg.TxQueues, off-e1000reg.TxQueuesNew)
	}
	switch off {
	case e1000reg.ICR:
		return emreg.ICR
	case e1000reg.ICS:
		return emreg.ICS
	case e1000reg.IMS:
		return emreg.IMS
	case e1000reg.IMC:
		return emreg.IMC
	case e1000reg.IAM:
		return emreg.IAM
	case emreg.CTRLDup:
		return emreg.CTRL
	}
	return off
}

func oldPlace(first, at uint64) uint64 {
	return first + at/e1000reg.NewStride*e1000reg.OldStride + at%e1000reg.NewStride
}

// queueReg is a register of a queue.
type queueReg struct {
	q   int
	tx  bool
	reg uint64 // from the queue's first register
}

// queueRegister finds the queue of a register, whose offset is canonical.
func (a *advanced) queueRegister(off uint64) (r queueReg, ok bool) {
	first, stride, from := uint64(0), uint64(e1000reg.OldStride), 0
	switch {
	case off >= e1000reg.RxQueues && off < e1000reg.RxQueues+e1000reg.OldQueues*e1000reg.OldStride:
		first = e1000reg.RxQueues
	case off >= e1000reg.TxQueues && off < e1000reg.TxQueues+e1000reg.OldQueues*e1000reg.OldStride:
		first, r.tx = e1000reg.TxQueues, true
	case off >= e1000reg.RxQueuesNew && off < e1000reg.RxQueuesNew+e1000reg.MaxQueues*e1000reg.NewStride:
		first, stride = e1000reg.RxQueuesNew, e1000reg.NewStride
	case off >= e1000reg.TxQueuesNew && off < e1000reg.TxQueuesNew+e1000reg.MaxQueues*e1000reg.NewStride:
		first, stride, r.tx = e1000reg.TxQueuesNew, e1000reg.NewStride, true
	default:
		return r, false
	}
	r.q, r.reg = from+int((off-first)/stride), (off-first)%stride
	return r, r.q < a.chip.Queues && r.reg < e1000reg.NewStride
}

// Write32 implements pci.Registers32: a posted write. The doorbell comes first.
func (a *advanced) Write32(off uint64, v uint32) {
	a.MMIO.Write()
	if a.Probes.On() {
		a.traceWrite(off, v)
	}
	if off&^oldQueueMask == e1000reg.TxQueues+e1000reg.TAIL {
		a.writeTail(int(off/e1000reg.OldStride&(e1000reg.OldQueues-1)), v)
		return
	}
	a.write(canonical(off), v)
	a.Engine.Drain()
}

// Register implements pci.RegisterFinder: the tails of the first transmit queues.
func (a *advanced) Register(off uint64) pci.RegisterWriter {
	q := int(off / e1000reg.OldStride & (e1000reg.OldQueues - 1))
	if off&^oldQueueMask != e1000reg.TxQueues+e1000reg.TAIL || q >= len(a.tx) {
		return nil
	}
	return a.tx[q].Tail(a, off)
}

// writeTail rings the doorbell of one of the first queues.
func (a *advanced) writeTail(q int, v uint32) {
	if q < len(a.tx) {
		a.tx[q].WriteTail(v)
	}
}

// write is Write32 without the doorbell.
func (a *advanced) write(off uint64, v uint32) {
	if r, ok := a.queueRegister(off); ok {
		a.writeQueue(r, off, v)
		return
	}
	switch {
	case off < emreg.RCTL:
		a.writeControl(off, v)
	case off >= e1000reg.GPIE && off < eitr(a.chip.Vectors), off >= e1000reg.IVAR0 && off <= e1000reg.IVARMisc:
		a.writeVectors(off, v)
	case a.Stats.Has(off): // read only
	case off >= emreg.RSSRK && off < emreg.RSSRK+emreg.RSSRKCount*emreg.RegStride:
		a.SetReg(off, v)
		a.rx.NewKey()
	case off == emreg.TCTL:
		a.SetReg(off, v)
		a.Changed()
		a.StartTransmit()
	default:
		a.writeNVM(off, v)
	}
}

// writeNVM writes the registers of the NVM, where the part has them, and what is plain
// memory.
func (a *advanced) writeNVM(off uint64, v uint32) {
	switch off {
	case a.chip.EERD:
		a.WriteEERD(off, v)
	case a.chip.EEWR:
		a.WriteEEWR(off, v)
	default:
		a.SetReg(off, v)
	}
}

// writeControl writes below RCTL: control, NVM, PHY and interrupts.
func (a *advanced) writeControl(off uint64, v uint32) {
	switch off {
	case emreg.IMS:
		a.causes.IMS.Or(v & e1000reg.IMSMask)
		a.deliver()
	case emreg.IMC:
		a.causes.Mask(v)
	case emreg.ICR:
		a.causes.Clear(v)
	case emreg.ICS:
		a.raise(v & CauseMask)
	case emreg.CTRL:
		a.writeCTRL(v)
	case emreg.STATUS:
		a.writeSTATUS(v)
	case emreg.EECD:
		a.writeEECD(v)
	case emreg.CTRLExt:
		a.WriteCTRLExt(v)
	case emreg.MDIC:
		a.WriteMDIC(v)
	default:
		a.writeNVM(off, v)
	}
}

// writeVectors writes the registers of extended interrupts.
func (a *advanced) writeVectors(off uint64, v uint32) {
	switch {
	case off == e1000reg.EICS:
		a.extended(v & a.vectors)
	case off == e1000reg.EIMS:
		a.eims.Or(v & a.vectors)
		a.deliverVectors(a.vectors)
	case off == e1000reg.EIMC:
		a.eims.And(^v)
	case off == e1000reg.EICR:
		a.eicr.And(^v)
	case off >= e1000reg.EITR && off < e1000reg.IVAR0:
		a.writeEITR(int(off-e1000reg.EITR)/emreg.RegStride, v)
	case off >= e1000reg.IVAR0:
		a.writeIVAR(off, v)
	default:
		a.SetReg(off, v)
	}
}

// writeCTRL is device control; the reset bits clear themselves.
func (a *advanced) writeCTRL(v uint32) {
	devReset := a.chip.DevReset && v&e1000reg.CtrlDevRST != 0
	if v&emreg.CtrlPHYRST != 0 {
		a.PHY.Reset()
	}
	if v&emreg.CtrlRST != 0 || devReset {
		a.ResetRegs(a.resetValues(), a.survivors(), a.resetRest)
	} else {
		a.SetReg(emreg.CTRL, v&^(emreg.CtrlPHYRST|e1000reg.CtrlDevRST))
		a.WantLink()
	}
	if devReset {
		a.OrReg(emreg.STATUS, e1000reg.StatusDevRSTSet)
	}
	if v&emreg.CtrlPHYRST != 0 {
		a.Link.Restart()
	}
}

// writeSTATUS clears the bits that can be: PHYRA by 0, DEV_RST_SET by 1.
func (a *advanced) writeSTATUS(v uint32) {
	old := a.Reg(emreg.STATUS)
	a.SetReg(emreg.STATUS, old&^(^v&emreg.StatusPHYRA)&^(v&e1000reg.StatusDevRSTSet))
}

// Bits of EECD that software writes.
const eecdWritable = emreg.EECDSK | emreg.EECDCS | emreg.EECDDI | emreg.EECDReq

// writeEECD moves the pins of the NVM, to which nothing is wired, and commits the flash.
func (a *advanced) writeEECD(v uint32) {
	out := a.Reg(emreg.EECD)&^eecdWritable | v&eecdWritable
	if v&igbreg.EECDFLUPDI210 != 0 {
		out |= igbreg.EECDFLUDoneI210
	}
	a.SetReg(emreg.EECD, out)
}

const (
	indexMask = 0xffff     // bits of head and tail
	baseMask  = 0xfffffff0 // bits of RDBAL and TDBAL
)

// writeQueue writes a queue's register. The ring is what they say when descriptors are
// fetched, so their order does not matter (case 52).
func (a *advanced) writeQueue(r queueReg, off uint64, v uint32) {
	switch r.reg {
	case e1000reg.TAIL:
		if r.tx {
			a.tx[r.q].WriteTail(v)
			return
		}
		a.SetReg(off, v&indexMask)
	case e1000reg.HEAD:
		if r.tx {
			a.tx[r.q].WriteHead(v & indexMask)
			return
		}
		a.Paused(a.RxWork(), func() { a.SetReg(off, v&indexMask) })
	case e1000reg.BAL:
		a.SetReg(off, v&baseMask)
	case e1000reg.LEN:
		a.SetReg(off, v&emreg.RingLenMask)
		if v&^emreg.RingLenMask != 0 {
			a.Refuse(RuleRingLen, r.q, v)
		}
	case e1000reg.DCTL:
		a.writeDCTL(r, off, v)
	case e1000reg.RQDPC:
		if r.tx {
			a.SetReg(off, v)
		}
	default:
		a.SetReg(off, v)
	}
	if r.tx {
		a.Changed()
	}
}

// writeDCTL enables and disables a queue. A transmit queue loses its contexts then, and
// begins at its head with what it has got.
func (a *advanced) writeDCTL(r queueReg, off uint64, v uint32) {
	v &^= e1000reg.DCTLFlush
	turned := (a.Reg(off)^v)&e1000reg.DCTLEnable != 0
	if !r.tx || !turned {
		a.SetReg(off, v)
		return
	}
	a.Paused(r.q, func() {
		a.SetReg(off, v)
		a.ctx[r.q] = [contextSlots]txContext{}
		a.Changed()
	})
	if v&e1000reg.DCTLEnable != 0 && a.Reg(emreg.TCTL)&emreg.TCTLEN != 0 {
		a.Engine.Kick(r.q)
	}
}

// Read32 implements pci.Registers32.
func (a *advanced) Read32(off uint64) uint32 {
	a.MMIO.Read()
	v := a.read(canonical(off))
	if p := a.Probes; p.On() {
		a.TraceRead(p, off, v)
	}
	return v
}

// read is Read32 with the effects that reading has.
func (a *advanced) read(off uint64) uint32 {
	if a.Stats.Has(off) {
		return a.Stats.Read(off)
	}
	switch off {
	case emreg.ICR:
		return a.readICR()
	case emreg.ICS, emreg.IMS, emreg.IMC:
		return a.causes.Peek(off)
	case e1000reg.EICR, e1000reg.EICS:
		return a.eicr.Load()
	case e1000reg.EIMS, e1000reg.EIMC:
		return a.eims.Load()
	case emreg.STATUS:
		return a.readSTATUS()
	case emreg.EECD:
		v := a.Reg(off)
		if v&emreg.EECDReq != 0 {
			v |= emreg.EECDGnt
		}
		return v
	case emreg.SWSM:
		return a.OrReg(off, emreg.SWSMSMBI)
	}
	if r, ok := a.queueRegister(off); ok && !r.tx && r.reg == e1000reg.RQDPC {
		return a.rx.takeDropped(r.q)
	}
	return a.Reg(off)
}

// readSTATUS is the state of link and bus.
func (a *advanced) readSTATUS() uint32 {
	v := a.Reg(emreg.STATUS) | a.LinkStatus()
	if a.Reg(emreg.CTRL)&emreg.CtrlGIOMasterDisable == 0 {
		v |= emreg.StatusGIOMasterEnable
	}
	if a.Link.State().Speed == speed2500 {
		v |= emreg.StatusSpeed1000 | igcreg.StatusSpeed2500
	}
	return v
}

// traceWrite shows a register write and what the register will be.
func (a *advanced) traceWrite(off uint64, v uint32) {
	at := canonical(off)
	note := e1000reg.RegName(off)
	old, after, ok := a.causes.After(at, v)
	switch {
	case ok:
		note += " " + emreg.CauseNames(v)
	case at == e1000reg.EICR || at == e1000reg.EIMC:
		old = a.read(at)
		after = old &^ v
	case at == e1000reg.EICS || at == e1000reg.EIMS:
		old = a.read(at)
		after = old | v&a.vectors
	default:
		old, after = a.Reg(at), v
	}
	a.Probes.FireNote(a.Points.RegWrite, a.Cfg.Name, -1, note, off, uint64(v), uint64(old), uint64(after))
}
