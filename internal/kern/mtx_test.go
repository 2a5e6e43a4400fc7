package kern

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMtxExcludesInEveryPolicy(t *testing.T) {
	for _, policy := range []string{"mutex", "adaptive", "spin"} {
		for _, prof := range []string{"0", "1"} {
			t.Run(policy+prof, func(t *testing.T) {
				k := newKernel(t, Config{Env: env(t, "hw.ifsim.lock", policy, "debug.lock.prof.enable", prof)})
				var m Mtx
				m.Init(k, "m")
				const workers, rounds = 4, 2000
				n := 0
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						for range rounds {
							m.Lock()
							m.AssertOwned()
							n++
							m.Unlock()
						}
					})
				}
				wg.Wait()
				if n != workers*rounds {
					t.Errorf("%d increments, want %d", n, workers*rounds)
				}
				m.Destroy()
				stats := k.LockStats()
				switch {
				case prof == "0" && len(stats) != 0:
					t.Errorf("counted without profiling: %+v", stats)
				case prof == "1" && (len(stats) != 1 || stats[0].Acquired != workers*rounds):
					t.Errorf("stats %+v", stats)
				}
			})
		}
	}
}

func TestUnknownLockPolicyIsRefused(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped})
	if err := k.Sysctl.SetText("hw.ifsim.lock", "ticket"); err == nil {
		t.Error("ticket accepted")
	}
	if got, _ := k.Sysctl.Text("hw.ifsim.lock"); got != "mutex" {
		t.Errorf("policy %q after a refused write", got)
	}
}

func TestMtxAssertionsNameLockAndPlace(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m Mtx
	m.Init(k, "ctx")
	check := func(want string, fn func()) {
		t.Helper()
		if got := fmt.Sprint(mustPanic(t, fn)); !strings.HasPrefix(got, want+" at mtx_test.go:") {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	check("mutex ctx not owned", func() { m.AssertOwned() })
	check("mutex ctx not owned", func() { m.Unlock() })
	m.Lock()
	check("mutex ctx owned", func() { m.AssertNotOwned() })
	check("_mtx_lock_sleep: recursed on non-recursive mutex ctx", func() { m.Lock() })
	check("mutex ctx destroyed while held", func() { m.Destroy() })
	m.Unlock()
}

func TestAssertOwnedKnowsTheOwnerWhereItCan(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m Mtx
	m.Init(k, "m")
	th := k.Spawn("holder", func() {
		m.Lock()
		k.sched.cur.suspend()
		m.AssertOwned()
		m.Unlock()
	})
	k.Step()
	m.AssertNotOwned()
	mustPanic(t, m.AssertOwned) // held, but not by the driver
	th.Join()

	threads := newKernel(t, Config{})
	var n Mtx
	n.Init(threads, "n")
	mustPanic(t, n.AssertOwned)
	n.Lock()
	n.AssertOwned()
	done := make(chan struct{})
	go func() {
		n.AssertOwned() // without Invariants: held by somebody is all it knows
		close(done)
	}()
	<-done
	n.Unlock()
}

func TestInvariantsTrackGoroutinesInThreads(t *testing.T) {
	k := newKernel(t, Config{Invariants: true})
	var m Mtx
	m.Init(k, "m")
	m.Lock()
	m.AssertOwned()
	panicked := make(chan any)
	go func() {
		defer func() { panicked <- recover() }()
		m.AssertOwned()
	}()
	if <-panicked == nil {
		t.Error("another goroutine passes AssertOwned")
	}
	if got := mustPanic(t, func() { k.Delay(time.Nanosecond) }); got != "kern: Delay with mutex m held" {
		t.Errorf("panic %v", got)
	}
	m.Unlock()
	k.Delay(time.Microsecond)
	if len(k.witness.held) != 0 {
		t.Errorf("%d goroutines still hold something", len(k.witness.held))
	}
}

func TestWitnessReportsReversalOnce(t *testing.T) {
	k := newKernel(t, stepped(0))
	var a, b, c Mtx
	a.Init(k, "a")
	b.Init(k, "b")
	c.Init(k, "c")
	nest(&a, &b)
	nest(&b, &c)
	if r := k.WitnessReports(); len(r) != 0 {
		t.Fatalf("reports %q for a consistent order", r)
	}
	nest(&c, &a) // a before b before c
	nest(&c, &a)
	want := "lock order reversal: 1st c (sleep mutex), 2nd a (sleep mutex)"
	if r := k.WitnessReports(); len(r) != 1 || r[0] != want || !strings.Contains(k.Dmesg(), want+"\n") {
		t.Errorf("reports %q, want one %q", r, want)
	}
}

func TestWitnessReportsSleepableUnderMutexAndDuplicates(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m, m2 Mtx
	var x Sx
	m.Init(k, "q")
	m2.Init(k, "q")
	x.Init(k, "ctx")
	nest(&m, &x)
	nest(&m, &m2)
	r := k.WitnessReports()
	if len(r) != 2 || !strings.HasPrefix(r[0], `acquiring sx "ctx" with the following non-sleepable locks held`) ||
		r[1] != `acquiring duplicate lock of same type: "q"` {
		t.Errorf("reports %q", r)
	}
}

func TestSxExcludesAndAsserts(t *testing.T) {
	for _, inv := range []bool{false, true} {
		k := newKernel(t, Config{Invariants: inv})
		var x Sx
		x.Init(k, "ctx")
		mustPanic(t, x.AssertXLocked)
		mustPanic(t, x.Unlock)
		n := 0
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 500 {
					x.Lock()
					x.AssertXLocked()
					k.Delay(time.Nanosecond) // allowed with an Sx held
					n++
					x.Unlock()
				}
			})
		}
		wg.Wait()
		if n != 2000 {
			t.Errorf("n = %d", n)
		}
		if !x.TryLock() || x.TryLock() {
			t.Error("TryLock takes once")
		}
		mustPanic(t, x.Destroy)
		x.Unlock()
		x.AssertUnlocked()
		x.Destroy()
	}
}

func TestZeroMtxIsAPlainLock(t *testing.T) {
	var m Mtx
	m.Lock()
	if m.TryLock() {
		t.Error("TryLock of a held mutex")
	}
	m.AssertOwned()
	m.Unlock()
}

func TestProfilingMayBeSwitchedWhileLocksAreBusy(t *testing.T) {
	k := newKernel(t, Config{})
	var m Mtx
	m.Init(k, "m")
	var stop atomic.Bool
	var wg sync.WaitGroup
	taken := 0
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				m.Lock()
				taken++
				m.Unlock()
			}
		})
	}
	for i := range 200 {
		k.locks.setProfiling(i%2 == 0)
	}
	stop.Store(true)
	wg.Wait()
	for _, s := range k.LockStats() {
		if s.Hold < 0 || s.HoldMax > time.Minute {
			t.Errorf("stats %+v", s)
		}
	}
}

func TestDestroyLockedReleasesTheMutex(t *testing.T) {
	for _, cfg := range []Config{stepped(0), {NCPU: 1}} {
		k := newKernel(t, cfg)
		var m Mtx
		m.Init(k, "going")
		m.Lock()
		m.DestroyLocked()
		if !m.TryLock() {
			t.Error("still held")
		}
		m.Unlock()
	}
}

func TestLocksHeldAreNamedInOrder(t *testing.T) {
	k := newKernel(t, Config{NCPU: 1, Executor: Stepped, Clock: ManualClock})
	var sx Sx
	var m Mtx
	sx.Init(k, "outer")
	m.Init(k, "inner")
	if got := k.LocksHeld(); len(got) != 0 {
		t.Errorf("%q are held before", got)
	}
	sx.Lock()
	m.Lock()
	if got := k.LocksHeld(); !slices.Equal(got, []string{"outer", "inner"}) {
		t.Errorf("%q are held", got)
	}
	sx.Unlock()
	if got := k.LocksHeld(); !slices.Equal(got, []string{"inner"}) {
		t.Errorf("%q are held after unlocking the outer one", got)
	}
	m.Unlock()
}
