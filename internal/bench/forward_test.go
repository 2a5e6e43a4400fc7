package bench

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestForwardOptionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		o    ForwardOptions
		want string
	}{
		{ForwardOptions{Queues: -1}, "queues must be 1 to 8"},
		{ForwardOptions{Queues: 9}, "queues must be 1 to 8"},
		{ForwardOptions{Size: 59}, "size must be 60 to 1514"},
		{ForwardOptions{Size: 1515}, "size must be 60 to 1514"},
		{ForwardOptions{Options: Options{Runs: -1}}, "at least one run"},
		{ForwardOptions{Options: Options{Paths: []string{"simple_tx"}, Variants: []Variant{{Env: map[string]string{"dev.igb.1.iflib.simple_tx": "1"}}}}},
			"dev.igb.1.iflib.simple_tx is set by path simple_tx"},
	} {
		if _, err := Forward(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.want)
		}
	}
	var o ForwardOptions
	if err := o.normalize(); err != nil || o.Driver != "igb" || o.Size != 60 || o.Queues < 1 || o.Queues > maxQueues {
		t.Errorf("%+v, %v", o, err)
	}
}

// forward runs a short experiment: long enough for a busy host to let every thread run.
func forward(t *testing.T, o ForwardOptions) *ForwardResult {
	t.Helper()
	o.Runs, o.Duration = 2, 50*time.Millisecond
	res, err := Forward(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Rows {
		if r.Sent == 0 || r.Sent+r.Dropped+r.Missed != r.Offered {
			t.Errorf("%s %s: sent %d + dropped %d + missed %d, offered %d", r.Path, r.Variant, r.Sent, r.Dropped, r.Missed, r.Offered)
		}
		var all uint64
		for _, n := range r.PerQueue {
			all += n
		}
		if all != r.Sent {
			t.Errorf("%s %s: the queues %d have sent %d, the NIC %d", r.Path, r.Variant, r.PerQueue, all, r.Sent)
		}
	}
	return res
}

// TestHashTypeSpreadsForwardedUDP is case 1 as the experiment shows it.
func TestHashTypeSpreadsForwardedUDP(t *testing.T) {
	const queues = 4
	res := forward(t, ForwardOptions{Queues: queues, Options: Options{Paths: []string{"mp_ring", "simple_tx"}, Variants: []Variant{
		{Name: "new"}, {Name: "legacy", Env: map[string]string{"dev.igb.0.legacy_udp_hashtype": "1"}},
	}}})
	for _, r := range res.Rows {
		want := map[string][]int{
			"mp_ring new": {0, 1, 2, 3}, "simple_tx new": {0, 1, 2, 3}, "mp_ring legacy": {0}, "simple_tx legacy": {queues - 1},
		}[r.Path+" "+r.Variant]
		var used []int
		for q, n := range r.PerQueue {
			if n > 0 {
				used = append(used, q)
			}
		}
		if !slices.Equal(used, want) {
			t.Errorf("%s %s: queues %v are used, want %v", r.Path, r.Variant, used, want)
		}
		if first := r.Variant == "new"; (r.Verdicts == nil) != first || first && *r.Ratio != 1 {
			t.Errorf("%s %s: ratio %v, verdicts %v", r.Path, r.Variant, *r.Ratio, r.Verdicts)
		}
	}
}

func TestForwardJSONHasTheDocumentedKeys(t *testing.T) {
	var buf bytes.Buffer
	if err := forward(t, ForwardOptions{Queues: 1, Size: 1342, Options: Options{Driver: "em"}}).WriteJSON(&buf); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Queues int
		Rows   []map[string]any
	}
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Queues != 1 || len(got.Rows) != len(paths) {
		t.Fatalf("%s", buf.Bytes())
	}
	want := []string{"calibration", "dropped", "missed", "ns_per_packet", "offered", "path", "pps", "ratio", "sent", "share", "tx_packets"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(got.Rows[0]))); d != "" {
		t.Error(d)
	}
}

// fixedForward is a result with round figures.
func fixedForward() *ForwardResult {
	base := ForwardRow{Path: BaselinePath, Missed: 100, PerQueue: []uint64{900, 0},
		Figures: newFigures(series{slices: []slice{{offered: 1000, sent: 900, missed: 100, pps: 1e6, share: 0.9, cpuNs: 300, cal: 2}}})}
	base.compare(base.Path, &base.Figures, base.Path)
	other := ForwardRow{Path: "simple_tx", PerQueue: []uint64{400, 600},
		Figures: newFigures(series{shared: 1, slices: []slice{{offered: 1000, sent: 1000, pps: 1.5e6, share: 1, cpuNs: 200, cal: 2}}})}
	other.compare(other.Path, &base.Figures, base.Path, MetricPPS, MetricCPU)
	return &ForwardResult{Queues: 2, Rows: []ForwardRow{base, other},
		Machine: MachineInfo{CPU: "Z80", CPUs: 2, Go: "go1", GOMAXPROCS: 6, Driver: "igb", Engine: "inline", Lock: "mutex", Runs: 1, Duration: time.Millisecond, Packet: "frames of 60 bytes"}}
}

func TestForwardTable(t *testing.T) {
	var buf bytes.Buffer
	if err := fixedForward().WriteTable(&buf); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(buf.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, w := range []string{
		"igb0 to igb1 on null ports, queues 2, inline engine, mmio 0 ns, lock mutex; frames of 60 bytes; 1 rounds of 1ms a path, in turns",
		"PATH OFFERED SENT DROPPED MISSED KPPS P25 P75 MIN MAX CPU-NS/PKT RATIO VERDICT pps / cpu TXQS CAL-NS",
		"mp_ring 1000 900 0 100 1000 1000 1000 1000 1000 300.0 1.00 - 1/2 2.00",
		"simple_tx 1000 1000 0 0 1500 1500 1500 1500 1500 200.0 1.50 undecided / undecided 2/2 2.00!1",
		"The flood and the queues outnumber the CPUs: packets a second are those of threads that take turns.",
		"!n: n slices stayed slow although they were run again: the host was shared.",
		"Only 1 rounds: too few for a verdict, which needs 9.",
	} {
		if !lines[w] {
			t.Errorf("no line %q in\n%s", w, buf.String())
		}
	}
	buf.Reset()
	if err := fixedForward().WriteBench(&buf); err != nil {
		t.Fatal(err)
	}
	if want := "BenchmarkForward/path=simple_tx-2\t1000\t200.0 ns/op\t1500000 pps\t2.00 cal-ns\n"; !strings.Contains(buf.String(), want) {
		t.Errorf("no line %q in\n%s", want, buf.String())
	}
}
