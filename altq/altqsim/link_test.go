package altqsim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/priq"
)

func oneQueue(t *testing.T) altq.Discipline {
	t.Helper()
	p := priq.New(altq.Config{Bandwidth: 10e6})
	if err := p.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagDefault}); err != nil {
		t.Fatal(err)
	}
	return p
}

// open is a link without a regulator.
func open(t *testing.T) *altqsim.Link { return altqtest.Link(t, oneQueue(t), altqsim.Config{}) }

func TestEvenSourceKeepsItsRate(t *testing.T) {
	l := open(t)
	f := l.Add(altqsim.Source{QID: 1, Size: 1000, Rate: 3e6, Start: time.Millisecond, Stop: 11 * time.Millisecond})
	var at []time.Duration
	l.OnSend(func(_ *altqsim.Flow, now time.Duration) { at = append(at, now) })
	l.Run(20 * time.Millisecond)
	// 8000 bits at 3 Mb/s: one each 2.667 ms.
	want := []time.Duration{1000000, 3666667, 6333333, 9000000}
	if !slices.Equal(at, want) {
		t.Errorf("frames at %v, want %v", at, want)
	}
	if o, s, d := f.Offered(), f.Sent(), f.Dropped(); o.Packets != 4 || s != o || d.Packets != 0 || s.Bytes != 4000 {
		t.Errorf("offered %+v sent %+v dropped %+v", o, s, d)
	}
}

func TestRandomSourceKeepsItsMeanAndItsSeed(t *testing.T) {
	run := func(seed uint64) (float64, []uint64) {
		l := open(t)
		f := l.Add(altqsim.Source{QID: 1, Size: 1000, Rate: 8e6, Poisson: true, Seed: seed})
		l.Run(20 * time.Second)
		return f.Rate(), f.Bins()
	}
	rate, bins := run(1)
	altqtest.Near(t, "rate", rate, 8e6, 0.03)
	if _, again := run(1); !slices.Equal(bins, again) {
		t.Error("the same seed gives another run")
	}
	if _, other := run(2); slices.Equal(bins, other) {
		t.Error("another seed gives the same run")
	}
}

func TestBacklogIsKeptUp(t *testing.T) {
	l := altqtest.Link(t, oneQueue(t), altqsim.Config{Rate: 8e6, Depth: 1000})
	f := l.Add(altqsim.Source{QID: 1, Size: 1000, Backlog: 7})
	for range 20 {
		l.Run(time.Millisecond)
		if n := l.Queue.Len(); n != 7 {
			t.Fatalf("%d frames queued, want 7", n)
		}
	}
	if s := f.Sent(); s.Packets != 21 { // a full bucket, and a frame a millisecond
		t.Errorf("%d frames sent, want 21", s.Packets)
	}
}

func TestMeasurementBeginsAtTheMark(t *testing.T) {
	l := altqtest.Link(t, oneQueue(t), altqsim.Config{Rate: 8e6, Depth: 1000, Bin: 10 * time.Millisecond})
	f := l.Add(altqsim.Source{QID: 1, Size: 1000, Rate: 16e6})
	l.Run(time.Second)
	l.Mark()
	if f.Sent() != (altq.Counter{}) || f.MeanDelay() != 0 || f.DelayQuantile(1) != 0 {
		t.Error("the mark leaves something")
	}
	l.Run(time.Second)
	altqtest.Near(t, "rate", f.Rate(), 8e6, 0.002)
	altqtest.Within(t, "share dropped", f.DropShare(), 0.5, 0.002)
	// 50 frames wait, each a millisecond.
	altqtest.Near(t, "mean delay in ms", f.MeanDelay().Seconds()*1000, 50, 0.03)
	if q := f.DelayQuantile(1); q < f.MeanDelay() || q > 52*time.Millisecond {
		t.Errorf("longest delay %v", q)
	}
	var sum uint64
	for _, b := range f.Bins() {
		sum += b
	}
	if want := uint64(2001 * 1000); sum != want || len(f.Bins()) != 201 {
		t.Errorf("%d bytes in %d bins, want %d in 201", sum, len(f.Bins()), want)
	}
}

// A stall of the host loses what the bucket cannot hold, and is counted.
func TestJumpIsAStall(t *testing.T) {
	l := altqtest.Link(t, oneQueue(t), altqsim.Config{Rate: 8e6, Depth: 2000})
	f := l.Add(altqsim.Source{QID: 1, Size: 1000, Backlog: 40})
	l.Run(10 * time.Millisecond)
	before := f.Sent().Packets
	l.Jump(20 * time.Millisecond)
	l.Run(0)
	if n := f.Sent().Packets - before; n != 2 {
		t.Errorf("%d frames after a stall, want 2", n)
	}
	s, err := l.Queue.TBRStats()
	if err != nil || s.Stalled < 17_000 || s.Stalled > 19_000 {
		t.Errorf("%d bytes stalled, want 18,000 or a frame more or less, %v", s.Stalled, err)
	}
}
