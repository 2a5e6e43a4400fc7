package cqhw

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// Engine queues: transmit queue n is n, all receive queues are one.
const (
	rxWorkQueue  = cqreg.MaxQueues
	engineQueues = cqreg.MaxQueues + 1
)

// Speeds of the part in Mbit/s; the highest on a medium that sets no limit.
const (
	speedSlow = 1_000
	speedFast = 10_000
)

// global are the registers of section 2 that are plain storage.
type global struct {
	maclo, machi, maxfrm, rssctl, mchlo, mchhi uint32

	key  [cqreg.RSSKeyRegs]uint32
	reta [cqreg.RETARegs]uint32
}

// nic is one CQ-1.
type nic struct {
	k      *kern.Kernel
	name   string
	cfg    hw.Config
	port   port.Port
	fn     *pci.Function
	dma    *hw.DMA
	engine *hw.Engine
	faults *hw.Faults

	tx [cqreg.MaxQueues]txQueue
	rx [cqreg.MaxQueues]rxQueue
	in *offload.Receiver
	d  delivery // the receive work's

	stats *offload.Stats

	ctl  sync.Mutex // serialises control registers, queue starts and resets; neither the engine's work nor a port callback takes it
	glob global     // guarded by ctl
	ctrl atomic.Uint32
	link *hw.Link

	intr interrupts
}

var (
	_ hw.NIC          = (*nic)(nil)
	_ port.Client     = (*nic)(nil)
	_ pci.Registers32 = (*nic)(nil)
)

// New makes a CQ-1 on its port. It fails if the port is in use.
func New(cfg hw.Config) (hw.NIC, error) {
	n := &nic{k: cfg.Kernel, name: cfg.Name, cfg: cfg, port: cfg.Port}
	n.faults = hw.NewFaults(n.k, n.name)
	n.dma = hw.NewDMA(n.k, n.name, 0, n.faults)
	n.stats = offload.NewStats(cfg, engineQueues)
	for i := range n.tx {
		n.tx[i].init(n, i)
	}
	for i := range n.rx {
		n.rx[i].init(n, i)
	}
	n.in = offload.NewReceiver(offload.ReceiverConfig{
		Port: n.port, Queues: cqreg.MaxQueues, Stats: n.stats, Work: rxWorkQueue,
		Wake: func() { n.engine.Defer(rxWorkQueue) }, Deliver: n.deliver,
	})
	n.link = hw.NewLink(hw.LinkConfig{Kernel: n.k, Name: n.name, Port: n.port, Faults: n.faults,
		Speeds: []int{speedSlow, speedFast}, Changed: func(hw.LinkState) { n.event(cqreg.CauseLink) }})
	n.defaults()
	n.engine = hw.NewEngine(cfg, engineQueues, n.work)
	if err := cfg.Port.Bind(n); err != nil {
		n.silence()
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	n.link.SetEnabled(true)
	return n, nil
}

// defaults gives the registers that only power on and function-level reset set their
// values. Called before the part is in use, or with ctl held.
func (n *nic) defaults() {
	m := n.cfg.MAC
	n.glob = global{
		maclo: uint32(m[0]) | uint32(m[1])<<8 | uint32(m[2])<<16 | uint32(m[3])<<24,
		machi: uint32(m[4]) | uint32(m[5])<<8,
	}
	n.configure()
}

// Identity returns the ids (datasheet 1).
func (n *nic) Identity() pci.Identity {
	return pci.Identity{Vendor: cqreg.VendorID, Device: cqreg.DeviceID, SubVendor: cqreg.VendorID, SubDevice: 1,
		Revision: cqreg.Revision, Class: pci.ClassEthernet}
}

// BARs returns the registers and the MSI-X table (datasheet 1).
func (n *nic) BARs() []pci.BARInfo {
	return []pci.BARInfo{
		{Index: cqreg.BARRegs, Size: cqreg.BARSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: n}},
		{Index: cqreg.BARMSIX, Size: msixBARSize, Kind: pci.Mem32, MSIXTable: true},
	}
}

const msixBARSize = 0x4000

// Vectors returns the sizes of the interrupt capabilities (datasheet 1).
func (n *nic) Vectors() (msix, msi int) { return cqreg.MSIXVectors, 1 }

// Plug takes the function that interrupts go out through.
func (n *nic) Plug(fn *pci.Function) { n.fn = fn }

// Reset is the function-level reset: as after power on.
func (n *nic) Reset() {
	n.ctl.Lock()
	n.reset()
	n.defaults()
	n.ctl.Unlock()
	n.engine.Drain()
}

// Close unplugs the port and ends the engine.
func (n *nic) Close() error {
	err := n.port.Close()
	n.silence()
	return err
}

// silence ends the engine and every timer.
func (n *nic) silence() {
	n.engine.Close()
	n.link.Close()
	for i := range n.tx {
		n.tx[i].batch.Close()
	}
}

// TxReady goes on with a queue that the port had no room for.
func (n *nic) TxReady(q int) {
	if q >= 0 && q < cqreg.MaxQueues {
		n.engine.Defer(q)
	}
}

// RxReady has the receive work fetch what has arrived.
func (n *nic) RxReady(q int) { n.in.Arrived(q) }

// LinkChanged looks at the medium; a change of the link raises the link event.
func (n *nic) LinkChanged(port.Link) { n.link.PortChanged() }

// work is the engine's work function.
func (n *nic) work(q int) {
	if q == rxWorkQueue {
		n.in.Run()
		return
	}
	n.tx[q].run()
}

// reset is CTRL.RST (datasheet 2). Called with ctl held.
func (n *nic) reset() {
	for i := range n.tx {
		n.tx[i].stop()
	}
	n.engine.Pause(rxWorkQueue)
	for i := range n.rx {
		n.rx[i].stop()
	}
	n.ctrl.Store(0)
	n.intr.reset(n)
	n.glob = global{maclo: n.glob.maclo, machi: n.glob.machi}
	n.configure()
	n.stats.Reset()
	n.engine.Resume(rxWorkQueue)
}

// configure derives how frames are received. Called with ctl held.
func (n *nic) configure() {
	g, ctrl := &n.glob, n.ctrl.Load()
	c := &offload.Receive{
		On:       ctrl&cqreg.CtrlRxEnable != 0,
		Promisc:  ctrl&cqreg.CtrlPromisc != 0,
		AllMulti: ctrl&cqreg.CtrlAllMulti != 0,
		TakeVLAN: ctrl&cqreg.CtrlVLANTake != 0,
		Csum:     ctrl&cqreg.CtrlRxCsum != 0,
		MaxFrame: int(min(g.maxfrm, port.MaxFrame)),
	}
	for i := range c.MAC {
		c.MAC[i] = byte((uint64(g.machi)<<32 | uint64(g.maclo)) >> (8 * i))
	}
	buckets := uint64(g.mchhi)<<32 | uint64(g.mchlo)
	c.Group = func(mac [hw.EtherAddrLen]byte) bool {
		const bucketShift = 26
		return buckets>>(hw.CRC32BE(mac)>>bucketShift)&1 != 0
	}
	if g.rssctl&1 != 0 {
		var key [4 * cqreg.RSSKeyRegs]byte
		for i := range key {
			key[i] = byte(g.key[i/4] >> (i % 4 * 8))
		}
		c.RSS = hw.NewToeplitz(key[:])
	}
	for i := range c.Table {
		c.Table[i] = byte(g.reta[i/4] >> (i % 4 * 8))
	}
	n.in.Set(c)
}
