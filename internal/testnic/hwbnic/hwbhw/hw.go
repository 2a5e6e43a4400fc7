package hwbhw

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// Engine queues: transmit queue n is n, all receive queues are one, the admin queue
// is the last.
const (
	rxWorkQueue    = hwbreg.MaxQueues
	adminWorkQueue = hwbreg.MaxQueues + 1
	engineQueues   = hwbreg.MaxQueues + 2
)

// Speeds of the part in Mbit/s; the highest on a medium that sets no limit.
const (
	speedSlow = 1_000
	speedFast = 10_000
)

const msixBARSize = 0x4000

// nic is one HWB-1.
type nic struct {
	k      *kern.Kernel
	name   string
	cfg    hw.Config
	port   port.Port
	fn     *pci.Function
	dma    *hw.DMA
	engine *hw.Engine
	faults *hw.Faults

	pairs [hwbreg.MaxQueues]pair
	in    *offload.Receiver
	d     delivery // the receive work's
	admin admin

	stats *offload.Stats

	ctl  sync.Mutex // serialises queue starts and resets; neither the engine's work nor a port callback takes it
	ctrl atomic.Uint32
	link *hw.Link

	setMu sync.Mutex // guards set
	set   settings

	intr interrupts
}

// settings are what admin commands have set.
type settings struct {
	mac      [hw.EtherAddrLen]byte
	mode     uint64 // RxMode bits
	maxFrame int
	groups   [][hw.EtherAddrLen]byte
	rss      *hw.Toeplitz
	table    [nicreg.RETAEntries]uint8
}

var (
	_ hw.NIC          = (*nic)(nil)
	_ port.Client     = (*nic)(nil)
	_ pci.Registers32 = (*nic)(nil)
)

// New makes an HWB-1 on its port. It fails if the port is in use.
func New(cfg hw.Config) (hw.NIC, error) {
	n := &nic{k: cfg.Kernel, name: cfg.Name, cfg: cfg, port: cfg.Port}
	n.faults = hw.NewFaults(n.k, n.name)
	n.dma = hw.NewDMA(n.k, n.name, 0, n.faults)
	n.stats = offload.NewStats(cfg, engineQueues)
	for i := range n.pairs {
		n.pairs[i].init(n, i)
	}
	n.in = offload.NewReceiver(offload.ReceiverConfig{
		Port: n.port, Queues: hwbreg.MaxQueues, Stats: n.stats, Work: rxWorkQueue,
		Wake: func() { n.engine.Defer(rxWorkQueue) }, Deliver: n.deliver,
	})
	n.admin.init(n)
	n.link = hw.NewLink(hw.LinkConfig{Kernel: n.k, Name: n.name, Port: n.port, Faults: n.faults,
		Speeds: []int{speedSlow, speedFast}, Changed: func(hw.LinkState) { n.admin.linkChanged() }})
	n.change(func(s *settings) { *s = settings{mac: cfg.MAC} })
	n.engine = hw.NewEngine(cfg, engineQueues, n.work)
	if err := cfg.Port.Bind(n); err != nil {
		n.silence()
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	n.link.SetEnabled(true)
	return n, nil
}

// Identity returns the ids (datasheet 1).
func (n *nic) Identity() pci.Identity {
	return pci.Identity{Vendor: hwbreg.VendorID, Device: hwbreg.DeviceID, SubVendor: hwbreg.VendorID, SubDevice: 1,
		Revision: hwbreg.Revision, Class: pci.ClassEthernet}
}

// BARs returns the registers and the MSI-X table (datasheet 1).
func (n *nic) BARs() []pci.BARInfo {
	return []pci.BARInfo{
		{Index: hwbreg.BARRegs, Size: hwbreg.BARSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: n}},
		{Index: hwbreg.BARMSIX, Size: msixBARSize, Kind: pci.Mem32, MSIXTable: true},
	}
}

// Vectors returns the sizes of the interrupt capabilities (datasheet 1).
func (n *nic) Vectors() (msix, msi int) { return hwbreg.MSIXVectors, 1 }

// Plug takes the function that interrupts go out through.
func (n *nic) Plug(fn *pci.Function) { n.fn = fn }

// Reset is the function-level reset: as after power on.
func (n *nic) Reset() {
	n.ctl.Lock()
	n.reset()
	n.ctl.Unlock()
	n.change(func(s *settings) { s.mac = n.cfg.MAC })
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
	for i := range n.pairs {
		n.pairs[i].tx.batch.Close()
	}
}

// TxReady goes on with a queue that the port had no room for.
func (n *nic) TxReady(q int) {
	if q >= 0 && q < hwbreg.MaxQueues {
		n.engine.Defer(q)
	}
}

// RxReady has the receive work fetch what has arrived.
func (n *nic) RxReady(q int) { n.in.Arrived(q) }

// LinkChanged looks at the medium; a change of the link becomes an event.
func (n *nic) LinkChanged(port.Link) { n.link.PortChanged() }

// work is the engine's work function.
func (n *nic) work(q int) {
	switch q {
	case rxWorkQueue:
		n.in.Run()
	case adminWorkQueue:
		n.admin.run()
	default:
		n.pairs[q].tx.run()
	}
}

// reset is CTRL.RST (datasheet 2). Called with ctl held.
func (n *nic) reset() {
	n.admin.control(0)
	n.admin.clear()
	for i := range n.pairs {
		n.pairs[i].stop()
	}
	n.ctrl.Store(0)
	n.intr.reset(n)
	n.change(func(s *settings) { *s = settings{mac: s.mac} })
	n.stats.Reset()
}

// change changes the settings and derives from them and CTRL how frames are received.
func (n *nic) change(f func(*settings)) {
	n.setMu.Lock()
	defer n.setMu.Unlock()
	s := &n.set
	f(s)
	c := &offload.Receive{
		On:       n.ctrl.Load()&hwbreg.CtrlRxEnable != 0,
		Promisc:  s.mode&hwbreg.RxModePromisc != 0,
		AllMulti: s.mode&hwbreg.RxModeAllMulti != 0,
		TakeVLAN: s.mode&hwbreg.RxModeVLANTake != 0,
		Csum:     s.mode&hwbreg.RxModeCsum != 0,
		MAC:      s.mac,
		MaxFrame: s.maxFrame,
		RSS:      s.rss,
		Table:    s.table,
	}
	groups := s.groups // replaced, never changed
	c.Group = func(mac [hw.EtherAddrLen]byte) bool {
		for _, g := range groups {
			if g == mac {
				return true
			}
		}
		return false
	}
	n.in.Set(c)
}
