package iflib

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/iflib/bufring"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/mpring"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

// ctlMachine is a stepped machine on the manual clock with net.iflib and
// nothing attached: tests of the control part build Ctx and Txq values on it.
type ctlMachine struct {
	k       *kern.Kernel
	g       *globals
	console *bytes.Buffer
}

// newCtlMachine boots one with the given "name=value" tunables.
func newCtlMachine(t *testing.T, invariants bool, env ...string) *ctlMachine {
	t.Helper()
	e := sysctl.NewKenv()
	e.Merge(env)
	return bootCtl(t, kern.Config{NCPU: 2, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: invariants, Env: e})
}

// bootCtl boots one with another executor or seed.
func bootCtl(t *testing.T, cfg kern.Config) *ctlMachine {
	t.Helper()
	m := &ctlMachine{console: &bytes.Buffer{}}
	cfg.Console, cfg.Mem = m.console, physmem.Config{Size: 4 << 20, Backing: physmem.Heap}
	k, err := kern.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := mbuf.Init(k, mbuf.Config{}); err != nil {
		t.Fatal(err)
	}
	pci.Init(k)
	if err := errors.Join(busdma.Init(k), ifnet.Init(k)); err != nil {
		t.Fatal(err)
	}
	m.k, m.g = k, newGlobals(k)
	return m
}

// takeConsole returns what was printed since the last call.
func (m *ctlMachine) takeConsole() string {
	s := m.console.String()
	m.console.Reset()
	return s
}

// text is the value of an OID as sysctl -n prints it.
func (m *ctlMachine) text(t *testing.T, name string) string {
	t.Helper()
	s, err := m.k.Sysctl.Text(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// list shows the leaves below a node in the order of sysctl(8).
func (m *ctlMachine) list(t *testing.T, name string) []string {
	t.Helper()
	root, err := m.k.Sysctl.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for o := m.k.Sysctl.Next(root, false); o != nil && strings.HasPrefix(o.FullName(), name+"."); o = m.k.Sysctl.Next(o, false) {
		out = append(out, fmt.Sprintf("%s: %s", strings.TrimPrefix(o.FullName(), name+"."), m.text(t, o.FullName())))
	}
	return out
}

// ctlDev is a driver that notes how it was called. Methods that FreeBSD gives a
// default are on the types that embed it.
type ctlDev struct {
	ctx   *Ctx
	calls []string

	mtuErr, promiscErr, mediaErr error
	initFails                    bool
}

var _ Device = (*ctlDev)(nil)

func (d *ctlDev) note(format string, a ...any) { d.calls = append(d.calls, fmt.Sprintf(format, a...)) }

// take returns the calls since the last one.
func (d *ctlDev) take() []string {
	calls := d.calls
	d.calls = nil
	return calls
}

func (d *ctlDev) AttachPre() error                           { return nil }
func (d *ctlDev) AttachPost() error                          { return nil }
func (d *ctlDev) Detach() error                              { return nil }
func (d *ctlDev) TxQueuesAlloc(_ []QueueMem, _, _ int) error { return nil }
func (d *ctlDev) RxQueuesAlloc(_ []QueueMem, _, _ int) error { return nil }
func (d *ctlDev) QueuesFree()                                {}
func (d *ctlDev) Stop()                                      { d.note("stop") }
func (d *ctlDev) MSIXIntrAssign(int) error                   { return nil }
func (d *ctlDev) IntrEnable()                                { d.note("intr_enable") }
func (d *ctlDev) IntrDisable()                               { d.note("intr_disable") }
func (d *ctlDev) MultiSet()                                  { d.note("multi_set") }
func (d *ctlDev) MTUSet(mtu int) error                       { d.note("mtu_set %d", mtu); return d.mtuErr }
func (d *ctlDev) MediaChange() error                         { d.note("media_change"); return d.mediaErr }
func (d *ctlDev) PromiscSet(f ifnet.Flags) error             { d.note("promisc_set %#x", f); return d.promiscErr }
func (d *ctlDev) UpdateAdminStatus()                         { d.note("update_admin_status") }
func (d *ctlDev) GetCounter(c ifnet.Counter) uint64          { return d.ctx.ifp.GetCounterDefault(c) + 1000 }
func (d *ctlDev) MediaStatus(req *ifnet.MediaReq) {
	d.note("media_status")
	req.Status = ifnet.MediaAValid | ifnet.MediaActive
}

func (d *ctlDev) Init() {
	d.note("init")
	if d.initFails {
		d.ctx.InitFailed()
	}
}

// ctlTxRx is a data path whose hardware completes what the test says.
type ctlTxRx struct {
	ctx       *Ctx
	credits   int // ready to be consumed
	doorbells []uint32
	peeks     int
}

var _ TxRx = (*ctlTxRx)(nil)

// TxdEncap writes one descriptor a segment.
func (x *ctlTxRx) TxdEncap(pi *PktInfo) error {
	pi.NewPidx = QIdx((int(pi.Pidx) + len(pi.Segs)) % int(x.ctx.txqs[pi.QSIdx].size))
	return nil
}

func (x *ctlTxRx) TxdFlush(_ int, value uint32) { x.doorbells = append(x.doorbells, value) }

func (x *ctlTxRx) TxdCreditsUpdate(_ int, clear bool) int {
	n := x.credits
	if clear {
		x.credits = 0
	} else {
		x.peeks++
	}
	return n
}

func (x *ctlTxRx) RxdAvailable(int, QIdx, int) int { return 0 }
func (x *ctlTxRx) RxdPktGet(*RxdInfo) error        { return nil }
func (x *ctlTxRx) RxdRefill(*RxdUpdate)            {}
func (x *ctlTxRx) RxdFlush(int, int, QIdx)         {}

// ctlCtx is a context without the work of attach.
type ctlCtx struct {
	*Ctx
	m    *ctlMachine
	txrx *ctlTxRx
}

// ctlPCI is an empty slot's worth of hardware.
type ctlPCI struct{}

func (ctlPCI) Identity() pci.Identity {
	return pci.Identity{Vendor: 0x8086, Device: 0x10d3, SubVendor: 0x8086, SubDevice: 0xa01f, Class: pci.ClassEthernet}
}
func (ctlPCI) BARs() []pci.BARInfo { return nil }
func (ctlPCI) Vectors() (int, int) { return 0, 0 }
func (ctlPCI) Plug(*pci.Function)  {}
func (ctlPCI) Reset()              {}
func (ctlPCI) Close() error        { return nil }

// newCtx makes context unit of driver "fk" around dev, whose ctlDev is core. It
// has no queues; the interface is neither attached nor up.
func (m *ctlMachine) newCtx(t *testing.T, unit int, dev Device, core *ctlDev) *ctlCtx {
	t.Helper()
	fn, err := pci.Of(m.k).Insert(pci.Location{Bus: 2, Slot: unit}, ctlPCI{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := &Ctx{k: m.k, g: m.g, drv: &Driver{Name: "fk"}, fn: fn, unit: unit, name: fmt.Sprintf("fk%d", unit), dev: dev}
	core.ctx = ctx
	ctx.sctx = &SharedCtx{Version: "7.8.9", NTxQs: 1, NRxQs: 1, NFL: 1}
	ctx.ifp = ifnet.Alloc(m.k, ifnet.TypeEther)
	ctx.ifp.InitName("fk", unit)
	ctx.ifp.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	ctx.ifp.SetMethods(ifnet.Methods{Init: ctx.ifInit, Ioctl: ctx.ioctl, GetCounter: ctx.getCounter,
		Transmit: ctx.transmitter(), QFlush: ctx.qflush})
	ctx.ctxLock.Init(m.k, ctx.name+":CTX")
	ctx.stateLock.Init(m.k, ctx.name+":STATE")
	ctx.media = ifnet.NewMedia(0, ctx.mediaChange, ctx.mediaStatus)
	ctx.adminTask = m.k.NewTask(ctx.name+" admin", ctx.adminTaskFn)
	ctx.ledTask = m.k.NewTask(ctx.name+" led", ctx.ledTaskFn)
	ctx.vflrTask = m.k.NewTask(ctx.name+" vflr", ctx.vflrTaskFn)
	ctx.scctx.MaxFrameSize = ifnet.EtherMTU
	return &ctlCtx{Ctx: ctx, m: m, txrx: &ctlTxRx{ctx: ctx}}
}

// ctlRing is the number of descriptors of a queue made by addTxq.
const ctlRing = 1024

// addTxq gives the context one more transmit queue, without ring memory.
func (c *ctlCtx) addTxq(t *testing.T) *Txq {
	t.Helper()
	q := &Txq{ctx: c.Ctx, id: len(c.txqs), txrx: c.txrx, size: ctlRing, pad: defaultTxPad, notify: ctlRing/txUpdateFreq - 1,
		g: c.g, dbg: c.g.dbg, probes: c.k.Probes, stepped: c.k.Stepped(), ifp: c.ifp,
		maxDesc: 8, reserve: 8}
	q.ledger.in, q.ledger.ringFull = kern.NewCounter(), kern.NewCounter()
	var err error
	if q.br, err = mpring.New(c.k, mpringSize, txDrain{q}); err != nil {
		t.Fatal(err)
	}
	if q.sbr, err = bufring.New(8); err != nil {
		t.Fatal(err)
	}
	tag, err := busdma.NewTag(c.k, busdma.TagConfig{Name: "tx", MaxSize: 16384, NSegments: 8, MaxSegSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	q.maps[mapsNormal] = newTxMaps(tag, 8)
	q.slots = make([]txSlot, ctlRing)
	q.cache = mbuf.Of(c.k).NewCache()
	q.mtx.Init(c.k, fmt.Sprintf("%s:TX(%d):callout", c.name, q.id))
	q.timer = c.k.NewCallout("timer", &q.mtx, q.timerFn)
	q.task = c.k.NewTask("txq", func() {})
	c.txqs = append(c.txqs, q)
	c.scctx.NTxQSets = len(c.txqs)
	return q
}

// packet is a frame of n bytes.
func (c *ctlCtx) packet(t *testing.T, n int) *mbuf.Mbuf {
	t.Helper()
	cache := mbuf.Of(c.k).NewCache()
	defer cache.Close()
	m := cache.GetCl(mbuf.FlagPktHdr)
	if m == nil {
		t.Fatal("no mbuf")
	}
	m.SetLen(n)
	m.Pkt.Len = int32(n)
	return m
}

// admitNow sets the data path's view without init.
func (c *ctlCtx) admitNow(set, clear uint32) {
	c.stateLock.Lock()
	c.setAdmit(set, clear)
	c.stateLock.Unlock()
}
