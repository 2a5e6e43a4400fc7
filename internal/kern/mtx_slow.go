package kern

import "time"

const (
	// spinPause is the number of PAUSE instructions a round; one takes 25-28 ns.
	spinPause = 8
	// adaptiveRounds bounds the adaptive variant to about 2 us: Go does not tell
	// whether an owner runs, but one that does is out of a TX queue by then.
	adaptiveRounds = 10
	// spinRounds bounds the spin variant to about 25 us, several tenures.
	spinRounds = 120
)

func (m *Mtx) lockSlow() {
	mode := m.mode.Load()
	if mode&mtxStepped != 0 {
		m.k.sched.point()
	}
	if mode&mtxCheck != 0 {
		m.checkOrder()
	}
	var site *lockSite
	if mode&mtxProf != 0 {
		site = m.k.locks.record(&m.id, lockFrames)
	}
	if m.mu.TryLock() {
		m.acquired(mode, site, 0, false)
		return
	}
	var start time.Duration
	if site != nil {
		start = m.k.Uptime()
	}
	m.contend(mode)
	m.acquired(mode, site, start, true)
}

// lockFrames is how far a caller of Lock or TryLock is from their slow part.
const lockFrames = 2

// checkOrder is WITNESS's part of Lock, before it waits.
func (m *Mtx) checkOrder() {
	if m.owner.Load() == m.k.self() {
		panic(m.complain("_mtx_lock_sleep: recursed on non-recursive mutex %s"))
	}
	m.k.witness.check(m.k.holder(), m.name, lockMtx)
}

// contend waits for a mutex that somebody holds.
func (m *Mtx) contend(mode uint32) {
	switch {
	case mode&mtxStepped != 0:
		for !m.mu.TryLock() {
			m.k.sched.wait("mutex "+m.name, m.free, func() *Thread { return m.thread })
		}
	case mode&mtxSpins == 0 || !m.spin():
		m.mu.Lock()
	}
}

// free reports whether nobody holds the mutex; stepped executor only.
func (m *Mtx) free() bool { return m.thread == nil }

// spin tries for a bounded time and reports whether it got the mutex.
func (m *Mtx) spin() bool {
	for range m.spins {
		procyield(spinPause)
		if m.mu.TryLock() {
			return true
		}
	}
	return false
}

// acquired records the new owner, who is the caller. site is where it is profiled, nil if it
// is not; contested is whether it had to wait, since start.
func (m *Mtx) acquired(mode uint32, site *lockSite, start time.Duration, contested bool) {
	if mode&mtxCheck != 0 {
		m.owner.Store(m.k.self())
		m.k.holder().push(m.name, lockMtx)
	}
	if mode&mtxStepped != 0 {
		m.thread = m.k.sched.self()
	}
	m.hold.site = nil
	if site != nil {
		now := m.k.Uptime()
		m.hold.begin(site, now, now-start, contested)
	}
}

func (m *Mtx) tryLockSlow() bool {
	mode := m.mode.Load()
	if mode&mtxStepped != 0 {
		m.k.sched.point()
	}
	var site *lockSite
	if mode&mtxProf != 0 {
		site = m.k.locks.record(&m.id, lockFrames)
	}
	if !m.mu.TryLock() {
		if site != nil {
			site.tryFailed.Add(1)
		}
		return false
	}
	m.acquired(mode, site, 0, false)
	return true
}

func (m *Mtx) unlockSlow() {
	mode := m.mode.Load()
	if mode&mtxCheck != 0 {
		if m.owner.Load() != m.k.self() {
			panic(m.complain("mutex %s not owned"))
		}
		m.owner.Store(0)
		m.k.release(m.name, lockMtx)
	}
	if m.hold.site != nil {
		m.hold.done(&m.k.locks, m.k.Uptime())
	}
	m.thread = nil
	m.mu.Unlock()
	if mode&mtxStepped != 0 {
		m.k.sched.point()
	}
}
