package metrics

import "github.com/ifsim/ifsim/internal/kern"

const labelLock = "lock"

// lockReadings are what the profile of locks counts.
var lockReadings = []reading[kern.LockStat]{
	{counter("lock_acquisitions", unitTimes, "Times that a mutex was taken, while debug.lock.prof.enable is 1.", "debug.lock.prof.stats, count", labelLock),
		func(l kern.LockStat) float64 { return float64(l.Acquired) }},
	{counter("lock_contentions", unitTimes, "Times that somebody had to wait for a mutex.", "debug.lock.prof.stats, cnt_lock", labelLock),
		func(l kern.LockStat) float64 { return float64(l.Contended) }},
	{counter("lock_try_failures", unitTimes, "Times that a mutex was tried and not taken, as by senders of simple_tx.", "debug.lock.prof.tries, failed", labelLock),
		func(l kern.LockStat) float64 { return float64(l.TryFailed) }},
	{counter("lock_wait_seconds", unitSeconds, "Time waited for a mutex.", "debug.lock.prof.stats, wait_total", labelLock),
		func(l kern.LockStat) float64 { return l.Wait.Seconds() }},
	{counter("lock_hold_seconds", unitSeconds, "Time that a mutex was held.", "debug.lock.prof.stats, total", labelLock),
		func(l kern.LockStat) float64 { return l.Hold.Seconds() }},
}

func lockFamilies() []family { return familiesOf(lockReadings) }

func (s *scrape) locks() {
	for _, l := range s.k.LockStats() {
		show(s, lockReadings, l, l.Name)
	}
}
