package iflib

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Identity and limits of the device under test.
const (
	dummyVendor = 0x1234
	dummyDevice = 0x5678
	dummyMaxQs  = 8
	dummyDesc   = 16 // bytes of a descriptor
	dummyMemory = 24 << 20
	// dummyTableBAR is where a device that marks no BAR has its MSI-X table.
	dummyTableBAR = 3
)

var dummyMAC = [6]byte{2, 0, 0, 0, 0, 0x42}

// machine is a kernel with a bus, for devices without hardware.
type machine struct {
	tb      testing.TB
	k       *kern.Kernel
	bus     *pci.Bus
	console *bytes.Buffer
	slots   int
}

type machineConfig struct {
	ncpu     int // 0 = 4
	perCore  int
	threads  bool
	seed     uint64
	verbose  bool
	check    bool // DMA checking mode
	lax      bool // without invariants
	tunables map[string]string
}

func newMachine(tb testing.TB, cfg machineConfig) *machine {
	tb.Helper()
	env := sysctl.NewKenv()
	if cfg.check {
		cfg.tunables["hw.busdma.check"] = "1"
	}
	for name, v := range cfg.tunables {
		if err := env.Set(name, v); err != nil {
			tb.Fatal(err)
		}
	}
	m := &machine{tb: tb, console: new(bytes.Buffer)}
	kc := kern.Config{NCPU: cfg.ncpu, ThreadsPerCore: cfg.perCore, Executor: kern.Stepped, Clock: kern.ManualClock,
		Seed: cfg.seed, Mem: physmem.Config{Size: dummyMemory, Backing: physmem.Heap}, Env: env,
		Console: m.console, Verbose: cfg.verbose, Invariants: !cfg.lax}
	if kc.NCPU == 0 {
		kc.NCPU = 4
	}
	if cfg.threads {
		kc.Executor = kern.Threads
	}
	k, err := kern.New(kc)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if r := k.WitnessReports(); len(r) != 0 {
			tb.Errorf("lock order: %s", strings.Join(r, "\n"))
		}
		if err := k.Close(); err != nil {
			tb.Error(err)
		}
	})
	m.k = k
	if _, err := mbuf.Init(k, mbuf.Config{}); err != nil {
		tb.Fatal(err)
	}
	for _, init := range []func(*kern.Kernel) error{busdma.Init, ifnet.Init, Init} {
		if err := init(k); err != nil {
			tb.Fatal(err)
		}
	}
	m.bus = pci.Init(k)
	return m
}

// insert puts a device with that many vectors into the next slot.
func (m *machine) insert(msix, msi int) *pci.Function {
	m.tb.Helper()
	m.slots++
	fn, err := m.bus.Insert(pci.Location{Bus: 2, Slot: m.slots}, &dummyHW{msix: msix, msi: msi})
	if err != nil {
		m.tb.Fatal(err)
	}
	return fn
}

// lines are what the console printed since the last call.
func (m *machine) lines() []string {
	text := strings.TrimSuffix(m.console.String(), "\n")
	m.console.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// failpoint sets a fail point.
func (m *machine) failpoint(name, setting string) {
	m.tb.Helper()
	if err := m.k.Sysctl.SetText("debug.fail_point."+name, setting); err != nil {
		m.tb.Fatal(err)
	}
}

// text reads a sysctl.
func (m *machine) text(name string) string {
	m.tb.Helper()
	s, err := m.k.Sysctl.Text(name)
	if err != nil {
		m.tb.Fatalf("%s: %v", name, err)
	}
	return s
}

// holdings is everything that a device may leave behind.
type holdings struct {
	Mbufs  mbuf.Usage
	Maps   int64
	Loaded int64
	Mem    int64
	Bounce int
	Allocs int
	OIDs   []string
	Ifs    int
	CPUs   int // CPU offset records
}

// holdings settles the machine and counts. mbuf zones keep the slabs that they
// once made, so memory is counted by DMA allocations and not by bytes.
func (m *machine) holdings() holdings {
	m.k.RunUntilIdle()
	s := busdma.ReadStats(m.k)
	g, _ := kern.Lookup[*globals](m.k)
	h := holdings{Mbufs: mbuf.Of(m.k).Usage(), Maps: s.Maps, Loaded: s.Loaded, Mem: s.Mem, Bounce: s.ActivePages,
		Ifs: len(ifnet.List(m.k)), CPUs: len(g.offsets.list)}
	for o := m.k.Sysctl.Next(m.k.Sysctl.Root(), true); o != nil; o = m.k.Sysctl.Next(o, true) {
		h.OIDs = append(h.OIDs, o.FullName())
	}
	return h
}

// dummyHW is a slot's worth of nothing.
type dummyHW struct {
	msix, msi int
	fn        *pci.Function
}

func (h *dummyHW) Identity() pci.Identity {
	return pci.Identity{Vendor: dummyVendor, Device: dummyDevice, Class: pci.ClassEthernet}
}
func (h *dummyHW) BARs() []pci.BARInfo      { return nil }
func (h *dummyHW) Vectors() (msix, msi int) { return h.msix, h.msi }
func (h *dummyHW) Plug(fn *pci.Function)    { h.fn = fn }
func (h *dummyHW) Reset()                   {}
func (h *dummyHW) Close() error             { return nil }

// dummyConfig is what a test wants of its driver.
type dummyConfig struct {
	qsets    int // most queue sets; 0 = 2
	adminCnt int
	flags    SharedFlags
	noIntr   bool // without the queue interrupt methods
	noMSIX   bool // isc_msix_bar of 0
	txNSegs  int  // 0 = 8
	caps     ifnet.Caps
	csum     mbuf.CsumFlags
	link     bool // AttachPost reports the link up
	keep     bool // descriptors complete only when the test says so
	pre      func(d *dummy)
}

// dummy is a driver whose methods write down that they were called and which
// locks were held: C the ctx lock, I the IFNET write lock. It has no hardware:
// descriptors complete as soon as the doorbell rang.
type dummy struct {
	ctx    *Ctx
	cfg    dummyConfig
	calls  []string
	fail   map[string]error // by method
	onInit func()

	txSize []uint32
	tail   []uint32 // by queue: slots handed over
	owed   []int    // completions not reported yet
	irqs   []*Irq
	quiet  bool // stops writing down
	gone   bool // QueuesFree was called
	misuse int  // data path calls after that
}

// dummyIntr is a dummy with the methods that more than one vector needs.
type dummyIntr struct{ *dummy }

func (d dummyIntr) TxQueueIntrEnable(int) error { return nil }
func (d dummyIntr) RxQueueIntrEnable(int) error { return nil }

// driver makes the driver of a test; *d is the softc of the last device.
func (cfg dummyConfig) driver(d **dummy) *Driver {
	sizes := func(n ...int) (s [MaxQueuesPerSet]int) { copy(s[:], n); return s }
	sc := &SharedCtx{
		QAlign: 4096, TxMaxSize: 65536, TxMaxSegSize: 16384, TSOMaxSize: 65536 + 18, TSOMaxSegSize: 16384,
		RxMaxSize: 16384, RxMaxSegSize: 16384, RxNSegments: 1, AdminIntrCnt: cfg.adminCnt,
		VendorInfo: []VendorInfo{{Vendor: dummyVendor, Device: dummyDevice, Name: "Dummy NIC"}},
		Version:    "1.2", NFL: 1, NTxQs: 1, NRxQs: 1, Flags: cfg.flags,
		NTxdMin: sizes(128), NTxdDefault: sizes(1024), NTxdMax: sizes(4096),
		NRxdMin: sizes(128), NRxdDefault: sizes(1024), NRxdMax: sizes(4096),
	}
	return &Driver{Name: "dm", Shared: sc, New: func(ctx *Ctx) Device {
		n := &dummy{ctx: ctx, cfg: cfg, fail: map[string]error{}}
		if *d != nil {
			n.fail = (*d).fail
		}
		*d = n
		if cfg.noIntr {
			return n
		}
		return dummyIntr{n}
	}}
}

// note writes a call down and returns the error that the test wants of it.
func (d *dummy) note(format string, a ...any) error {
	call := fmt.Sprintf(format, a...)
	method, _, _ := strings.Cut(call, " ")
	locks := ""
	if d.ctx.ctxLock.TryLock() {
		d.ctx.ctxLock.Unlock()
	} else {
		locks += "C"
	}
	if d.ctx.g.ifnetLock.TryLock() {
		d.ctx.g.ifnetLock.Unlock()
	} else {
		locks += "I"
	}
	if !d.quiet {
		d.calls = append(d.calls, strings.TrimSpace(call+" "+locks))
	}
	return d.fail[method]
}

// take returns the calls since the last time.
func (d *dummy) take() []string {
	c := d.calls
	d.calls = nil
	return c
}

func (d *dummy) AttachPre() error {
	s := d.ctx.Softc()
	s.NTxQSetsMax, s.NRxQSetsMax = d.cfg.qsets, d.cfg.qsets
	if d.cfg.qsets == 0 {
		s.NTxQSetsMax, s.NRxQSetsMax = 2, 2
	}
	s.TxNSegments = d.cfg.txNSegs
	if s.TxNSegments == 0 {
		s.TxNSegments = 8
	}
	s.TSOSegmentsMax, s.TSOSizeMax, s.TSOSegSizeMax = 32, 65535, 16384
	s.TxQSizes[0], s.RxQSizes[0] = uint64(s.NTxd[0]*dummyDesc), uint64(s.NRxd[0]*dummyDesc)
	s.Capabilities, s.Capenable, s.TxCsumFlags = d.cfg.caps, d.cfg.caps, d.cfg.csum
	s.MaxFrameSize = ifnet.EtherMaxLen
	if !d.cfg.noMSIX {
		s.MSIXBAR = pci.BARReg(dummyTableBAR)
	}
	s.TxRx = d
	d.ctx.SetMAC(dummyMAC)
	if m := d.ctx.Media(); m != nil {
		m.Add(ifnet.MediaEther|ifnet.MediaAuto, 0)
		m.Set(ifnet.MediaEther | ifnet.MediaAuto)
	}
	if d.cfg.pre != nil {
		d.cfg.pre(d)
	}
	return d.note("attach_pre")
}

func (d *dummy) AttachPost() error {
	if d.cfg.link {
		d.ctx.LinkStateChange(true, 1_000_000_000)
	}
	return d.note("attach_post")
}

func (d *dummy) Detach() error {
	for _, irq := range d.irqs {
		d.ctx.IrqFree(irq)
	}
	d.irqs = nil
	return d.note("detach")
}

func (d *dummy) TxQueuesAlloc(rings []QueueMem, ntxqs, ntxqsets int) error {
	if len(rings) != ntxqs*ntxqsets {
		return fmt.Errorf("%d rings for %d sets of %d", len(rings), ntxqsets, ntxqs)
	}
	for _, r := range rings {
		if r.Addr%Addr(d.ctx.sctx.QAlign) != 0 || slices.ContainsFunc(r.Words64(), func(w uint64) bool { return w != 0 }) {
			return fmt.Errorf("ring at %#x: not aligned or not zero", r.Addr)
		}
		d.txSize = append(d.txSize, uint32(d.ctx.Softc().NTxd[0]))
	}
	d.tail, d.owed = make([]uint32, ntxqsets), make([]int, ntxqsets)
	return d.note("tx_queues_alloc %d*%d", ntxqsets, ntxqs)
}

func (d *dummy) RxQueuesAlloc(rings []QueueMem, nrxqs, nrxqsets int) error {
	return d.note("rx_queues_alloc %d*%d", nrxqsets, nrxqs)
}
func (d *dummy) QueuesFree()                       { d.gone = true; d.note("queues_free") }
func (d *dummy) TxqSetup(q int) error              { return d.note("txq_setup %d", q) }
func (d *dummy) RxqSetup(q int) error              { return d.note("rxq_setup %d", q) }
func (d *dummy) Stop()                             { d.note("stop") }
func (d *dummy) IntrEnable()                       { d.note("intr_enable") }
func (d *dummy) IntrDisable()                      { d.note("intr_disable") }
func (d *dummy) MultiSet()                         { d.note("multi_set") }
func (d *dummy) MTUSet(mtu int) error              { return d.note("mtu_set %d", mtu) }
func (d *dummy) MediaStatus(req *ifnet.MediaReq)   { d.note("media_status") }
func (d *dummy) MediaChange() error                { return d.note("media_change") }
func (d *dummy) PromiscSet(f ifnet.Flags) error    { return d.note("promisc_set") }
func (d *dummy) UpdateAdminStatus()                { d.note("update_admin_status") }
func (d *dummy) GetCounter(c ifnet.Counter) uint64 { return d.ctx.Ifp().GetCounterDefault(c) }
func (d *dummy) Suspend() error                    { return d.note("suspend") }
func (d *dummy) Shutdown() error                   { return d.note("shutdown") }
func (d *dummy) Resume() error                     { return d.note("resume") }
func (d *dummy) RxdAvailable(int, QIdx, int) int   { return 0 }
func (d *dummy) RxdPktGet(*RxdInfo) error          { return syscall.EIO }
func (d *dummy) RxdRefill(*RxdUpdate)              {}
func (d *dummy) RxdFlush(qid, flid int, pidx QIdx) {}
func (d *dummy) LegacyIntr() FilterResult          { return FilterScheduleThread }

func (d *dummy) Init() {
	d.note("init")
	for i := range d.tail {
		d.tail[i], d.owed[i] = 0, 0
	}
	if d.onInit != nil {
		d.onInit()
	}
}

func (d *dummy) MSIXIntrAssign(msix int) error {
	vec := 1
	for i := range d.ctx.NRxqs() {
		irq, err := d.ctx.IrqAllocGeneric(vec, IntrRxTx, nil, i, fmt.Sprintf("rxq%d", i))
		if err != nil {
			return err
		}
		d.irqs = append(d.irqs, irq)
		vec++
	}
	for i := range d.ctx.NTxqs() {
		if err := d.ctx.SoftirqAllocGeneric(d.irqs[i%len(d.irqs)], IntrTx, i, fmt.Sprintf("txq%d", i)); err != nil {
			return err
		}
	}
	if d.cfg.adminCnt > 0 {
		irq, err := d.ctx.IrqAllocGeneric(vec, IntrAdmin, nil, 0, "aq")
		if err != nil {
			return err
		}
		d.irqs = append(d.irqs, irq)
	}
	return d.note("msix_intr_assign %d", msix)
}

// use counts a data path call to a device that is gone.
func (d *dummy) use() {
	if d.gone {
		d.misuse++
	}
}

func (d *dummy) TxdEncap(pi *PktInfo) error {
	d.use()
	pi.NewPidx = QIdx((uint32(pi.Pidx) + uint32(len(pi.Segs))) % d.txSize[pi.QSIdx])
	return nil
}

func (d *dummy) TxdFlush(qid int, pidx uint32) {
	d.use()
	size := d.txSize[qid]
	d.owed[qid] += int((pidx + size - d.tail[qid]) % size)
	d.tail[qid] = pidx
}

func (d *dummy) TxdCreditsUpdate(qid int, clear bool) int {
	d.use()
	if d.cfg.keep {
		return 0
	}
	n := d.owed[qid]
	if clear {
		d.owed[qid] = 0
	}
	return n
}

// attach attaches a dummy and expects that to work.
func (m *machine) attach(cfg dummyConfig, fn *pci.Function, unit int) *dummy {
	m.tb.Helper()
	var d *dummy
	if _, err := Attach(m.k, cfg.driver(&d), fn, unit); err != nil {
		m.tb.Fatal(err)
	}
	return d
}

// up marks the interface up and initialises it.
func (d *dummy) up() {
	d.ctx.ifp.SetFlags(ifnet.FlagUp, 0)
	d.ctx.ifp.InitIf()
}

// packet is an Ethernet frame of n bytes.
func (m *machine) packet(n int) *mbuf.Mbuf {
	c := mbuf.Of(m.k).Borrow()
	defer mbuf.Of(m.k).Return(c)
	p := c.GetHdr()
	if p == nil || !c.Append(p, make([]byte, n)) {
		m.tb.Fatal("no mbuf")
	}
	return p
}
