package hw

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
)

// States of a Throttle.
const (
	throttleIdle  uint32 = iota
	throttleArmed        // an interrupt waits for the interval to end, or is about to be sent
)

// Throttle moderates one interrupt vector (ITR, EITR; spec 1g 5.2, spec 10g A9): two
// interrupts are at least an interval apart; requests in between are one. Without an
// interval a request costs one load and the fire function. Any goroutine.
type Throttle struct {
	k        *kern.Kernel
	faults   *Faults
	fire     func()
	interval atomic.Int64 // ns
	last     atomic.Int64 // uptime in ns of the last interrupt
	state    atomic.Uint32
	timer    *timer
}

// NewThrottle returns the throttle of a vector, without an interval. fire sends the
// interrupt unless it has been masked meanwhile; it must not wait. The lost_intr fail
// point drops interrupts here.
func NewThrottle(k *kern.Kernel, name string, f *Faults, fire func()) *Throttle {
	t := &Throttle{k: k, faults: f, fire: fire}
	t.timer = newTimer(k, name, t.expire)
	return t
}

// SetInterval sets the least time between interrupts; 0 is none and sends what waits.
// What already waits keeps its time otherwise.
func (t *Throttle) SetInterval(d time.Duration) {
	t.interval.Store(int64(max(d, 0)))
	if d <= 0 && t.state.CompareAndSwap(throttleArmed, throttleIdle) {
		t.timer.stop()
		t.send()
	}
}

// Interval returns the interval.
func (t *Throttle) Interval() time.Duration { return time.Duration(t.interval.Load()) }

// Request sends the interrupt now if the interval since the last one has passed, else
// when it has. A request while one waits costs two loads.
func (t *Throttle) Request() {
	interval := t.interval.Load()
	if interval == 0 {
		t.send()
		return
	}
	if t.state.Load() == throttleArmed || !t.state.CompareAndSwap(throttleIdle, throttleArmed) {
		return
	}
	now := int64(t.k.Uptime())
	last := t.last.Load()
	if left := last + interval - now; last != 0 && left > 0 {
		t.timer.start(time.Duration(left))
		return
	}
	t.release(now)
}

// expire is the end of the interval.
func (t *Throttle) expire() { t.release(int64(t.k.Uptime())) }

// release sends the interrupt that waits, at uptime now.
func (t *Throttle) release(now int64) {
	t.last.Store(now)
	if t.state.CompareAndSwap(throttleArmed, throttleIdle) {
		t.send()
	}
}

func (t *Throttle) send() {
	if !t.faults.LoseIntr() {
		t.fire()
	}
}

// Waiting reports whether an interrupt waits for the interval to end.
func (t *Throttle) Waiting() bool { return t.state.Load() == throttleArmed }

// Cancel forgets the interrupt that waits and when the last one was: a reset.
func (t *Throttle) Cancel() {
	t.timer.stop()
	t.last.Store(0)
	t.state.Store(throttleIdle)
}

// Close ends the throttle's timer; no interrupt is sent by it any more. Not from fire.
func (t *Throttle) Close() { t.timer.close() }

// Delayer delays an event's interrupt (RDTR with RADV, TIDV with TADV; spec 1g 5.3): by
// the packet delay after the latest event, at most by the absolute delay after the
// first. Any goroutine.
type Delayer struct {
	k     *kern.Kernel
	fire  func()
	timer *timer

	mu       sync.Mutex // guards what follows
	packet   time.Duration
	absolute time.Duration // 0: no limit
	first    time.Duration // uptime of the first event that waits, 0: none does
}

// NewDelayer returns a delayer without delays: Event calls fire at once.
func NewDelayer(k *kern.Kernel, name string, fire func()) *Delayer {
	d := &Delayer{k: k, fire: fire}
	d.timer = newTimer(k, name, d.expire)
	return d
}

// Set sets the delays; a packet delay of 0 switches both off.
func (d *Delayer) Set(packet, absolute time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.packet, d.absolute = max(packet, 0), max(absolute, 0)
}

// Event notes an event: one call for a batch of packets is enough.
func (d *Delayer) Event() {
	d.mu.Lock()
	if d.packet == 0 {
		d.mu.Unlock()
		d.Flush()
		return
	}
	now := d.k.Uptime()
	if d.first == 0 {
		d.first = now
	}
	wait := d.packet
	if d.absolute != 0 {
		wait = min(wait, d.first+d.absolute-now)
	}
	d.mu.Unlock()
	if wait <= 0 {
		d.Flush()
		return
	}
	d.timer.start(wait)
}

// Flush fires now and forgets what waits (RDTR.FPD).
func (d *Delayer) Flush() {
	d.timer.stop()
	d.expire()
}

func (d *Delayer) expire() {
	d.mu.Lock()
	d.first = 0
	d.mu.Unlock()
	d.fire()
}

// Close ends the delayer's timer. Not from fire.
func (d *Delayer) Close() { d.timer.close() }
