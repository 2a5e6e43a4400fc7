package kern

import (
	"sync/atomic"
	"time"
)

// Sx is an exclusive sleepable lock (struct sx, always xlocked), not recursive: it
// may be held across Delay. It is a channel of one, so that a wait for it is
// visible to the runtime. Init before use.
type Sx struct {
	ch     chan struct{}
	owner  atomic.Uintptr // checking modes
	thread *Thread        // stepped executor
	hold   lockHold       // profiling; owner's
	k      *Kernel
	name   string
	id     lockID
}

// Init names the lock and gives it to k (sx_init).
func (x *Sx) Init(k *Kernel, name string) {
	x.k, x.name, x.id = k, name, k.locks.id(classSx, name)
	x.ch = make(chan struct{}, 1)
}

// Destroy ends the lock's use (sx_destroy); it must not be held.
func (x *Sx) Destroy() {
	if len(x.ch) != 0 {
		panic(complain("sx %s destroyed while held", x.name))
	}
}

// Name is the name given to Init.
func (x *Sx) Name() string { return x.name }

func (x *Sx) checked() bool { return x.k.sched != nil || x.k.invariants }

// Lock acquires the lock, sleeping for it if it must (sx_xlock).
func (x *Sx) Lock() {
	x.k.SchedPoint()
	if x.checked() {
		if x.owner.Load() == x.k.self() {
			panic(complain("_sx_xlock_hard: recursed on non-recursive sx %s", x.name))
		}
		x.k.witness.check(x.k.holder(), x.name, lockSx)
	}
	site := x.profiled()
	var start time.Duration
	contested := !x.take()
	if contested {
		if site != nil {
			start = x.k.Uptime()
		}
		x.wait()
	}
	x.acquired(site, start, contested)
}

// wait waits for a lock that somebody holds, and takes it.
func (x *Sx) wait() {
	s := x.k.sched
	if s == nil {
		x.ch <- struct{}{}
		return
	}
	for !x.take() {
		s.wait("sx "+x.name, func() bool { return len(x.ch) == 0 }, func() *Thread { return x.thread })
	}
}

// profiled is where the caller's caller is profiled, nil if it is not.
func (x *Sx) profiled() *lockSite {
	if !x.k.locks.on.Load() {
		return nil
	}
	return x.k.locks.record(&x.id, lockFrames)
}

// TryLock acquires the lock if that is possible at once (sx_try_xlock).
func (x *Sx) TryLock() bool {
	x.k.SchedPoint()
	site := x.profiled()
	if !x.take() {
		if site != nil {
			site.tryFailed.Add(1)
		}
		return false
	}
	x.acquired(site, 0, false)
	return true
}

func (x *Sx) take() bool {
	select {
	case x.ch <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquired records the new owner, who is the caller; the rest is as of a Mtx.
func (x *Sx) acquired(site *lockSite, start time.Duration, contested bool) {
	x.hold.site = nil
	if site != nil {
		now := x.k.Uptime()
		x.hold.begin(site, now, now-start, contested)
	}
	if !x.checked() {
		return
	}
	x.owner.Store(x.k.self())
	x.k.holder().push(x.name, lockSx)
	if x.k.sched != nil {
		x.thread = x.k.sched.self()
	}
}

// Unlock releases the lock (sx_xunlock).
func (x *Sx) Unlock() {
	x.AssertXLocked()
	if x.checked() {
		x.owner.Store(0)
		x.k.release(x.name, lockSx)
	}
	if x.k.sched != nil {
		x.thread = nil
	}
	if x.hold.site != nil {
		x.hold.done(&x.k.locks, x.k.Uptime())
	}
	<-x.ch
	x.k.SchedPoint()
}

// AssertXLocked panics unless the lock is held (sx_assert SA_XLOCKED): by the
// caller in checking modes, by anybody otherwise.
func (x *Sx) AssertXLocked() {
	if len(x.ch) == 0 || x.checked() && x.owner.Load() != x.k.self() {
		panic(complain("Lock %s not exclusively locked", x.name))
	}
}

// AssertUnlocked panics if the caller holds the lock (sx_assert SA_UNLOCKED).
// Only checking modes know.
func (x *Sx) AssertUnlocked() {
	if x.checked() && x.owner.Load() == x.k.self() {
		panic(complain("Lock %s exclusively locked", x.name))
	}
}
