package probe

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPointsThatAreOffFireNothing(t *testing.T) {
	s := NewSet(1, func() time.Duration { t.Error("the clock was read"); return 0 })
	if s.On() {
		t.Error("a new set is on")
	}
	s.Fire2(pointEncap, "em0", 0, 1, 2)
	s.FireNote(pointEncap, "em0", 0, "note")
	if got := drain(s); got != nil {
		t.Errorf("events: %v", got)
	}
}

func TestEveryArityReachesTheRing(t *testing.T) {
	s := NewSet(1, func() time.Duration { return time.Second })
	s.Enable(nil)
	s.Fire1(pointEncap, "em0", 3, 1)
	s.Fire2(pointEncap, "em0", 3, 1, 2)
	s.Fire3(pointEncap, "em0", 3, 1, 2, 3)
	s.Fire4(pointEncap, "em0", 3, 1, 2, 3, 4)
	s.Fire5(pointEncap, "em0", 3, 1, 2, 3, 4, 5)
	s.Fire6(pointEncap, "em0", 3, 1, 2, 3, 4, 5, 6)
	s.FireNote(pointEncap, "em0", 3, "seven", 1, 2, 3, 4, 5, 6, 7)
	var want []Event
	for n := 1; n <= 7; n++ {
		e := Event{Seq: uint64(n), Time: time.Second, ID: pointEncap, Dev: "em0", Queue: 3, NArgs: uint8(min(n, MaxArgs))}
		for i := range e.NArgs {
			e.Args[i] = uint64(i) + 1
		}
		want = append(want, e)
	}
	want[6].Note = "seven"
	if d := cmp.Diff(want, drain(s)); d != "" {
		t.Error(d)
	}
	s.Disable()
	s.Fire1(pointEncap, "em0", 3, 1)
	if got := drain(s); got != nil || s.On() {
		t.Errorf("after Disable: on %v, events %v", s.On(), got)
	}
}

func TestSinkIsCalledAtOnce(t *testing.T) {
	s := NewSet(1, testClock())
	var got []Event
	s.Enable(func(e Event) { got = append(got, e) })
	s.Fire1(pointEntry, "em0", 0, 9)
	if len(got) != 1 || got[0].Args[0] != 9 || got[0].Seq != 1 {
		t.Errorf("the sink has %v when Fire1 returns", got)
	}
	if rest := drain(s); rest != nil {
		t.Errorf("events in the rings beside the sink: %v", rest)
	}
}

func TestEnableOnlySelectsPoints(t *testing.T) {
	s := NewSet(1, testClock())
	s.EnableOnly(nil, func(p Point) bool { return p.Name == "encap" })
	s.Fire1(pointEntry, "em0", 0, 1)
	s.FireNote(pointEntry, "em0", 0, "not selected")
	s.Fire2(pointEncap, "em0", 0, 1, 2)
	s.Fire1(ID(1<<31), "em0", 0, 1)
	if got := drain(s); len(got) != 1 || got[0].ID != pointEncap {
		t.Errorf("events %v, want one of encap", got)
	}
}

func TestFullRingCountsDrops(t *testing.T) {
	s := NewSet(2, testClock())
	s.Enable(nil)
	const extra = 5
	for i := range uint64(ringSize + extra) {
		s.Fire1(pointEncap, "em0", 0, i)
	}
	s.Fire1(pointEncap, "em0", 1, 99) // another ring, with room
	if s.Dropped() != extra {
		t.Errorf("%d dropped, want %d", s.Dropped(), extra)
	}
	got := drain(s)
	if len(got) != ringSize+1 {
		t.Fatalf("%d events, want %d", len(got), ringSize+1)
	}
	for i, e := range got[:ringSize] {
		if e.Args[0] != uint64(i) {
			t.Fatalf("event %d carries %d: the oldest are kept", i, e.Args[0])
		}
	}
	if last := got[ringSize]; last.Args[0] != 99 || last.Seq != ringSize+extra+1 {
		t.Errorf("last event %v: drops leave gaps in Seq", last)
	}
	s.Fire1(pointEncap, "em0", 0, 7)
	if got := drain(s); len(got) != 1 || got[0].Args[0] != 7 {
		t.Errorf("after a drain: %v", got)
	}
}

func TestConcurrentFiringLosesNothingUncounted(t *testing.T) {
	s := NewSet(2, func() time.Duration { return 0 })
	s.Enable(nil)
	const writers, each = 4, 10000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range uint64(each) {
				s.Fire2(pointEncap, "em0", w, uint64(w), i)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	next := [writers]uint64{}
	var seen uint64
	count := func(e Event) {
		w, i := e.Args[0], e.Args[1]
		if i < next[w] {
			t.Errorf("writer %d: event %d after %d", w, i, next[w])
		}
		next[w] = i + 1
		seen++
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		s.Drain(count)
	}
	if seen+s.Dropped() != writers*each {
		t.Errorf("%d seen and %d dropped of %d", seen, s.Dropped(), writers*each)
	}
}

func TestFiringDoesNotAllocate(t *testing.T) {
	s := NewSet(1, func() time.Duration { return 0 })
	fire := func() { s.Fire6(pointEncap, "em0", 0, 1, 2, 3, 4, 5, 6) }
	for _, state := range []string{"off", "ring", "sink"} {
		switch state {
		case "ring":
			s.Enable(nil)
		case "sink":
			s.Enable(func(Event) {})
		}
		if n := testing.AllocsPerRun(100, fire); n != 0 {
			t.Errorf("%s: %v allocations a firing", state, n)
		}
	}
}

func TestDefineRefusesMistakes(t *testing.T) {
	for _, fn := range []func(){
		func() { Define("test", "encap") },
		func() { Define("test", "wide", "a", "b", "c", "d", "e", "f", "g") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			fn()
		}()
	}
}

func BenchmarkFire(b *testing.B) {
	for _, state := range []string{"off", "sink", "ring"} {
		b.Run(state, func(b *testing.B) {
			s := NewSet(1, func() time.Duration { return 0 })
			switch state {
			case "sink":
				s.Enable(func(Event) {})
			case "ring":
				s.Enable(nil)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Fire2(pointEncap, "em0", 0, 1, 2)
			}
		})
	}
}
