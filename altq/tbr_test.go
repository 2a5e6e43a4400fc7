package altq_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

const frame = 1514

// Vector V2 of spec altq 6.1.
func TestRegulatorDepartures(t *testing.T) {
	l := altqtest.Link(t, oneQueue(t), altqsim.Config{Rate: 10e6, Depth: 6000, TimerOnly: true})
	f := l.Add(altqsim.Source{QID: 1, Size: frame, Backlog: 1, Stop: 1})
	l.Run(time.Millisecond)
	l.Queue.Purge(nil)
	if err := l.Queue.SetTBR(altq.Profile{Rate: 10e6, Depth: 6000}); err != nil {
		t.Fatal(err)
	}
	begin := l.Elapsed()
	var got []time.Duration
	l.OnSend(func(_ *altqsim.Flow, at time.Duration) { got = append(got, at-begin) })
	l.At(begin+100*time.Microsecond, func() {
		for range 20 {
			l.Send(f)
		}
		l.Queue.Kick()
	})
	l.Run(20 * time.Millisecond)
	want := []int{100, 100, 100, 100, 100, 2000, 3000, 4000, 5000, 7000, 8000, 9000, 10000, 11000}
	for i, us := range want {
		if i >= len(got) || got[i] != time.Duration(us)*time.Microsecond {
			t.Fatalf("departures %v, want %v us", got, want)
		}
	}
}

// Vector V10 of spec altq 6.1.
func TestDefaultDepths(t *testing.T) {
	for bw, want := range map[uint64]uint64{1e6: 1500, 1e6 + 1: 6000, 10e6: 6000, 100e6: 12000, 1e9: 36000, 2500e6: 36000, 10e9: 192000} {
		if got := altq.DefaultDepth(bw, 1500); got != want {
			t.Errorf("%d b/s: %d bytes, want %d", bw, got, want)
		}
	}
}

// What the regulator did not grant is counted, apart by whether packets waited.
func TestForfeitedTokensAreCounted(t *testing.T) {
	b := newBed(t)
	_ = b.Attach(oneQueue(t))
	_ = b.Enable()
	_ = b.SetTBR(altq.Profile{Rate: 8e6, Depth: 2000}) // a byte a microsecond
	stats := func(tokens int64, stalled, idle, forgiven uint64) {
		t.Helper()
		s, err := b.TBRStats()
		if err != nil || s.Tokens != tokens || s.Stalled != stalled || s.Idle != idle || s.Forgiven != forgiven {
			t.Fatalf("%+v %v, want tokens %d stalled %d idle %d forgiven %d", s, err, tokens, stalled, idle, forgiven)
		}
	}
	for range 8 {
		_ = b.send(1500)
	}
	if n := b.take(); n != 2 {
		t.Fatalf("%d packets, want 2", n)
	}
	stats(-1000, 0, 0, 0)
	// The host stalls for 10 ms with packets waiting: the bucket takes 3000 bytes.
	b.now += 10 * time.Millisecond
	if n := b.take(); n != 2 {
		t.Fatalf("%d packets, want 2", n)
	}
	stats(-1000, 7000, 0, 0)
	// 2.5 ms: the bucket is full for less than what accrued, the debt is half forgiven.
	b.now += 2500 * time.Microsecond
	_ = b.take()
	stats(-1000, 7000, 0, 500)
	b.now += 4 * time.Millisecond
	_ = b.take()
	stats(-1000, 8000, 0, 500)
	// Nothing waits for 20 ms, then a packet for 5: 3000 of 25000 fit.
	b.now += 20 * time.Millisecond
	_ = b.send(100)
	b.now += 5 * time.Millisecond
	_ = b.take()
	stats(1900, 13000, 17000, 500)
}

// No rate, depth or pause overflows, and a pause is worth a bucket and no more.
func TestRegulatorSurvivesAnyRateAndClock(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBed(t)
		defer b.Close()
		_ = b.Attach(oneQueue(t))
		_ = b.Enable()
		p := altq.Profile{Rate: rapid.Uint64Min(1).Draw(r, "rate"), Depth: rapid.Uint64Range(1, 1<<33).Draw(r, "depth")}
		_ = b.SetTBR(p)
		for range rapid.IntRange(1, 20).Draw(r, "rounds") {
			b.now += time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(r, "pause"))
			for range 5 {
				_ = b.send(rapid.IntRange(1, 65535).Draw(r, "size"))
			}
			b.take()
			s, err := b.TBRStats()
			if err != nil || s.Tokens > int64(min(p.Depth, 1<<32-1)) || s.Tokens < -65535 {
				r.Fatalf("%+v %v", s, err)
			}
		}
	})
}

// At 400 Gb/s a regulator's rate does not fit FreeBSD's 64 bits.
func TestRegulatorAt400Gigabit(t *testing.T) {
	b := newBed(t)
	_ = b.Attach(oneQueue(t))
	_ = b.Enable()
	_ = b.SetTBR(altq.Profile{Rate: 400e9, Depth: 192000}) // 50,000 bytes a microsecond
	_ = b.send(65000)
	_ = b.send(65000)
	_ = b.send(65000)
	b.take()
	_ = b.send(65000)
	b.now += time.Microsecond
	if n := b.take(); n != 1 {
		t.Fatalf("%d packets, want 1", n)
	}
	s, _ := b.TBRStats()
	if s.Tokens != 192000-3*65000+50000-65000 {
		t.Errorf("%d tokens, want %d", s.Tokens, 192000-3*65000+50000-65000)
	}
}

// A dequeue after a poll that passed does not ask the regulator again (quirk Q13).
func TestPollPassesTheRegulatorForTheNextDequeue(t *testing.T) {
	b := newBed(t)
	_ = b.Attach(oneQueue(t))
	_ = b.Enable()
	_ = b.SetTBR(altq.Profile{Rate: 8e6, Depth: 1000})
	for range 3 {
		_ = b.send(1000)
	}
	polled := b.Poll()
	if polled == nil || b.Poll() != polled {
		t.Fatal("nothing to poll")
	}
	if m := b.Dequeue(); m != polled {
		t.Fatalf("dequeued %p, polled %p", m, polled)
	}
	b.cache.FreeChain(polled)
	if b.Poll() != nil || b.Dequeue() != nil {
		t.Fatal("a packet passes an empty bucket")
	}
	b.now += time.Millisecond
	if b.Poll() == nil {
		t.Fatal("nothing passes after a millisecond")
	}
	if n := b.take(); n != 1 {
		t.Errorf("%d packets, want 1", n)
	}
}
