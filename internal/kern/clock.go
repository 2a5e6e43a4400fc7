package kern

import (
	"sync/atomic"
	"time"
)

// ClockKind selects the clock of a kernel.
type ClockKind int

const (
	// RealClock follows the host's monotonic clock.
	RealClock ClockKind = iota
	// ManualClock stands still until Advance or Delay moves it.
	ManualClock
)

const (
	// hz is FreeBSD's default of kern.hz.
	hz = 1000
	// bootUptime is the uptime of a kernel that was just made: a booted
	// machine never shows zero, and zero means "never" in some places.
	bootUptime = 10 * time.Second
	// tickDuration is the length of one tick.
	tickDuration = time.Second / hz
	// delaySpinLimit is the longest Delay that spins on a real clock.
	delaySpinLimit = 100 * time.Microsecond
)

type clock struct {
	manual bool
	start  time.Time    // real: when the kernel was made
	now    atomic.Int64 // manual: uptime in ns
}

func (c *clock) init(kind ClockKind) {
	c.manual = kind == ManualClock
	c.start = time.Now()
	c.now.Store(int64(bootUptime))
}

func (c *clock) uptime() time.Duration {
	if c.manual {
		return time.Duration(c.now.Load())
	}
	return bootUptime + time.Since(c.start)
}

// raise moves a manual clock forward to t; a clock never goes back.
func (c *clock) raise(t time.Duration) {
	for {
		old := c.now.Load()
		if int64(t) <= old || c.now.CompareAndSwap(old, int64(t)) {
			return
		}
	}
}

// Hz is the number of ticks a second (kern.hz).
func (k *Kernel) Hz() int { return hz }

// Uptime is the time since boot, at least 10 s. Any goroutine; on a real clock
// it reads the host's clock (57 ns), so it is not for the packet path.
func (k *Kernel) Uptime() time.Duration { return k.clock.uptime() }

// Ticks is the uptime in ticks (FreeBSD's ticks), computed from the clock.
func (k *Kernel) Ticks() int64 { return int64(k.clock.uptime() / tickDuration) }

// Delay waits for d of the kernel's clock (DELAY, pause_sbt). A manual clock is
// moved: by the caller that drives a stepped kernel as Advance does, by a
// coroutine by letting the others run until the time has come. On a real clock
// it spins below 100 us and sleeps above. No Mtx may be held: this is asserted
// in the stepped executor and, with Invariants, in the threaded one.
func (k *Kernel) Delay(d time.Duration) {
	if d <= 0 {
		return
	}
	if name := k.heldMtx(); name != "" {
		panic("kern: Delay with mutex " + name + " held")
	}
	switch {
	case k.sched != nil:
		k.sched.delay(d)
	case k.clock.manual:
		k.moveClock(k.Uptime() + d)
	case d < delaySpinLimit:
		for end := k.Uptime() + d; k.Uptime() < end; {
			procyield(delaySpinPause)
		}
	default:
		time.Sleep(d)
	}
}

// delaySpinPause is the number of PAUSE instructions between two looks at the
// clock in a short Delay.
const delaySpinPause = 4

// moveClock moves a manual clock to t and posts the callouts that fall due on
// the way, each at its own time.
func (k *Kernel) moveClock(t time.Duration) {
	for {
		next, ok := k.callouts.next()
		if !ok || next > t {
			break
		}
		k.clock.raise(next)
		k.callouts.fire(next)
	}
	k.clock.raise(t)
}
