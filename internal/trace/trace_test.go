package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ifsim/ifsim/internal/trace"
)

// probes are the names of a trace's points in order, without the device.
func probes(r *trace.Result) (out []string) {
	for _, s := range r.Steps {
		out = append(out, strings.ReplaceAll(s.Probe, ":em0:", ":"))
	}
	return out
}

// common are the steps of one packet from encap to the interrupt, apart from what the
// paths do each in their own way.
var (
	encap = []string{
		"iflib:encap", "iflib:dma-segment", "iflib:dma-segment", "iflib:report-check",
		"em:txd-write", "em:txd-write", "iflib:txd-encap",
	}
	ring = []string{
		"iflib:txd-db-check", "iflib:txd-flush", "emhw:reg-write",
	}
	transfer = []string{
		"emhw:desc-fetch", "emhw:desc-fetch", "emhw:gather", "hw:port-send",
		"emhw:write-back", "emhw:head", "emhw:tx-delay",
	}
	interrupt = []string{"emhw:cause", "emhw:msix-vector", "emhw:reg-write", "iflib:intr-filter", "emhw:reg-write"}
)

func TestEveryStepIsExplainedOnEveryDriver(t *testing.T) {
	for _, driver := range []string{"em", "igb", "igc"} {
		for path, mpring := range paths {
			res, err := trace.Run(trace.Config{
				Files: fstest.MapFS{"boot/device.hints": {Data: fmt.Appendf(nil, "hint.%s.0.port=\"null\"\n", driver)}},
				Env:   map[string]string{"net.iflib.prefer_mpring": mpring}, Packets: 2,
			})
			if err != nil {
				t.Fatalf("%s, %s: %v", driver, path, err)
			}
			if len(res.Steps) == 0 {
				t.Errorf("%s, %s: no steps", driver, path)
			}
			for _, s := range res.Steps {
				if s.Text == "" {
					t.Errorf("%s, %s: %s is not explained", driver, path, s.Probe)
				}
			}
		}
	}
}

func TestEveryStepOfAPacketShowsInOrder(t *testing.T) {
	for path, want := range map[string][]string{
		"mp_ring": slices.Concat(
			[]string{"iflib:if-transmit", "iflib:txq-select", "mpring:reserve", "mpring:publish", "mpring:drain", "iflib:tx-reclaim-none"},
			ring, encap, ring, transfer, ring, []string{"mpring:settle"}, interrupt, []string{"iflib:tx-task", "emhw:reg-write"}),
		"simple_tx": slices.Concat(
			[]string{"iflib:if-transmit", "iflib:txq-select", "iflib:mtx-acquire"},
			encap, ring, transfer, []string{"iflib:credits-update", "iflib:tx-reclaim-none", "iflib:mtx-release"},
			interrupt, []string{"emhw:reg-write"}),
	} {
		t.Run(path, func(t *testing.T) {
			if diff := cmp.Diff(want, probes(run(t, path, 1))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDisciplineShowsBeforeIflib(t *testing.T) {
	res, err := trace.Run(trace.Config{Packets: 2, Files: fstest.MapFS{
		"boot/device.hints": {Data: []byte("hint.em.0.port=\"null\"\n")},
		"etc/rc.conf":       {Data: []byte("pf_enable=YES\n")},
		"etc/pf.conf":       {Data: []byte("altq on em0 priq bandwidth 1Mb tbrsize 1500 queue std\nqueue std priq(default)\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := probes(res)
	if want := []string{"altq:enqueue", "altq:dequeue", "iflib:if-transmit"}; !slices.Equal(got[:3], want) {
		t.Errorf("begins with %q, want %q", got[:3], want)
	}
	texts := make(map[string]string)
	for _, s := range res.Steps {
		if strings.HasPrefix(s.Probe, "altq:") && s.Who != "altq" {
			t.Errorf("%s is %s's", s.Probe, s.Who)
		}
		if texts[s.Probe] == "" {
			texts[s.Probe] = s.Text
		}
	}
	for name, want := range map[string]string{
		"altq:em0:enqueue": "ALTQ is enabled on the interface: priq takes the packet of 1342 bytes and holds 1 packet now. Which queue of it a rule of pf.conf has said.",
		"altq:em0:dequeue": "priq gives a packet of 1342 bytes, which goes on to the mp_ring of queue 0, and holds 0 packets now. The token bucket has 158 bytes left.",
	} {
		if texts[name] != want {
			t.Errorf("%s: %q, want %q", name, texts[name], want)
		}
	}
}

// TestChangesAddUp replays what the steps say has changed and compares with what the
// queue published, over a ring that wraps.
func TestChangesAddUp(t *testing.T) {
	for path := range paths {
		t.Run(path, func(t *testing.T) {
			r := run(t, path, 100, "dev.em.0.iflib.override_ntxds", "128")
			state := map[string]string{}
			wraps := 0
			for _, s := range r.Steps {
				for _, c := range s.Changes {
					key := c.Name
					if s.Queue != nil {
						key = strconv.Itoa(*s.Queue) + " " + key
					}
					if old, known := state[key]; known && old != c.Old && strings.Contains(key, "ift_") {
						t.Fatalf("step %d: %s was %s, is said to have been %s", s.Number, key, old, c.Old)
					}
					state[key] = c.New
					if strings.HasSuffix(key, "ift_pidx") && c.New == "0" {
						wraps++
					}
				}
			}
			if wraps != 1 {
				t.Errorf("ift_pidx came to 0 %d times, want once", wraps)
			}
			for _, q := range r.After {
				for name, v := range map[string]uint64{
					"ift_pidx": uint64(q.Pidx), "ift_cidx": uint64(q.Cidx), "ift_in_use": uint64(q.InUse),
					"ift_processed": q.Processed, "ift_cleaned": q.Cleaned,
				} {
					if got, ok := state[strconv.Itoa(q.ID)+" "+name]; ok && got != strconv.FormatUint(v, 10) {
						t.Errorf("queue %d: the steps end with %s %s, the queue has %d", q.ID, name, got, v)
					} else if !ok && v != 0 {
						t.Errorf("queue %d: no step changed %s, which is %d", q.ID, name, v)
					}
				}
			}
		})
	}
}

func TestSameMachineGivesTheSameText(t *testing.T) {
	for path := range paths {
		if diff := cmp.Diff(text(t, run(t, path, 3)), text(t, run(t, path, 3))); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestSummaryTellsWhatIsHeldAndWhy(t *testing.T) {
	for path, want := range map[string][]string{
		"mp_ring":   {"ift_in_use 42, ift_processed 58", "2 descriptors are not credited", "exceeds the last 40 completed"},
		"simple_tx": {"ift_in_use 40, ift_processed 60", "40 descriptors are done and kept", "took 30 frames"},
	} {
		got := strings.Join(run(t, path, 30).Summary, "\n")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", path, w, got)
			}
		}
	}
}

func TestAbdicatingSenderLeavesThePacketToTheTask(t *testing.T) {
	r := run(t, "mp_ring", 1, "dev.em.0.iflib.tx_abdicate", "1")
	steps := probes(r)
	publish, task, drain := slices.Index(steps, "mpring:publish"), slices.Index(steps, "iflib:tx-task"), slices.Index(steps, "mpring:drain")
	if publish < 0 || !(publish < task && task < drain) {
		t.Fatalf("publish, task, drain at steps %d, %d, %d of %v", publish, task, drain, steps)
	}
	want := trace.Change{Name: "mp_ring state", Old: "IDLE", New: "ABDICATED"}
	if !slices.Contains(r.Steps[publish].Changes, want) {
		t.Errorf("publish changed %v", r.Steps[publish].Changes)
	}
}

func TestJSONHoldsTheWholeTrace(t *testing.T) {
	r := run(t, "mp_ring", 2)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back trace.Result
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*r, back, cmpopts.IgnoreUnexported(trace.Result{})); diff != "" {
		t.Error(diff)
	}
}

func TestPerfettoHasEveryStep(t *testing.T) {
	r := run(t, "simple_tx", 1)
	var b bytes.Buffer
	if err := r.WritePerfetto(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct{ Ph string }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range got.TraceEvents {
		if e.Ph == "i" {
			n++
		}
	}
	if n != len(r.Steps) {
		t.Errorf("%d instants for %d steps", n, len(r.Steps))
	}
}

func TestWhatCannotBeTraced(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  trace.Config
		want error
	}{
		"no machine":        {trace.Config{}, syscall.ENXIO},
		"no such interface": {trace.Config{Files: nic, Iface: "em7"}, syscall.ENXIO},
		"no link":           {trace.Config{Files: nic, Env: map[string]string{"hint.em.0.port": "pair:alone"}}, syscall.ENETDOWN},
		"too small":         {trace.Config{Files: nic, Size: 42}, syscall.EINVAL},
		"too large":         {trace.Config{Files: nic, Size: 42 + 2049}, syscall.EINVAL},
	} {
		if _, err := trace.Run(c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestSizesFromTheSmallestToTheLargest(t *testing.T) {
	for _, size := range []int{43, 60, 1514} {
		r, err := trace.Run(trace.Config{Files: nic, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.Index(probes(r), "hw:port-send")
		if i < 0 || r.Steps[i].Args["len"] != uint64(max(size, 60)) {
			t.Errorf("%d bytes: sent %v", size, r.Steps[max(i, 0)].Args)
		}
	}
}
