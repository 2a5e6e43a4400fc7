package hw

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
)

const ms = time.Millisecond

func newThrottle(t *testing.T, k *kern.Kernel) (*Throttle, *Faults, *atomic.Int64) {
	n := new(atomic.Int64)
	f := NewFaults(k, "em0")
	th := NewThrottle(k, "em0 vector 0", f, func() { n.Add(1) })
	t.Cleanup(th.Close)
	return th, f, n
}

func TestThrottleWithoutIntervalSendsEverything(t *testing.T) {
	th, f, n := newThrottle(t, newKernel(t, stepped(0)))
	for range 5 {
		th.Request()
	}
	must(t, f.LostIntr.Set("2*return(1)"))
	for range 5 {
		th.Request()
	}
	if n.Load() != 8 {
		t.Errorf("%d interrupts, want 8: two of ten lost", n.Load())
	}
}

func TestThrottleSpacesInterrupts(t *testing.T) {
	k := newKernel(t, stepped(0))
	th, _, n := newThrottle(t, k)
	th.SetInterval(10 * ms)
	want := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3}
	for i, w := range want {
		th.Request()
		if n.Load() != w && i%10 != 0 {
			t.Fatalf("at %d ms: %d interrupts, want %d", i, n.Load(), w)
		}
		k.Advance(ms)
	}
	k.Advance(100 * ms)
	if n.Load() != 4 || th.Waiting() {
		t.Fatalf("%d interrupts, want 4; waiting %v", n.Load(), th.Waiting())
	}
	th.Request()
	if n.Load() != 5 {
		t.Error("an interrupt after a pause was delayed")
	}
}

func TestThrottleSetToZeroSendsWhatWaits(t *testing.T) {
	k := newKernel(t, stepped(0))
	th, _, n := newThrottle(t, k)
	th.SetInterval(10 * ms)
	th.Request()
	th.Request()
	if n.Load() != 1 || !th.Waiting() {
		t.Fatalf("%d interrupts, waiting %v", n.Load(), th.Waiting())
	}
	th.SetInterval(0)
	k.Advance(50 * ms)
	if n.Load() != 2 || th.Interval() != 0 {
		t.Errorf("%d interrupts, want 2", n.Load())
	}
}

func TestThrottleCancelForgets(t *testing.T) {
	k := newKernel(t, stepped(0))
	th, _, n := newThrottle(t, k)
	th.SetInterval(10 * ms)
	th.Request()
	th.Request()
	th.Cancel()
	k.Advance(50 * ms)
	if n.Load() != 1 {
		t.Errorf("%d interrupts, want 1", n.Load())
	}
}

// On a real clock intervals far below a tick hold.
func TestThrottleHoldsMicrosecondsOnARealClock(t *testing.T) {
	k := newKernel(t, kern.Config{})
	th, _, n := newThrottle(t, k)
	const interval, want = 200 * time.Microsecond, 20
	th.SetInterval(interval)
	start := k.Uptime()
	for n.Load() < want {
		th.Request()
	}
	took := k.Uptime() - start
	th.Close()
	after := n.Load()
	if least := interval * time.Duration(after-1); after < want || took < least-interval {
		t.Errorf("%d interrupts in %v, want at least %v", after, took, least)
	}
	th.Request()
	th.Request()
	if n.Load() > after+1 {
		t.Errorf("%d interrupts after Close", n.Load()-after)
	}
}

func TestThrottleFollowsAManualClockOfAThreadedKernel(t *testing.T) {
	k := newKernel(t, kern.Config{Clock: kern.ManualClock})
	fired := make(chan struct{}, 4)
	th := NewThrottle(k, "em0 vector 0", NewFaults(k, "em0"), func() { fired <- struct{}{} })
	th.SetInterval(ms)
	th.Request()
	<-fired
	th.Request()
	for {
		k.Advance(ms)
		select {
		case <-fired:
			th.Close()
			return
		default:
		}
	}
}

func TestDelayerRestartsUpToTheAbsoluteDelay(t *testing.T) {
	k := newKernel(t, stepped(0))
	n := 0
	d := NewDelayer(k, "em0 rdtr", func() { n++ })
	t.Cleanup(d.Close)
	d.Event()
	if n != 1 {
		t.Fatal("without delays an event fires at once")
	}
	d.Set(5*ms, 12*ms)
	for i := range 12 {
		d.Event()
		if n != 1 {
			t.Fatalf("fired after %d ms although events went on", i)
		}
		k.Advance(ms)
	}
	k.Advance(ms)
	if n != 2 {
		t.Fatalf("fired %d times, want 2: the absolute delay is over", n)
	}
	d.Event()
	k.Advance(4 * ms)
	if n != 2 {
		t.Fatal("fired before the packet delay was over")
	}
	k.Advance(2 * ms)
	if n != 3 {
		t.Fatalf("fired %d times, want 3", n)
	}
	d.Event()
	d.Flush()
	k.Advance(50 * ms)
	if n != 4 {
		t.Errorf("fired %d times, want 4: Flush fires and forgets", n)
	}
}

func BenchmarkThrottleRequestWithoutInterval(b *testing.B) {
	k := newKernel(b, stepped(0))
	n := 0
	th := NewThrottle(k, "em0", NewFaults(k, "em0"), func() { n++ })
	b.Cleanup(th.Close)
	b.ReportAllocs()
	for b.Loop() {
		th.Request()
	}
}
