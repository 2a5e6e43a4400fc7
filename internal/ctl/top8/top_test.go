package top8

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

// bed is a machine on the manual clock with one NIC on nothing.
type bed struct {
	*machine.Machine
	t   *testing.T
	nic string
}

// boot is a bed with an igb of two queues each way.
func boot(t *testing.T) *bed {
	t.Helper()
	return bootNIC(t, "igb0", map[string]string{"hint.igb.0.port": "null", "hint.igb.0.device": "I210",
		"dev.igb.0.iflib.override_ntxqs": "2", "dev.igb.0.iflib.override_nrxqs": "2"})
}

func bootNIC(t *testing.T, nic string, env map[string]string) *bed {
	t.Helper()
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: 64 << 20, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true, Env: env,
	})
	b := &bed{m, t, nic}
	b.must(err)
	t.Cleanup(func() { b.must(m.Close()) })
	b.must(m.Up(nic))
	b.settle(time.Second)
	return b
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) settle(d time.Duration) {
	b.Kernel().RunUntilIdle()
	b.Kernel().Advance(d)
}

// send sends n frames of so many bytes.
func (b *bed) send(n, size int) {
	c := mbuf.Of(b.Kernel()).NewCache()
	defer c.Close()
	for range n {
		m := c.GetCl(mbuf.FlagPktHdr)
		m.SetLen(size)
		m.FixHdr()
		_ = b.Ifnet(b.nic).Transmit(m) // the ring may be full
		b.Kernel().RunUntilIdle()
	}
}

// run runs top; each wait is a time in which during happens.
func (b *bed) run(args string, during func(n int)) (stdout, stderr string, exit int) {
	var out, errs bytes.Buffer
	waits := 0
	streams := tool.IO{Stdout: &out, Stderr: &errs, Flush: func() { out.WriteString("--\n") }}
	streams.Wait = func(ctx context.Context, d time.Duration) error {
		if waits++; waits > 4 {
			return errors.New("interrupted")
		}
		until := b.Kernel().Uptime() + d
		if during != nil {
			during(waits)
		}
		b.Kernel().Advance(until - b.Kernel().Uptime())
		return nil
	}
	exit = Run(context.Background(), b.Machine, strings.Fields(args), streams)
	return out.String(), errs.String(), exit
}

func TestRatesAreThoseOfTheMachinesClock(t *testing.T) {
	b := boot(t)
	task := b.Kernel().NewTask("work", func() { b.Kernel().Delay(500 * time.Millisecond) })
	defer task.Close()
	task.Bind(1)
	got, stderr, exit := b.run("-b -n 2 -d 2", func(int) {
		b.send(1000, 100)
		task.Enqueue()
	})
	if stderr != "" || exit != 0 {
		t.Fatalf("%q, exit %d", stderr, exit)
	}
	_, second, _ := strings.Cut(got, "--\n")
	lines := strings.Split(second, "\n")
	const want = `
up 0+00:00:13  4 queues: 4 running; 0 interrupts/s
CPU 0:   0.0% busy, 100.0% idle
CPU 1:  25.0% busy,  75.0% idle
`
	if len(lines) < 8 {
		t.Fatalf("%s", got)
	}
	lines[1] = lines[1][:strings.LastIndex(lines[1], ";")] + "; 0 interrupts/s" // the hardware's affair
	if d := cmp.Diff(want, strings.Join(lines[:4], "\n")+"\n"); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !strings.HasPrefix(lines[4], "Mem: ") || lines[5] != "" ||
		lines[6] != "QUEUE       CPU PACKETS/s     BYTES/s DEPTH  SIZE SOFT STATE     DROPS/s  INTR/s" {
		t.Errorf("%s", second)
	}
	if !strings.HasPrefix(lines[7], "igb0 txq0     0       500       50000 ") || !strings.Contains(lines[7], " IDLE ") {
		t.Errorf("first row %q", lines[7])
	}
	for _, l := range lines[8:11] {
		if !strings.Contains(l, "         0           0 ") {
			t.Errorf("row of a queue that did nothing %q", l)
		}
	}
}

func TestQueuesThatDoMostComeFirst(t *testing.T) {
	second := uint64(1)
	now := sample{uptime: 14 * time.Second, busy: []time.Duration{3 * time.Second}, intrs: map[string]uint64{"em0:rxq0": 30, "em0:link": 10},
		queues: []queue{
			{name: "em0 txq0", packets: 100, state: "STALLED", cpu: 1, depth: 7, size: 1024, soft: 3, drops: 8},
			{name: "em0 rxq0", packets: 500 * second, bytes: 30_000, depth: 255, size: 1023, state: "down"},
			{name: "em1 rxq0", packets: 5},
		}}
	before := sample{uptime: 10 * time.Second, busy: []time.Duration{time.Second}, intrs: map[string]uint64{"em0:rxq0": 10},
		queues: []queue{{name: "em0 rxq0", packets: 100, bytes: 10_000}, {name: "em0 txq0"}, {name: "em1 rxq0", packets: 9}}}
	r := compare(&now, &before)
	var b bytes.Buffer
	if err := r.write(&b, false); err != nil {
		t.Fatal(err)
	}
	const want = `up 0+00:00:14  3 queues: 2 running; 8 interrupts/s
CPU 0:  50.0% busy,  50.0% idle
Mem: 0 packets, 0 mbufs, 0 clusters; 0 free, 0 denied

QUEUE       CPU PACKETS/s     BYTES/s DEPTH  SIZE SOFT STATE     DROPS/s  INTR/s
em0 rxq0      0       100        5000   255  1023    0 down            0       5
em0 txq0      1        25           0     7  1024    3 STALLED         2       -
em1 rxq0      0         0           0     0     0    0 -               0       -
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReportsInJSONAreALineEach(t *testing.T) {
	b := boot(t)
	got, _, exit := b.run("-b -o json -n 2", func(int) { b.send(10, 100) })
	lines := strings.Split(strings.ReplaceAll(got, "--\n", ""), "\n")
	if len(lines) != 3 || exit != 0 {
		t.Fatalf("%d lines, exit %d:\n%s", len(lines), exit, got)
	}
	var r report
	b.must(json.Unmarshal([]byte(lines[1]), &r))
	if r.Interval != 1 || len(r.CPUs) != 2 || len(r.Queues) != 4 || r.Queues[0].Name != "igb0 txq0" || r.Queues[0].Packets != 10 || r.Queues[0].Bytes != 1000 {
		t.Errorf("%+v", r)
	}
}

func TestTopEndsAfterItsReports(t *testing.T) {
	b := boot(t)
	for args, want := range map[string]int{"-b": 0, "-n 3": 2, "-bn1": 0, "": 5, "-b -n 0": 5, "-b -n 2 -I igb0": 1} {
		got, stderr, exit := b.run(args, nil)
		if n := strings.Count(got, "--\n"); n != want || exit != 0 || stderr != "" {
			t.Errorf("top %s waited %d times, want %d; exit %d, %q", args, n, want, exit, stderr)
		}
	}
}

func TestCommandLinesThatAreRefused(t *testing.T) {
	b := boot(t)
	for args, want := range map[string]string{
		"x":         string(usageText),
		"-z":        "top: illegal option -- z\n" + string(usageText),
		"-d 0":      "top: bad delay: 0\n",
		"-d NaN":    "top: bad delay: NaN\n",
		"-d 0.0001": "top: bad delay: 0.0001\n",
		"-n -1":     "top: bad count: -1\n",
		"-I em7":    "top: em7: no such device is attached\n",
	} {
		if got, stderr, exit := b.run(args, nil); got != "" || exit != 1 || stderr != want {
			t.Errorf("top %s: %q, %q, exit %d", args, got, stderr, exit)
		}
	}
}
