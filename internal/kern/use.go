package kern

import (
	"sync"
	"time"
)

// use tells how long a queue's consumer has worked. A goroutine is measured where it
// sleeps, so that one with work to do reads no clock; the stepped executor, whose time
// stands still but for Delay, measures items.
type use struct {
	mu    sync.Mutex
	total time.Duration // asleep; of the stepped executor: at work; guarded by mu
	since time.Duration // uptime at which the present sleep began; guarded by mu
	now   bool          // it sleeps; guarded by mu
}

// begin and end read the clock with the lock, so that no reader has seen a later time.
func (u *use) begin(clock func() time.Duration) {
	u.mu.Lock()
	u.since, u.now = clock(), true
	u.mu.Unlock()
}

func (u *use) end(clock func() time.Duration) {
	u.mu.Lock()
	u.total, u.now = u.total+clock()-u.since, false
	u.mu.Unlock()
}

// until is the sum up to the time that the clock shows while nothing changes.
func (u *use) until(clock func() time.Duration) (sum, t time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t = clock()
	if u.now {
		return u.total + t - u.since, t
	}
	return u.total, t
}

// sleep waits for a push.
func (q *runq) sleep() {
	if q.uptime == nil {
		<-q.wake
		return
	}
	q.use.begin(q.uptime)
	<-q.wake
	q.use.end(q.uptime)
}

// work executes an item in the stepped executor.
func (q *runq) work(w *work) {
	if q.uptime == nil {
		w.execute()
		return
	}
	q.use.begin(q.uptime)
	defer func() { q.use.end(q.uptime) }()
	w.execute()
}

// CPUBusy is how long a CPU has run tasks, interrupts and callouts since the kernel was
// made, and the uptime at which that is so (the sum of kern.cp_times without idle).
// Senders are threads of their own and not in it. Any goroutine. A number outside the
// machine is a broken invariant.
func (k *Kernel) CPUBusy(cpu int) (busy, uptime time.Duration) {
	sum, t := k.cpuq(cpu).use.until(k.Uptime)
	if k.sched != nil {
		return sum, t
	}
	return t - bootUptime - sum, t
}
