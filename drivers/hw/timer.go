package hw

import (
	"sync"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
)

// timer calls fn once a time has passed on the kernel's clock. FreeBSD's callouts have
// ticks of a millisecond, too coarse for interrupt moderation: on a real clock a timer
// of the host is used, in the stepped executor a callout, rounded up to ticks.
type timer struct {
	k       *kern.Kernel
	fn      func()
	callout *kern.Callout

	mu       sync.Mutex // guards what follows; never held while fn runs
	host     *time.Timer
	deadline time.Duration // uptime
	armed    bool
	closed   bool
	running  sync.WaitGroup // fn called by host; Add with mu held and closed false
}

// newTimer returns a timer, not armed. The kernel closes it at the latest.
func newTimer(k *kern.Kernel, name string, fn func()) *timer {
	t := &timer{k: k, fn: fn}
	t.callout = k.NewCallout(name, nil, t.expire)
	k.OnClose(t.close)
	return t
}

// start arms the timer to fire after d; an armed one is moved.
func (t *timer) start(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.deadline, t.armed = t.k.Uptime()+d, true
	switch {
	case t.k.Stepped():
		t.callout.Reset(t.ticks(d), -1)
	case t.host == nil:
		t.host = time.AfterFunc(d, t.expire)
	default:
		t.host.Reset(d)
	}
}

// ticks is d in ticks, rounded up.
func (t *timer) ticks(d time.Duration) int {
	tick := time.Second / time.Duration(t.k.Hz())
	return int((d + tick - 1) / tick)
}

// stop disarms the timer; a call of fn may be in progress.
func (t *timer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disarm()
}

func (t *timer) disarm() {
	t.armed = false
	t.callout.Stop()
	if t.host != nil {
		t.host.Stop()
	}
}

// expire is called by the host's timer or the callout.
func (t *timer) expire() {
	t.mu.Lock()
	if t.closed || !t.armed {
		t.mu.Unlock()
		return
	}
	if left := t.deadline - t.k.Uptime(); left > 0 { // a manual clock is not the host's
		t.callout.Reset(t.ticks(left), -1)
		t.mu.Unlock()
		return
	}
	t.armed = false
	t.running.Add(1)
	t.mu.Unlock()
	t.fn()
	t.running.Done()
}

// close disarms the timer for good and waits for fn. Again it does nothing. Not from fn.
func (t *timer) close() {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	t.disarm()
	t.mu.Unlock()
	if t.k.Stepped() {
		t.callout.Drain()
		return
	}
	t.running.Wait()
}
