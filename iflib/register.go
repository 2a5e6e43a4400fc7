package iflib

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Limits of a TSO packet as the stack is told them (spec iflib 2.2 step 11).
const (
	tsoSizeLimit     = 65535 // IP_MAXPACKET
	tsoHeaderPullups = 3     // segments that pulling up headers may add
	defaultRSSTable  = 64
)

// attachFaults is what injects failures into attach: the points of
// debug.fail_point.iflib, and the device they apply to, every one when empty.
type attachFaults struct {
	points map[string]*kern.FailPoint
	device atomic.Pointer[string]
}

// attachSteps are the steps of attach that have a fail point.
func attachSteps() []string {
	return []string{
		"register_device", "attach_pre", "admin_taskqueue", "msix", "queues_alloc", "tx_structures_setup",
		"rx_structures_setup", "irq_alloc", "attach_post",
	}
}

// deviceNameLimit is the length of the string OIDs that name a device, with its
// NUL.
const deviceNameLimit = 32

// Init registers net.iflib and the fail points of the machine. Once a kernel,
// before the first Attach; ifnet and busdma come first.
func Init(k *kern.Kernel) error {
	if _, ok := kern.Lookup[*globals](k); ok {
		return fmt.Errorf("iflib: initialised twice: %w", syscall.EEXIST)
	}
	kern.Attach(k, newGlobals(k))
	f := &attachFaults{points: map[string]*kern.FailPoint{}}
	for _, step := range attachSteps() {
		f.points[step] = k.FailPoint("iflib." + step)
	}
	empty := ""
	f.device.Store(&empty)
	c := k.Sysctl.StaticCtx()
	debug := c.Node(nil, "debug", sysctl.RW, "Debugging")
	node := c.Node(debug, "iflib", sysctl.RW, "iflib debugging")
	c.String(node, "register_device", sysctl.RWTUN, &f.device, deviceNameLimit,
		"device that the fail points of attach apply to, empty = all")
	kern.Attach(k, f)
	return nil
}

// fail is the fail point of one step of attach: nil or an errno.
func (ctx *Ctx) fail(step string) error {
	f, _ := kern.Lookup[*attachFaults](ctx.k)
	if name := *f.device.Load(); name != "" && name != ctx.name {
		return nil
	}
	return f.points[step].Error()
}

// progress is how far an attach came, for its failure.
type progress struct {
	ctx    *Ctx
	pre    bool // AttachPre succeeded
	ether  bool // ether_ifattach was done
	queues bool // the driver has its queues
}

// Attach attaches a device to its driver (iflib_device_register, spec iflib
// 2.2): afterwards the interface <driver><unit> exists. On error everything is
// given back, and the driver's Detach was called if its AttachPre had
// succeeded. The errors wrap ENOTSUP for an unusable driver, ENXIO for a device
// that the driver does not know, EEXIST for a unit in use, ENODEV and EOPNOTSUPP
// for interrupts that cannot work, ENOMEM, or what the driver returned.
func Attach(k *kern.Kernel, drv *Driver, fn *pci.Function, unit int) (*Ctx, error) {
	info, err := Probe(drv, fn.Identity())
	if err != nil {
		return nil, err
	}
	g, ok := kern.Lookup[*globals](k)
	if !ok {
		return nil, errNotInit
	}
	ctx := &Ctx{k: k, g: g, drv: drv, sctx: drv.Shared, fn: fn, unit: unit, name: fmt.Sprintf("%s%d", drv.Name, unit)}
	if _, err := k.Sysctl.Lookup(fmt.Sprintf("dev.%s.%d", drv.Name, unit)); err == nil {
		return nil, fmt.Errorf("%s: %w", ctx.name, syscall.EEXIST)
	}
	if err := ctx.fail("register_device"); err != nil {
		return nil, fmt.Errorf("%s: registering: %w", ctx.name, err)
	}
	ctx.register(info.Name)
	g.ifnetLock.Lock()
	ctx.ctxLock.Lock()
	p := &progress{ctx: ctx}
	if err := p.attach(); err != nil {
		p.undo() // releases both locks
		return nil, err
	}
	ctx.ctxLock.Unlock()
	g.ifnetLock.Unlock()
	ctx.openSight()
	return ctx, nil
}

// register makes what a device has before the driver is asked (iflib_register,
// steps 1 to 5 of spec iflib 2.2).
func (ctx *Ctx) register(desc string) {
	ctx.ctxLock.Init(ctx.k, "iflib ctx lock")
	ctx.stateLock.Init(ctx.k, ctx.name+":state")
	ctx.sight.lock.Init(ctx.k, "iflib look")
	ctx.selectors.zones = mbuf.Of(ctx.k)
	ctx.ifp = ifnet.Alloc(ctx.k, ifnet.TypeEther)
	ctx.ifp.InitName(ctx.drv.Name, ctx.unit)
	ctx.newSnd()
	ctx.ifp.SetMethods(ifnet.Methods{
		Init: ctx.ifInit, Ioctl: ctx.ioctl, Transmit: ctx.transmitter(), QFlush: ctx.qflush,
		Start: ctx.startALTQ, GetCounter: ctx.getCounter,
	})
	ctx.ifp.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	ctx.ifp.AddCounterSource(ctx.txCounterSource)
	ctx.registerVLANEvents()
	if ctx.sctx.Flags&FlagDriverMedia == 0 {
		ctx.media = ifnet.NewMedia(0, ctx.mediaChange, ctx.mediaStatus)
	}
	ctx.addDeviceNode(desc)
	ctx.addSysctlsPre()
	ctx.dev = ctx.drv.New(ctx)
	ctx.chooseTransmit()
	ctx.resetQvalues()
	ctx.fn.EnableBusMaster()
}

// attach is steps 6 to 22 of spec iflib 2.2. IFNET and ctx locks are held.
func (p *progress) attach() error {
	ctx := p.ctx
	if err := p.attachPre(); err != nil {
		return err
	}
	if err := ctx.startAdmin(); err != nil {
		return err
	}
	ctx.findCPUs()
	vectors, err := ctx.interruptMode()
	if err != nil {
		return err
	}
	if err := ctx.allocQueues(); err != nil {
		return err
	}
	p.queues = true
	if err := ctx.setupQueues(); err != nil {
		return err
	}
	ctx.resolveCoreOffset()
	if err := ctx.setupIntrs(vectors); err != nil {
		return err
	}
	ctx.ctxLock.Unlock()
	ifnet.EtherAttach(ctx.ifp, ctx.mac)
	ctx.ctxLock.Lock()
	p.ether = true
	if err := ctx.attachPost(); err != nil {
		return err
	}
	ctx.addSysctlsPost()
	ctx.addLED()
	ctx.setFlags(ctxInitDone, 0)
	return nil
}

// attachPre has the driver describe the device and checks what it says.
func (p *progress) attachPre() error {
	ctx := p.ctx
	err := ctx.fail("attach_pre")
	if err == nil {
		err = ctx.dev.AttachPre()
	}
	if err != nil {
		ctx.printf("IFDI_ATTACH_PRE failed %d\n", sysctl.Number(err))
		return fmt.Errorf("%s: attach: %w", ctx.name, err)
	}
	p.pre = true
	if err := ctx.checkSoftc(); err != nil {
		return err
	}
	ctx.takeOps()
	s := &ctx.scctx
	if ctx.sctx.Flags&FlagDriverMedia != 0 {
		ctx.media = s.Media
	}
	const always = ifnet.CapHWStats | ifnet.CapMEXTPG
	ctx.ifp.SetCapabilities(s.Capabilities|always, 0)
	ctx.ifp.SetCapenable(s.Capenable|always, 0)
	s.NTxQSets = queueSets(s.NTxQSets, s.NTxQSetsMax)
	s.NRxQSets = queueSets(s.NRxQSets, s.NRxQSetsMax)
	ctx.limitSegments()
	return nil
}

// queueSets is the number of queue sets within the driver's maximum.
func queueSets(n, most int) int {
	if n <= 0 || most > 0 && n > most {
		n = most
	}
	return max(n, 1)
}

// checkSoftc refuses a description that the framework cannot work with; FreeBSD
// asserts some of it.
func (ctx *Ctx) checkSoftc() error {
	s, sc := &ctx.scctx, ctx.sctx
	var what string
	switch {
	case s.TxRx == nil:
		what = "no isc_txrx"
	case s.TxNSegments < 1:
		what = "no isc_tx_nsegments"
	case s.Capabilities&ifnet.CapTSO != 0 && (s.TSOSegmentsMax < 1 || s.TSOSizeMax < 1 || sc.TSOMaxSegSize == 0):
		what = "TSO without limits"
	case s.TxPad < 0 || s.DMAWidth < 0 || s.RSSTableSize < 0 || s.RSSTableSize != 0 && !powerOfTwo(s.RSSTableSize):
		what = "isc_tx_pad, isc_dma_width or isc_rss_table_size out of range"
	case sc.Flags&FlagDriverMedia != 0 && s.Media == nil:
		what = "no isc_media"
	case sc.Flags&FlagSkipMSIX != 0 && s.Vectors < 1:
		what = "no isc_vectors"
	}
	for i := range sc.NTxQs {
		if s.TxQSizes[i] == 0 {
			what = fmt.Sprintf("no isc_txqsizes[%d]", i)
		}
	}
	for i := range sc.NRxQs {
		if s.RxQSizes[i] == 0 {
			what = fmt.Sprintf("no isc_rxqsizes[%d]", i)
		}
	}
	if what == "" {
		return nil
	}
	ctx.printf("IFDI_ATTACH_PRE: %s\n", what)
	return fmt.Errorf("%s: attach: %s: %w", ctx.name, what, syscall.ENOTSUP)
}

// takeOps finds the driver's data path and its optional methods.
func (ctx *Ctx) takeOps() {
	ctx.txrx = ctx.scctx.TxRx
	if sel, ok := Method[TxqSelectorV2](ctx.txrx); ok {
		ctx.txqSelect, ctx.selectParsed = sel.TxqSelectV2, true
	} else if sel, ok := Method[TxqSelector](ctx.txrx); ok {
		ctx.txqSelect = func(m *mbuf.Mbuf, _ *PktInfo) int { return sel.TxqSelect(m) }
	}
	ctx.txIntr, _ = Method[TxQueueIntrEnabler](ctx.dev)
	ctx.rxIntr, _ = Method[RxQueueIntrEnabler](ctx.dev)
}

// limitSegments bounds what one packet may take of a ring and tells the stack
// (steps 9 to 12).
func (ctx *Ctx) limitSegments() {
	s, sc := &ctx.scctx, ctx.sctx
	txds, rxds := s.NTxd[sc.txRing()], s.NRxd[sc.rxRing()]
	ctx.printf("Using %d TX descriptors and %d RX descriptors\n", txds, rxds)
	share := min(max(txds/maxPacketShare, 1), MaxTxSegs)
	s.TxNSegments = min(s.TxNSegments, share)
	s.TSOSegmentsMax = min(s.TSOSegmentsMax, share)
	if s.Capabilities&ifnet.CapTSO != 0 {
		ctx.ifp.SetTSOMax(min(s.TSOSizeMax, tsoSizeLimit), max(s.TSOSegmentsMax-tsoHeaderPullups, 1), s.TSOSegSizeMax)
	}
	if s.RSSTableSize == 0 {
		s.RSSTableSize = defaultRSSTable
	}
	s.RSSTableMask = s.RSSTableSize - 1
}

// startAdmin makes the interface's own thread and what runs on it.
func (ctx *Ctx) startAdmin() error {
	if err := ctx.fail("admin_taskqueue"); err != nil {
		ctx.printf("Unable to create admin taskqueue\n")
		return fmt.Errorf("%s: admin taskqueue: %w", ctx.name, err)
	}
	ctx.adminq = ctx.k.NewTaskQueue("if_" + ctx.name + "_tq")
	ctx.adminTask = ctx.adminq.NewTask(ctx.name+" admin", ctx.adminTaskFn)
	ctx.ledTask = ctx.adminq.NewTask(ctx.name+" led", ctx.ledTaskFn)
	ctx.vflrTask = ctx.adminq.NewTask(ctx.name+" vflr", ctx.vflrTaskFn)
	return nil
}

// interruptMode is step 15: it returns the number of vectors, 0 for a device
// without MSI-X.
func (ctx *Ctx) interruptMode() (vectors int, err error) {
	if err := ctx.fail("msix"); err != nil {
		return 0, fmt.Errorf("%s: interrupt vectors: %w", ctx.name, err)
	}
	s := &ctx.scctx
	switch {
	case ctx.sctx.Flags&FlagSkipMSIX != 0:
		vectors = s.Vectors
	case s.MSIXBAR != 0:
		vectors = ctx.msixInit()
	default:
		s.Vectors, s.NTxQSets, s.NRxQSets, s.Intr = 1, 1, 1, IntrLegacy
	}
	ctx.knobs.allocatedMSIX.Store(int32(s.Vectors))
	if vectors == 1 && s.Intr == IntrMSIX {
		ctx.printf("Cannot use iflib with only 1 MSI-X interrupt!\n")
		return 0, fmt.Errorf("%s: one MSI-X vector: %w", ctx.name, syscall.ENODEV)
	}
	return vectors, nil
}

// setupIntrs is step 18: the driver assigns its vectors, or the one interrupt
// is set up.
func (ctx *Ctx) setupIntrs(vectors int) error {
	if vectors > 1 {
		return ctx.assignVectors(vectors)
	}
	rid := 0
	if ctx.scctx.Intr == IntrMSI {
		rid = 1
	}
	if err := ctx.legacySetup(rid); err != nil {
		ctx.printf("iflib_legacy_setup failed %d\n", sysctl.Number(err))
		return err
	}
	return nil
}

func (ctx *Ctx) assignVectors(vectors int) error {
	for _, m := range []struct {
		dir     string
		missing bool
	}{{"rx", ctx.rxIntr == nil}, {"tx", ctx.txIntr == nil}} {
		if m.missing {
			ctx.printf("MSI-X requires ifdi_%s_queue_intr_enable method\n", m.dir)
			return fmt.Errorf("%s: no way to enable %s interrupts: %w", ctx.name, m.dir, syscall.EOPNOTSUPP)
		}
	}
	if err := ctx.dev.MSIXIntrAssign(vectors); err != nil {
		ctx.printf("IFDI_MSIX_INTR_ASSIGN failed %d\n", sysctl.Number(err))
		return fmt.Errorf("%s: assigning vectors: %w", ctx.name, err)
	}
	return nil
}

// attachPost is step 20.
func (ctx *Ctx) attachPost() error {
	err := ctx.fail("attach_post")
	if err == nil {
		err = ctx.dev.AttachPost()
	}
	if err != nil {
		ctx.printf("IFDI_ATTACH_POST failed %d\n", sysctl.Number(err))
		return fmt.Errorf("%s: attach: %w", ctx.name, err)
	}
	if ctx.ifp.Capabilities()&ifnet.CapVLANMTU != 0 {
		ctx.ifp.SetHdrlen(ifnet.EtherVLANHdrLen)
	}
	return nil
}

// undo takes back a failed attach and releases both locks (spec iflib 2.2,
// failure handling; hazard 23).
func (p *progress) undo() {
	ctx := p.ctx
	ctx.setFlags(ctxInDetach, 0)
	ctx.ctxLock.Unlock()
	ctx.g.ifnetLock.Unlock()
	ctx.unregisterEvents()
	ctx.drainAdmin()
	if p.ether {
		ifnet.EtherDetach(ctx.ifp)
	}
	ctx.snd.Close()
	if ctx.IsRunning() { // somebody was quick to bring the new interface up
		ctx.ctxLock.Lock()
		ctx.stop()
		ctx.ctxLock.Unlock()
	}
	ctx.freeSysctls()
	ctx.freeQueueIrqs()
	if p.queues {
		ctx.stopTasks()
		ctx.freeQueues()
	}
	ctx.ctxLock.Lock()
	if p.pre {
		// FreeBSD has nobody to tell of an error either.
		_ = ctx.dev.Detach()
		if p.queues {
			ctx.dev.QueuesFree()
		}
	}
	ctx.ctxLock.Unlock()
	ctx.release()
}
