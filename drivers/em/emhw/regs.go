package emhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// Write32 implements pci.Registers32: a posted write. The doorbell comes first, the
// rest is in the order of the sections of spec 1g 5.
func (n *nic) Write32(off uint64, v uint32) {
	n.MMIO.Write()
	if n.Probes.On() {
		n.traceWrite(n.Probes, off, v)
	}
	if off&^emreg.RingStride == emreg.TDT {
		n.writeTDT(int(off/emreg.RingStride&1), off, v)
		return
	}
	n.write(off, v)
	n.Engine.Drain()
}

// Register implements pci.RegisterFinder: the transmit tails.
func (n *nic) Register(off uint64) pci.RegisterWriter {
	q := int(off / emreg.RingStride & 1)
	if off&^emreg.RingStride != emreg.TDT || q >= len(n.tx) {
		return nil
	}
	return n.tx[q].Tail(n, off)
}

// writeTDT rings the doorbell of transmit queue q.
func (n *nic) writeTDT(q int, off uint64, v uint32) {
	if q < len(n.tx) {
		n.tx[q].WriteTail(v)
		return
	}
	n.SetReg(off, v&indexMask)
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
	case n.Stats.Has(off): // read only
	case off >= emreg.RSSRK && off < emreg.RSSRK+emreg.RSSRKCount*emreg.RegStride:
		n.SetReg(off, v)
		n.rx.NewKey()
	case off == emreg.TCTL:
		n.SetReg(off, v)
		n.Changed()
		n.StartTransmit()
	case off == emreg.EEWR:
		n.WriteEEWR(off, v)
	default:
		n.SetReg(off, v)
	}
}

// writeControl writes below RCTL: control, NVM, PHY and interrupts.
func (n *nic) writeControl(off uint64, v uint32) {
	switch off {
	case emreg.IMS:
		n.setIMS(v)
	case emreg.IMC:
		n.intr.causes.Mask(v)
	case emreg.ICR:
		n.intr.causes.Clear(v)
	case emreg.ICS:
		n.writeICS(v)
	case emreg.ITR:
		n.SetReg(off, v&emreg.ITRMask)
		throttled(n.intr.itr, v)
	case emreg.CTRL, emreg.CTRLDup:
		n.writeCTRL(v)
	case emreg.STATUS: // read only on these parts
	case emreg.EECD:
		n.writeEECD(v)
	case emreg.EERD:
		n.WriteEERD(off, v)
	case emreg.CTRLExt:
		n.WriteCTRLExt(v)
	case emreg.MDIC:
		n.WriteMDIC(v)
	default:
		n.writeMSIX(off, v)
	}
}

// writeMSIX writes the registers that only 82574 has; elsewhere they are memory.
func (n *nic) writeMSIX(off uint64, v uint32) {
	last := uint64(emreg.EITR + (len(n.intr.eitr)-1)*emreg.RegStride)
	switch {
	case len(n.intr.eitr) == 0:
		n.SetReg(off, v)
	case off == emreg.IVAR:
		n.writeIVAR(v)
	case off >= emreg.EITR && off <= last:
		n.SetReg(off, v&emreg.ITRMask)
		throttled(n.intr.eitr[(off-emreg.EITR)/emreg.RegStride], v)
	default:
		n.SetReg(off, v)
	}
}

// writeCTRL is device control; the reset bits clear themselves.
func (n *nic) writeCTRL(v uint32) {
	if v&emreg.CtrlRST != 0 {
		n.hangs()
		n.ResetRegs(n.chip.reset, survivors, n.resetRest)
	} else {
		n.SetReg(emreg.CTRL, v&^emreg.CtrlPHYRST)
		n.Changed()
		n.WantLink()
	}
	if v&emreg.CtrlPHYRST != 0 {
		n.resetPHY()
		n.WantLink()
		n.Link.Restart()
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
		n.SetReg(off, v&indexMask)
		if n.chip.pch != nil {
			n.sinkReceive()
		}
	case emreg.RDBAL:
		n.SetReg(off, v&baseMask)
	case emreg.RDLEN:
		n.writeRingLen(off, q, v)
	case emreg.RDH:
		n.Paused(n.RxWork(), func() { n.SetReg(off, v&indexMask) })
	case emreg.RDTR:
		n.delays.rx.write(off&^emreg.RingStride, v)
	case emreg.RADV:
		n.delays.rx.write(off&^emreg.RingStride, v)
	case emreg.RXDCTL:
		n.SetReg(off, v)
		if q == 0 && len(n.tx) > 1 {
			n.SetReg(off+emreg.RingStride, v) // erratum of 82574 (spec 1g 8)
		}
	default:
		n.SetReg(off, v)
	}
}

// writeTransmit writes a transmit queue's registers, but for the tail.
func (n *nic) writeTransmit(off uint64, v uint32) {
	q := int(off / emreg.RingStride & 1)
	switch off &^ emreg.RingStride {
	case emreg.TDBAL:
		n.SetReg(off, v&baseMask)
		n.Changed()
	case emreg.TDBAH:
		n.SetReg(off, v)
		n.Changed()
	case emreg.TDLEN:
		n.writeRingLen(off, q, v)
		n.Changed()
	case emreg.TDH:
		if q < len(n.tx) {
			n.tx[q].WriteHead(v & indexMask)
		}
	case emreg.TIDV:
		n.delays.tx.write(off&^emreg.RingStride, v)
	case emreg.TADV:
		n.delays.tx.write(off&^emreg.RingStride, v)
	default:
		n.SetReg(off, v)
	}
}

// writeRingLen keeps the bits of a length that are there (case 51).
func (n *nic) writeRingLen(off uint64, q int, v uint32) {
	n.SetReg(off, v&emreg.RingLenMask)
	if v&^emreg.RingLenMask != 0 {
		n.Refuse(e1000hw.RuleRingLen, q, v)
	}
}

// Read32 implements pci.Registers32.
func (n *nic) Read32(off uint64) uint32 {
	n.MMIO.Read()
	v := n.read(off)
	if p := n.Probes; p.On() {
		n.TraceRead(p, off, v)
	}
	return v
}

// read is Read32 with the effects that reading has.
func (n *nic) read(off uint64) uint32 {
	if n.Stats.Has(off) {
		return n.Stats.Read(off)
	}
	if n.chip.pch != nil {
		if v, ok := n.readPCH(off); ok {
			return v
		}
	}
	switch off {
	case emreg.ICR:
		return n.readICR()
	case emreg.ICS, emreg.IMS, emreg.IMC:
		return n.intr.causes.Peek(off)
	case emreg.CTRLDup:
		return n.Reg(emreg.CTRL)
	case emreg.STATUS:
		return n.readSTATUS()
	case emreg.EECD:
		return n.readEECD()
	case emreg.SWSM:
		if !n.chip.lem {
			return n.OrReg(off, emreg.SWSMSMBI)
		}
	}
	return n.Reg(off)
}

// readSTATUS is the state of link and bus.
func (n *nic) readSTATUS() uint32 {
	v := n.pch.status.Load() | n.LinkStatus()
	if n.chip.lem {
		v |= lemStatus
	} else if n.Reg(emreg.CTRL)&emreg.CtrlGIOMasterDisable == 0 {
		v |= emreg.StatusGIOMasterEnable
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
