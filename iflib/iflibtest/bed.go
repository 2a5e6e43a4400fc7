package iflibtest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

const (
	numNICs     = 2
	numCPU      = 2
	bedMemory   = 64 << 20  // the race detector sees each byte of it
	jumboMemory = 192 << 20 // for full free lists of page-size buffers
	firstBus    = 2

	linkTime  = 3 * time.Second      // until a link is up and statistics were collected
	quietTime = 3 * time.Millisecond // until moderated interrupts have come
)

// bedConfig says what machine a scenario wants.
type bedConfig struct {
	threads bool              // goroutines and the real clock, without spies
	env     map[string]string // more of the kernel environment
	bare    bool              // attach nothing
	jumbo   bool              // full free lists of large buffers
}

// bed is a machine with two devices on one wire.
type bed struct {
	*check
	dev     Device
	cfg     bedConfig
	k       *kern.Kernel
	zones   *mbuf.Zones
	cache   *mbuf.Cache // the scenario's own
	console console
	nics    [numNICs]*nic
	idle    usage // without devices
	memory  int   // allocations then
}

// nic is one device of a bed.
type nic struct {
	b    *bed
	unit int
	name string
	gate *gate
	hw   hw.NIC
	fn   *pci.Function
	ctx  *iflib.Ctx
	ifp  *ifnet.Ifnet
	spy  *spy // of the present attachment; nil in a threaded machine
	bars *access

	mu  sync.Mutex
	got []arrival // guarded by mu
}

// console keeps what the machine prints. Any goroutine.
type console struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write is the machine's.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

// tail is the end of what was printed.
func (c *console) tail() string {
	const most = 1500
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.b.String()
	return s[max(0, len(s)-most):]
}

// usage is what a machine has in use.
type usage struct {
	Mbufs        mbuf.Usage
	Maps, Loaded int64 // of DMA
	Rings        int64 // pieces of DMA memory
}

func (b *bed) usage() usage {
	s := busdma.ReadStats(b.k)
	return usage{Mbufs: b.zones.Usage(), Maps: s.Maps, Loaded: s.Loaded, Rings: s.Mem}
}

// bed boots a machine and attaches both devices. Scenarios end when that fails.
func (c *check) bed(cfg bedConfig) *bed {
	b := &bed{check: c, dev: c.newDevice(), cfg: cfg}
	env := sysctl.NewKenv()
	for name, v := range b.variables() {
		c.must(env.Set(name, v))
	}
	kc := kern.Config{NCPU: numCPU, Mem: physmem.Config{Size: bedMemory}, Env: env, Console: &b.console}
	if cfg.jumbo {
		kc.Mem.Size = jumboMemory
	}
	if !cfg.threads {
		kc.Executor, kc.Clock, kc.Invariants = kern.Stepped, kern.ManualClock, true
	}
	k, err := kern.New(kc)
	c.must(err)
	b.k = k
	b.zones, err = mbuf.Init(k, mbuf.Config{})
	c.must(err)
	c.must(busdma.Init(k))
	c.beds = append(c.beds, b)
	pci.Init(k)
	c.must(ifnet.Init(k))
	c.must(iflib.Init(k))
	b.cache = b.zones.NewCache()
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	for unit := range b.nics {
		b.insert(unit, fabric, work)
	}
	b.idle, b.memory = b.usage(), k.Mem.Allocations()
	if !cfg.bare {
		for _, n := range b.nics {
			c.must(n.attach())
		}
	}
	return b
}

// variables are those of the machine's kernel environment.
func (b *bed) variables() map[string]string {
	env := make(map[string]string)
	if !b.cfg.threads {
		env["hw.busdma.check"] = "1"
	}
	for unit := range b.nics {
		env[knob(b.dev, unit, "simple_tx")] = "0"
		if b.way.path.simple {
			env[knob(b.dev, unit, "simple_tx")] = "1"
		}
		if b.way.path.abdicate {
			env[knob(b.dev, unit, "tx_abdicate")] = "1"
		}
	}
	for _, more := range []map[string]string{b.dev.Env, b.cfg.env} {
		for name, v := range more {
			env[name] = v
		}
	}
	return env
}

// knob is the name of a sysctl of a device's iflib node.
func knob(d Device, unit int, name string) string {
	return fmt.Sprintf("dev.%s.%d.iflib.%s", d.Driver.Name, unit, name)
}

// list is numbers as a tunable takes them.
func list(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// insert makes one NIC and puts it into its slot.
func (b *bed) insert(unit int, fabric *port.Fabric, work *hw.WorkList) {
	n := &nic{b: b, unit: unit, name: fmt.Sprintf("%s%d", b.dev.Driver.Name, unit), bars: new(access)}
	p, err := fabric.Open("pair:wire")
	b.must(err)
	n.gate = newGate(p)
	mode, err := hw.ParseEngine(b.way.engine)
	b.must(err)
	const local = 2
	n.hw, err = b.dev.Hardware(hw.Config{
		Kernel: b.k, Name: n.name, Port: n.gate, Engine: mode, Work: work, MAC: [...]byte{local, 0, 0, 0, 0, byte(unit) + 1},
	})
	b.must(err)
	n.fn, err = pci.Of(b.k).Insert(pci.Location{Bus: firstBus + unit}, n.bars.watch(n.hw))
	b.must(err)
	b.nics[unit] = n
}

// attach attaches the driver, with a spy before it in a stepped machine.
func (n *nic) attach() error {
	drv := *n.b.dev.Driver
	if !n.b.cfg.threads {
		inner := drv.New
		drv.New = func(ctx *iflib.Ctx) iflib.Device {
			before := n.bars.count()
			n.spy = newSpy(n, ctx, inner(ctx))
			if now := n.bars.count(); now != before {
				n.b.breach(ruleNewQuiet, "%s: New accessed registers %d times", n.name, now-before)
			}
			return n.spy
		}
	}
	ctx, err := iflib.Attach(n.b.k, &drv, n.fn, n.unit)
	if err != nil {
		return err
	}
	n.ctx, n.ifp = ctx, ctx.Ifp()
	if n.spy != nil {
		n.gate.pulled = func() { n.spy.path.lossy = true }
	}
	n.ifp.AttachTap(func(_ mbuf.RcvIf, p *mbuf.Mbuf) { n.arrive(p) })
	return nil
}

// detach takes the device away again.
func (n *nic) detach() error {
	err := n.ctx.Detach()
	n.ctx, n.ifp = nil, nil
	return err
}

// up brings both interfaces up and waits for the link.
func (b *bed) up() {
	for _, n := range b.nics {
		b.must(n.setUp(true))
	}
	b.advance(linkTime)
	for _, n := range b.nics {
		n.mustRun()
	}
}

// mustRun ends the scenario unless the interface runs and has a link.
func (n *nic) mustRun() {
	n.b.stopIfFailed()
	if !n.ctx.IsRunning() || n.ifp.LinkState() != ifnet.LinkStateUp {
		n.b.failf("%s: running %v, link state %v\n%s", n.name, n.ctx.IsRunning(), n.ifp.LinkState(), n.b.console.tail())
	}
}

// setUp is ifconfig up or down.
func (n *nic) setUp(up bool) error {
	flags := n.ifp.Flags() &^ ifnet.FlagUp
	if up {
		flags |= ifnet.FlagUp
	}
	return n.ifp.Ioctl(ifnet.IoctlSetFlags, flags)
}

// advance lets time pass on the manual clock.
func (b *bed) advance(d time.Duration) {
	b.k.RunUntilIdle()
	b.k.Advance(d)
	b.k.RunUntilIdle()
}

// settle lets what was sent arrive.
func (b *bed) settle() { b.advance(quietTime) }

// caps sets and clears capabilities at both ends, as far as there are any.
func (b *bed) caps(set, clear ifnet.Caps) {
	for _, n := range b.nics {
		req := n.ifp.Capabilities() & (n.ifp.Capenable() | set) &^ clear
		b.must(n.ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: req}))
	}
	b.advance(linkTime)
}

// mtu sets the MTU at both ends and reports whether the driver takes it.
func (b *bed) mtu(mtu int) bool {
	for _, n := range b.nics {
		if n.ifp.Ioctl(ifnet.IoctlSetMTU, mtu) != nil {
			return false
		}
	}
	b.advance(linkTime)
	return true
}

// failPoint sets a fail point; false if there is none of that name.
func (b *bed) failPoint(name, setting string) bool {
	return b.k.Sysctl.SetText("debug.fail_point."+name, setting) == nil
}

// finish takes the machine down, and looks for what was forgotten.
func (b *bed) finish() {
	if b.cfg.threads {
		b.must(b.close())
		return
	}
	b.advance(linkTime)
	b.quiet()
	for _, n := range b.nics {
		if n.ctx != nil {
			b.must(n.setUp(false))
		}
	}
	b.k.RunUntilIdle()
	for _, n := range b.nics {
		if n.ctx != nil {
			b.must(n.detach())
		}
	}
	b.quiet()
	b.stopIfFailed()
	b.released("after detach")
	b.must(b.close())
}

// quiet looks for what the hardware has not done, with nothing on its way, and for what it
// should not have done.
func (b *bed) quiet() {
	if faults := busdma.ReadStats(b.k).Faults; faults != 0 {
		b.breach(ruleDMA, "%d accesses outside of what was mapped:\n%s", faults, b.console.tail())
	}
	for _, n := range b.nics {
		if n != nil && n.ctx != nil && n.spy != nil {
			n.spy.path.quiet()
		}
	}
}

// released compares what is in use with what was before anything was attached.
func (b *bed) released(when string) {
	if now := b.usage(); now != b.idle {
		b.breach(ruleRelease, "%s %+v is in use, before attach %+v was\n%s", when, now, b.idle, b.console.tail())
	}
	b.nodes(when, func(format string, a ...any) { b.breach(ruleRelease, format, a...) })
}

// nodes complains of sysctls of devices that are not attached.
func (b *bed) nodes(when string, complain func(format string, a ...any)) {
	for _, n := range b.nics {
		name := fmt.Sprintf("dev.%s.%d", b.dev.Driver.Name, n.unit)
		if _, err := b.k.Sysctl.Lookup(name); err == nil && n.ctx == nil {
			complain("%s the node %s is left", when, name)
		}
	}
}

// close ends the machine.
func (b *bed) close() error {
	for _, n := range b.nics {
		if n.ctx != nil {
			if err := n.detach(); err != nil {
				return err
			}
		}
		if err := pci.Of(b.k).Remove(n.fn); err != nil {
			return err
		}
	}
	b.cache.Close()
	return b.k.Close()
}
