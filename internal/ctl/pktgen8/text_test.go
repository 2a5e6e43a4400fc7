package pktgen8

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
)

// printed is what a text prints of a run with these options.
func printed(t *testing.T, args string, do func(t *text)) (stdout, stderr string) {
	t.Helper()
	o, err := parse(strings.Fields("-i em0 " + args))
	must(t, err)
	var out, errs bytes.Buffer
	do(&text{o: o, mode: o.p.Mode, streams: tool.IO{Stdout: &out, Stderr: &errs}})
	return out.String(), errs.String()
}

// sampleRTT has 3 answers.
func sampleRTT() *client.PktgenRTT {
	var r rtts
	for _, d := range []time.Duration{900, 1100, 4200} {
		r.add(d)
	}
	return r.copy()
}

func TestReportsAreLaidOutAsPktGens(t *testing.T) {
	r := Report{Number: 3, At: 12345*time.Second + 6789*time.Microsecond, Took: 1000123 * time.Microsecond, Frames: 1_234_567, Bytes: 74_074_020, Batches: 2412}
	ping := r
	ping.RTT = sampleRTT()
	for _, c := range []struct {
		args string
		r    Report
		want string
	}{
		{"", r, "345.006789 main_thread [3] 1.234 Mpps (1.235 Mpkts 592.519 Mbps in 1000123 usec) 511.84 avg_batch\n"},
		{"-N", r, "345.006789 main_thread [3] 1234415.000 pps (1234567.000 pkts 592519280.129 bps in 1000123 usec) 511.84 avg_batch\n"},
		{"-B", r, "345.006789 main_thread [3] 1.234 Mpps (1.235 Mpkts 829.527 Mbps in 1000123 usec) 511.84 avg_batch\n"},
		{"-A", r, "345.006789 main_thread [3] 1.234 Mpps [avg/std 1.234 M/0.000  pps](1.235 Mpkts 592.519 Mbps in 1000123 usec) 511.84 avg_batch\n"},
		{"", Report{Number: 1, Took: time.Second}, "000.000000 main_thread [1] 0.000 pps (0.000 pkts 0.000 bps in 1000000 usec) 0.00 avg_batch\n"},
		{"-f ping", ping, "345.006789 main_thread [3] 1.234 Mpps (1.235 Mpkts 592.519 Mbps in 1000123 usec) 511.84 avg_batch\n" +
			"345.006789 ping_body [3] count 3 RTT: min 900 av 2066 ns\n" +
			"345.006789 ping_body [3] k: 512 .. 4096\n\t     1     1     0     1\n"},
	} {
		out, errs := printed(t, c.args, func(t *text) { t.report(c.r) })
		if d := cmp.Diff(c.want, errs); d != "" || out != "" {
			t.Errorf("%q: %q\n%s", c.args, out, d)
		}
	}
}

func TestSummariesAreLaidOutAsPktGens(t *testing.T) {
	r := Result{Frames: 1_000_000, Bytes: 60_000_000, Size: 60, Batches: 2000, Elapsed: 1500 * time.Millisecond}
	refused := r
	refused.Refused, refused.Dropped = 7, 5
	ping := Result{Frames: 4, Bytes: 240, Size: 60, Batches: 4, Elapsed: time.Second, RTT: sampleRTT()}
	ping.RTT.Lost = 1
	const speed = "Speed: 666.667 Kpps Bandwidth: 320.000 Mbps (raw 448.000 Mbps). Average batch: 500.00 pkts\n"
	for _, c := range []struct {
		args string
		r    Result
		want string
	}{
		{"-f tx", r, "Sent 1000000 packets 60000000 bytes 2000 events 60 bytes each in 1.50 seconds.\n" + speed},
		{"-f rx", r, "Received 1000000 packets 60000000 bytes 2000 events 60 bytes each in 1.50 seconds.\n" + speed},
		{"-f pong", r, "Returned 1000000 packets 60000000 bytes 2000 events 60 bytes each in 1.50 seconds.\n" + speed},
		{"-f tx", Result{}, "Sent nothing.\n"},
		{"-f rx", Result{Size: 60}, "Received nothing.\n"},
		{"-f rx", Result{Frames: 1, Bytes: 60, Size: 60, Batches: 1}, "Received 1 packets 60 bytes 1 events 60 bytes each in 0.00 seconds.\n" +
			"Speed: 1.000 Mpps Bandwidth: 480.000 Mbps (raw 672.000 Mbps). Average batch: 1.00 pkts\n"},
		{"-f tx", refused, "Sent 1000000 packets 60000000 bytes 2000 events 60 bytes each in 1.50 seconds.\n" + speed +
			"Refused by the interface 7 times.\nDropped 5 packets.\n"},
		{"-f ping", ping, "RTT over 3 packets: min 900 av 2066 ns\nk: 512 .. 4096\n\t     1     1     0     1\n1 packets were not answered.\n"},
		{"-f ping", Result{RTT: &client.PktgenRTT{}}, ""},
		{"-f ping -o json", ping, `{"__version": "1", "pktgen": {"mode":"ping","interface":"em0","frames":4,"bytes":240,"size":60,"batches":4,` +
			`"refused":0,"dropped":0,"elapsed_ns":1000000000,"pps":4,"bps":1920,"rtt":{"answers":3,"lost":1,"min_ns":900,"avg_ns":2066,"max_ns":4200,` +
			`"log2":[0,0,0,0,0,0,0,0,0,1,1,0,1]}}}` + "\n"},
	} {
		out, errs := printed(t, c.args, func(x *text) { must(t, x.summary(c.r)) })
		if d := cmp.Diff(c.want, out); d != "" || errs != "" {
			t.Errorf("%q: %q\n%s", c.args, errs, d)
		}
	}
}

func TestRatesOfTheLastReportsAreAveraged(t *testing.T) {
	_, errs := printed(t, "-A -N", func(x *text) {
		for i := range window + 3 {
			frames := uint64(100)
			if i >= 3 && i%2 == 1 {
				frames = 200
			}
			x.report(Report{Took: time.Second, Frames: frames, Batches: 1})
		}
	})
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	// 8 of the last 15 have 200.
	if got, want := lines[len(lines)-1], "[avg/std 153.333 /49.889  pps]"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheCommandRunsFromItsArguments(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	for _, c := range []struct {
		args, stdout, stderr string
		exit                 int
	}{
		{"-h", string(usageText), "", 0},
		{"", "", string(usageText), 1},
		{"-i em0 -f tx -n 100 -c 9", "", "pktgen: 9 cpus is too high, have only 2 cpus\n", 1},
		{"-i em0 -f tx -n 10 -R 1k -T 0 -c 0 -D 02:00:00:00:00:02 -v", `Sending on em0: 2 queues, 1 threads and 2 cpus.
10.0.0.1 -> 10.1.0.1 (02:00:00:00:00:01 -> 02:00:00:00:00:02)
Sent 10 packets 600 bytes 4 events 60 bytes each in 0.01 seconds.
Speed: 1.000 Kpps Bandwidth: 480.000 Kbps (raw 672.000 Kbps). Average batch: 2.50 pkts
`, "T extract_ip_range [0] range is 10.0.0.1:1234 to 10.0.0.1:1234\nT extract_ip_range [0] range is 10.1.0.1:1234 to 10.1.0.1:1234\n", 0},
		{"-i em0 -f tx -n 1 -l 9000", "", "pktgen: em0: frames of 9000 bytes: 60 to 1514 with an MTU of 1500\n", 1},
	} {
		var out, errs bytes.Buffer
		exit := r.Run(t.Context(), strings.Fields(c.args), tool.IO{Stdout: &out, Stderr: &errs})
		lines := strings.SplitAfter(errs.String(), "\n")
		for i, l := range lines {
			if stamp, rest, ok := strings.Cut(l, " extract"); ok && strings.Contains(stamp, ".") {
				lines[i] = "T extract" + rest
			}
		}
		if got := strings.Join(lines, ""); exit != c.exit || got != c.stderr || out.String() != c.stdout {
			t.Errorf("%q: %d\n%s%s", c.args, exit, out.String(), got)
		}
	}
}
