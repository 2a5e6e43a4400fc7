package iflib

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Defaults of net.iflib (spec iflib 5.1). Those of simple_tx are ours: FreeBSD's
// are not known.
const (
	defaultWatchdogPeriods  = 4
	defaultMaxProducers     = -1  // no bound
	defaultSimpleDrainQuota = 256 // one whole ring: what a tenure leaves behind waits for the next sender or the timer
	defaultSimpleTxbrSize   = 256

	maxTxbrSize = 1 << 20 // the largest buf_ring
)

// globals are what net.iflib holds for one machine: knobs that every interface
// follows. All are read by one atomic load at any time.
type globals struct {
	k *kern.Kernel

	minTxLatency      atomic.Int32
	noTxBatch         atomic.Int32
	timerDefault      atomic.Int32 // ticks, not validated
	txWatchdogPeriods atomic.Int32 // 0 and below: no hang check
	preferMPRing      atomic.Int32 // attach
	maxProducers      atomic.Int32 // negative: no bound
	simpleDrainQuota  atomic.Int32 // at least 1
	simpleTxbrSize    atomic.Int32 // attach; a power of two
	verboseDebug      atomic.Int32 // iflib_verbose_debug, checking mode only

	dbg *debugCounters // nil without Invariants

	adminFault adminFault

	onBreach atomic.Pointer[func(b *Breach)]

	offsets cpuOffsets

	ifnetLock kern.Sx // IFNET write lock: one attach at a time, outside of ctx locks

	// classes own the class nodes dev.<driver>, which stay when the last
	// device of the driver goes, as FreeBSD's device classes do.
	classes deviceClasses
}

// newGlobals registers net.iflib. Loader tunables are read here.
func newGlobals(k *kern.Kernel) *globals {
	g := &globals{k: k}
	g.timerDefault.Store(int32(k.Hz() / 2))
	g.txWatchdogPeriods.Store(defaultWatchdogPeriods)
	g.preferMPRing.Store(1)
	g.maxProducers.Store(defaultMaxProducers)
	g.simpleDrainQuota.Store(defaultSimpleDrainQuota)
	g.simpleTxbrSize.Store(defaultSimpleTxbrSize)
	g.offsets.mtx.Init(k, "iflib_cpu_offset")
	g.ifnetLock.Init(k, "ifnet_sx")
	g.classes.init(k)
	g.adminFault.init(k)
	c := k.Sysctl.StaticCtx()
	network := c.Node(nil, "net", sysctl.RW, "")
	node := c.Node(network, "iflib", sysctl.RW|sysctl.MPSafe, "iflib driver parameters")
	c.Int(node, "timer_default", sysctl.RW, &g.timerDefault, "number of ticks between iflib_timer calls")
	c.Int(node, "min_tx_latency", sysctl.RW, &g.minTxLatency, "minimize transmit latency at the possible expense of throughput")
	c.Int(node, "no_tx_batch", sysctl.RW, &g.noTxBatch, "minimize transmit latency at the possible expense of throughput")
	c.Int(node, "tx_watchdog_periods", sysctl.RWTUN, &g.txWatchdogPeriods,
		"timer periods without transmit progress before the interface is reset, 0 = never")
	g.addSimpleSysctls(c, node)
	if k.Invariants() {
		c.Int(node, "verbose_debug", sysctl.RW, &g.verboseDebug, "enable verbose debugging")
		g.dbg = newDebugCounters()
		g.dbg.addSysctls(c, node)
	}
	return g
}

// addSimpleSysctls registers the knobs of simple_tx.
func (g *globals) addSimpleSysctls(c *sysctl.Ctx, node *sysctl.OID) {
	c.Int(node, "prefer_mpring", sysctl.RDTUN, &g.preferMPRing,
		"transmit through the mp_ring; 0 = simple_tx for all interfaces")
	c.Int(node, "max_producers", sysctl.RWTUN, &g.maxProducers,
		"senders that may be on their way into a simple_tx ring at once, negative = no bound")
	c.Proc(node, "simple_drain_quota", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindInt, "", g.drainQuotaHandler,
		"deferred packets that one holder of a simple_tx queue sends at most")
	c.Int(node, "simple_txbr_size", sysctl.RDTUN, &g.simpleTxbrSize,
		"slots of a simple_tx ring, a power of 2")
	if n := int(g.simpleTxbrSize.Load()); !validTxbrSize(n) {
		g.k.Printf("net.iflib.simple_txbr_size: %d is not a power of 2 from 2 to %d - using default value of %d\n",
			n, maxTxbrSize, defaultSimpleTxbrSize)
		g.simpleTxbrSize.Store(defaultSimpleTxbrSize)
	}
}

// validTxbrSize reports whether bufring.New takes n.
func validTxbrSize(n int) bool { return n >= 2 && n <= maxTxbrSize && powerOfTwo(n) }

// drainQuotaHandler refuses a quota that would never drain anything.
func (g *globals) drainQuotaHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(int64(g.simpleDrainQuota.Load()))
	if err != nil || !written {
		return err
	}
	if val < 1 {
		return fmt.Errorf("simple_drain_quota %d: %w", val, syscall.EINVAL)
	}
	g.simpleDrainQuota.Store(int32(val))
	return nil
}

// debugCounters count events of all interfaces in checking mode (net.iflib.*
// of INVARIANTS kernels, spec iflib 5.1); any interface's stop zeroes them.
type debugCounters struct {
	txSeen            *kern.Counter // tx_seen
	txSent            *kern.Counter // tx_sent
	txEncap           *kern.Counter // tx_encap
	txFrees           *kern.Counter // tx_frees
	rxAllocs          *kern.Counter // rx_allocs
	flRefills         *kern.Counter // fl_refills
	flRefillsLarge    *kern.Counter // fl_refills_large
	txqDrainFlushing  *kern.Counter // txq_drain_flushing
	txqDrainOActive   *kern.Counter // txq_drain_oactive
	txqDrainNotReady  *kern.Counter // txq_drain_notready
	encapLoadMbufFail *kern.Counter // encap_load_mbuf_fail
	encapPadMbufFail  *kern.Counter // encap_pad_mbuf_fail
	encapTxqAvailFail *kern.Counter // encap_txq_avail_fail
	encapTxdEncapFail *kern.Counter // encap_txd_encap_fail: every encap failure
	taskFnRx          *kern.Counter // task_fn_rx
	rxIntrEnables     *kern.Counter // rx_intr_enables
	fastIntrs         *kern.Counter // fast_intrs
	rxUnavail         *kern.Counter // rx_unavail
	rxCtxInactive     *kern.Counter // rx_ctx_inactive
	rxIfInput         *kern.Counter // rx_if_input
	rxdFlush          *kern.Counter // rxd_flush
}

// newDebugCounters returns counters that read 0.
func newDebugCounters() *debugCounters {
	d := &debugCounters{}
	for _, e := range d.table() {
		*e.c = kern.NewCounter()
	}
	return d
}

// debugCounter is one counter with its OID.
type debugCounter struct {
	c     **kern.Counter
	name  string
	descr string
}

// table lists the counters in order of registration.
func (d *debugCounters) table() []debugCounter {
	return []debugCounter{
		{&d.txSeen, "tx_seen", "# TX mbufs seen"},
		{&d.txSent, "tx_sent", "# TX mbufs sent"},
		{&d.txEncap, "tx_encap", "# TX mbufs encapped"},
		{&d.txFrees, "tx_frees", "# TX frees"},
		{&d.rxAllocs, "rx_allocs", "# RX allocations"},
		{&d.flRefills, "fl_refills", "# refills"},
		{&d.flRefillsLarge, "fl_refills_large", "# large refills"},
		{&d.txqDrainFlushing, "txq_drain_flushing", "# drain flushes"},
		{&d.txqDrainOActive, "txq_drain_oactive", "# drain oactives"},
		{&d.txqDrainNotReady, "txq_drain_notready", "# drain notready"},
		{&d.encapLoadMbufFail, "encap_load_mbuf_fail", "# busdma load failures"},
		{&d.encapPadMbufFail, "encap_pad_mbuf_fail", "# runt frame pad failures"},
		{&d.encapTxqAvailFail, "encap_txq_avail_fail", "# txq avail failures"},
		{&d.encapTxdEncapFail, "encap_txd_encap_fail", "# driver encap failures"},
		{&d.taskFnRx, "task_fn_rx", "# task_fn_rx calls"},
		{&d.rxIntrEnables, "rx_intr_enables", "# RX intr enables"},
		{&d.fastIntrs, "fast_intrs", "# fast_intr calls"},
		{&d.rxUnavail, "rx_unavail", "# times rxeof called with no available packets"},
		{&d.rxCtxInactive, "rx_ctx_inactive", "# times rxeof called with inactive context"},
		{&d.rxIfInput, "rx_if_input", "# times rxeof called if_input"},
		{&d.rxdFlush, "rxd_flush", "# times rxd_flush called"},
	}
}

func (d *debugCounters) addSysctls(c *sysctl.Ctx, node *sysctl.OID) {
	for _, e := range d.table() {
		c.Func(node, e.name, sysctl.RD, sysctl.KindInt, (*e.c).Load, e.descr)
	}
}

// reset zeroes all of them (iflib_debug_reset); nil is fine.
func (d *debugCounters) reset() {
	if d == nil {
		return
	}
	for _, e := range d.table() {
		(*e.c).Zero()
	}
}
