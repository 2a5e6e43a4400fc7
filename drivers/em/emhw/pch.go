package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/internal/physmem"
)

// pchState is what a pch part has beside its registers.
type pchState struct {
	status atomic.Uint32 // LAN_INIT_DONE and PHYRA of STATUS: writing 0 clears

	// Rings of I219 (spec 1g 8). What hangs does so until a function-level reset.
	fetched atomic.Bool // receive descriptors are in the part
	sunk    atomic.Bool // the transmit ring was flushed
}

// statusLatch are the bits of STATUS that stay until 0 is written.
const statusLatch = emreg.StatusLANInitDone | emreg.StatusPHYRA

// lastRAR is behind the receive addresses that any part decodes.
const lastRAR = emreg.RAL + 16*emreg.RAStride

// writePCH writes the registers that are different on pch parts; false for all others.
func (n *nic) writePCH(off uint64, v uint32) bool {
	switch {
	case off == emreg.STATUS:
		n.pch.status.And(v)
	case off == emreg.STRAP, off == emreg.FWSM: // read only
	case off == emreg.EECD, off == emreg.EERD, off == emreg.EEWR:
		n.SetReg(off, v) // there is no EEPROM: other registers are here
	case off >= emreg.MTA+emreg.PCHMTACount*emreg.RegStride && off < emreg.RAL:
		n.Refuse(ruleMTA, 0, uint32(off))
	case off >= emreg.RAL+emreg.PCHRARCount*emreg.RAStride && off < lastRAR:
		n.Refuse(ruleRAR, 0, uint32(off))
	case n.inOwnFlash(off):
		n.flash.write32(off-emreg.FlashOwn, v)
	case off == emreg.RCTL:
		n.SetReg(off, v)
		n.sinkReceive()
	default:
		return false
	}
	return true
}

// readPCH reads the registers that are different on pch parts; false for all others.
func (n *nic) readPCH(off uint64) (uint32, bool) {
	switch {
	case off == emreg.STRAP && n.chip.pch.ownFlash:
		return (flashBanks - 1) << emreg.StrapSizeShift, true
	case off == emreg.EECD, off == emreg.SWSM:
		return n.Reg(off), true
	case n.inOwnFlash(off):
		return n.flash.read32(off - emreg.FlashOwn), true
	}
	return 0, false
}

func (n *nic) inOwnFlash(off uint64) bool {
	return n.chip.pch.ownFlash && off >= emreg.FlashOwn && off <= emreg.FlashOwn+emreg.FlashLast
}

// resetPHY is CTRL.PHY_RST. Afterwards a pch part says that its PHY was reset and that it
// has set it up (spec 1g 5.6).
func (n *nic) resetPHY() {
	if n.chip.pch != nil {
		n.pch.status.Or(statusLatch)
	}
	n.PHY.Reset()
}

// ownsMDIO reports whether software may use the MDI bus: it shares it with firmware on
// pch parts.
func (n *nic) ownsMDIO() bool {
	return n.chip.pch == nil || n.Reg(emreg.EXTCNFCtrl)&emreg.EXTCNFSWOwnership != 0
}

// updateLPI follows link and PHY: the link may idle at a speed for which that is enabled.
func (n *nic) updateLPI() {
	if n.chip.pch == nil {
		return
	}
	s, enabled := n.Link.State(), uint16(0)
	switch s.Speed {
	case 1000:
		enabled = emreg.LPICtrl1000
	case 100:
		enabled = emreg.LPICtrl100
	}
	n.LPI.Store(s.FullDuplex && n.PHY.PageWord(emreg.PHYLPICtrl)&enabled != 0)
}

// ReadConfig implements pci.ConfigDevice: the state of the rings of I219.
func (n *nic) ReadConfig(reg int) uint32 {
	if reg == emreg.ConfigDescRing && n.mustSink() {
		return emreg.FlushRequired
	}
	return 0
}

// mustSink reports whether a reset would hang the part: descriptors are in it.
func (n *nic) mustSink() bool {
	if n.chip.pch == nil || !n.chip.pch.mustSink {
		return false
	}
	sending := n.Reg(emreg.TDH) != n.Reg(emreg.TDT) && !n.pch.sunk.Load()
	return sending || n.pch.fetched.Load()
}

// hangs is a reset that finds descriptors in the part: from then on it does nothing
// until the bus resets it.
func (n *nic) hangs() {
	if n.mustSink() {
		n.Refuse(ruleSink, 0, n.Reg(emreg.TDT))
		n.Hung.Store(true)
	}
}

// resetPCHState is a reset of the MAC.
func (n *nic) resetPCHState() {
	n.pch.fetched.Store(false)
	n.pch.sunk.Store(false)
	n.LPI.Store(false)
	n.pch.status.Store(emreg.StatusLANInitDone)
	n.flash.reset()
}

// rxSunk are the thresholds of RXDCTL under which a receive ring drains: prefetch 31,
// host 1, in descriptors.
const (
	rxSunkMask = emreg.DCTLPthresh | emreg.DCTLHthresh | emreg.DCTLGran
	rxSunk     = 0x1f | 1<<emreg.DCTLHthreshShift | emreg.DCTLGran
)

// sinkReceive is a write of RCTL or RDT: descriptors get into a unit that is on, or out
// of it if the thresholds say so.
func (n *nic) sinkReceive() {
	if !n.chip.pch.mustSink || n.Reg(emreg.RCTL)&emreg.RCTLEN == 0 {
		return
	}
	drains := n.Reg(emreg.RXDCTL)&rxSunkMask == rxSunk
	n.pch.fetched.Store(!drains && n.Reg(emreg.RDH) != n.Reg(emreg.RDT))
}

// sink looks, once FEXTNVM11 says that the ring is to be flushed, whether its last
// descriptor is the one that flushes: data without an end of packet.
func (n *nic) sink(t *e1000hw.TxQueue) {
	head, tail := n.Reg(emreg.TDH), n.Reg(emreg.TDT)
	count := n.Reg(emreg.TDLEN) / emreg.DescSize
	if n.Reg(emreg.FEXTNVM11)&emreg.FEXTNVM11NoMULR == 0 || n.Reg(emreg.TCTL)&emreg.TCTLEN == 0 ||
		head == tail || tail >= count {
		return
	}
	last := tail
	if last == 0 {
		last = count
	}
	base := physmem.Addr(n.Reg(emreg.TDBAL)) | physmem.Addr(n.Reg(emreg.TDBAH))<<32
	w, err := n.DMA.Load64(base + physmem.Addr(last)*emreg.DescSize - descWord)
	if err != nil {
		n.DMA.Fault(t.Q, last-1, err)
		return
	}
	cmd := uint32(w)
	if cmd&(emreg.TxdCmdEOP|emreg.TxdCmdDEXT) == 0 && cmd&emreg.TxdLenMask != 0 {
		n.pch.sunk.Store(true)
	}
}

// descWord is the size of a descriptor's words.
const descWord = 8
