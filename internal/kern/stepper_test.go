package kern

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const manySeeds = 200

func TestSeedZeroTakesTurnsFirstInFirstOut(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped, Clock: ManualClock, NCPU: 3})
	var order []string
	for _, name := range []string{"a", "b", "c", "d"} {
		task := k.NewTask(name, func() { order = append(order, name) })
		task.Bind(map[string]int{"a": 2, "b": 0, "c": 0, "d": 1}[name])
		task.Enqueue()
	}
	tq := k.NewTaskQueue("tq")
	tq.NewTask("q", func() { order = append(order, "q") }).Enqueue()
	k.Spawn("t", func() { order = append(order, "t") })
	if n := k.RunUntilIdle(); n != 6 {
		t.Errorf("%d steps, want 6", n)
	}
	if want := []string{"b", "d", "a", "q", "t", "c"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// interleaving runs three threads and a task that share a lock, and returns the trace.
func interleaving(t *testing.T, seed uint64) string {
	k := mustNew(t, stepped(seed))
	defer k.Close()
	var m Mtx
	m.Init(k, "m")
	var trace strings.Builder
	inside := 0
	body := func(name string) func() {
		return func() {
			for range 3 {
				m.Lock()
				if inside++; inside != 1 {
					t.Errorf("seed %d: %d threads hold the lock", seed, inside)
				}
				trace.WriteString(name)
				k.SchedPoint()
				inside--
				m.Unlock()
			}
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		k.Spawn(name, body(name))
	}
	task := k.NewTask("t", body("t"))
	task.Enqueue()
	k.RunUntilIdle()
	if got := trace.String(); len(got) != 12 {
		t.Errorf("seed %d: trace %q of %d, want 12", seed, got, len(got))
	}
	return trace.String()
}

func TestSeedsExploreInterleavingsRepeatably(t *testing.T) {
	seen := make(map[string]bool)
	for seed := range uint64(manySeeds) {
		trace := interleaving(t, seed)
		if again := interleaving(t, seed); again != trace {
			t.Fatalf("seed %d: %q, then %q", seed, trace, again)
		}
		seen[trace] = true
	}
	if len(seen) < manySeeds/2 {
		t.Errorf("%d interleavings of %d seeds", len(seen), manySeeds)
	}
	if got := interleaving(t, 0); got != "tttaaabbbccc" {
		t.Errorf("seed 0 preempts: %q", got)
	}
}

func TestSchedPointsFindALostUpdate(t *testing.T) {
	lost := 0
	for seed := uint64(1); seed <= manySeeds; seed++ {
		k := mustNew(t, stepped(seed))
		n := 0
		for range 2 {
			k.Spawn("inc", func() {
				v := n
				k.SchedPoint()
				n = v + 1
			})
		}
		k.RunUntilIdle()
		k.Close()
		if n == 1 {
			lost++
		}
	}
	if lost == 0 || lost == manySeeds {
		t.Errorf("lost update in %d of %d seeds", lost, manySeeds)
	}
}

func TestDeadlockIsFoundAndNamed(t *testing.T) {
	found := 0
	for seed := uint64(1); seed <= manySeeds; seed++ {
		k := mustNew(t, stepped(seed))
		var a, b Mtx
		a.Init(k, "a")
		b.Init(k, "b")
		k.Spawn("ab", func() { nest(&a, &b) })
		k.Spawn("ba", func() { nest(&b, &a) })
		err := deadlockOf(t, func() { k.RunUntilIdle() })
		k.Close()
		if err == nil {
			continue
		}
		found++
		want := []string{"ab waits for mutex b, up to ba", "ba waits for mutex a, up to ab"}
		if !slices.Equal(err.Waits, want) {
			t.Fatalf("seed %d: %q, want %q", seed, err.Waits, want)
		}
	}
	if found == 0 || found == manySeeds {
		t.Errorf("deadlock in %d of %d seeds", found, manySeeds)
	}
}

// deadlockOf runs fn and returns the deadlock it panics with, if it does.
func deadlockOf(t *testing.T, fn func()) (err *DeadlockError) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || !errors.As(e, &err) {
				t.Fatalf("panic %v", r)
			}
		}
	}()
	fn()
	return nil
}

func TestDriverThatWaitsForNobodyIsADeadlock(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m Mtx
	var x Sx
	m.Init(k, "m")
	x.Init(k, "x")
	th := k.Spawn("leaver", func() {
		m.Lock()
		x.Lock()
	})
	th.Join()
	if err := deadlockOf(t, m.Lock); err == nil || err.Error() !=
		"kern: deadlock: driver waits for mutex m, up to leaver" {
		t.Errorf("deadlock %v", err)
	}
	if err := deadlockOf(t, x.Lock); err == nil || err.Error() !=
		"kern: deadlock: driver waits for sx x, up to leaver" {
		t.Errorf("deadlock %v", err)
	}
}

func TestWaitingForTheDriverIsNoDeadlock(t *testing.T) {
	k := newKernel(t, stepped(0))
	var x Sx
	x.Init(k, "ctx")
	x.Lock()
	ran := false
	task := k.NewTask("admin", func() {
		x.Lock()
		defer x.Unlock()
		ran = true
	})
	task.Enqueue()
	joiner := k.Spawn("drainer", task.Drain)
	k.RunUntilIdle()
	if ran {
		t.Fatal("task passed a lock that is held")
	}
	if err := deadlockOf(t, joiner.Join); err == nil {
		t.Error("the driver waits for a thread that waits for the driver, unnoticed")
	}
	x.Unlock()
	k.RunUntilIdle()
	if !ran {
		t.Error("task did not go on after Unlock")
	}
}

func TestDriverRunsOthersWhileItWaitsForALock(t *testing.T) {
	k := newKernel(t, stepped(3))
	var m Mtx
	m.Init(k, "m")
	steps := 0
	k.Spawn("holder", func() {
		m.Lock()
		for range 5 {
			steps++
			k.sched.cur.suspend()
		}
		m.Unlock()
	})
	for steps == 0 {
		k.Step()
	}
	m.Lock()
	if steps != 5 {
		t.Errorf("driver got the lock after %d steps of its holder, want 5", steps)
	}
	m.Unlock()
}

func TestPanicInWorkReachesTheDriver(t *testing.T) {
	k := newKernel(t, stepped(0))
	k.NewTask("bad", func() { panic("KASSERT") }).Enqueue()
	if got := mustPanic(t, func() { k.RunUntilIdle() }); got != "KASSERT" {
		t.Errorf("panic %v", got)
	}
}

func TestSteppingFromWorkIsRefused(t *testing.T) {
	k := newKernel(t, stepped(0))
	k.NewTask("nested", func() { k.RunUntilIdle() }).Enqueue()
	want := "kern: Step, RunUntilIdle or Advance called from cpu0"
	if got := mustPanic(t, func() { k.Step() }); got != want {
		t.Errorf("panic %v", got)
	}
}

func TestCloseUnwindsSuspendedThreads(t *testing.T) {
	k := mustNew(t, stepped(0))
	var m Mtx
	m.Init(k, "m")
	unwound := 0
	for i := range 3 {
		k.Spawn(fmt.Sprint(i), func() {
			defer func() { unwound++ }()
			m.Lock()
			defer m.Unlock()
			k.Delay(time.Nanosecond) // never reached by the second and third
		})
	}
	k.Spawn("never started", func() { t.Error("ran in Close") })
	m.Lock()
	for range 3 {
		k.Step()
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if unwound != 3 {
		t.Errorf("%d deferred calls ran, want 3", unwound)
	}
}

func TestDelayInAThreadLetsOthersRunAndMovesTheClock(t *testing.T) {
	k := newKernel(t, stepped(0))
	start := k.Uptime()
	var log []string
	note := func(what string) { log = append(log, fmt.Sprintf("%s %v", what, k.Uptime()-start)) }
	c := k.NewCallout("c", nil, func() { note("callout") })
	c.Reset(2, 0)
	k.Spawn("long", func() { k.Delay(5 * time.Millisecond); note("long") })
	k.Spawn("short", func() { k.Delay(time.Millisecond); note("short") })
	if n := k.RunUntilIdle(); n != 5 {
		t.Errorf("%d steps, want 5: a thread in Delay does not run", n)
	}
	if want := []string{"short 1ms", "callout 2ms", "long 5ms"}; !slices.Equal(log, want) {
		t.Errorf("log %q, want %q", log, want)
	}
	note("driver")
	k.Delay(time.Millisecond)
	if got := k.Uptime() - start; got != 6*time.Millisecond {
		t.Errorf("clock at %v after the driver's Delay, want 6ms", got)
	}
}

func TestDelayEndsThoughOthersNeverIdle(t *testing.T) {
	k := newKernel(t, stepped(0))
	done := false
	var poll *Task
	poll = k.NewTask("poll", func() {
		if !done {
			poll.Enqueue()
		}
	})
	poll.Enqueue()
	k.Spawn("sleeper", func() { k.Delay(time.Second); done = true })
	k.RunUntilIdle()
	if !done || k.Uptime() != 11*time.Second {
		t.Errorf("done %v at %v", done, k.Uptime())
	}
}

func TestDelayWithMutexHeldPanics(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m Mtx
	m.Init(k, "q")
	m.Lock()
	if got := mustPanic(t, func() { k.Delay(1) }); got != "kern: Delay with mutex q held" {
		t.Errorf("panic %v", got)
	}
	m.Unlock()
}

// TestTasksObeyTheQueueRule drives tasks by random enqueues from outside and
// inside, rebinding and preemption, and compares with the rule: queued at most once,
// every Enqueue that queued is followed by one run, never two runs at once.
func TestTasksObeyTheQueueRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := mustNew(t, stepped(rapid.Uint64().Draw(rt, "seed")))
		defer k.Close()
		const tasks = 3
		var queued, runs, running [tasks]int
		again := rapid.SliceOfN(rapid.IntRange(0, tasks-1), 0, 10).Draw(rt, "inside")
		var ts [tasks]*Task
		for i := range ts {
			ts[i] = k.NewTask(fmt.Sprint(i), func() {
				runs[i]++
				if running[i]++; running[i] != 1 {
					rt.Fatalf("task %d runs twice at once", i)
				}
				k.SchedPoint()
				if len(again) > 0 {
					j := again[0]
					again = again[1:]
					if ts[j].Enqueue() {
						queued[j]++
					}
				}
				k.SchedPoint()
				running[i]--
			})
		}
		for range rapid.IntRange(1, 20).Draw(rt, "ops") {
			i := rapid.IntRange(0, tasks-1).Draw(rt, "task")
			switch rapid.IntRange(0, 3).Draw(rt, "op") {
			case 0, 1:
				was := ts[i].Queued()
				if ts[i].Enqueue() {
					queued[i]++
				} else if !was {
					rt.Fatalf("Enqueue of an idle task refused")
				}
			case 2:
				ts[i].Bind(rapid.IntRange(0, 1).Draw(rt, "cpu"))
			case 3:
				k.Step()
			}
		}
		k.RunUntilIdle()
		if queued != runs {
			rt.Fatalf("queued %v, ran %v", queued, runs)
		}
	})
}
