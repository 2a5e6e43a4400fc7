package vmstat8

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// fakeMachine has interrupts that go up with its time.
type fakeMachine struct {
	now        time.Duration
	interrupts []pci.Interrupt
	waits      []time.Duration
	last       int // wait that fails
}

// sample has the numbers of spec ifnet 12.5.
func sample() *fakeMachine {
	return &fakeMachine{now: 1234567 * time.Millisecond, last: 5, interrupts: []pci.Interrupt{
		{IRQ: 24}, {IRQ: 130, Handlers: []string{"ix0:rxq0"}, Count: 987654}, {IRQ: 138, Handlers: []string{"ix0:aq"}, Count: 12},
	}}
}

func (m *fakeMachine) wait(_ context.Context, d time.Duration) error {
	m.waits = append(m.waits, d)
	m.now += d
	m.interrupts[1].Count += 501
	if len(m.waits) == m.last {
		return errors.New("interrupted")
	}
	return nil
}

// run prints the reports of a command line, each behind a "--" of its own.
func (m *fakeMachine) run(t *testing.T, args string) string {
	t.Helper()
	o, err := parse(strings.Fields(args))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r := report{o: o, uptime: func() time.Duration { return m.now }, interrupts: func() []pci.Interrupt {
		return append([]pci.Interrupt(nil), m.interrupts...)
	}}
	if err := r.run(context.Background(), tool.IO{Stdout: &b, Wait: m.wait, Flush: func() { b.WriteString("--\n") }}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInterruptsAreLaidOutAsFreeBSDDoes(t *testing.T) {
	for args, want := range map[string]string{
		"-i": `interrupt                          total       rate
irq130: ix0:rxq0                  987654        800
irq138: ix0:aq                        12          0
Total                             987666        800
`,
		"-ia": `interrupt                          total       rate
irq24:                                 0          0
stray irq24                            0          0
irq130: ix0:rxq0                  987654        800
stray irq130                           0          0
irq138: ix0:aq                        12          0
stray irq138                           0          0
Total                             987666        800
`,
		"-i -w 0.5 -c 3": `interrupt                          total       rate
irq130: ix0:rxq0                  987654        800
irq138: ix0:aq                        12          0
Total                             987666        800
--
irq130: ix0:rxq0                     501       1002
irq138: ix0:aq                         0          0
Total                                501       1002
--
irq130: ix0:rxq0                     501       1002
irq138: ix0:aq                         0          0
Total                                501       1002
`,
	} {
		if d := cmp.Diff(want, sample().run(t, args)); d != "" {
			t.Errorf("vmstat %s (-want +got):\n%s", args, d)
		}
	}
}

func TestReportsAsJSON(t *testing.T) {
	const want = `{"__version": "1", "vmstat": {"interrupt-statistics": {"interrupt": [{"name":"irq130: ix0:rxq0","total":987654,"rate":800}, {"name":"irq138: ix0:aq","total":12,"rate":0}],` +
		`"total-interrupts":987666,"total-rate":800}}}` + "\n--\n" +
		`{"__version": "1", "vmstat": {"interrupt-statistics": {"interrupt": [{"name":"irq130: ix0:rxq0","total":501,"rate":1002}, {"name":"irq138: ix0:aq","total":0,"rate":0}],` +
		`"total-interrupts":501,"total-rate":1002}}}` + "\n"
	if d := cmp.Diff(want, sample().run(t, "-i -w 0.5 -c 2 -o json")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestZonesAsJSON(t *testing.T) {
	o, err := parse([]string{"-z", "--libxo:JP"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := o.showZones(&b, []mbuf.ZoneStats{{Name: "mbuf_cluster", Size: 2048, Limit: 524288, Used: 1530, Free: 6, Requests: 1530, Denied: 7}}); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "__version": "1", 
  "vmstat": {
    "memory-zone-statistics": {
      "zone": [
        {
          "name": "mbuf_cluster",
          "size": 2048,
          "limit": 524288,
          "used": 1530,
          "free": 6,
          "requests": 1530,
          "fail": 7,
          "sleep": 0,
          "xdomain": 0
        }
      ]
    }
  }
}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReportsGoOnUntilTheWaitEnds(t *testing.T) {
	for args, want := range map[string]int{"-i 2": 5, "-i 2 3": 2, "-ic4": 3, "-ic1": 0, "-iw1": 5} {
		m := sample()
		m.run(t, args)
		if len(m.waits) != want {
			t.Errorf("vmstat %s waited %v, want %d times", args, m.waits, want)
		}
	}
}

func TestNamesFitIntoWhatTheKernelHasForThem(t *testing.T) {
	for want, handlers := range map[string][]string{
		"irq24:":              nil,
		"irq24: igb0:rxq0":    {"igb0:rxq0"},
		"irq24: ixl0:rxq1234": {"ixl0:rxq1234"},
		"irq24:-xl0:rxq12345": {"ixl0:rxq12345"},
		"irq24: a:b c:d e:f":  {"a:b", "c:d", "e:f"},
		"irq24: em0:irq0+":    {"em0:irq0", "em1:irq0"},
		"irq24: em0:irq0++":   {"em0:irq0", "em1:irq0", "em2:irq0"},
		"irq24: em0:irq0+++*": {"em0:irq0", "em1:irq0", "em2:irq0", "em3:irq0", "em4:irq0"},
	} {
		if got := fullName(pci.Interrupt{IRQ: 24, Handlers: handlers}); got != want {
			t.Errorf("%q: %q, want %q", handlers, got, want)
		}
	}
}

func TestZonesAreLaidOutAsFreeBSDDoes(t *testing.T) {
	const want = `ITEM                   SIZE   LIMIT     USED     FREE      REQ FAIL SLEEP XDOM
mbuf_packet:            256,3355443,    1024,     506,    1530,   0,   0,   0
mbuf_cluster:          2048, 524288,    1530,       6,    1530,   7,   0,   0
a_zone_with_a_very_long_name: 16,      0,       0,       0,       0,   0,   0,   0
`
	var b bytes.Buffer
	err := writeZones(&b, []mbuf.ZoneStats{
		{Name: "mbuf_packet", Size: 256, Limit: 3355443, Used: 1024, Free: 506, Requests: 1530},
		{Name: "mbuf_cluster", Size: 2048, Limit: 524288, Used: 1530, Free: 6, Requests: 1530, Denied: 7},
		{Name: "a_zone_with_a_very_long_name", Size: 16},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Replace(want, ": 16", ":16", 1), b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args string
		want options
		err  string
	}{
		{"-z", options{zones: true, wait: time.Second}, ""},
		{"-aizc2", options{interrupts: true, zones: true, all: true, wait: time.Second, count: 2}, ""},
		{"-i -w 0.25", options{interrupts: true, wait: 250 * time.Millisecond, count: -1}, ""},
		{"-i 3 4", options{interrupts: true, wait: 3 * time.Second, count: 4}, ""},
		{"-i -o json", options{interrupts: true, wait: time.Second, format: tool.Format{JSON: true}}, ""},
		{"-i --libxo xml", options{}, "--libxo xml: not available"},
		{"", options{}, string(usageText)},
		{"1", options{}, string(usageText)},
		{"-i 1 2 3", options{}, string(usageText)},
		{"-m", options{}, "vmstat: illegal option -- m\n" + string(usageText)},
		{"-i -w x", options{}, "bad wait: x"},
		{"-i -w NaN", options{}, "bad wait: NaN"},
		{"-i -c -1", options{}, "bad count: -1"},
	} {
		o, err := parse(strings.Fields(c.args))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != c.err || err == nil && o != c.want {
			t.Errorf("vmstat %s: %+v, %q", c.args, o, text)
		}
	}
}
