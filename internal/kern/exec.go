package kern

import (
	"runtime"
	"time"
)

// Executor selects who runs a kernel's queues and threads.
type Executor int

const (
	// Threads gives every CPU and TaskQueue a goroutine of its own.
	Threads Executor = iota
	// Stepped runs nothing by itself: the caller drives.
	Stepped
)

// Step runs one queued item, or one thread up to its next switch, in the stepped
// executor; false when nothing is runnable. With seed 0 CPUs, task queues and
// threads take turns, each first in first out, and nothing is preempted; any
// other seed picks at random, repeatably, and preempts at SchedPoint. It panics
// with a *DeadlockError when threads wait for each other. In the threaded
// executor there is nothing to step.
func (k *Kernel) Step() bool { return k.sched != nil && k.sched.step() }

// RunUntilIdle steps until nothing is runnable and returns the number of steps.
// In the threaded executor it waits until every CPU and TaskQueue is idle and
// returns the number of items that ran meanwhile. Not from work or threads of the kernel.
func (k *Kernel) RunUntilIdle() int {
	if k.sched != nil {
		return k.sched.runUntilIdle()
	}
	before := k.itemsRun()
	for {
		n := k.itemsRun()
		if k.allQuiet() && k.itemsRun() == n && k.allQuiet() {
			return int(n - before)
		}
		runtime.Gosched()
	}
}

// Advance moves the clock by d: callouts fire in order, each at its own time, and
// queues run to idle between them. A real clock is waited for. Not from work or
// threads of the kernel.
func (k *Kernel) Advance(d time.Duration) {
	if k.sched != nil {
		k.sched.advance(d)
		return
	}
	end := k.Uptime() + d
	for {
		k.RunUntilIdle()
		next, ok := k.callouts.next()
		if !ok || next > end {
			break
		}
		k.waitUntil(next)
	}
	k.waitUntil(end)
	k.RunUntilIdle()
}

// waitUntil moves or waits for the clock; for the threaded executor.
func (k *Kernel) waitUntil(t time.Duration) {
	if k.clock.manual {
		k.moveClock(t)
		return
	}
	time.Sleep(t - k.Uptime())
}

func (k *Kernel) queues() []*runq {
	k.queueMu.Lock()
	defer k.queueMu.Unlock()
	return append(append([]*runq(nil), k.cpus...), k.taskqs...)
}

// endQueues is queues for the last time: none is made after it.
func (k *Kernel) endQueues() []*runq {
	k.queueMu.Lock()
	k.stopped = true
	k.queueMu.Unlock()
	return k.queues()
}

func (k *Kernel) itemsRun() uint64 {
	var n uint64
	for _, q := range k.queues() {
		n += q.ran.Load()
	}
	return n
}

func (k *Kernel) allQuiet() bool {
	for _, q := range k.queues() {
		if !q.quiet() {
			return false
		}
	}
	return true
}

// SchedPoint marks a place where another thread may run (what preemption could do
// in a kernel). In the stepped executor, inside a thread or queued work, it may
// switch; otherwise it is one predictable branch. Never inside CriticalEnter.
func (k *Kernel) SchedPoint() {
	if k.sched != nil {
		k.sched.point()
	}
}
