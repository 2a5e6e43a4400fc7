package e1000

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// Common are the small things that are the same in every softc of the family:
// statistics, the LED, causes of interrupts that are no queue's. A softc embeds it; then
// Timer, GetCounter, LEDFunc, NeedsRestart and the methods of iflib.PowerManager are its. Exported fields are for
// any goroutine.
type Common struct {
	AIMMode    atomic.Int32 // AIMOff to AIMLowLatency
	EEEOff     atomic.Int32 // not 0 keeps energy-efficient Ethernet off
	Tight      atomic.Bool  // the packet buffer does not hold two frames
	LinkIRQ    atomic.Uint64
	RxOverruns atomic.Uint64
	RxErrors   RxErrors
	Stats      *Stats

	ctx        *iflib.Ctx
	regs       *Regs
	port       *Port
	wantStats  atomic.Bool // statistics are due
	ledDefault uint32
	irqs       []*iflib.Irq // MSI-X, by vector
	release    func()
	start      func()
}

// InitCommon makes the common part of a device. release gives the part back to its
// firmware, start initialises it.
func (c *Common) InitCommon(ctx *iflib.Ctx, regs *Regs, port *Port, release, start func()) {
	c.ctx, c.regs, c.port, c.release, c.start = ctx, regs, port, release, start
}

// FinishAttach tells of the media, initialises the part, follows the link and makes the
// queues' leaves (em_if_attach_post). The error is that of initialise.
func (c *Common) FinishAttach(initialise func() error, follow func(), tx, rx []HeadTail, vector func(int) *Moderator) error {
	c.port.SetupMedia()
	if err := initialise(); err != nil {
		return err
	}
	c.port.AskForLink()
	follow()
	c.regs.addQueues(c.ctx, tx, rx, vector)
	return nil
}

// Suspend hands the part back to its firmware (em_if_suspend).
func (c *Common) Suspend() error {
	c.release()
	return nil
}

// Shutdown is Suspend (em_if_shutdown).
func (c *Common) Shutdown() error { return c.Suspend() }

// Resume starts again (em_if_resume).
func (c *Common) Resume() error {
	c.start()
	return nil
}

// KeepLED notes what the LED shows after the reset at attach.
func (c *Common) KeepLED() { c.ledDefault = c.regs.Read32(emreg.LEDCTL) }

// LEDDefault is what the LED shows when nobody asks for it.
func (c *Common) LEDDefault() uint32 { return c.ledDefault }

// Timer asks for the statistics, once for all queues (em_if_timer).
func (c *Common) Timer(qid int) {
	if qid == 0 {
		c.wantStats.Store(true)
		c.ctx.AdminIntrDeferred()
	}
}

// UpdateStats collects what the part counted, if it is time. A pause frame that came
// excuses a queue that stands still. The ctx lock is held.
func (c *Common) UpdateStats() {
	if c.wantStats.Swap(false) && c.Stats.Collect(c.regs) {
		c.ctx.Softc().PauseFrames.Store(true)
	}
}

// GetCounter adds the part's counts to iflib's (em_if_get_counter). Any goroutine.
func (c *Common) GetCounter(cnt ifnet.Counter) uint64 {
	return c.Stats.Counter(cnt, c.ctx.Ifp().GetCounterDefault(cnt), c.RxErrors.Dropped.Load())
}

// NeedsRestart says that a change of VLANs needs none (em_if_needs_restart).
func (c *Common) NeedsRestart(ev iflib.RestartEvent) bool { return ev != iflib.RestartVLANConfig }

// Modes of LED 0 in LEDCTL (spec 1g 5.1).
const (
	led0Mask = 0xff
	led0On   = 0xe
)

// LEDFunc turns the identification LED on, or back to what it shows otherwise
// (em_if_led_func).
func (c *Common) LEDFunc(on bool) {
	v := c.ledDefault
	if on {
		v = v&^led0Mask | led0On
	}
	c.regs.Write32(emreg.LEDCTL, v)
}

// NoteCauses handles the causes that are no queue's. Filters.
func (c *Common) NoteCauses(icr uint32) {
	if icr&emreg.ICRRXO != 0 {
		c.RxOverruns.Add(1)
	}
	if icr&(emreg.ICRRXSEQ|emreg.ICRLSC) != 0 {
		c.port.LinkEvent()
	}
}

// noRegister is what reading a register gives when the part is gone.
const noRegister = 0xffffffff

// ReadCauses reads ICR for the filter of INTx or MSI; false means that the interrupt was
// another device's. With asserted the part says so itself (em_intr; spec 1g 6.6).
func (c *Common) ReadCauses(asserted bool) (icr uint32, ok bool) {
	icr = c.regs.Read32(emreg.ICR)
	ok = icr != 0 && icr != noRegister && (!asserted || icr&emreg.ICRIntAsserted != 0)
	return icr, ok
}

// Conditions are those of a vector's moderation; maxRate is the driver's tunable.
func (c *Common) Conditions(maxRate int) Conditions {
	return Conditions{Mode: int(c.AIMMode.Load()), MaxRate: maxRate, Gigabit: c.port.AtGigabit(), Tight: c.Tight.Load()}
}

// FrameExtra is what a frame has beside the MTU: header and FCS.
const FrameExtra = 14 + 4

// SetMTU checks that frames of the MTU fit into limit bytes with FCS (em_if_mtu_set;
// spec 1g 2.3). The error wraps EINVAL.
func (c *Common) SetMTU(mtu, limit int) error {
	if mtu+FrameExtra > limit {
		return fmt.Errorf("MTU %d: frames of %d bytes at most: %w", mtu, limit, syscall.EINVAL)
	}
	c.ctx.Softc().MaxFrameSize = mtu + FrameExtra
	return nil
}

// AllocIrq sets the next vector up, from 0 on; only the last, which is not a queue's, has
// the type IntrAdmin. The errors are iflib's.
func (c *Common) AllocIrq(typ iflib.IntrType, filter func() iflib.FilterResult, name string) error {
	vec := len(c.irqs)
	qid := vec
	if typ == iflib.IntrAdmin {
		qid = 0
	}
	irq, err := c.ctx.IrqAllocGeneric(vec+1, typ, filter, qid, name)
	if err != nil {
		return fmt.Errorf("vector %d for %s: %w", vec, name, err)
	}
	c.irqs = append(c.irqs, irq)
	return nil
}

// ShareIrq has transmit queue q use vector vec.
func (c *Common) ShareIrq(vec, q int) error {
	return c.ctx.SoftirqAllocGeneric(c.irqs[vec], iflib.IntrTx, q, fmt.Sprintf("txq%d", q))
}

// FreeIrqs ends the vectors.
func (c *Common) FreeIrqs() {
	for _, irq := range c.irqs {
		c.ctx.IrqFree(irq)
	}
	c.irqs = nil
}
