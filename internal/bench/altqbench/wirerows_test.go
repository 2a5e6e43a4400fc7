package altqbench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
)

// measured is a second of PRIQ in which hi got 330 frames and lo 495, of 1514 bytes:
// 3.997 and 5.995 Mb/s.
func measured() *measurement {
	run := &wireRun{s: &wires()[0], driver: "em"}
	m := &measurement{box: &box{run: run}}
	for i := range run.s.flows {
		m.senders = append(m.senders, &sender{flow: &run.s.flows[i]})
	}
	at := time.Unix(1, 0)
	tbr := altq.TBRStats{Profile: altq.Profile{Rate: linkRate, Depth: 6000}}
	m.mark = snapshot{count: count{before: at, after: at, flows: []uint64{100, 200}}, offered: []uint64{100, 900}, tbr: tbr}
	at = at.Add(time.Second)
	m.end = snapshot{count: count{before: at, after: at, bytes: 825 * frameSize, flows: []uint64{430, 695}}, offered: []uint64{430, 2550}, tbr: tbr}
	m.senders[0].offered.Store(500)
	m.senders[1].offered.Store(2600)
	m.final = count{frames: 1300, bytes: 1300 * frameSize, flows: []uint64{500, 800}}
	hi, lo := altq.Counter{Packets: 500, Bytes: 500 * frameSize}, altq.Counter{Packets: 800, Bytes: 800 * frameSize}
	m.account = account{xmit: 1300, bytes: 1300 * frameSize, drop: 1800, queues: map[string]altq.ClassStats{"hi": {Xmit: hi}, "lo": {Xmit: lo}}}
	m.zero = 1300
	return m
}

func TestFiguresOfAWire(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *measurement)
		want   []string // what is not ok
	}{
		{"right", func(*measurement) {}, nil},
		{"too slow", func(m *measurement) { m.end.bytes -= 30_000 }, []string{"all granted Mb/s OFF"}},
		{"a stall, which the regulator has counted", func(m *measurement) { m.end.bytes -= 30_000; m.end.tbr.Stalled = 30_000 }, nil},
		{"nothing to send is no stall", func(m *measurement) { m.end.bytes -= 30_000; m.end.tbr.Idle = 30_000 }, []string{"all granted Mb/s OFF"}},
		{"too fast", func(m *measurement) { m.end.bytes += 50_000; m.above = 42_000 },
			[]string{"all rate Mb/s OFF", "all granted Mb/s OFF", "all bytes above OFF"}},
		{"shares wrong", func(m *measurement) { m.end.flows = []uint64{400, 725} }, []string{"hi rate Mb/s OFF", "lo rate Mb/s OFF"}},
		{"a host that hardly runs", func(m *measurement) {
			m.end.flows, m.end.bytes, m.end.tbr.Stalled = []uint64{300, 300}, 300*frameSize, 800_000
		}, []string{"hi rate Mb/s skipped", "lo rate Mb/s skipped"}},
		{"a frame lost on the way", func(m *measurement) { m.final.flows[1]--; m.final.frames--; m.final.bytes -= frameSize },
			[]string{"ALTQ, peer frames differ OFF", "ALTQ, peer bytes differ OFF"}},
		{"a frame that was not offered", func(m *measurement) { m.account.drop++ }, []string{"ALTQ, peer frames differ OFF"}},
		{"classes confused", func(m *measurement) { m.final.flows = []uint64{501, 799} }, []string{"ALTQ, peer frames differ OFF"}},
		{"another queue", func(m *measurement) { m.zero--; m.others++ }, []string{"txq0 frames OFF", "other txqs frames OFF"}},
		{"a queue that was full", func(m *measurement) {
			m.account.queues["lo"] = altq.ClassStats{Xmit: m.account.queues["lo"].Xmit, Drop: altq.Counter{Packets: 3}, RED: []altq.REDStats{{DropForced: 1, DropUnforced: 1}}}
		}, []string{"lo policy drops OFF"}},
	} {
		m := measured()
		c.change(m)
		var got []string
		for _, r := range m.rows() {
			if r.Verdict != VerdictOK {
				got = append(got, fmt.Sprintf("%s %s %s", r.Class, r.Quantity, r.Verdict))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
