package altq_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

func TestStatesAndTheirErrors(t *testing.T) {
	b := newBed(t)
	is := func(what string, err error, want error) {
		t.Helper()
		if !errors.Is(err, want) || err == nil != (want == nil) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	is("enable without a discipline", b.Enable(), syscall.ENXIO)
	is("detach of nothing", b.Detach(), nil)
	is("attach", b.Attach(oneQueue(t)), nil)
	is("enable", b.Enable(), nil)
	is("enable again", b.Enable(), nil)
	is("detach while enabled", b.Detach(), syscall.EBUSY)
	_, err := b.Stats(altq.TypeCBQ, 1)
	is("statistics of another discipline", err, syscall.EBADF)
	_, err = b.Stats(altq.TypePRIQ, 2)
	is("statistics of no queue", err, syscall.EINVAL)
	_, err = b.Stats(altq.TypePRIQ, 1)
	is("statistics", err, nil)
	is("no regulator to remove", b.SetTBR(altq.Profile{}), syscall.ENOENT)
	is("regulator", b.SetTBR(altq.Profile{Rate: 10e6, Depth: 6000}), nil)
	is("regulator removed", b.SetTBR(altq.Profile{}), nil)
	b.Disable()
	b.Disable()
	is("detach", b.Detach(), nil)
	if !slices.Equal(b.switches, []bool{true, false}) {
		t.Errorf("switched %v", b.switches)
	}
	ifp := ifnet.Alloc(altqtest.Kernel(t, true), ifnet.TypeEther)
	_, err = altq.Of(ifp)
	is("an interface that is not ready", err, syscall.ENXIO)
}

func TestPacketsOfTheOtherStateAreFreed(t *testing.T) {
	b := newBed(t)
	if err := b.Attach(oneQueue(t)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.send(100); err != nil {
			t.Fatal(err)
		}
	}
	_ = b.Enable()
	if b.Len() != 0 || b.Dropped() != 2 {
		t.Errorf("enabled: %d queued, %d dropped, want 0 and 2", b.Len(), b.Dropped())
	}
	for range 5 {
		_ = b.send(100)
	}
	if b.Len() != 5 {
		t.Errorf("%d queued in the discipline, want 5", b.Len())
	}
	if err := b.Attach(oneQueue(t)); err != nil || b.Len() != 0 || b.Dropped() != 7 {
		t.Errorf("replaced: %v, %d queued, %d dropped, want 0 and 7", err, b.Len(), b.Dropped())
	}
	_ = b.send(100)
	b.Disable()
	if b.Len() != 0 || b.Dropped() != 8 {
		t.Errorf("disabled: %d queued, %d dropped, want 0 and 8", b.Len(), b.Dropped())
	}
}

func TestDisabledQueueIsAFIFO(t *testing.T) {
	b := newBed(t)
	for range 3 {
		if err := b.send(100); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.send(100); !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("a fourth packet: %v, want ENOBUFS", err)
	}
	if b.MaxLen() != 3 {
		t.Errorf("a limit of %d packets, want 3", b.MaxLen())
	}
	if n := b.take(); n != 3 || b.Dropped() != 1 {
		t.Errorf("%d sent, %d dropped, want 3 and 1", n, b.Dropped())
	}
}

func TestClosedQueueTakesNothing(t *testing.T) {
	b := newBed(t)
	_ = b.Attach(oneQueue(t))
	_ = b.Enable()
	_ = b.SetTBR(altq.Profile{Rate: 10e6, Depth: 1})
	_ = b.send(100)
	b.Close()
	if err := b.send(100); !errors.Is(err, syscall.ENOBUFS) || b.Enabled() || b.Len() != 0 || b.Dropped() != 2 {
		t.Errorf("late packet: %v, %d queued, %d dropped", err, b.Len(), b.Dropped())
	}
	if err := b.Attach(oneQueue(t)); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("attach: %v, want ENXIO", err)
	}
}

// The tick is armed while a regulator holds packets back, and only then.
func TestTickRunsWhilePacketsWait(t *testing.T) {
	b := newBed(t)
	_ = b.Attach(oneQueue(t))
	_ = b.Enable()
	_ = b.send(1000)
	b.Tick()
	if b.ticks != 0 || b.starts != 0 {
		t.Fatalf("without a regulator: %d ticks asked for, %d starts", b.ticks, b.starts)
	}
	b.take()
	_ = b.SetTBR(altq.Profile{Rate: 8e6, Depth: 1000})
	for range 3 {
		_ = b.send(1000)
	}
	if n := b.take(); n != 1 || b.ticks != 1 {
		t.Fatalf("%d packets from a full bucket, %d ticks asked for, want 1 and 1", n, b.ticks)
	}
	for i := range 2 {
		b.now += time.Millisecond
		b.ticks = 0
		b.Tick()
		if b.starts != i+1 || b.ticks != 1 {
			t.Fatalf("tick %d: %d starts, %d ticks asked for", i, b.starts, b.ticks)
		}
		if n := b.take(); n != 1 {
			t.Fatalf("tick %d: %d packets, want 1", i, n)
		}
	}
	b.ticks = 0
	b.Tick()
	if b.ticks != 0 || b.starts != 2 {
		t.Errorf("empty queue: %d ticks asked for, %d starts", b.ticks, b.starts)
	}
}

func TestKernelClockTicks(t *testing.T) {
	k := altqtest.Kernel(t, true)
	c := mbuf.Of(k).NewCache()
	defer c.Close()
	var q *altq.Queue
	sent := 0
	start := func() {
		for m := q.Dequeue(); m != nil; m = q.Dequeue() {
			sent++
			c.FreeChain(m)
		}
	}
	q = altq.NewQueue(altq.Env{Kernel: k, Name: "em0", MaxLen: 50, Start: start})
	defer q.Close()
	_ = q.Attach(oneQueue(t))
	_ = q.Enable()
	_ = q.SetTBR(altq.Profile{Rate: 8e6, Depth: 1000})
	for range 20 {
		m := c.GetHdr()
		m.Pkt.Len = 1000
		_ = q.Enqueue(m)
		q.Kick()
	}
	k.Advance(10 * time.Millisecond)
	if sent != 11 {
		t.Errorf("%d packets after 10 ms, want 11", sent)
	}
	k.Advance(20 * time.Millisecond)
	if sent != 20 || q.Len() != 0 {
		t.Errorf("%d packets after 30 ms, want 20", sent)
	}
}
