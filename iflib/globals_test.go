package iflib

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/sysctl"
)

func TestGlobalSysctls(t *testing.T) {
	m := newCtlMachine(t, false)
	// Reverse order of registration, as sysctl(8) lists them.
	want := []string{
		"simple_txbr_size: 256",
		"simple_drain_quota: 256",
		"max_producers: -1",
		"prefer_mpring: 1",
		"tx_watchdog_periods: 4",
		"no_tx_batch: 0",
		"min_tx_latency: 0",
		"timer_default: 500",
	}
	if diff := cmp.Diff(want, m.list(t, "net.iflib")); diff != "" {
		t.Errorf("net.iflib (-want +got):\n%s", diff)
	}
	checkOIDs(t, m, "net.iflib.", []oidWant{
		{"timer_default", sysctl.KindInt, sysctl.RW},
		{"min_tx_latency", sysctl.KindInt, sysctl.RW},
		{"no_tx_batch", sysctl.KindInt, sysctl.RW},
		{"tx_watchdog_periods", sysctl.KindInt, sysctl.RWTUN},
		{"prefer_mpring", sysctl.KindInt, sysctl.RDTUN},
		{"max_producers", sysctl.KindInt, sysctl.RWTUN},
		{"simple_drain_quota", sysctl.KindInt, sysctl.RWTUN},
		{"simple_txbr_size", sysctl.KindInt, sysctl.RDTUN},
	})
}

// oidWant is what an OID is registered as.
type oidWant struct {
	name  string
	kind  sysctl.Kind
	flags sysctl.Flag // of RW and TUN
}

func checkOIDs(t *testing.T, m *ctlMachine, prefix string, want []oidWant) {
	t.Helper()
	for _, w := range want {
		o, err := m.k.Sysctl.Lookup(prefix + w.name)
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		if got := o.Flags() & (sysctl.RW | sysctl.TUN); got != w.flags || o.Kind() != w.kind {
			t.Errorf("%s: %v flags %#x, want %v %#x", w.name, o.Kind(), got, w.kind, w.flags)
		}
		if o.Descr() == "" {
			t.Errorf("%s has no description", w.name)
		}
	}
}

func TestGlobalTunables(t *testing.T) {
	m := newCtlMachine(t, false, "net.iflib.prefer_mpring=0", "net.iflib.max_producers=3", "net.iflib.simple_drain_quota=8",
		"net.iflib.simple_txbr_size=64", "net.iflib.tx_watchdog_periods=0", "net.iflib.timer_default=7")
	g := m.g
	got := []int32{g.preferMPRing.Load(), g.maxProducers.Load(), g.simpleDrainQuota.Load(), g.simpleTxbrSize.Load(),
		g.txWatchdogPeriods.Load(), g.timerDefault.Load()}
	// timer_default is no tunable.
	if diff := cmp.Diff([]int32{0, 3, 8, 64, 0, 500}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := m.takeConsole(); s != "" {
		t.Errorf("console: %s", s)
	}
}

func TestSimpleTxbrSizeMustBeAPowerOfTwo(t *testing.T) {
	for _, tt := range []struct {
		set  string
		want int32
		text string
	}{
		{"2", 2, ""}, {"1048576", 1 << 20, ""},
		{"100", 256, "100 is not a power of 2 from 2 to 1048576 - using default value of 256"},
		{"1", 256, "1 is not"}, {"0", 256, "0 is not"}, {"-4", 256, "-4 is not"}, {"2097152", 256, "2097152 is not"},
	} {
		m := newCtlMachine(t, false, "net.iflib.simple_txbr_size="+tt.set)
		if got := m.g.simpleTxbrSize.Load(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.set, got, tt.want)
		}
		if got := m.takeConsole(); tt.text == "" && got != "" ||
			tt.text != "" && !strings.HasPrefix(got, "net.iflib.simple_txbr_size: "+tt.text) {
			t.Errorf("%s: console %q", tt.set, got)
		}
	}
}

func TestDrainQuotaIsAtLeastOne(t *testing.T) {
	m := newCtlMachine(t, false)
	for _, tt := range []struct {
		set  string
		err  error
		want string
	}{{"1", nil, "1"}, {"0", syscall.EINVAL, "1"}, {"-1", syscall.EINVAL, "1"}, {"2147483647", nil, "2147483647"}} {
		if err := m.k.Sysctl.SetText("net.iflib.simple_drain_quota", tt.set); !errors.Is(err, tt.err) {
			t.Errorf("writing %s: %v, want %v", tt.set, err, tt.err)
		}
		if got := m.text(t, "net.iflib.simple_drain_quota"); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.set, got, tt.want)
		}
	}
}

func TestDebugCountersOnlyInCheckingMode(t *testing.T) {
	if m := newCtlMachine(t, false); m.g.dbg != nil {
		t.Error("debug counters without Invariants")
	} else {
		m.g.dbg.reset()
	}
	m := newCtlMachine(t, true)
	names := []string{"tx_seen", "tx_sent", "tx_encap", "tx_frees", "rx_allocs", "fl_refills", "fl_refills_large",
		"txq_drain_flushing", "txq_drain_oactive", "txq_drain_notready", "encap_load_mbuf_fail", "encap_pad_mbuf_fail",
		"encap_txq_avail_fail", "encap_txd_encap_fail", "task_fn_rx", "rx_intr_enables", "fast_intrs", "rx_unavail",
		"rx_ctx_inactive", "rx_if_input", "rxd_flush"}
	table := m.g.dbg.table()
	if len(table) != len(names) {
		t.Fatalf("%d counters, want %d", len(table), len(names))
	}
	for i, e := range table {
		if e.name != names[i] {
			t.Errorf("counter %d is %s, want %s", i, e.name, names[i])
		}
		(*e.c).Add(uint64(i + 1))
	}
	for i, name := range names {
		if got, want := m.text(t, "net.iflib."+name), strconv.Itoa(i+1); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := m.k.Sysctl.SetText("net.iflib."+name, "0"); !errors.Is(err, syscall.EPERM) {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	m.g.dbg.reset()
	for _, name := range names {
		if got := m.text(t, "net.iflib."+name); got != "0" {
			t.Errorf("%s after reset: %s", name, got)
		}
	}
	checkOIDs(t, m, "net.iflib.", []oidWant{
		{"verbose_debug", sysctl.KindInt, sysctl.RW},
		{"tx_seen", sysctl.KindInt, sysctl.RD},
		{"rxd_flush", sysctl.KindInt, sysctl.RD},
	})
}
