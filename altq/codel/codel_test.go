package codel_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/codel"
	"github.com/ifsim/ifsim/altq/priq"
)

const (
	frame    = 1514
	linkRate = 10e6
)

func small() altq.Discipline { return codel.New(altq.Config{QLimit: 30, Target: 1, Interval: 5}) }

// The discipline has one queue, which answers to any number.
func TestPacketsAreConserved(t *testing.T) { altqtest.Conservation(t, small, 0) }

func TestSendersMayBeMany(t *testing.T) { altqtest.Concurrent(t, small, 0) }

func FuzzCoDel(f *testing.F) { altqtest.Fuzz(f, small, 0) }

func BenchmarkCoDel(b *testing.B) {
	altqtest.Benchmark(b, codel.New(altq.Config{QLimit: 1000}), linkRate, 1, 2, 3, 4)
}

func link(t *testing.T, d altq.Discipline) *altqsim.Link {
	return altqtest.Link(t, d, altqsim.Config{Rate: linkRate, Depth: 6000})
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// Scenarios D1 to D3 of spec altq 6.2.
func TestExcessIsDroppedAndDelayStaysShort(t *testing.T) {
	for _, row := range []struct {
		name             string
		rate, throughput float64
		drops, within    float64
		loDelay, hiDelay float64 // of the mean, ms
		p99              float64 // ms
	}{
		{"D1", 9.5e6, 9.5e6, 0, 0, 0, 5, 5},
		{"D2", 10.5e6, 10e6, 0.0476, 0.003, 5, 10, 15},
		{"D3", 10.2e6, 10e6, 0.0196, 0.003, 5, 7.5, 15},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := link(t, codel.New(altq.Config{QLimit: 2000}))
			f := l.Add(altqsim.Source{Size: frame, Rate: row.rate})
			altqtest.Measure(l, altqtest.Time(30*time.Second), 30*time.Second)
			altqtest.Near(t, "rate", f.Rate(), row.throughput, 0.005)
			altqtest.Within(t, "share dropped", f.DropShare(), row.drops, row.within)
			altqtest.Within(t, "mean delay in ms", milliseconds(f.MeanDelay()), (row.loDelay+row.hiDelay)/2, (row.hiDelay-row.loDelay)/2)
			if p99 := milliseconds(f.DelayQuantile(0.99)); p99 > row.p99 {
				t.Errorf("99 of 100 packets wait at most %.1f ms, want %g", p99, row.p99)
			}
			s, err := l.Queue.Stats(altq.TypeCoDel, 0)
			if err != nil || s.Drop.Packets != s.CoDel.Drop.Packets || s.QLimit != 2000 || s.CoDel.MaxPacket != frame {
				t.Errorf("%+v %+v %v", s, s.CoDel, err)
			}
		})
	}
}

// Scenario D4: the gaps between drops follow the control law.
func TestGapsBetweenDropsFollowTheLaw(t *testing.T) {
	l := link(t, codel.New(altq.Config{QLimit: 2000}))
	l.Add(altqsim.Source{Size: frame, Rate: 12e6})
	var at []time.Duration
	dropped := uint64(0)
	l.OnSend(func(_ *altqsim.Flow, now time.Duration) {
		if n := l.Queue.Dropped(); n != dropped {
			dropped = n
			at = append(at, now)
		}
	})
	l.Run(2 * time.Second)
	want := []float64{99.998, 50.002, 56.250, 48.779, 44.151, 40.407}
	if len(at) <= len(want) {
		t.Fatalf("%d drops", len(at))
	}
	for i, ms := range want {
		if gap := milliseconds(at[i+1] - at[i]); gap < ms-2.3 || gap > ms+2.3 {
			t.Errorf("gap %d: %.1f ms, want %.1f", i, gap, ms)
		}
	}
}

// Scenario D5: sources that listen to drops, against a queue that drops at its tail.
func TestDelayOfSourcesThatListen(t *testing.T) {
	measure := func(d altq.Discipline) (rate float64, delay float64) {
		l := link(t, d)
		var flows []*altqsim.Flow
		for i := range 4 {
			flows = append(flows, l.Add(altqsim.Source{QID: 1, Size: frame, AIMD: true, Start: time.Duration(i) * 7 * time.Millisecond}))
		}
		altqtest.Measure(l, altqtest.Time(20*time.Second), 40*time.Second)
		for _, f := range flows {
			rate += f.Rate()
			delay += milliseconds(f.MeanDelay()) / float64(len(flows))
		}
		return rate, delay
	}
	p := priq.New(altq.Config{Bandwidth: linkRate})
	if err := p.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagDefault}); err != nil {
		t.Fatal(err)
	}
	if rate, delay := measure(codel.New(altq.Config{QLimit: 1000})); rate < 9.9e6 || delay > 12 {
		t.Errorf("CoDel: %.3g b/s, %.1f ms", rate, delay)
	}
	if _, delay := measure(p); delay < 35 {
		t.Errorf("drop-tail: %.1f ms", delay)
	}
}

// A queue that is full refuses, and says so.
func TestFullQueueRefuses(t *testing.T) {
	l := link(t, codel.New(altq.Config{}))
	f := l.Add(altqsim.Source{Size: frame, Rate: 100e6, Stop: 50 * time.Millisecond})
	l.Run(50 * time.Millisecond)
	s, err := l.Queue.Stats(altq.TypeCoDel, 7)
	if err != nil || s.QLimit != 50 || s.Drop.Packets == 0 || s.Drop.Packets != f.Dropped().Packets || s.Drop.Bytes != frame*s.Drop.Packets || s.QLen != l.Queue.Len() {
		t.Errorf("%+v %v, %d refused", s, err, f.Dropped().Packets)
	}
}
