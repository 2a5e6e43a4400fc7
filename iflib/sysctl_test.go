package iflib

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// newSysctlCtx makes a context with two transmit queues and a receive queue
// that has a completion ring and two free lists, all sysctls registered.
func newSysctlCtx(t *testing.T, env ...string) *ctlCtx {
	t.Helper()
	m := newCtlMachine(t, false, env...)
	d := &ctlDev{}
	c := m.newCtx(t, 0, d, d)
	c.sctx.NTxQs, c.sctx.NRxQs, c.sctx.NFL, c.sctx.Flags = 2, 3, 2, FlagHasRxCQ|FlagHasTxCQ
	c.scctx.NTxd = [MaxQueuesPerSet]int{512, ctlRing}
	c.addDeviceNode("Fake Adapter")
	c.addSysctlsPre()
	c.addTxq(t)
	c.addTxq(t)
	c.addRxq(2)
	c.addSysctlsPost()
	return c
}

// addRxq gives the context one more receive queue of nfl lists, without memory.
func (c *ctlCtx) addRxq(nfl int) *Rxq {
	q := &Rxq{ctx: c.Ctx, id: len(c.rxqs), hasCQ: c.sctx.Flags&FlagHasRxCQ != 0}
	q.task = c.k.NewTask("rxq", func() {})
	q.fls = make([]freeList, nfl)
	c.rxqs = append(c.rxqs, q)
	c.scctx.NRxQSets = len(c.rxqs)
	return q
}

func TestDeviceSysctls(t *testing.T) {
	c := newSysctlCtx(t)
	q := c.txqs[1]
	q.task.Bind(1)
	o := &q.own
	o.pidx, o.cidx, o.cidxProcessed, o.inUse, o.processed, o.cleaned, o.emptyDoorbells, o.deferred = 20, 5, 9, 15, 1<<32+9, 5, 3, 8
	q.publish()
	q.stat.mbufDefrag.Store(1)
	q.stat.pullups.Store(2)
	q.stat.mbufDefragFailed.Store(3)
	q.stat.noDescAvail.Store(4)
	q.stat.mapFailed.Store(5)
	q.stat.encapEFBIG.Store(6)
	q.stat.noTxDMASetup.Store(7)
	c.admitNow(admitRunning, 0)
	q.ledger.in.Add(1)
	q.br.Enqueue(c.packet(t, 60), txBatchSize, false) // stalls without a link
	rxq := c.rxqs[0]
	rxq.pub.cidx = 77
	fl := &rxq.fls[1]
	fl.pidx, fl.cidx, fl.credits, fl.bufSize = 31, 1, 30, 4096
	fl.publish()

	want := []string{
		"ifsim.txq1.tx_deferred: 8",
		"ifsim.txq1.tx_empty_doorbells: 3",
		"ifsim.txq0.tx_deferred: 0",
		"ifsim.txq0.tx_empty_doorbells: 0",
		"ifsim.broken_contracts: 0",
		"ifsim.rx_ledger: " + RxLedger{}.String(),
		"ifsim.ledger: " + Ledger{In: 1, Queued: 1}.String(),
		"iflib.rxq0.rxq_fl1.buf_size: 4096",
		"iflib.rxq0.rxq_fl1.credits: 30",
		"iflib.rxq0.rxq_fl1.cidx: 1",
		"iflib.rxq0.rxq_fl1.pidx: 31",
		"iflib.rxq0.rxq_fl0.buf_size: 0",
		"iflib.rxq0.rxq_fl0.credits: 0",
		"iflib.rxq0.rxq_fl0.cidx: 0",
		"iflib.rxq0.rxq_fl0.pidx: 0",
		"iflib.rxq0.rxq_cq_cidx: 77",
		"iflib.rxq0.cpu: 0",
		"iflib.txq1.r_abdications: 0",
		"iflib.txq1.r_restarts: 0",
		"iflib.txq1.r_stalls: 1",
		"iflib.txq1.r_starts: 1",
		"iflib.txq1.r_drops: 0",
		"iflib.txq1.r_enqueues: 1",
		"iflib.txq1.ring_state: pidx_head: 0001 pidx_tail: 0001 cidx: 0000 state: STALLED",
		"iflib.txq1.txq_cleaned: 5",
		"iflib.txq1.txq_processed: 4294967305",
		"iflib.txq1.txq_in_use: 15",
		"iflib.txq1.txq_cidx_processed: 9",
		"iflib.txq1.txq_cidx: 5",
		"iflib.txq1.txq_pidx: 20",
		"iflib.txq1.no_tx_dma_setup: 7",
		"iflib.txq1.txd_encap_efbig: 6",
		"iflib.txq1.tx_map_failed: 5",
		"iflib.txq1.no_desc_avail: 4",
		"iflib.txq1.mbuf_defrag_failed: 3",
		"iflib.txq1.m_pullups: 2",
		"iflib.txq1.mbuf_defrag: 1",
		"iflib.txq1.cpu: 1",
	}
	want = append(want, emptyTxq("iflib.txq0.")...)
	want = append(want,
		"iflib.tx_defer_mfree: 0",
		"iflib.tx_reclaim_ticks: 0",
		"iflib.tx_reclaim_thresh: 0",
		"iflib.override_nrxds: 0,0,0",
		"iflib.override_ntxds: 0,0",
		"iflib.allocated_msix_vectors: 0",
		"iflib.use_extra_msix_vectors: 0",
		"iflib.use_logical_cores: 0",
		"iflib.separate_txrx: 0",
		"iflib.core_offset: 65535",
		"iflib.tx_abdicate: 0",
		"iflib.rx_budget: 0",
		"iflib.disable_msix: 0",
		"iflib.override_qs_enable: 0",
		"iflib.override_nrxqs: 0",
		"iflib.override_ntxqs: 0",
		"iflib.simple_tx: 0",
		"iflib.tx_watchdog_events: 0",
		"iflib.driver_version: 7.8.9",
		"%iommu: ",
		"%parent: pci2",
		"%pnpinfo: vendor=0x8086 device=0x10d3 subvendor=0x8086 subdevice=0xa01f class=0x020000",
		"%location: slot=0 function=0 dbsf=pci0:2:0:0",
		"%driver: fk",
		"%desc: Fake Adapter",
	)
	if diff := cmp.Diff(want, c.m.list(t, "dev.fk.0")); diff != "" {
		t.Errorf("dev.fk.0 (-want +got):\n%s", diff)
	}
}

// emptyTxq lists a queue that did nothing.
func emptyTxq(prefix string) (lines []string) {
	for _, name := range []string{"r_abdications", "r_restarts", "r_stalls", "r_starts", "r_drops", "r_enqueues"} {
		lines = append(lines, prefix+name+": 0")
	}
	lines = append(lines, prefix+"ring_state: pidx_head: 0000 pidx_tail: 0000 cidx: 0000 state: IDLE")
	for _, name := range []string{"txq_cleaned", "txq_processed", "txq_in_use", "txq_cidx_processed", "txq_cidx", "txq_pidx",
		"no_tx_dma_setup", "txd_encap_efbig", "tx_map_failed", "no_desc_avail", "mbuf_defrag_failed", "m_pullups",
		"mbuf_defrag", "cpu"} {
		lines = append(lines, prefix+name+": 0")
	}
	return lines
}

func TestDeviceSysctlTypes(t *testing.T) {
	c := newSysctlCtx(t)
	checkOIDs(t, c.m, "dev.fk.0.iflib.", []oidWant{
		{"driver_version", sysctl.KindString, sysctl.RD},
		{"tx_watchdog_events", sysctl.KindU32, sysctl.RD},
		{"simple_tx", sysctl.KindU8, sysctl.RDTUN},
		{"override_ntxqs", sysctl.KindU16, sysctl.RWTUN},
		{"override_nrxqs", sysctl.KindU16, sysctl.RWTUN},
		{"override_qs_enable", sysctl.KindU16, sysctl.RWTUN},
		{"disable_msix", sysctl.KindInt, sysctl.RWTUN},
		{"rx_budget", sysctl.KindU16, sysctl.RWTUN},
		{"tx_abdicate", sysctl.KindU16, sysctl.RWTUN},
		{"core_offset", sysctl.KindU16, sysctl.RDTUN},
		{"separate_txrx", sysctl.KindU8, sysctl.RDTUN},
		{"use_logical_cores", sysctl.KindU8, sysctl.RDTUN},
		{"use_extra_msix_vectors", sysctl.KindU16, sysctl.RDTUN},
		{"allocated_msix_vectors", sysctl.KindInt, sysctl.RDTUN},
		{"override_ntxds", sysctl.KindString, sysctl.RWTUN},
		{"override_nrxds", sysctl.KindString, sysctl.RWTUN},
		{"tx_reclaim_thresh", sysctl.KindInt, sysctl.RWTUN},
		{"tx_reclaim_ticks", sysctl.KindInt, sysctl.RWTUN},
		{"tx_defer_mfree", sysctl.KindInt, sysctl.RWTUN},
		{"txq0.cpu", sysctl.KindInt, sysctl.RD},
		{"txq0.mbuf_defrag", sysctl.KindU64, sysctl.RD},
		{"txq0.txq_pidx", sysctl.KindU16, sysctl.RD},
		{"txq0.txq_processed", sysctl.KindU64, sysctl.RD},
		{"txq0.ring_state", sysctl.KindString, sysctl.RD},
		{"txq0.r_enqueues", sysctl.KindU64, sysctl.RD},
		{"rxq0.cpu", sysctl.KindInt, sysctl.RD},
		{"rxq0.rxq_cq_cidx", sysctl.KindU16, sysctl.RD},
		{"rxq0.rxq_fl0.credits", sysctl.KindU16, sysctl.RD},
	})
	for _, name := range []string{"simple_tx", "core_offset", "driver_version", "txq0.txq_pidx", "txq0.r_drops"} {
		if err := c.k.Sysctl.SetText("dev.fk.0.iflib."+name, "1"); !errors.Is(err, syscall.EPERM) {
			t.Errorf("writing %s: %v", name, err)
		}
	}
}

func TestQueueNodesArePaddedByTheNumberOfSets(t *testing.T) {
	for _, tt := range []struct {
		i, n int
		want string
	}{{0, 1, "txq0"}, {9, 10, "txq9"}, {0, 11, "txq00"}, {10, 11, "txq10"}, {7, 100, "txq07"}, {99, 100, "txq99"}, {7, 101, "txq007"}, {100, 101, "txq100"}} {
		if got := queueNodeName("txq", tt.i, tt.n); got != tt.want {
			t.Errorf("queue %d of %d: %s, want %s", tt.i, tt.n, got, tt.want)
		}
	}
}

func TestClassNodeOutlivesItsDevices(t *testing.T) {
	m := newCtlMachine(t, false)
	var ctxs []*ctlCtx
	for unit := range 2 {
		d := &ctlDev{}
		c := m.newCtx(t, unit, d, d)
		c.addDeviceNode("Fake")
		ctxs = append(ctxs, c)
	}
	names := func() (out []string) {
		for _, line := range m.list(t, "dev.fk") {
			if name, _, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "%desc") || name == "%parent" {
				out = append(out, name)
			}
		}
		return out
	}
	if diff := cmp.Diff([]string{"1.%desc", "0.%desc", "%parent"}, names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range ctxs {
		c.freeDeviceNode()
		c.freeDeviceNode() // once more does nothing
	}
	if diff := cmp.Diff([]string{"%parent"}, names()); diff != "" {
		t.Errorf("after detach (-want +got):\n%s", diff)
	}
}

func TestFreedSysctlsLeaveTheDeviceNode(t *testing.T) {
	c := newSysctlCtx(t)
	c.freeSysctls()
	c.freeSysctls()
	if got := c.m.list(t, "dev.fk.0"); len(got) != 6 {
		t.Errorf("left %v", got)
	}
	c.freeDeviceNode()
	if _, err := c.k.Sysctl.Lookup("dev.fk.0"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("dev.fk.0 is still there: %v", err)
	}
	if s := c.m.takeConsole(); s != "" {
		t.Errorf("console: %s", s)
	}
}

func TestDescriptorLists(t *testing.T) {
	for _, tt := range []struct{ set, want string }{
		{"512", "512,9"}, // a position that a write lacks keeps its value
		{"512,1024", "512,1024"},
		{"512 1024", "512,1024"},
		{"512,1024,2048", "512,1024"}, // the third position exists but is not shown
		{"512,,1024", "512,0"},        // an empty token is 0
		{",7", "0,7"},
		{"", "0,9"},
		{"abc,3", "0,3"},
		{"12abc", "12,9"},
		{"0x20", "0,9"},
		{"65536,65537", "0,1"},
		{"-1", "65535,9"},
		{"99999999999999999999", "65535,9"},
		{"-99999999999999999999", "65535,9"},
		{"+8", "8,9"},
		{"\t8", "8,9"},
		{"1,2,3,4,5,6,7,8,9,10", "1,2"},
	} {
		c := newSysctlCtx(t)
		set := func(v string) {
			if err := c.k.Sysctl.SetText("dev.fk.0.iflib.override_ntxds", v); err != nil {
				t.Errorf("writing %q: %v", v, err)
			}
		}
		set("0,9")
		set(tt.set)
		if got := c.m.text(t, "dev.fk.0.iflib.override_ntxds"); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.set, got, tt.want)
		}
	}
	c := newSysctlCtx(t, "dev.fk.0.iflib.override_nrxds=1,2,3,4,5,6,7,8,9")
	if got := c.m.text(t, "dev.fk.0.iflib.override_nrxds"); got != "1,2,3" {
		t.Errorf("tunable: %s", got)
	}
	for i := range uint32(MaxQueuesPerSet) {
		if got := c.knobs.overrideNRxds[i].Load(); got != i+1 {
			t.Errorf("position %d: %d", i, got)
		}
	}
	if err := c.k.Sysctl.SetText("dev.fk.0.iflib.override_nrxds", strings.Repeat("1", descsBuf)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a text that is too long: %v", err)
	}
}

func TestDescriptorListsTakeAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[0-9a-f ,+-]{0,40}`).Draw(rt, "text")
		list := parseDescs(text)
		want := min(strings.Count(text, " ")+strings.Count(text, ",")+1, MaxQueuesPerSet)
		if len(list) != want {
			rt.Errorf("%q: %d positions, want %d", text, len(list), want)
		}
	})
}

// TestReclaimBounds is case 11 of the field: the threshold is bounded by half
// the first ring, the ticks by one second, and a refusal keeps the old value.
func TestReclaimBounds(t *testing.T) {
	c := newSysctlCtx(t)
	const thresh, ticks, mfree = "tx_reclaim_thresh", "tx_reclaim_ticks", "tx_defer_mfree"
	const threshText, ticksText = "fk0: TX Reclaim thresh must be <= 256\n", "fk0: TX Reclaim ticks must be <= hz (1000)\n"
	for _, tt := range []struct {
		name, set string
		err       error
		want      uint32 // in every queue
		text      string
	}{
		{thresh, "128", nil, 128, ""},
		{thresh, "256", nil, 256, ""}, // the completion ring has 512 entries
		{thresh, "257", syscall.EINVAL, 256, threshText},
		{thresh, "-1", syscall.EINVAL, 256, ""},
		{thresh, "256", nil, 256, ""},
		{thresh, "0", nil, 0, ""},
		{ticks, "1000", nil, 1000, ""},
		{ticks, "1001", syscall.EINVAL, 1000, ticksText},
		{ticks, "2147483647", syscall.EINVAL, 1000, ticksText},
		{ticks, "-2147483648", syscall.EINVAL, 1000, ""},
		{ticks, "0", nil, 0, ""},
		{mfree, "2", nil, 1, ""},
		{mfree, "0", nil, 0, ""},
		{mfree, "-1", nil, 1, ""},
	} {
		err := c.k.Sysctl.SetText("dev.fk.0.iflib."+tt.name, tt.set)
		if !errors.Is(err, tt.err) {
			t.Errorf("%s=%s: %v, want %v", tt.name, tt.set, err, tt.err)
		}
		if got := c.m.text(t, "dev.fk.0.iflib."+tt.name); got != fmt.Sprint(tt.want) {
			t.Errorf("%s=%s reads %s, want %d", tt.name, tt.set, got, tt.want)
		}
		for _, q := range c.txqs {
			got := map[string]uint32{thresh: q.reclaimThresh.Load(), ticks: q.reclaimTicks.Load(),
				mfree: uint32(boolInt(q.deferMfree.Load()))}[tt.name]
			if got != tt.want {
				t.Errorf("%s=%s: queue %d has %d, want %d", tt.name, tt.set, q.id, got, tt.want)
			}
		}
		if got := c.m.takeConsole(); got != tt.text {
			t.Errorf("%s=%s: console %q, want %q", tt.name, tt.set, got, tt.text)
		}
	}
}

func TestReclaimWriteOfTheSameValueDoesNothing(t *testing.T) {
	c := newSysctlCtx(t, "dev.fk.0.iflib.tx_reclaim_thresh=64")
	c.txqs[0].reclaimThresh.Store(7)
	if err := c.k.Sysctl.SetText("dev.fk.0.iflib.tx_reclaim_thresh", "64"); err != nil {
		t.Fatal(err)
	}
	if got := c.txqs[0].reclaimThresh.Load(); got != 7 {
		t.Errorf("queue 0 was set to %d", got)
	}
}

func TestReclaimTunables(t *testing.T) {
	c := newSysctlCtx(t, "dev.fk.0.iflib.tx_reclaim_thresh=64", "dev.fk.0.iflib.tx_reclaim_ticks=1001",
		"dev.fk.0.iflib.tx_defer_mfree=1")
	for _, q := range c.txqs {
		if q.reclaimThresh.Load() != 64 || q.reclaimTicks.Load() != 0 || !q.deferMfree.Load() {
			t.Errorf("queue %d: %d %d %v", q.id, q.reclaimThresh.Load(), q.reclaimTicks.Load(), q.deferMfree.Load())
		}
	}
	const want = "fk0: TX Reclaim ticks must be <= hz (1000)\nSetting sysctl dev.fk.0.iflib.tx_reclaim_ticks failed: 22\n"
	if got := c.m.takeConsole(); got != want {
		t.Errorf("console %q, want %q", got, want)
	}
}

// shapingQueue is a send queue with a discipline.
type shapingQueue struct{}

var _ ifnet.SendQueue = shapingQueue{}

func (shapingQueue) Enabled() bool            { return true }
func (shapingQueue) Enqueue(*mbuf.Mbuf) error { return nil }
func (shapingQueue) Dequeue() *mbuf.Mbuf      { return nil }
func (shapingQueue) Poll() *mbuf.Mbuf         { return nil }
func (shapingQueue) Purge(*mbuf.Cache)        {}
func (shapingQueue) Len() int                 { return 0 }
func (shapingQueue) MaxLen() int              { return 0 }
func (shapingQueue) Dropped() uint64          { return 0 }

// TestChooseTransmit also is cases 2 and 5 of the field.
func TestChooseTransmit(t *testing.T) {
	const own, all, line = "dev.fk.0.iflib.simple_tx=", "net.iflib.prefer_mpring=", "fk0: using simple if_transmit\n"
	tests := []struct {
		name   string
		env    []string
		altq   bool
		simple bool
		text   string
	}{
		{"default", nil, false, false, ""},
		{"asked for by the device", []string{own + "1"}, false, true, line},
		{"any number counts", []string{own + "7"}, false, true, line},
		{"machine without preference for the mp_ring", []string{all + "0"}, false, true, line},
		{"the device's own 0 wins", []string{all + "0", own + "0"}, false, false, ""},
		{"the device's own 1 wins", []string{all + "1", own + "1"}, false, true, line},
		{"what is no number is ignored", []string{all + "0", own + "yes"}, false, true, line},
		{"another device's does not count", []string{"dev.fk.1.iflib.simple_tx=1"}, false, false, ""},
		{"ALTQ", []string{own + "1"}, true, false, "fk0: ALTQ prevents using simple if_transmit\n"},
		{"ALTQ and nothing asked", nil, true, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newCtlMachine(t, false, tt.env...)
			d := &ctlDev{}
			c := m.newCtx(t, 0, d, d)
			if tt.altq {
				c.ifp.SetSendQueue(shapingQueue{})
			}
			c.addDeviceNode("")
			c.addSysctlsPre()
			c.chooseTransmit()
			if c.simple != tt.simple {
				t.Errorf("simple %v, want %v", c.simple, tt.simple)
			}
			want := "0"
			if tt.simple {
				want = "1"
			}
			if got := m.text(t, "dev.fk.0.iflib.simple_tx"); got != want {
				t.Errorf("simple_tx reads %s, want %s", got, want)
			}
			if got := m.takeConsole(); got != tt.text {
				t.Errorf("console %q, want %q", got, tt.text)
			}
			if err := m.k.Sysctl.SetText("dev.fk.0.iflib.simple_tx", "1"); !errors.Is(err, syscall.EPERM) {
				t.Errorf("written at run time: %v", err)
			}
			if got := m.text(t, "dev.fk.0.iflib.simple_tx"); got != want {
				t.Errorf("simple_tx reads %s after a write, want %s", got, want)
			}
		})
	}
}

func TestAttachTunables(t *testing.T) {
	c := newSysctlCtx(t, "dev.fk.0.iflib.override_ntxqs=3", "dev.fk.0.iflib.core_offset=1", "dev.fk.0.iflib.rx_budget=32",
		"dev.fk.0.iflib.separate_txrx=1", "dev.fk.0.iflib.disable_msix=1")
	k := &c.knobs
	got := []int64{int64(k.overrideNTxQs.Load()), int64(k.coreOffset.Load()), int64(k.rxBudget.Load()),
		int64(k.separateTxRx.Load()), int64(k.disableMSIX.Load())}
	if diff := cmp.Diff([]int64{3, 1, 32, 1, 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
