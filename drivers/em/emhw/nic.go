package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

const maxQueues = 2

// nic is one card.
type nic struct {
	e1000hw.Core
	chip *chip

	tx     []*e1000hw.TxQueue
	rx     *e1000hw.RxUnit
	ctx    [maxQueues][contextSlots]txContext // of each queue, its engine run's
	shared sharedContexts
	intr   interrupts
	delays delays
	wire   serialNVM
	flash  flash
	pch    pchState
	ioAddr atomic.Uint32 // IOADDR
}

var (
	_ hw.NIC           = (*nic)(nil)
	_ pci.PCIeDevice   = (*nic)(nil)
	_ pci.ConfigDevice = (*nic)(nil)
	_ pci.CapsDevice   = (*nic)(nil)
	_ Counter          = (*nic)(nil)
)

// New makes the NIC that name says, "" for DefaultChip, and binds it to cfg's port, which
// it closes in the end. After the port's link comes up two PHYs take
// hw.DefaultAutoneg to agree, or what hint.<driver>.<unit>.autoneg_ms says. An unknown
// name is ENODEV, no port EINVAL, else the error is that of Port.Bind.
func New(name string, cfg hw.Config) (hw.NIC, error) {
	c, err := chipNamed(name)
	if err != nil {
		return nil, err
	}
	n := &nic{chip: c}
	err = n.Init(&e1000hw.CoreConfig{Config: cfg, Queues: c.queues, Speeds: []int{10, 100, 1000}, PHY: c.phy(),
		NVM:   e1000hw.NVMConfig{Words: nvmWords, ID: c.id, Values: c.nvm, Sections: []int{0}},
		Rules: ruleTexts, Trace: points, StatsLast: emreg.StatsLast, Raise: n.raise,
		Follow: n.updateLPI, OwnsMDIO: n.ownsMDIO})
	if err != nil {
		return nil, err
	}
	n.flash.n = n
	n.initInterrupts()
	format := n.txFormat()
	for q := range c.queues {
		n.tx = append(n.tx, e1000hw.NewTxQueue(&n.Core, q, emreg.TDBAL+uint64(q)*emreg.RingStride, format))
	}
	n.rx = e1000hw.NewRxUnit(&n.Core, c.queues, n.rxConfig())
	n.SetQueues(n.tx, n.rx)
	n.Reset()
	if err := n.Start(n); err != nil {
		n.closeInterrupts()
		return nil, err
	}
	return n, nil
}

// rxConfig is the receive unit of the chip.
func (n *nic) rxConfig() *e1000hw.RxConfig {
	c := &e1000hw.RxConfig{Ring: func(q int) uint64 { return emreg.RDBAL + uint64(q)*emreg.RingStride },
		Lem: n.chip.lem, RARs: emreg.RARCount, ShortMTA: n.chip.pch != nil, Raise: n.rxEvents}
	if n.chip.queues > 1 {
		const queueBit, fields = 7, 6
		c.MRQC, c.HashTypes, c.RETAShift, c.RETAMask = emreg.MRQCRSS2Queues, fields, queueBit, 1
	}
	return c
}

// Identity implements pci.Device.
func (n *nic) Identity() pci.Identity { return n.chip.id }

// BARs implements pci.Device: BAR 0, on 8254x an I/O BAR too, on I217 one for the flash.
// The MSI-X table of 82574 is in the BAR that pci adds.
func (n *nic) BARs() []pci.BARInfo {
	bars := []pci.BARInfo{{Index: 0, Size: emreg.BARSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: n}}}
	if n.chip.lem {
		bars = append(bars, pci.BARInfo{Index: 2, Size: emreg.IOBARSize, Kind: pci.IO,
			BAR: pci.Regs32{Registers32: (*ioBAR)(n)}})
	}
	if n.chip.pch != nil && !n.chip.pch.ownFlash {
		bars = append(bars, pci.BARInfo{Index: emreg.FlashBAR, Size: emreg.FlashBytes, Kind: pci.Mem32,
			BAR: newFlashBAR(&n.flash)})
	}
	return bars
}

// Vectors implements pci.Device.
func (n *nic) Vectors() (msix, msi int) { return n.chip.msix, n.chip.msi }

// PCIeLink implements pci.PCIeDevice: 2.5 GT/s x1.
func (n *nic) PCIeLink() pci.PCIeLink { return pci.PCIeLink{Speed: 1, Width: 1} }

// Close implements pci.Device: it closes the port and ends engine and timers.
func (n *nic) Close() error { return n.CloseWith(n.closeInterrupts) }
