package iflibtest

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// access counts the register accesses of one NIC's driver.
type access struct{ n atomic.Uint64 }

func (a *access) count() uint64 { return a.n.Load() }

// watch is the NIC with its BARs behind the count.
func (a *access) watch(nic hw.NIC) pci.Device {
	w := watchedNIC{nic, a}
	if l, ok := nic.(pci.PCIeDevice); ok {
		return watchedPCIe{w, l}
	}
	return w
}

type watchedNIC struct {
	hw.NIC
	a *access
}

// watchedPCIe is a watchedNIC that says what its link is.
type watchedPCIe struct {
	watchedNIC
	pci.PCIeDevice
}

// ReadConfig is the NIC's, of one with configuration registers of its own; others have
// nothing there.
func (w watchedNIC) ReadConfig(reg int) uint32 {
	if d, ok := w.NIC.(pci.ConfigDevice); ok {
		return d.ReadConfig(reg)
	}
	return 0
}

// Caps are the NIC's.
func (w watchedNIC) Caps() pci.Caps { return pci.CapsOf(w.NIC) }

// BARs are the NIC's, watched.
func (w watchedNIC) BARs() []pci.BARInfo {
	infos := append([]pci.BARInfo(nil), w.NIC.BARs()...)
	for i := range infos {
		if infos[i].BAR != nil {
			infos[i].BAR = watchedBAR{infos[i].BAR, w.a}
		}
	}
	return infos
}

// watchedBAR counts the accesses that drivers make: those of up to 32 bits, and of 64.
type watchedBAR struct {
	pci.BAR
	a *access
}

// Read32 reads 32 bits.
func (b watchedBAR) Read32(off uint64) uint32 { b.a.n.Add(1); return b.BAR.Read32(off) }

// Read64 reads 64 bits.
func (b watchedBAR) Read64(off uint64) uint64 { b.a.n.Add(1); return b.BAR.Read64(off) }

// Write32 writes 32 bits.
func (b watchedBAR) Write32(off uint64, v uint32) { b.a.n.Add(1); b.BAR.Write32(off, v) }

// Write64 writes 64 bits.
func (b watchedBAR) Write64(off uint64, v uint64) { b.a.n.Add(1); b.BAR.Write64(off, v) }
