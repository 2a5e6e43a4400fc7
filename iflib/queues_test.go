package iflib

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
)

// Case 60: what the tunables ask for and what comes out.
func TestQueueCounts(t *testing.T) {
	const dev = "dev.dm.0.iflib."
	for _, c := range []struct {
		name     string
		ncpu     int
		qsets    int
		msix     int
		admin    int
		tunables map[string]string
		rx, tx   int
	}{
		{"default", 4, 4, 5, 1, nil, 4, 4},
		{"fewer CPUs than queues", 2, 4, 5, 1, nil, 2, 2},
		{"fewer messages than queues", 4, 4, 3, 1, nil, 2, 2},
		{"driver has fewer queues", 4, 2, 9, 1, nil, 2, 2},
		{"60.1 a name that nobody knows", 4, 4, 5, 1, map[string]string{"hw.dm.num_queues": "2"}, 4, 4},
		{"60.2 more than the driver has", 32, 16, 64, 1, map[string]string{dev + "override_nrxqs": "24", dev + "override_ntxqs": "24"}, 16, 16},
		{"60.3 transmit alone", 4, 4, 5, 1, map[string]string{dev + "override_ntxqs": "2"}, 2, 2},
		{"60.3 transmit alone, permitted", 4, 4, 5, 1, map[string]string{dev + "override_ntxqs": "2", dev + "override_qs_enable": "1"}, 4, 2},
		{"60.4 receive alone", 4, 4, 5, 1, map[string]string{dev + "override_nrxqs": "3"}, 3, 3},
		{"receive alone, permitted", 4, 4, 5, 1, map[string]string{dev + "override_nrxqs": "3", dev + "override_qs_enable": "1"}, 3, 4},
		{"receive below the double subtraction", 4, 4, 6, 1, map[string]string{dev + "override_nrxqs": "3", dev + "override_qs_enable": "1"}, 3, 4},
		{"more queues than CPUs", 2, 4, 9, 1, map[string]string{dev + "override_nrxqs": "4", dev + "override_qs_enable": "1"}, 4, 2},
		{"no admin vector", 4, 4, 4, 0, nil, 4, 4},
		{"MSI-X disabled", 4, 4, 5, 1, map[string]string{dev + "disable_msix": "1"}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{ncpu: c.ncpu, tunables: c.tunables})
			d := m.attach(dummyConfig{qsets: c.qsets, adminCnt: c.admin}, m.insert(c.msix, 1), 0)
			if rx, tx := d.ctx.NRxqs(), d.ctx.NTxqs(); rx != c.rx || tx != c.tx {
				t.Errorf("%d RX and %d TX queues, want %d and %d; console %q", rx, tx, c.rx, c.tx, m.lines())
			}
			for i := range d.ctx.txqs { // case 60.7
				if !slices.ContainsFunc(d.ctx.irqs, func(irq *Irq) bool { return slices.Contains(irq.txqs, d.ctx.txqs[i]) }) {
					t.Errorf("TX queue %d is served by no interrupt", i)
				}
			}
		})
	}
}

func TestUnequalQueueCountsAreSaidInCheckingMode(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{"dev.dm.0.iflib.override_ntxqs": "2"}})
	m.attach(dummyConfig{qsets: 4}, m.insert(5, 1), 0)
	if lines := m.lines(); !slices.Contains(lines, "dm0: queue equality override not set, capping rx_queues at 4 and tx_queues at 2") {
		t.Errorf("%q", lines)
	}
}

// Case 60.5, and the rule that RX complaints come first.
func TestRingSizes(t *testing.T) {
	for _, c := range []struct {
		tx, rx   string
		ntx, nrx int
		lines    []string
	}{
		{"", "", 1024, 1024, nil},
		{"2048", "256", 2048, 256, nil},
		{"0", "0", 1024, 1024, nil},
		{"", "100", 1024, 128, []string{"nrxd0: 100 less than nrxd_min 128 - resetting to min"}},
		{"", "1000", 1024, 1024, []string{"nrxd0: 1000 is not a power of 2 - using default value of 1024"}},
		{"", "8192", 1024, 4096, []string{"nrxd0: 8192 greater than nrxd_max 4096 - resetting to max"}},
		{"300", "5000", 1024, 4096, []string{
			"nrxd0: 5000 greater than nrxd_max 4096 - resetting to max",
			"ntxd0: 300 is not a power of 2 - using default value of 1024",
		}},
	} {
		tun := map[string]string{}
		if c.tx != "" {
			tun["dev.dm.0.iflib.override_ntxds"] = c.tx
		}
		if c.rx != "" {
			tun["dev.dm.0.iflib.override_nrxds"] = c.rx
		}
		m := newMachine(t, machineConfig{tunables: tun})
		d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
		var want []string
		for _, l := range c.lines {
			want = append(want, "dm0: "+l)
		}
		want = append(want, fmt.Sprintf("dm0: Using %d TX descriptors and %d RX descriptors", c.ntx, c.nrx))
		got := m.lines()
		if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
			t.Errorf("tx %q rx %q (-want +got):\n%s", c.tx, c.rx, diff)
		}
		if s := d.ctx.Softc(); s.NTxd[0] != c.ntx || s.NRxd[0] != c.nrx {
			t.Errorf("tx %q rx %q: %d and %d", c.tx, c.rx, s.NTxd[0], s.NRxd[0])
		}
	}
}

func TestSegmentLimitsFollowTheRing(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{"dev.dm.0.iflib.override_ntxds": "128"}})
	d := m.attach(dummyConfig{txNSegs: 40}, m.insert(5, 1), 0)
	if s := d.ctx.Softc(); s.TxNSegments != 10 || s.TSOSegmentsMax != 10 {
		t.Errorf("%d segments, %d with TSO; want 128/12", s.TxNSegments, s.TSOSegmentsMax)
	}
	if s := d.ctx.Softc(); s.RSSTableSize != 64 || s.RSSTableMask != 63 || s.TxPad != 2 {
		t.Errorf("RSS table %d, mask %d, pad %d", s.RSSTableSize, s.RSSTableMask, s.TxPad)
	}
}

// cpus are the CPUs of a device's transmit and receive tasks.
func (d *dummy) cpus() (tx, rx []int) {
	for _, q := range d.ctx.txqs {
		tx = append(tx, q.task.CPU())
	}
	for _, q := range d.ctx.rxqs {
		rx = append(rx, q.task.CPU())
	}
	return tx, rx
}

func TestTaskCPUs(t *testing.T) {
	const dev = "dev.dm.0.iflib."
	for _, c := range []struct {
		name     string
		ncpu     int
		perCore  int
		qsets    int
		tunables map[string]string
		tx, rx   []int
	}{
		{"shared", 4, 1, 2, nil, []int{0, 1}, []int{0, 1}},
		{"more queues than CPUs", 2, 1, 4, map[string]string{dev + "override_nrxqs": "4", dev + "override_ntxqs": "4"}, []int{0, 1}, []int{0, 1}},
		{"offset", 4, 1, 2, map[string]string{dev + "core_offset": "3"}, []int{3, 0}, []int{3, 0}},
		{"offset beyond", 4, 1, 2, map[string]string{dev + "core_offset": "6"}, []int{2, 3}, []int{2, 3}},
		{"offset on no member", 8, 2, 2, map[string]string{dev + "core_offset": "3"}, []int{4, 6}, []int{4, 6}},
		{"offset beyond the last member", 8, 2, 2, map[string]string{dev + "core_offset": "7"}, []int{0, 2}, []int{0, 2}},
		{"separate", 4, 1, 2, map[string]string{dev + "separate_txrx": "1"}, []int{2, 3}, []int{0, 1}},
		{"separate on logical cores", 8, 2, 2, map[string]string{dev + "separate_txrx": "1", dev + "use_logical_cores": "1"}, []int{1, 3}, []int{0, 2}},
		{"logical cores without separation", 8, 2, 2, map[string]string{dev + "use_logical_cores": "1"}, []int{0, 2}, []int{0, 2}},
		{"logical cores that there are not", 4, 1, 2, map[string]string{dev + "separate_txrx": "1", dev + "use_logical_cores": "1"}, []int{2, 3}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{ncpu: c.ncpu, perCore: c.perCore, tunables: c.tunables})
			d := m.attach(dummyConfig{qsets: c.qsets}, m.insert(9, 1), 0)
			tx, rx := d.cpus()
			if !slices.Equal(tx, c.tx) || !slices.Equal(rx, c.rx) {
				t.Errorf("TX %v RX %v, want %v and %v", tx, rx, c.tx, c.rx)
			}
			if got := m.text("dev.dm.0.iflib.txq0.cpu"); got != fmt.Sprint(c.tx[0]) {
				t.Errorf("txq0.cpu %s", got)
			}
		})
	}
}

// Case 60.8: the second device goes on where the first one stopped.
func TestDevicesShareTheCPUsOut(t *testing.T) {
	m := newMachine(t, machineConfig{ncpu: 4})
	a := m.attach(dummyConfig{}, m.insert(9, 1), 0)
	b := m.attach(dummyConfig{}, m.insert(9, 1), 1)
	fn := m.insert(9, 1)
	c := m.attach(dummyConfig{}, fn, 2)
	for i, want := range [][]int{{0, 1}, {2, 3}, {0, 1}} {
		if tx, _ := []*dummy{a, b, c}[i].cpus(); !slices.Equal(tx, want) {
			t.Errorf("dm%d on %v, want %v", i, tx, want)
		}
	}
	if got := m.text("dev.dm.1.iflib.core_offset"); got != "2" {
		t.Errorf("dm1 core_offset %s", got)
	}
	for _, d := range []*dummy{a, c} {
		if err := d.ctx.Detach(); err != nil {
			t.Fatal(err)
		}
	}
	// One reference is left, so the record goes on.
	if tx, _ := m.attach(dummyConfig{}, fn, 2).cpus(); !slices.Equal(tx, []int{2, 3}) {
		t.Errorf("after detach on %v", tx)
	}
}

func TestCPUAdvanceWraps(t *testing.T) {
	set := kern.NewCPUSet(1, 3, 4)
	for n, want := range []int{3, 4, 1, 3, 4, 1} {
		if got := cpuAdvance(set, 3, n); got != want {
			t.Errorf("advance by %d: %d, want %d", n, got, want)
		}
	}
}

func TestLegacyDeviceHasOneQueueOnOneInterrupt(t *testing.T) {
	m := newMachine(t, machineConfig{})
	fn := m.insert(0, 0)
	d := m.attach(dummyConfig{noMSIX: true, noIntr: true, qsets: 4}, fn, 0)
	if d.ctx.NTxqs() != 1 || d.ctx.Softc().Intr != IntrLegacy || d.ctx.Softc().Vectors != 1 {
		t.Fatalf("%d queues, mode %d, %d vectors", d.ctx.NTxqs(), d.ctx.Softc().Intr, d.ctx.Softc().Vectors)
	}
	d.up()
	d.take()
	fn.SetINTx(true)
	if !m.k.Step() {
		t.Fatal("no filter")
	}
	fn.SetINTx(false)
	// Neither direction has work, so the interrupt is enabled again.
	if diff := cmp.Diff([]string{"intr_enable"}, d.take()[:1]); diff != "" {
		t.Error(diff)
	}
	if got := m.text("dev.dm.0.iflib.allocated_msix_vectors"); got != "1" {
		t.Errorf("allocated_msix_vectors %s", got)
	}
}

func TestFilterRunsOnlyTheTasksThatHaveWork(t *testing.T) {
	m := newMachine(t, machineConfig{ncpu: 1})
	fn := m.insert(2, 1)
	d := m.attach(dummyConfig{qsets: 1, adminCnt: 1}, fn, 0)
	d.up()
	q := d.ctx.txqs[0]
	d.owed[0] = 1
	fn.RaiseMSIX(0)
	m.k.Step()
	if !q.task.Queued() || d.ctx.rxqs[0].task.Queued() {
		t.Errorf("TX task queued %v, RX task %v", q.task.Queued(), d.ctx.rxqs[0].task.Queued())
	}
	if n := d.irqs[0].Count(); n != 1 {
		t.Errorf("filter ran %d times", n)
	}
}

func TestDMAMemoryOfDrivers(t *testing.T) {
	m := newMachine(t, machineConfig{})
	d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
	base := m.holdings()
	mem, err := d.ctx.DMAAlloc(100, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	if mem.Addr()%(1<<16) != 0 || mem.Size() != 100 || len(mem.Bytes()) != 100 || len(mem.Words32()) != 25 || len(mem.Words64()) != 12 {
		t.Errorf("addr %#x, %d bytes", mem.Addr(), mem.Size())
	}
	mem.Free()
	mem.Free()
	if diff := cmp.Diff(base, m.holdings()); diff != "" {
		t.Error(diff)
	}
	if _, err := d.ctx.DMAAlloc(1<<30, 8); err == nil {
		t.Error("more memory than there is")
	}
}

var _ pci.Device = (*dummyHW)(nil)
