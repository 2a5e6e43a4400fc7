package iflib

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
)

func TestAttachInitAndDetachCallTheDriverInOrder(t *testing.T) {
	m := newMachine(t, machineConfig{})
	base := m.holdings()
	d := m.attach(dummyConfig{adminCnt: 1}, m.insert(5, 1), 0)
	want := []string{
		"attach_pre CI", "tx_queues_alloc 2*1 CI", "rx_queues_alloc 2*1 CI",
		"txq_setup 0 CI", "txq_setup 1 CI", "rxq_setup 0 CI", "rxq_setup 1 CI",
		"msix_intr_assign 3 CI", "attach_post CI",
	}
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("attach (-want +got):\n%s", diff)
	}
	d.up()
	want = []string{"intr_disable C", "stop C", "intr_disable C", "init C", "intr_enable C"}
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("init (-want +got):\n%s", diff)
	}
	if !d.ctx.IsRunning() || d.ctx.ifp.DrvFlags() != ifnet.FlagRunning {
		t.Errorf("running %v, driver flags %#x", d.ctx.IsRunning(), d.ctx.ifp.DrvFlags())
	}
	if err := d.ctx.Detach(); err != nil {
		t.Fatal(err)
	}
	want = []string{"intr_disable C", "stop C", "detach C", "queues_free C"}
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("detach (-want +got):\n%s", diff)
	}
	m.compare(base)
}

// compare expects that the machine holds what it did, but for the class node of
// the driver.
func (m *machine) compare(base holdings) {
	m.tb.Helper()
	now := m.holdings()
	now.OIDs = slices.DeleteFunc(now.OIDs, func(s string) bool { return s == "dev.dm" || s == "dev.dm.%parent" })
	if diff := cmp.Diff(base, now); diff != "" {
		m.tb.Errorf("left behind (-base +now):\n%s", diff)
	}
}

func TestFailedAttachLeavesNothingBehind(t *testing.T) {
	const detaches, frees = "detach C", "queues_free C"
	for _, c := range []struct {
		step    string // fail point, or method with a leading dot
		err     error  // what Attach returns
		console string // a line that must be there
		ends    []string
	}{
		{"iflib.register_device", syscall.EIO, "", nil},
		{"iflib.attach_pre", syscall.EIO, "dm0: IFDI_ATTACH_PRE failed 5", nil},
		{".attach_pre", syscall.ENXIO, "dm0: IFDI_ATTACH_PRE failed 6", nil},
		{"iflib.admin_taskqueue", syscall.EIO, "dm0: Unable to create admin taskqueue", []string{detaches}},
		{"iflib.msix", syscall.EIO, "", []string{detaches}},
		{"iflib.queues_alloc", syscall.EIO, "dm0: Unable to allocate queue memory", []string{detaches}},
		{".tx_queues_alloc", syscall.ENOMEM, "dm0: Unable to allocate device TX queue", []string{detaches}},
		{".rx_queues_alloc", syscall.ENOMEM, "dm0: Unable to allocate device RX queue", []string{frees, detaches}},
		{"iflib.tx_structures_setup", syscall.EIO, "dm0: iflib_tx_structures_setup failed: 5", []string{detaches, frees}},
		{".txq_setup", syscall.ENXIO, "dm0: iflib_tx_structures_setup failed: 6", []string{detaches, frees}},
		{"iflib.rx_structures_setup", syscall.EIO, "dm0: iflib_rx_structures_setup failed: 5", []string{detaches, frees}},
		{".rxq_setup", syscall.ENXIO, "dm0: iflib_rx_structures_setup failed: 6", []string{detaches, frees}},
		{"iflib.irq_alloc", syscall.EIO, "dm0: failed to setup interrupt for rid 1, name rxq0: 5", []string{detaches, frees}},
		{".msix_intr_assign", syscall.ENXIO, "dm0: IFDI_MSIX_INTR_ASSIGN failed 6", []string{detaches, frees}},
		{"iflib.attach_post", syscall.EIO, "dm0: IFDI_ATTACH_POST failed 5", []string{detaches, frees}},
		{".attach_post", syscall.ENXIO, "dm0: IFDI_ATTACH_POST failed 6", []string{detaches, frees}},
	} {
		for _, simple := range []string{"0", "1"} {
			t.Run(c.step+"/simple="+simple, func(t *testing.T) {
				m := newMachine(t, machineConfig{check: true, tunables: map[string]string{"dev.dm.0.iflib.simple_tx": simple}})
				fn := m.insert(5, 1)
				base := m.holdings()
				d := &dummy{fail: map[string]error{}}
				drv := dummyConfig{adminCnt: 1}.driver(&d)
				if method, ok := strings.CutPrefix(c.step, "."); ok {
					d.fail[method] = c.err
				} else {
					m.failpoint(c.step, "1*return(5)")
				}
				base.OIDs = m.holdings().OIDs
				ctx, err := Attach(m.k, drv, fn, 0)
				if !errors.Is(err, c.err) || ctx != nil {
					t.Fatalf("Attach: %v, %v; want %v", ctx, err, c.err)
				}
				if lines := m.lines(); c.console != "" && !slices.Contains(lines, c.console) {
					t.Errorf("console lacks %q: %q", c.console, lines)
				}
				var ends []string
				for _, call := range d.take() {
					if strings.HasPrefix(call, "detach") || strings.HasPrefix(call, "queues_free") {
						ends = append(ends, strings.TrimSuffix(call, "I"))
					}
				}
				if diff := cmp.Diff(c.ends, ends); diff != "" {
					t.Errorf("driver (-want +got):\n%s", diff)
				}
				m.compare(base)
				m.attachable(drv, &d, fn, base)
			})
		}
	}
}

// attachable expects that the device attaches now, and leaves nothing again.
func (m *machine) attachable(drv *Driver, d **dummy, fn *pci.Function, base holdings) {
	m.tb.Helper()
	clear((*d).fail)
	ctx, err := Attach(m.k, drv, fn, 0)
	if err != nil {
		m.tb.Fatal("second attach:", err)
	}
	(*d).up()
	if err := ctx.Detach(); err != nil {
		m.tb.Fatal(err)
	}
	m.compare(base)
}

func TestFailedVectorsFallBack(t *testing.T) {
	for _, c := range []struct {
		name, failpoint, setting string
		msix, msi                int
		want                     []string
	}{
		{"table BAR", "pci.map_bar", "return(6)", 5, 1, []string{"Unable to map MSI-X table", "Using an MSI interrupt"}},
		{"allocation", "pci.alloc_msix", "return(28)", 5, 1, []string{"Using 2 RX queues 2 TX queues",
			"failed to allocate 3 MSI-X vectors, err: 28", "Using an MSI interrupt"}},
		{"fewer", "pci.limit_msix", "return(2)", 5, 1, []string{"Using 2 RX queues 2 TX queues",
			"Unable to allocate sufficient MSI-X vectors (got 2, need 3)", "Using an MSI interrupt"}},
		{"no MSI-X", "", "", 0, 1, []string{"Using an MSI interrupt"}},
		{"two MSI messages", "", "", 0, 2, []string{"Using a Legacy interrupt"}},
		{"MSI refused", "pci.alloc_msi", "return(5)", 0, 1, []string{"Using a Legacy interrupt"}},
		{"neither", "", "", 0, 0, []string{"Using a Legacy interrupt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{check: true, tunables: map[string]string{}})
			fn := m.insert(c.msix, c.msi)
			base := m.holdings()
			if c.failpoint != "" {
				m.failpoint(c.failpoint, c.setting)
				base = m.holdings()
			}
			d := m.attach(dummyConfig{adminCnt: 1}, fn, 0)
			want := []string{"dm0: Using 1024 TX descriptors and 1024 RX descriptors"}
			for _, l := range c.want {
				want = append(want, "dm0: "+l)
			}
			want = append(want, "dm0: Ethernet address: 02:00:00:00:00:42")
			if diff := cmp.Diff(want, m.lines()); diff != "" {
				t.Errorf("console (-want +got):\n%s", diff)
			}
			if n := d.ctx.NTxqs(); n != 1 || d.ctx.NRxqs() != 1 {
				t.Errorf("%d TX and %d RX queues", n, d.ctx.NRxqs())
			}
			if err := d.ctx.Detach(); err != nil {
				t.Fatal(err)
			}
			m.compare(base)
		})
	}
}

func TestAttachRefusesWhatCannotWork(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  dummyConfig
		msix int
		err  error
		line string
	}{
		{"one MSI-X vector, for the admin queue", dummyConfig{adminCnt: 1}, 1, syscall.ENODEV, "dm0: Cannot use iflib with only 1 MSI-X interrupt!"},
		{"no way to enable queue interrupts", dummyConfig{noIntr: true}, 5, syscall.EOPNOTSUPP, "dm0: MSI-X requires ifdi_rx_queue_intr_enable method"},
		{"no data path", dummyConfig{pre: func(d *dummy) { d.ctx.Softc().TxRx = nil }}, 5, syscall.ENOTSUP, "dm0: IFDI_ATTACH_PRE: no isc_txrx"},
		{"ring without size", dummyConfig{pre: func(d *dummy) { d.ctx.Softc().RxQSizes[0] = 0 }}, 5, syscall.ENOTSUP, "dm0: IFDI_ATTACH_PRE: no isc_rxqsizes[0]"},
		{"own media missing", dummyConfig{flags: FlagDriverMedia}, 5, syscall.ENOTSUP, "dm0: IFDI_ATTACH_PRE: no isc_media"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{})
			fn := m.insert(c.msix, 1)
			base := m.holdings()
			var d *dummy
			if _, err := Attach(m.k, c.cfg.driver(&d), fn, 0); !errors.Is(err, c.err) {
				t.Fatalf("Attach: %v, want %v", err, c.err)
			}
			if lines := m.lines(); !slices.Contains(lines, c.line) {
				t.Errorf("console lacks %q: %q", c.line, lines)
			}
			m.compare(base)
		})
	}
}

// The interface is there for all to see before the driver's AttachPost.
func TestFailedAttachOfAnInterfaceThatIsUpAlready(t *testing.T) {
	m := newMachine(t, machineConfig{check: true, tunables: map[string]string{}})
	fn := m.insert(5, 1)
	base := m.holdings()
	d := &dummy{fail: map[string]error{"attach_post": syscall.EIO}}
	cancel := ifnet.OnEvent(m.k, func(ifp *ifnet.Ifnet, e ifnet.EventKind) {
		if e == ifnet.EventArrival {
			ifp.InitIf()
			d.ctx.LinkStateChange(true, 0)
			if err := ifp.Transmit(m.packet(60)); err != nil {
				t.Error(err)
			}
		}
	})
	defer cancel()
	if _, err := Attach(m.k, dummyConfig{qsets: 1, adminCnt: 1, keep: true}.driver(&d), fn, 0); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if l := d.ctx.Ledger(); l.Handed != 1 || !l.Balanced() {
		t.Errorf("ledger %v", l)
	}
	m.compare(base)
}

func TestUnitInUseIsRefused(t *testing.T) {
	m := newMachine(t, machineConfig{})
	d := m.attach(dummyConfig{}, m.insert(5, 1), 3)
	if _, err := Attach(m.k, d.ctx.drv, m.insert(5, 1), 3); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("second dm3: %v", err)
	}
}

func TestProbe(t *testing.T) {
	var d *dummy
	drv := dummyConfig{}.driver(&d)
	drv.Shared.VendorInfo = []VendorInfo{
		{Vendor: 1, Device: 2, SubVendor: 3, Name: "subvendor"},
		{Vendor: 1, Device: 2, SubDevice: 4, Revision: 5, Name: "revision"},
		{Vendor: 1, Device: 2, Name: "any"},
	}
	for _, c := range []struct {
		id   pci.Identity
		want string
	}{
		{pci.Identity{Vendor: 1, Device: 2, SubVendor: 3}, "subvendor"},
		{pci.Identity{Vendor: 1, Device: 2, SubDevice: 4, Revision: 5}, "revision"},
		{pci.Identity{Vendor: 1, Device: 2, SubDevice: 4, Revision: 6}, "any"},
		{pci.Identity{Vendor: 1, Device: 3}, ""},
		{pci.Identity{Vendor: 2, Device: 2}, ""},
	} {
		info, err := Probe(drv, c.id)
		if info.Name != c.want || (c.want == "") != errors.Is(err, syscall.ENXIO) {
			t.Errorf("%+v: %q, %v; want %q", c.id, info.Name, err, c.want)
		}
	}
	drv.Shared.ParseDevInfo = func(id *pci.Identity) { id.Device = 2 }
	if info, err := Probe(drv, pci.Identity{Vendor: 1, Device: 9}); err != nil || info.Name != "any" {
		t.Errorf("rewritten identity: %q, %v", info.Name, err)
	}
}

func TestProbeRefusesAnUnusableSharedContext(t *testing.T) {
	for i, spoil := range []func(*SharedCtx){
		func(s *SharedCtx) { s.QAlign = 0 },
		func(s *SharedCtx) { s.QAlign = 48 },
		func(s *SharedCtx) { s.QAlign = 4 << 20 },
		func(s *SharedCtx) { s.TxMaxSize = 0 },
		func(s *SharedCtx) { s.RxNSegments = 0 },
		func(s *SharedCtx) { s.TSOMaxSegSize = 0 },
		func(s *SharedCtx) { s.NTxQs = 0 },
		func(s *SharedCtx) { s.NRxQs = MaxQueuesPerSet + 1 },
		func(s *SharedCtx) { s.NFL = 0 },
		func(s *SharedCtx) { s.NFL = 2 },
		func(s *SharedCtx) { s.Flags = FlagHasRxCQ },
		func(s *SharedCtx) { s.Flags = FlagHasTxCQ },
		func(s *SharedCtx) { s.AdminIntrCnt = -1 },
		func(s *SharedCtx) { s.NTxdDefault[0] = 1000 },
		func(s *SharedCtx) { s.NTxdMin[0] = 0 },
		func(s *SharedCtx) { s.NTxdMin[0] = 8 },
		func(s *SharedCtx) { s.NRxdMin[0] = 2048 },
		func(s *SharedCtx) { s.NRxdMax[0] = 1 << 16 },
	} {
		var d *dummy
		drv := dummyConfig{}.driver(&d)
		spoil(drv.Shared)
		if _, err := Probe(drv, (&dummyHW{}).Identity()); !errors.Is(err, syscall.ENOTSUP) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := Probe(&Driver{Name: "dm"}, pci.Identity{}); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("empty driver: %v", err)
	}
}

func TestFailPointsApplyToTheNamedDevice(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{"debug.iflib.register_device": "dm1"}})
	m.failpoint("iflib.attach_pre", "return(5)")
	m.attach(dummyConfig{}, m.insert(5, 1), 0)
	var d *dummy
	if _, err := Attach(m.k, dummyConfig{}.driver(&d), m.insert(5, 1), 1); !errors.Is(err, syscall.EIO) {
		t.Errorf("dm1: %v", err)
	}
}

func TestDetachIsRefusedWhileVLANsUseTheInterface(t *testing.T) {
	m := newMachine(t, machineConfig{})
	base := m.holdings()
	d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
	d.ctx.ifp.SetTrunk(&ifnet.VLANTrunk{})
	m.lines()
	d.take()
	if err := d.ctx.Detach(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Detach: %v", err)
	}
	if diff := cmp.Diff([]string{"dm0: Vlan in use, detach first"}, m.lines()); diff != "" {
		t.Error(diff)
	}
	if calls := d.take(); calls != nil {
		t.Errorf("driver called: %q", calls)
	}
	m.text("dev.dm.0.iflib.rx_budget") // still there
	d.ctx.ifp.SetTrunk(nil)
	if err := d.ctx.Detach(); err != nil {
		t.Fatal(err)
	}
	m.compare(base)
}

// In the threaded executor the admin thread is a goroutine.
func TestDetachEndsTheAdminThread(t *testing.T) {
	m := newMachine(t, machineConfig{threads: true})
	fn := m.insert(5, 1)
	m.k.RunUntilIdle()
	before := goleak.IgnoreCurrent()
	for _, step := range append(attachSteps(), "") {
		if step != "" {
			m.failpoint("iflib."+step, "1*return(5)")
		}
		d := &dummy{fail: map[string]error{}}
		ctx, err := Attach(m.k, dummyConfig{}.driver(&d), fn, 0)
		if step == "" {
			if err != nil {
				t.Fatal(err)
			}
			d.up()
			err = ctx.Detach()
		}
		if (err == nil) != (step == "") {
			t.Errorf("step %q: %v", step, err)
		}
		goleak.VerifyNone(t, before)
	}
}

func TestConsoleLinesComeInFreeBSDsOrder(t *testing.T) {
	m := newMachine(t, machineConfig{verbose: true, tunables: map[string]string{
		"dev.dm.0.iflib.simple_tx":      "1",
		"dev.dm.0.iflib.override_ntxds": "100",
		"dev.dm.0.iflib.override_nrxds": "9000",
	}})
	m.attach(dummyConfig{adminCnt: 1, qsets: 2}, m.insert(5, 1), 0)
	var want []string
	for _, l := range []string{
		"using simple if_transmit",
		"nrxd0: 9000 greater than nrxd_max 4096 - resetting to max",
		"ntxd0: 100 less than ntxd_min 128 - resetting to min",
		"Using 128 TX descriptors and 4096 RX descriptors",
		"msix_init qsets capped at 2",
		"intr CPUs: 4 queue msgs: 4 admincnt: 1",
		"Using 2 RX queues 2 TX queues",
		"Using MSI-X interrupts with 3 vectors",
		"Ethernet address: 02:00:00:00:00:42",
	} {
		want = append(want, fmt.Sprintf("dm0: %s", l))
	}
	if diff := cmp.Diff(want, m.lines()); diff != "" {
		t.Errorf("console (-want +got):\n%s", diff)
	}
}
