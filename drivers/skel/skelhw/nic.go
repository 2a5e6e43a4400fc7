package skelhw

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// Engine queues: transmit queue n is n, reception is the one behind them.
const (
	rxWork       = skelreg.QueuePairs
	engineQueues = skelreg.QueuePairs + 1
)

// Speeds of the part in Mbit/s; the highest on a medium that sets no limit.
const (
	speedSlow = 100
	speedFast = 1000
)

// nic is one SKEL-1.
type nic struct {
	cfg    hw.Config
	faults *hw.Faults
	dma    *hw.DMA
	engine *hw.Engine
	link   *hw.Link
	stats  stats

	regs   [skelreg.RegsSize / 4]atomic.Uint32
	events events
	tx     [skelreg.QueuePairs]txQueue
	rx     rxUnit

	ctl sync.Mutex // one reset, start or stop of a queue at a time
}

var (
	_ hw.NIC          = (*nic)(nil)
	_ port.Client     = (*nic)(nil)
	_ pci.Registers32 = (*nic)(nil)
)

// New makes a SKEL-1 and plugs it into cfg.Port. The error is the port's, if it is in
// use.
func New(cfg hw.Config) (hw.NIC, error) {
	n := &nic{cfg: cfg}
	n.faults = hw.NewFaults(cfg.Kernel, cfg.Name)
	n.dma = hw.NewDMA(cfg.Kernel, cfg.Name, 0, n.faults)
	n.stats.init(cfg)
	n.link = hw.NewLink(hw.LinkConfig{Kernel: cfg.Kernel, Name: cfg.Name, Port: cfg.Port, Faults: n.faults,
		Speeds: []int{speedSlow, speedFast}, Changed: func(hw.LinkState) { n.events.happen(1 << skelreg.EventLink) }})
	n.events.faults = n.faults
	for q := range n.tx {
		n.tx[q].init(n, q)
	}
	n.rx.init(n)
	n.loadMAC()
	n.engine = hw.NewEngine(cfg, engineQueues, n.work)
	if err := cfg.Port.Bind(n); err != nil {
		n.silence()
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	n.link.SetEnabled(true)
	return n, nil
}

// work is the engine's work function.
func (n *nic) work(q int) {
	if q == rxWork {
		n.rx.run()
		return
	}
	n.tx[q].run()
}

// Identity returns the ids (datasheet 1).
func (n *nic) Identity() pci.Identity {
	return pci.Identity{Vendor: skelreg.VendorID, Device: skelreg.DeviceID, SubVendor: skelreg.VendorID,
		SubDevice: skelreg.DeviceID, Class: pci.ClassEthernet}
}

// BARs returns the registers and the MSI-X table (datasheet 1).
func (n *nic) BARs() []pci.BARInfo {
	return []pci.BARInfo{
		{Index: skelreg.BARRegs, Size: skelreg.RegsSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: n}},
		{Index: skelreg.BARMSIX, Size: skelreg.MSIXSize, Kind: pci.Mem32, MSIXTable: true},
	}
}

// Vectors returns the sizes of the interrupt capabilities (datasheet 1).
func (n *nic) Vectors() (msix, msi int) { return skelreg.MSIXVectors, 1 }

// Plug takes the slot that interrupts go out through.
func (n *nic) Plug(fn *pci.Function) { n.events.plug(fn) }

// Reset is the function-level reset: as CTRL's.
func (n *nic) Reset() {
	n.reset()
	n.engine.Drain()
}

// Close unplugs the port and ends engine and timers.
func (n *nic) Close() error {
	err := n.cfg.Port.Close()
	n.silence()
	return err
}

func (n *nic) silence() {
	n.engine.Close()
	n.link.Close()
	for q := range n.tx {
		n.tx[q].batch.Close()
	}
}

// TxReady is the port's: a queue that it had no room for may go on.
func (n *nic) TxReady(q int) {
	if q >= 0 && q < skelreg.QueuePairs {
		n.engine.Defer(q)
	}
}

// RxReady is the port's: frames have arrived.
func (n *nic) RxReady(int) { n.engine.Defer(rxWork) }

// LinkChanged is the port's: the medium has changed.
func (n *nic) LinkChanged(port.Link) { n.link.PortChanged() }
