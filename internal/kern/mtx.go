package kern

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// What a Mtx does besides locking; anything but mtxSpins leaves the fast path.
const (
	mtxStepped uint32 = 1 << iota // contention switches coroutines
	mtxCheck                      // owner and order are tracked (Invariants)
	mtxProf                       // debug.lock.prof.enable
	mtxSpins                      // hw.ifsim.lock is adaptive or spin
)

// Mtx is a mutual exclusion lock (struct mtx, MTX_DEF), not recursive. The zero
// value works as a plain sync.Mutex without a name; Init gives it to a kernel.
//
// What waits for it: the mutex variant (default) parks as sync.Mutex does; the
// adaptive and spin variants retry for a bounded number of rounds first. All
// three hand over to whoever comes first: a queue in order of arrival convoys as
// soon as the next in line is descheduled. A Mtx is never held across Delay.
type Mtx struct {
	mu    sync.Mutex
	mode  atomic.Uint32 // 0: the fast path
	spins int32         // rounds of spinning before parking

	owner  atomic.Uintptr // checking modes: who holds it
	thread *Thread        // stepped executor: the same, as a thread
	hold   lockHold       // profiling; owner's

	k    *Kernel
	name string
	id   lockID
}

// Init names the mutex and gives it to k (mtx_init). The waiting policy is
// hw.ifsim.lock as it is now. Not for a mutex in use.
func (m *Mtx) Init(k *Kernel, name string) {
	m.k, m.name = k, name
	m.id = k.locks.id(lockPolicies[k.locks.policy.Load()].class, name)
	mode := uint32(0)
	if k.sched != nil {
		mode |= mtxStepped | mtxCheck
	}
	if k.invariants {
		mode |= mtxCheck
	}
	if m.spins = k.locks.spins(); m.spins > 0 && k.sched == nil {
		mode |= mtxSpins
	}
	m.mode.Store(mode)
	k.locks.add(m)
}

// Destroy takes the mutex from its kernel (mtx_destroy); it must not be held.
// What profiling counted is kept.
func (m *Mtx) Destroy() {
	if !m.mu.TryLock() {
		panic(m.complain("mutex %s destroyed while held"))
	}
	m.mu.Unlock()
	m.k.locks.remove(m)
}

// DestroyLocked is Destroy for a caller that holds the mutex, which mtx_destroy
// allows; it is free afterwards. Somebody who still finds it, such as a sender
// that was on its way when a device went, may lock it as before.
func (m *Mtx) DestroyLocked() {
	m.k.locks.remove(m)
	if m.mode.Load()&mtxCheck != 0 {
		m.owner.Store(0)
		m.k.release(m.name, lockMtx)
	}
	m.thread, m.hold.site = nil, nil
	m.mu.Unlock()
}

// Name is the name given to Init.
func (m *Mtx) Name() string { return m.name }

// Lock acquires the mutex (mtx_lock). Locking it twice is a panic in checking
// modes and waits for ever otherwise. Uncontended, the three waiting policies
// cost the same.
func (m *Mtx) Lock() {
	switch m.mode.Load() {
	case 0:
		m.mu.Lock()
		return
	case mtxSpins:
		if m.mu.TryLock() {
			return
		}
	}
	m.lockSlow()
}

// TryLock acquires the mutex if that is possible at once (mtx_trylock).
func (m *Mtx) TryLock() bool {
	if m.mode.Load()&^mtxSpins != 0 {
		return m.tryLockSlow()
	}
	return m.mu.TryLock()
}

// Unlock releases the mutex (mtx_unlock).
func (m *Mtx) Unlock() {
	if m.mode.Load()&^mtxSpins != 0 {
		m.unlockSlow()
		return
	}
	m.mu.Unlock()
}

// AssertOwned panics unless the mutex is held (mtx_assert MA_OWNED): by the
// caller in checking modes, by anybody otherwise.
func (m *Mtx) AssertOwned() {
	if m.mode.Load()&mtxCheck != 0 {
		if m.owner.Load() != m.k.self() {
			panic(m.complain("mutex %s not owned"))
		}
		return
	}
	if m.mu.TryLock() {
		m.mu.Unlock()
		panic(m.complain("mutex %s not owned"))
	}
}

// AssertNotOwned panics if the caller holds the mutex (mtx_assert MA_NOTOWNED).
// Only checking modes know.
func (m *Mtx) AssertNotOwned() {
	if m.mode.Load()&mtxCheck != 0 && m.owner.Load() == m.k.self() {
		panic(m.complain("mutex %s owned"))
	}
}

// complain is the text of a KASSERT with the place of the lock operation.
func (m *Mtx) complain(format string) string { return complain(format, m.name) }

// complain names the first caller outside of the lock types.
func complain(format, name string) string {
	msg := fmt.Sprintf(format, name)
	var pcs [complainDepth]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !isLockMethod(f.Function) {
			return fmt.Sprintf("%s at %s:%d", msg, filepath.Base(f.File), f.Line)
		}
	}
	return msg
}

// complainDepth is more than the lock types' own frames.
const complainDepth = 8

// isLockMethod reports whether a function is one of the lock types' own.
func isLockMethod(fn string) bool {
	return strings.Contains(fn, "/kern.(*Mtx).") || strings.Contains(fn, "/kern.(*Sx).")
}
