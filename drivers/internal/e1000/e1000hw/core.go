package e1000hw

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
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
)

// CoreConfig says what a Core is made of.
type CoreConfig struct {
	hw.Config
	Queues int   // transmit queues, and as many receive queues
	Speeds []int // Mbit/s that the PHY can do, ascending

	PHY PHYConfig
	NVM NVMConfig

	Rules RuleTexts // what the datasheet forbids
	Trace *Trace

	StatsLast uint64       // last register of the statistics block
	Raise     func(uint32) // sets causes in ICR

	// Follow is called when the link or a PHY register has changed; nil: nobody cares.
	Follow func()
	// OwnsMDIO reports whether software may use the MDI bus; nil: always.
	OwnsMDIO func() bool
}

// Core is the part of a NIC that does not depend on the descriptor format: registers,
// engine, link, PHY, NVM and counters. A model embeds it, calls Init, SetQueues and Start
// in this order, and implements the rest of pci.Device. Methods are for any goroutine.
type Core struct {
	Cfg    hw.Config
	K      *kern.Kernel
	MMIO   *hw.MMIO
	Engine *hw.Engine
	Faults *hw.Faults
	DMA    *hw.DMA
	Link   *hw.Link
	Probes *probe.Set
	Points *Trace
	Stats  Statistics
	PHY    PHY
	NVM    NVM
	Inline bool // the engine is
	Ledger

	Hung atomic.Bool // no unit works until the bus resets the part
	LPI  atomic.Bool // the link may idle (EEE)

	tx       []*TxQueue
	rx       *RxUnit
	raise    func(uint32)
	follow   func()
	ownsMDIO func() bool
	fn       atomic.Pointer[pci.Function] // nil until Plug

	// changes counts writes of the registers that a transmit queue works by, but for its
	// tail, from 1 on. It is raised when the register has its value.
	changes atomic.Uint32

	resetting sync.Mutex // one goroutine pauses the engine at a time
	closing   sync.Once
	closeErr  error

	regs [emreg.BARSize / emreg.RegStride]uint32 // accessed atomically
}

var _ port.Client = (*Core)(nil)

// Init prepares the zero Core; the port is not bound yet. No port is EINVAL.
func (c *Core) Init(cfg *CoreConfig) error {
	if cfg.Port == nil {
		return fmt.Errorf("%s: NIC without a port: %w", cfg.Name, syscall.EINVAL)
	}
	k := cfg.Kernel
	c.Cfg, c.K, c.raise = cfg.Config, k, cfg.Raise
	c.follow, c.ownsMDIO = func() {}, func() bool { return true }
	if cfg.Follow != nil {
		c.follow = cfg.Follow
	}
	if cfg.OwnsMDIO != nil {
		c.ownsMDIO = cfg.OwnsMDIO
	}
	c.MMIO, c.Probes, c.Points = hw.NewMMIO(&cfg.Config), k.Probes, cfg.Trace
	c.Changed()
	c.Faults = hw.NewFaults(k, cfg.Name)
	c.DMA = hw.NewDMA(k, cfg.Name, 0, c.Faults)
	c.Ledger.init(k, cfg.Name, cfg.Rules, c.DMA)
	c.NVM.init(&cfg.NVM, cfg.MAC)
	c.PHY.init(&cfg.PHY)
	c.Stats.init(cfg.Queues+1, cfg.StatsLast)
	c.Link = hw.NewLink(hw.LinkConfig{Kernel: k, Name: cfg.Name, Port: cfg.Port, Faults: c.Faults,
		Speeds: cfg.Speeds, Autoneg: autoneg(&cfg.Config), Changed: c.linkChanged})
	c.Engine = hw.NewEngine(cfg.Config, cfg.Queues+1, nil)
	c.Inline = c.Engine.Mode() == hw.EngineInline
	return nil
}

// Start binds the port to client, as the last step of a model's constructor. The error
// is that of Port.Bind; Stop has been done then.
func (c *Core) Start(client port.Client) error {
	if err := c.Cfg.Port.Bind(client); err != nil {
		c.Stop()
		return fmt.Errorf("%s: %w", c.Cfg.Name, err)
	}
	return nil
}

// SetQueues gives the Core the queues that its engine runs, before the first Reset: the
// transmit queues come first, then the receive unit.
func (c *Core) SetQueues(tx []*TxQueue, rx *RxUnit) {
	c.tx, c.rx = tx, rx
	for q, t := range tx {
		c.Engine.SetWork(q, t)
	}
	c.Engine.SetWork(c.RxWork(), rx)
}

// autoneg is how long negotiation takes: hw.DefaultAutoneg, or what
// hint.<driver>.<unit>.autoneg_ms says.
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

// Plug implements pci.Device.
func (c *Core) Plug(fn *pci.Function) { c.fn.Store(fn) }

// Fn returns the PCI function, nil before Plug.
func (c *Core) Fn() *pci.Function { return c.fn.Load() }

// MSIX reports whether interrupts go out as MSI-X.
func (c *Core) MSIX() bool {
	fn := c.fn.Load()
	return fn != nil && fn.MSIXEnabled()
}

// CloseWith closes the port, ends engine, link and queues, and runs stop, which ends what
// the model has beside the Core. Again it does nothing but return the port's error.
func (c *Core) CloseWith(stop func()) error {
	c.closing.Do(func() {
		c.closeErr = c.Cfg.Port.Close()
		c.Stop()
		stop()
	})
	return c.closeErr
}

// Stop ends engine, link and queues.
func (c *Core) Stop() {
	c.Engine.Close()
	c.Link.Close()
	for _, q := range c.tx {
		q.Batch.Close()
	}
}

// RxWork is the receive unit's number in the engine.
func (c *Core) RxWork() int { return len(c.tx) }

// Queues returns how many transmit queues there are, and receive queues.
func (c *Core) Queues() int { return len(c.tx) }

// TxReady implements port.Client.
func (c *Core) TxReady(q int) {
	if q >= 0 && q < len(c.tx) {
		c.Engine.Defer(q)
	}
}

// RxReady implements port.Client.
func (c *Core) RxReady(int) { c.Engine.Defer(c.RxWork()) }

// LinkChanged implements port.Client.
func (c *Core) LinkChanged(port.Link) { c.Link.PortChanged() }

// linkChanged is called by the link when its state has changed (spec 1g 5.4).
func (c *Core) linkChanged(s hw.LinkState) {
	c.Changed()
	if !s.Up {
		c.PHY.lose()
	}
	c.follow()
	c.raise(emreg.ICRLSC)
	if s.Up {
		for q := range c.tx {
			c.Engine.Defer(q)
		}
	}
}

// WantLink has the link follow CTRL and the PHY. No lock is held.
func (c *Core) WantLink() {
	c.Link.SetLimit(c.PHY.limit())
	c.Link.SetEnabled(c.Reg(emreg.CTRL)&emreg.CtrlSLU != 0 && !c.PHY.poweredDown())
}

// StartTransmit goes on with what the queues have when TCTL.EN is on.
func (c *Core) StartTransmit() {
	if c.Reg(emreg.TCTL)&emreg.TCTLEN == 0 {
		return
	}
	for q := range c.tx {
		c.Engine.Kick(q)
	}
}

// Paused runs fn while the work of an engine queue does not run.
func (c *Core) Paused(q int, fn func()) {
	c.resetting.Lock()
	defer c.resetting.Unlock()
	c.Engine.Pause(q)
	fn()
	c.Engine.Resume(q)
}

// RegValue is a register and what it holds.
type RegValue struct {
	Off   uint64
	Value uint32
}

// ResetRegs puts the registers into their reset state values, 0 elsewhere, except for
// those in keep, drops what is in flight and has more reset the rest, while nothing runs
// (spec 1g 5.3, Reset). The PHY is left alone.
func (c *Core) ResetRegs(values []RegValue, keep []uint64, more func()) {
	c.resetting.Lock()
	for q := 0; q <= c.RxWork(); q++ {
		c.Engine.Pause(q)
	}
	kept := make([]uint32, len(keep))
	for i, off := range keep {
		kept[i] = c.Reg(off)
	}
	for i := range c.regs {
		physmem.StoreRelaxed32(&c.regs[i], 0)
	}
	for _, r := range values {
		c.SetReg(r.Off, r.Value)
	}
	for i, off := range keep {
		c.SetReg(off, kept[i])
	}
	c.Autoload()
	c.Stats.reset()
	for _, q := range c.tx {
		q.reset()
	}
	c.rx.reset()
	more()
	c.Changed()
	for q := 0; q <= c.RxWork(); q++ {
		c.Engine.Resume(q)
	}
	c.resetting.Unlock()
	c.WantLink()
}

// Autoload takes what the NVM has for registers: the address (spec 1g 5.3).
func (c *Core) Autoload() {
	w := c.NVM.address()
	c.SetReg(emreg.RAL, uint32(w[0])|uint32(w[1])<<16)
	c.SetReg(emreg.RAH, uint32(w[2])|emreg.RAHAV)
}

// WriteCTRLExt writes CTRL_EXT, of which two bits clear themselves.
func (c *Core) WriteCTRLExt(v uint32) {
	c.SetReg(emreg.CTRLExt, v&^(emreg.CtrlExtEERST|emreg.CtrlExtPBAClr))
	if v&emreg.CtrlExtEERST != 0 {
		c.Autoload()
	}
}

// Reg returns the word at off.
func (c *Core) Reg(off uint64) uint32 { return atomic.LoadUint32(&c.regs[off/emreg.RegStride]) }

// SetReg stores the word at off.
func (c *Core) SetReg(off uint64, v uint32) { atomic.StoreUint32(&c.regs[off/emreg.RegStride], v) }

// OrReg sets bits of the word at off and returns what it was.
func (c *Core) OrReg(off uint64, bits uint32) uint32 {
	return atomic.OrUint32(&c.regs[off/emreg.RegStride], bits)
}

// Changed has transmit queues look at the registers again; 0 is kept for never seen.
func (c *Core) Changed() {
	if c.changes.Add(1) == 0 {
		c.changes.Add(1)
	}
}

// speed2500 is the speed in Mbit/s of 2.5GBASE-T.
const speed2500 = 2500

// LinkStatus is what STATUS shows of the link: LU, FD and the speed up to 1000 Mbit/s.
// It passes the link_flap fail point.
func (c *Core) LinkStatus() uint32 {
	c.Link.Poll()
	s, ctrl := c.Link.State(), c.Reg(emreg.CTRL)
	v := uint32(0)
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
