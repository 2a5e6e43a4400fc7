package metrics

const labelLock = "lock"

// Locks are counted while debug.lock.prof.enable is 1.
var (
	lockAcquired  = counter("lock_acquisitions", unitTimes, "Times that a mutex was taken, while debug.lock.prof.enable is 1.", "debug.lock.prof.stats, count", labelLock)
	lockContended = counter("lock_contentions", unitTimes, "Times that somebody had to wait for a mutex.", "debug.lock.prof.stats, cnt_lock", labelLock)
	lockTryFailed = counter("lock_try_failures", unitTimes, "Times that a mutex was tried and not taken, as by senders of simple_tx.", "debug.lock.prof.stats, try_fail", labelLock)
	lockWait      = counter("lock_wait_seconds", unitSeconds, "Time waited for a mutex.", "debug.lock.prof.stats, wait_total", labelLock)
	lockHold      = counter("lock_hold_seconds", unitSeconds, "Time that a mutex was held.", "debug.lock.prof.stats, total", labelLock)
)

func lockFamilies() []family {
	return []family{lockAcquired, lockContended, lockTryFailed, lockWait, lockHold}
}

func (s *scrape) locks() {
	for _, l := range s.k.LockStats() {
		s.put(lockAcquired, float64(l.Acquired), l.Name)
		s.put(lockContended, float64(l.Contended), l.Name)
		s.put(lockTryFailed, float64(l.TryFailed), l.Name)
		s.put(lockWait, l.Wait.Seconds(), l.Name)
		s.put(lockHold, l.Hold.Seconds(), l.Name)
	}
}
