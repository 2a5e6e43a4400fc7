package kern

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCalloutFiresAtTickMultiples(t *testing.T) {
	k := newKernel(t, stepped(0))
	k.Advance(300 * time.Microsecond)
	var at []time.Duration
	c := k.NewCallout("c", nil, func() { at = append(at, k.Uptime()-bootUptime) })
	c.Reset(2, 1)
	k.Advance(1699 * time.Microsecond)
	if len(at) != 0 || !c.Pending() {
		t.Fatalf("fired at %v before its time", at)
	}
	k.Advance(time.Microsecond)
	if !slices.Equal(at, []time.Duration{2 * time.Millisecond}) || c.Pending() {
		t.Fatalf("fired at %v, want 2ms", at)
	}
	c.Reset(0, -1) // as one tick
	k.Advance(10 * time.Millisecond)
	if len(at) != 2 || at[1] != 3*time.Millisecond {
		t.Errorf("fired at %v", at)
	}
	if k.Uptime()-bootUptime != 12*time.Millisecond || k.Ticks() != 10012 {
		t.Errorf("clock at %v", k.Uptime())
	}
}

func TestCalloutRearmsItselfOnItsCPU(t *testing.T) {
	k := newKernel(t, stepped(0))
	n := 0
	var c *Callout
	c = k.NewCallout("timer", nil, func() {
		if k.sched.cur.name != "cpu1" {
			t.Errorf("runs on %s", k.sched.cur.name)
		}
		n++
		c.Reset(k.Hz()/2, -1)
	})
	c.Reset(k.Hz()/2, 1)
	k.Advance(10 * time.Second)
	if n != 20 {
		t.Errorf("%d runs in 10 s of 0.5 s, want 20", n)
	}
}

func TestStopUnderTheMutexPreventsADueRun(t *testing.T) {
	for seed := range uint64(manySeeds) {
		k := mustNew(t, stepped(seed))
		var m Mtx
		m.Init(k, "m")
		stopped, ran := false, false
		c := k.NewCallout("c", &m, func() {
			m.AssertOwned()
			ran = true
			if stopped {
				t.Errorf("seed %d: ran after Stop", seed)
			}
		})
		c.Reset(1, 1)
		k.Spawn("stopper", func() {
			k.Delay(time.Millisecond)
			m.Lock()
			k.SchedPoint()
			stopped = c.Stop()
			if stopped == ran {
				t.Errorf("seed %d: Stop %v, ran %v", seed, stopped, ran)
			}
			m.Unlock()
			c.Drain()
		})
		k.RunUntilIdle()
		m.Destroy()
		k.Close()
	}
}

func TestDrainOfACalloutWaitsForItsRun(t *testing.T) {
	for seed := uint64(1); seed <= manySeeds; seed++ {
		k := mustNew(t, stepped(seed))
		inside := false
		c := k.NewCallout("c", nil, func() {
			inside = true
			for range 4 {
				k.SchedPoint()
			}
			inside = false
		})
		c.Reset(1, 0)
		k.Spawn("drainer", func() {
			k.Delay(time.Millisecond)
			k.SchedPoint()
			c.Drain()
			if inside || c.Pending() {
				t.Errorf("seed %d: Drain returned inside a run", seed)
			}
		})
		k.RunUntilIdle()
		k.Close()
	}
}

// TestCalloutsFollowAModel compares random Reset, Stop and Advance with a list.
func TestCalloutsFollowAModel(t *testing.T) {
	type armed struct{ when, seq, id int }
	rapid.Check(t, func(rt *rapid.T) {
		k := mustNew(t, Config{Executor: Stepped, Clock: ManualClock, NCPU: 1})
		defer k.Close()
		const callouts = 4
		var got, want []string
		var model []armed
		var cs [callouts]*Callout
		for i := range cs {
			cs[i] = k.NewCallout(fmt.Sprint(i), nil, func() { got = append(got, fmt.Sprintf("%d@%d", i, k.Ticks())) })
		}
		forget := func(id int) bool {
			n := len(model)
			model = slices.DeleteFunc(model, func(a armed) bool { return a.id == id })
			return len(model) < n
		}
		now := int(k.Ticks())
		for seq := range rapid.IntRange(1, 40).Draw(rt, "ops") {
			id := rapid.IntRange(0, callouts-1).Draw(rt, "callout")
			switch rapid.IntRange(0, 2).Draw(rt, "op") {
			case 0:
				ticks := rapid.IntRange(1, 9).Draw(rt, "ticks")
				forget(id)
				model = append(model, armed{now + ticks, seq, id})
				cs[id].Reset(ticks, 0)
			case 1:
				if was := forget(id); cs[id].Stop() != was {
					rt.Fatalf("Stop of %d is not %v", id, was)
				}
			case 2:
				now += rapid.IntRange(0, 6).Draw(rt, "advance")
				slices.SortFunc(model, func(a, b armed) int {
					return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.seq, b.seq))
				})
				for len(model) > 0 && model[0].when <= now {
					want = append(want, fmt.Sprintf("%d@%d", model[0].id, model[0].when))
					model = model[1:]
				}
				k.Advance(time.Duration(now)*tickDuration - k.Uptime())
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("fired %v, want %v", got, want)
		}
	})
}

func TestManualClockInThreadsFiresInOrder(t *testing.T) {
	k := newKernel(t, Config{Clock: ManualClock})
	var at []time.Duration
	var c *Callout
	c = k.NewCallout("c", nil, func() {
		at = append(at, k.Uptime()-bootUptime)
		if len(at) < 3 {
			c.Reset(2, 1)
		}
	})
	c.Reset(2, 0)
	k.Advance(7 * time.Millisecond)
	want := []time.Duration{2 * time.Millisecond, 4 * time.Millisecond, 6 * time.Millisecond}
	if !slices.Equal(at, want) || k.Uptime() != bootUptime+7*time.Millisecond {
		t.Errorf("fired at %v, want %v; clock %v", at, want, k.Uptime())
	}
}

func TestRealClockFiresAndDrains(t *testing.T) {
	k := newKernel(t, Config{})
	start := k.Uptime()
	if start < bootUptime || start > 2*bootUptime {
		t.Errorf("uptime %v at boot", start)
	}
	fired := make(chan time.Duration, 1)
	late := k.NewCallout("late", nil, func() { t.Error("a stopped callout ran") })
	late.Reset(3_600_000, 0)
	c := k.NewCallout("soon", nil, func() { fired <- k.Uptime() })
	c.Reset(5, 1)
	if at := <-fired; at-start < 4*time.Millisecond {
		t.Errorf("5 ticks after %v", at-start)
	}
	c.Drain()
	if !late.Stop() || late.Stop() {
		t.Error("Stop prevents a run once")
	}
}
