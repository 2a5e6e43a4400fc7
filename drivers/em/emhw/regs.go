package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Write32 implements pci.Registers32: a posted write. The doorbell comes first, the
// rest is in the order of the sections of spec 1g 5.
func (n *nic) Write32(off uint64, v uint32) {
	n.mmio.Write()
	if n.probes.On() {
		n.traceWrite(n.probes, off, v)
	}
	if off&^emreg.RingStride == emreg.TDT {
		n.writeTDT(int(off/emreg.RingStride&1), off, v)
		return
	}
	n.write(off, v)
	n.engine.Drain()
}

// writeTDT rings the doorbell of transmit queue q. Inline the engine's busy flag orders
// the store, so that it need not be a locked one. A tail that does not move brings no
// work: what holds the queue up, a port without room or a link that is down, has it run
// again by itself.
func (n *nic) writeTDT(q int, off uint64, v uint32) {
	v &= indexMask
	if q >= len(n.tx) {
		n.setReg(off, v)
		return
	}
	if atomic.LoadUint32(&n.regs[off/4]) == v {
		return
	}
	if n.inline {
		physmem.StoreRelaxed32(&n.regs[off/4], v)
	} else {
		atomic.StoreUint32(&n.regs[off/4], v)
	}
	n.engine.Doorbell(q)
}

// write is Write32 without the doorbell.
func (n *nic) write(off uint64, v uint32) {
	if n.chip.pch != nil && n.writePCH(off, v) {
		return
	}
	switch {
	case off < emreg.RCTL:
		n.writeControl(off, v)
	case off >= emreg.RDBAL && off < emreg.RDBAL+2*emreg.RingStride:
		n.writeReceive(off, v)
	case off >= emreg.TDBAL && off < emreg.TDBAL+2*emreg.RingStride:
		n.writeTransmit(off, v)
	case off >= emreg.StatsFirst && off <= emreg.StatsLast: // read only
	case off >= emreg.RSSRK && off < emreg.RSSRK+emreg.RSSRKCount*emreg.RegStride:
		n.setReg(off, v)
		n.rx.keyChanged.Store(true)
	case off == emreg.TCTL:
		n.setReg(off, v)
		n.changed()
		n.startTransmit(v)
	case off == emreg.EEWR:
		n.writeEEWR(v)
	default:
		n.setReg(off, v)
	}
}

// startTransmit goes on with what the queues have when TCTL.EN is on.
func (n *nic) startTransmit(tctl uint32) {
	if tctl&emreg.TCTLEN == 0 {
		return
	}
	for q := range n.tx {
		n.engine.Kick(q)
	}
}

// writeControl writes below RCTL: control, NVM, PHY and interrupts.
func (n *nic) writeControl(off uint64, v uint32) {
	switch off {
	case emreg.IMS:
		n.setIMS(v)
	case emreg.IMC:
		n.clearIMS(v)
	case emreg.ICR:
		n.clearICR(v)
	case emreg.ICS:
		n.writeICS(v)
	case emreg.ITR:
		n.setReg(off, v&emreg.ITRMask)
		throttled(n.intr.itr, v)
	case emreg.CTRL, emreg.CTRLDup:
		n.writeCTRL(v)
	case emreg.STATUS: // read only on these parts
	case emreg.EECD:
		n.writeEECD(v)
	case emreg.EERD:
		n.writeEERD(v)
	case emreg.CTRLExt:
		n.setReg(off, v&^(emreg.CtrlExtEERST|emreg.CtrlExtPBAClr))
		if v&emreg.CtrlExtEERST != 0 {
			n.autoload()
		}
	case emreg.MDIC:
		n.writeMDIC(v)
	default:
		n.writeMSIX(off, v)
	}
}

// writeMSIX writes the registers that only 82574 has; elsewhere they are memory.
func (n *nic) writeMSIX(off uint64, v uint32) {
	last := uint64(emreg.EITR + (len(n.intr.eitr)-1)*emreg.RegStride)
	switch {
	case len(n.intr.eitr) == 0:
		n.setReg(off, v)
	case off == emreg.IVAR:
		n.writeIVAR(v)
	case off >= emreg.EITR && off <= last:
		n.setReg(off, v&emreg.ITRMask)
		throttled(n.intr.eitr[(off-emreg.EITR)/emreg.RegStride], v)
	default:
		n.setReg(off, v)
	}
}

// writeCTRL is device control; the reset bits clear themselves.
func (n *nic) writeCTRL(v uint32) {
	if v&emreg.CtrlRST != 0 {
		n.hangs()
		n.reset(survivors)
	} else {
		n.setReg(emreg.CTRL, v&^emreg.CtrlPHYRST)
		n.changed()
		n.wantLink()
	}
	if v&emreg.CtrlPHYRST != 0 {
		n.resetPHY()
		n.wantLink()
		n.link.Restart()
	}
}

// indexMask are the bits of head and tail.
const indexMask = 0xffff

// baseMask are the bits of RDBAL and TDBAL.
const baseMask = 0xfffffff0

// writeReceive writes a receive queue's registers. The ring is what they say when
// descriptors are fetched, so their order does not matter (case 52).
func (n *nic) writeReceive(off uint64, v uint32) {
	q := int(off / emreg.RingStride & 1)
	switch off &^ emreg.RingStride {
	case emreg.RDT:
		n.setReg(off, v&indexMask)
		if n.chip.pch != nil {
			n.sinkReceive()
		}
	case emreg.RDBAL:
		n.setReg(off, v&baseMask)
	case emreg.RDLEN:
		n.writeRingLen(off, q, v)
	case emreg.RDH:
		n.paused(n.rxWork(), func() { n.setReg(off, v&indexMask) })
	case emreg.RDTR:
		n.delays.rx.write(off&^emreg.RingStride, v)
	case emreg.RADV:
		n.delays.rx.write(off&^emreg.RingStride, v)
	case emreg.RXDCTL:
		n.setReg(off, v)
		if q == 0 && len(n.tx) > 1 {
			n.setReg(off+emreg.RingStride, v) // erratum of 82574 (spec 1g 8)
		}
	default:
		n.setReg(off, v)
	}
}

// writeTransmit writes a transmit queue's registers, but for the tail.
func (n *nic) writeTransmit(off uint64, v uint32) {
	q := int(off / emreg.RingStride & 1)
	switch off &^ emreg.RingStride {
	case emreg.TDBAL:
		n.setReg(off, v&baseMask)
		n.changed()
	case emreg.TDBAH:
		n.setReg(off, v)
		n.changed()
	case emreg.TDLEN:
		n.writeRingLen(off, q, v)
		n.changed()
	case emreg.TDH:
		if q < len(n.tx) {
			n.paused(q, func() { n.tx[q].moveHead(v & indexMask) })
		}
	case emreg.TIDV:
		n.delays.tx.write(off&^emreg.RingStride, v)
	case emreg.TADV:
		n.delays.tx.write(off&^emreg.RingStride, v)
	default:
		n.setReg(off, v)
	}
}

// writeRingLen keeps the bits of a length that are there (case 51).
func (n *nic) writeRingLen(off uint64, q int, v uint32) {
	n.setReg(off, v&emreg.RingLenMask)
	if v&^emreg.RingLenMask != 0 {
		n.refuse(ruleRingLen, q, v)
	}
}

// paused runs fn while the work of an engine queue does not run.
func (n *nic) paused(q int, fn func()) {
	n.resetting.Lock()
	defer n.resetting.Unlock()
	n.engine.Pause(q)
	fn()
	n.engine.Resume(q)
}

// Read32 implements pci.Registers32.
func (n *nic) Read32(off uint64) uint32 {
	n.mmio.Read()
	v := n.read(off)
	if p := n.k.Probes; p.On() {
		p.FireNote(probeRead, n.cfg.Name, -1, emreg.RegName(off), off, uint64(v))
	}
	return v
}

// read is Read32 with the effects that reading has.
func (n *nic) read(off uint64) uint32 {
	if off >= emreg.StatsFirst && off <= emreg.StatsLast {
		return n.stats.read(off)
	}
	if n.chip.pch != nil {
		if v, ok := n.readPCH(off); ok {
			return v
		}
	}
	switch off {
	case emreg.ICR:
		return n.readICR()
	case emreg.ICS:
		return n.intr.icr.Load()
	case emreg.IMS, emreg.IMC:
		return n.intr.ims.Load()
	case emreg.CTRLDup:
		return n.reg(emreg.CTRL)
	case emreg.STATUS:
		return n.readSTATUS()
	case emreg.EECD:
		return n.readEECD()
	case emreg.SWSM:
		if !n.chip.lem {
			return atomic.OrUint32(&n.regs[off/4], emreg.SWSMSMBI)
		}
	}
	return n.reg(off)
}

// readSTATUS is the state of link and bus.
func (n *nic) readSTATUS() uint32 {
	n.link.Poll()
	s, ctrl := n.link.State(), n.reg(emreg.CTRL)
	v := n.pch.status.Load()
	if n.chip.lem {
		v |= lemStatus
	} else if ctrl&emreg.CtrlGIOMasterDisable == 0 {
		v |= emreg.StatusGIOMasterEnable
	}
	if s.Up {
		v |= emreg.StatusLU
	}
	switch {
	case ctrl&emreg.CtrlFrcSpd != 0:
		v |= ctrl & emreg.CtrlSpdSel >> 2 // the fields are alike, at 9:8 and 7:6
	case s.Speed == 1000:
		v |= emreg.StatusSpeed1000
	case s.Speed == 100:
		v |= emreg.StatusSpeed100
	}
	if ctrl&emreg.CtrlFrcDpx != 0 && ctrl&emreg.CtrlFD != 0 || ctrl&emreg.CtrlFrcDpx == 0 && s.FullDuplex {
		v |= emreg.StatusFD
	}
	return v
}

// lemStatus are the bits of STATUS that 8254x always shows (spec 1g 5.1).
const lemStatus = 1<<31 | emreg.StatusGIOMasterEnable

// ioBAR is the I/O BAR of 8254x: an address register and a window.
type ioBAR nic

// Read32 reads IOADDR, or the register that it names.
func (b *ioBAR) Read32(off uint64) uint32 {
	n := (*nic)(b)
	addr := n.ioAddr.Load()
	switch {
	case off == emreg.IOAddr:
		return addr
	case off == emreg.IOData && addr < emreg.BARSize:
		return n.Read32(uint64(addr &^ 3))
	}
	return 0
}

// Write32 writes IOADDR, or the register that it names.
func (b *ioBAR) Write32(off uint64, v uint32) {
	n := (*nic)(b)
	addr := n.ioAddr.Load()
	switch {
	case off == emreg.IOAddr:
		n.ioAddr.Store(v)
	case off == emreg.IOData && addr < emreg.BARSize:
		n.Write32(uint64(addr&^3), v)
	}
}
