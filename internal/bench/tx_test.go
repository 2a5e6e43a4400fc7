package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/machine"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOptionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    TxOptions
		want string
	}{
		{"no producers", TxOptions{Producers: []int{0}}, "producers must be"},
		{"too many producers", TxOptions{Producers: []int{1, 65}}, "producers must be"},
		{"negative runs", TxOptions{Options: Options{Runs: -1}}, "at least one run"},
		{"no time", TxOptions{Options: Options{Duration: time.Microsecond}}, "at least one run"},
		{"negative cost", TxOptions{Options: Options{MMIONs: -1}}, "negative"},
		{"unknown path", TxOptions{Options: Options{Paths: []string{"drbr"}}}, `unknown path "drbr"`},
		{"unknown behaviour", TxOptions{OnDrop: []OnDrop{"cry"}}, `"cry"`},
	} {
		if err := tt.o.normalize(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestDefaultsCoverTheMachine(t *testing.T) {
	var o TxOptions
	if err := o.normalize(); err != nil {
		t.Fatal(err)
	}
	if o.Producers[0] != 1 || o.Producers[len(o.Producers)-1] > runtime.NumCPU() {
		t.Errorf("producers %v on %d CPUs", o.Producers, runtime.NumCPU())
	}
	if o.Runs < MinRuns || !slices.Equal(o.OnDrop, []OnDrop{DropPacket, RetryPacket}) {
		t.Errorf("%d runs, %v", o.Runs, o.OnDrop)
	}
	over := TxOptions{Oversubscribe: true, Producers: []int{2, 8}}
	if err := over.normalize(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2, 8, 16}, over.Producers); d != "" {
		t.Error(d)
	}
}

func TestTheBaselineIsAlwaysRun(t *testing.T) {
	o := Options{Paths: []string{"simple_tx"}}
	ps, err := o.paths()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range ps {
		names = append(names, p.Name)
	}
	if d := cmp.Diff([]string{BaselinePath, "simple_tx"}, names); d != "" {
		t.Error(d)
	}
}

func TestPathsAreChosenByTunables(t *testing.T) {
	o := Options{Driver: "em", Engine: "thread", MMIONs: 100, Lock: "spin"}
	env := o.env(arm{path: paths[3]}, 1, 1)
	for name, want := range map[string]string{
		"dev.em.0.iflib.simple_tx": "1", "net.iflib.max_producers": "0", "hint.em.0.engine": "thread",
		"hint.em.0.mmio_ns": "100", "hw.ifsim.lock": "spin", "hint.em.0.port": "null",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
}

func TestVariantsAreComparedWithinAPath(t *testing.T) {
	two := []Variant{{Name: "a"}, {Name: "b"}}
	names := func(o Options) (names []string) {
		arms, err := o.arms()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arms {
			names = append(names, a.path.Name+" "+a.variant.Name)
		}
		return names
	}
	for _, c := range []struct {
		paths []string
		want  []string
	}{
		{nil, []string{" a", " b"}},
		{[]string{"simple_tx"}, []string{"simple_tx a", "simple_tx b"}},
		{[]string{"simple_tx", "mp_ring"}, []string{"mp_ring a", "mp_ring b", "simple_tx a", "simple_tx b"}},
	} {
		if d := cmp.Diff(c.want, names(Options{Paths: c.paths, Variants: two})); d != "" {
			t.Errorf("%q:\n%s", c.paths, d)
		}
	}
	o := Options{Driver: "em", Variants: []Variant{{Name: "x", Env: map[string]string{"dev.em.0.iflib.override_ntxqs": "2", "a": "b"}}}}
	arms, err := o.arms()
	if err != nil {
		t.Fatal(err)
	}
	env := o.env(arms[0], 1, 1)
	if env["dev.em.0.iflib.override_ntxqs"] != "2" || env["a"] != "b" || env["hint.em.0.port"] != "null" {
		t.Errorf("%v", env)
	}
	if _, ok := env["dev.em.0.iflib.simple_tx"]; ok {
		t.Error("without a path a path is chosen")
	}
}

func TestAVariantThatSetsThePathHasNone(t *testing.T) {
	o := TxOptions{Options: Options{Paths: []string{"simple_tx"}, Variants: []Variant{{Name: "1", Env: map[string]string{"dev.em.0.iflib.simple_tx": "1"}}}}}
	if _, err := Tx(o); err == nil || err.Error() != "dev.em.0.iflib.simple_tx is set by path simple_tx" {
		t.Errorf("%v", err)
	}
}

func TestVariantsThatAreNotReadyEndTheRun(t *testing.T) {
	bad := errors.New("bad value")
	measured := false
	o := TxOptions{Options: Options{
		Runs: 1, Duration: minDuration, Progress: func(int, int) { measured = true },
		Variants: []Variant{{Name: "a"}, {Name: "b", Ready: func(m *machine.Machine) error {
			if m.Ifnet("em0") == nil {
				t.Error("no em0")
			}
			return bad
		}}},
	}}
	if _, err := Tx(o); !errors.Is(err, bad) || measured {
		t.Errorf("%v, measured %v", err, measured)
	}
}

func TestSlicesThatSendNothingEndTheRun(t *testing.T) {
	_, err := Tx(TxOptions{Producers: []int{1}, OnDrop: []OnDrop{RetryPacket}, Options: Options{
		Runs: 1, Duration: minDuration, Paths: []string{"mp_ring"},
		Variants: []Variant{{Name: "a", Ready: func(m *machine.Machine) error {
			return m.Kernel().Sysctl.SetText("debug.fail_point.mbuf.get", "return(1)")
		}}},
	}})
	if want := "a: nothing was sent in 10 slices of 1ms"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRowsOfVariantsCompareWithTheFirst(t *testing.T) {
	res, err := Tx(TxOptions{Producers: []int{1}, OnDrop: []OnDrop{RetryPacket}, Options: Options{
		Runs: 2, Duration: minDuration, Paths: []string{"mp_ring", "simple_tx"}, Variants: []Variant{{Name: "a"}, {Name: "b"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range res.Rows {
		if want := []string{"a", "b"}[i%2]; r.Variant != want || len(res.Rows) != 4 {
			t.Errorf("row %d of %d is %s, want %s", i, len(res.Rows), r.Variant, want)
		}
		if first := i%2 == 0; (r.Verdicts == nil) != first || first && *r.Ratio != 1 {
			t.Errorf("row %d: ratio %v, verdicts %v", i, *r.Ratio, r.Verdicts)
		}
		if pps := r.Samples(MetricPPS); len(pps) != 2 || r.Samples("love") != nil {
			t.Errorf("row %d: samples %v", i, pps)
		}
	}
}

// shortRun is a real experiment, too short for its figures to mean anything.
func shortRun(t *testing.T) *TxResult {
	t.Helper()
	done := 0
	res, err := Tx(TxOptions{Producers: []int{1, 2}, Options: Options{
		Runs: 2, Duration: 2 * time.Millisecond,
		Progress: func(n, total int) {
			if done++; n != done || total != 2*2*len(paths)*2 {
				t.Errorf("progress %d of %d at call %d", n, total, done)
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestEveryRowBalances(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	res := shortRun(t)
	if len(res.Rows) != 2*2*len(paths) {
		t.Fatalf("%d rows", len(res.Rows))
	}
	for _, r := range res.Rows {
		if r.Sent == 0 || r.Sent+r.Dropped != r.Offered {
			t.Errorf("%s, %d producers, %s: sent %d + dropped %d, offered %d", r.Path, r.Producers, r.OnDrop, r.Sent, r.Dropped, r.Offered)
		}
		if r.OnDrop == RetryPacket && r.Dropped != 0 {
			t.Errorf("%s, %d producers: the closed loop dropped %d", r.Path, r.Producers, r.Dropped)
		}
		if strings.HasPrefix(r.Path, "simple") && r.Dropped != 0 {
			t.Errorf("%s, %d producers, %s: dropped %d", r.Path, r.Producers, r.OnDrop, r.Dropped)
		}
		if over := r.Producers > runtime.NumCPU(); r.Oversubscribed != over || (r.Ratio == nil) != over {
			t.Errorf("%s, %d producers: oversubscribed %v, ratio %v", r.Path, r.Producers, r.Oversubscribed, r.Ratio)
		}
	}
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("GOMAXPROCS is left at %d, was %d", got, procs)
	}
}

func TestJSONHasTheDocumentedKeys(t *testing.T) {
	var buf bytes.Buffer
	if err := shortRun(t).WriteJSON(&buf); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine map[string]any
		Rows    []map[string]any
	}
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Machine) == 0 || len(got.Rows) == 0 {
		t.Fatalf("no machine or no rows: %s", buf.Bytes())
	}
	for _, key := range []string{"path", "producers", "on_drop", "pps", "offered", "sent", "dropped", "ns_per_packet", "calibration"} {
		if _, ok := got.Rows[0][key]; !ok {
			t.Errorf("no %q in %v", key, slices.Sorted(maps.Keys(got.Rows[0])))
		}
	}
	pps, _ := got.Rows[0]["pps"].(map[string]any)
	if d := cmp.Diff([]string{"max", "median", "min", "p25", "p75"}, slices.Sorted(maps.Keys(pps))); d != "" {
		t.Error(d)
	}
	if _, ok := got.Rows[1]["verdict"]; !ok {
		t.Error("no verdict on a path that is not the baseline")
	}
}

// fixed is a result with round figures.
func fixed() *TxResult {
	base := TxRow{Path: BaselinePath, Producers: 1, OnDrop: DropPacket, Figures: newFigures(series{slices: []slice{{offered: 1000, sent: 900, dropped: 100, pps: 2e6, share: 0.9, cpuNs: 300, cal: 2}}})}
	base.compare(base.Path, &base.Figures, base.Path)
	other := TxRow{Path: "simple_tx", Producers: 1, OnDrop: DropPacket, Figures: newFigures(series{slices: []slice{{offered: 1000, sent: 1000, pps: 3e6, share: 1, cpuNs: 200, cal: 2, crossing: 40}}})}
	other.compare(other.Path, &base.Figures, base.Path, MetricPPS, MetricShare, MetricCPU)
	return &TxResult{
		Machine: MachineInfo{CPU: "Z80", CPUs: 1, Go: "go1", GOMAXPROCS: 6, Driver: "em", Engine: "inline", Lock: "mutex", Runs: 1, Duration: time.Millisecond, Packet: "1342 bytes"},
		Rows:    []TxRow{base, other},
	}
}

func TestTable(t *testing.T) {
	var buf bytes.Buffer
	if err := fixed().WriteTable(&buf); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Z80, 1 CPUs, go1, GOMAXPROCS 6",
		"em on a null port, inline engine, mmio 0 ns, lock mutex; 1342 bytes; 1 rounds of 1ms a path, in turns",
		"PRODUCERS ON-DROP PATH OFFERED SENT DROPPED KPPS P25 P75 MIN MAX SENT% CPU-NS/PKT RATIO VERDICT pps / sent / cpu CAL-NS LINE-NS",
		"1 drop mp_ring 1000 900 100 2000 2000 2000 2000 2000 90.0 300.0 1.00 - 2.00 -",
		"1 drop simple_tx 1000 1000 0 3000 3000 3000 3000 3000 100.0 200.0 1.50 undecided / undecided / undecided 2.00 40",
		"Only 1 rounds: too few for a verdict, which needs 9.",
	}
	lines := map[string]bool{}
	for line := range strings.Lines(buf.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, w := range want {
		if !lines[w] {
			t.Errorf("no line %q in\n%s", w, buf.String())
		}
	}
}

func TestBenchFormat(t *testing.T) {
	var buf bytes.Buffer
	if err := fixed().WriteBench(&buf); err != nil {
		t.Fatal(err)
	}
	want := "BenchmarkTx/path=simple_tx/producers=1/on-drop=drop-1\t1000\t200.0 ns/op\t3000000 pps\t1.0000 sent/offered\t2.00 cal-ns\n"
	if !strings.Contains(buf.String(), want) {
		t.Errorf("no line %q in\n%s", want, buf.String())
	}
}
