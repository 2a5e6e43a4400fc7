package emhw

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/probe"
)

const maxQueues = 2

// nic is one card.
type nic struct {
	cfg    hw.Config
	k      *kern.Kernel
	chip   *chip
	mmio   *hw.MMIO
	engine *hw.Engine
	faults *hw.Faults
	dma    *hw.DMA
	link   *hw.Link
	fn     atomic.Pointer[pci.Function] // nil until Plug

	tx     []*txQueue
	rx     *rxUnit
	shared sharedContexts
	intr   interrupts
	delays delays
	stats  statistics
	phy    phy
	nvm    nvm
	flash  flash
	pch    pchState
	ioAddr atomic.Uint32 // IOADDR
	inline bool          // the engine is
	probes *probe.Set

	// changes counts writes of the registers that a transmit queue works by, but for its
	// tail, from 1 on. It is raised when the register has its value.
	changes atomic.Uint32

	refused [numRules]atomic.Uint64
	lost    [numLosses]atomic.Uint64

	resetting sync.Mutex // one goroutine pauses the engine at a time
	closing   sync.Once
	closeErr  error

	regs [emreg.BARSize / 4]uint32 // accessed atomically
}

var (
	_ hw.NIC           = (*nic)(nil)
	_ pci.PCIeDevice   = (*nic)(nil)
	_ pci.ConfigDevice = (*nic)(nil)
	_ port.Client      = (*nic)(nil)
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
	if cfg.Port == nil {
		return nil, fmt.Errorf("%s: NIC without a port: %w", cfg.Name, syscall.EINVAL)
	}
	k := cfg.Kernel
	n := &nic{cfg: cfg, k: k, chip: c, mmio: hw.NewMMIO(&cfg), probes: k.Probes}
	n.changed()
	n.faults = hw.NewFaults(k, cfg.Name)
	n.dma = hw.NewDMA(k, cfg.Name, 0, n.faults)
	n.nvm.init(c, cfg.MAC)
	n.flash.n = n
	n.phy.init(c.phyID)
	n.initStats()
	n.initInterrupts()
	n.link = hw.NewLink(hw.LinkConfig{Kernel: k, Name: cfg.Name, Port: cfg.Port, Faults: n.faults,
		Speeds: []int{10, 100, 1000}, Autoneg: autoneg(&cfg), Changed: n.linkChanged})
	n.engine = hw.NewEngine(cfg, c.queues+1, n.work)
	n.inline = n.engine.Mode() == hw.EngineInline
	for q := range c.queues {
		n.tx = append(n.tx, newTxQueue(n, q))
	}
	n.rx = newRxUnit(n)
	n.Reset()
	if err := cfg.Port.Bind(n); err != nil {
		n.stop()
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	return n, nil
}

// autoneg is how long negotiation takes.
func autoneg(cfg *hw.Config) time.Duration {
	driver := strings.TrimRight(cfg.Name, "0123456789")
	unit, err := strconv.Atoi(cfg.Name[len(driver):])
	if err != nil || cfg.Kernel.Env == nil {
		return hw.DefaultAutoneg
	}
	ms, err := cfg.Kernel.Env.HintInt(driver, unit, "autoneg_ms")
	if err != nil || ms < 0 {
		return hw.DefaultAutoneg
	}
	return time.Duration(ms) * time.Millisecond
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

// Plug implements pci.Device.
func (n *nic) Plug(fn *pci.Function) { n.fn.Store(fn) }

// Close implements pci.Device: it closes the port and ends engine and timers.
func (n *nic) Close() error {
	n.closing.Do(func() {
		n.closeErr = n.cfg.Port.Close()
		n.stop()
	})
	return n.closeErr
}

// stop ends engine and timers.
func (n *nic) stop() {
	n.engine.Close()
	n.link.Close()
	n.closeInterrupts()
	for _, q := range n.tx {
		q.batch.Close()
	}
}

// work is the engine's: the transmit queues come first, then the receive unit.
func (n *nic) work(q int) {
	if q < len(n.tx) {
		n.tx[q].run()
		return
	}
	n.rx.run()
}

// rxWork is the receive unit's number in the engine.
func (n *nic) rxWork() int { return len(n.tx) }

// TxReady implements port.Client.
func (n *nic) TxReady(q int) {
	if q >= 0 && q < len(n.tx) {
		n.engine.Defer(q)
	}
}

// RxReady implements port.Client.
func (n *nic) RxReady(int) { n.engine.Defer(n.rxWork()) }

// LinkChanged implements port.Client.
func (n *nic) LinkChanged(port.Link) { n.link.PortChanged() }

// linkChanged is called by the link when its state has changed (spec 1g 5.4).
func (n *nic) linkChanged(s hw.LinkState) {
	n.changed()
	if !s.Up {
		n.phy.lose()
	}
	n.updateLPI()
	n.raise(emreg.ICRLSC)
	if s.Up {
		for q := range n.tx {
			n.engine.Defer(q)
		}
	}
}

// wantLink has the link follow CTRL and BMCR. No lock is held.
func (n *nic) wantLink() {
	n.link.SetLimit(n.phy.limit())
	n.link.SetEnabled(n.reg(emreg.CTRL)&emreg.CtrlSLU != 0 && !n.phy.poweredDown())
}
