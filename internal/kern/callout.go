package kern

import (
	"container/heap"
	"math"
	"sync"
	"time"
)

// Callout is a timer (struct callout). Its function runs on a CPU's queue.
type Callout struct {
	work
	mtx *Mtx
	fn  func()

	// The rest is guarded by callouts.mu.
	when   time.Duration // uptime at which it falls due
	seq    uint64        // order among equal times
	index  int           // place in the heap, -1 outside
	due    bool          // fallen due, function not begun
	active bool          // its CPU is between taking it up and the function's return
}

// callouts is the callout wheel of a kernel (struct callout_cpu): one heap, the
// order of which decides everything that falls due.
type callouts struct {
	mu    sync.Mutex
	cond  *sync.Cond // an active callout ended
	heap  calloutHeap
	seq   uint64
	armed time.Duration // what the timer goroutine sleeps for; 0 asleep without limit

	kick chan struct{} // of one: an earlier time was armed
	quit chan struct{}
	done chan struct{}
}

func (c *callouts) init() {
	c.cond = sync.NewCond(&c.mu)
	c.kick = make(chan struct{}, 1)
	c.quit = make(chan struct{})
	c.done = make(chan struct{})
}

// NewCallout makes a callout, not armed. With a mutex fn runs with it held, and
// Stop or Reset under the same mutex is certain to prevent a run that has not
// begun (callout_init_mtx); nil means fn does its own locking (callout_init).
func (k *Kernel) NewCallout(name string, mtx *Mtx, fn func()) *Callout {
	c := &Callout{mtx: mtx, fn: fn, index: -1}
	c.init(k, name, k.cpuq(0), c.softclock)
	return c
}

// Reset arms the callout to fire after ticks (1 to 2^31-1) on cpu, -1 for the CPU
// it had last; an armed one is moved (callout_reset_on). Times are counted from
// the last tick, as hardclock does. Any goroutine.
func (c *Callout) Reset(ticks int, cpu int) {
	k := c.k
	if cpu >= 0 {
		c.q.Store(k.cpuq(cpu))
	}
	ticks = min(max(ticks, 1), math.MaxInt32)
	when := time.Duration(k.Ticks()+int64(ticks)) * tickDuration
	w := &k.callouts
	w.mu.Lock()
	defer w.mu.Unlock()
	c.cancel()
	c.when, c.seq = when, w.seq
	w.seq++
	heap.Push(&w.heap, c)
	if w.armed == 0 || when < w.armed {
		w.armed = when
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
}

// cancel disarms c and reports whether it was armed. The caller holds callouts.mu.
func (c *Callout) cancel() bool {
	armed := c.due || c.index >= 0
	c.due = false
	if c.index >= 0 {
		heap.Remove(&c.k.callouts.heap, c.index)
	}
	return armed
}

// Stop disarms the callout and reports whether that prevented a run
// (callout_stop). It does not wait for a function that runs already.
func (c *Callout) Stop() bool {
	c.k.callouts.mu.Lock()
	defer c.k.callouts.mu.Unlock()
	return c.cancel()
}

// Pending reports whether the callout is armed or due (callout_pending).
func (c *Callout) Pending() bool {
	c.k.callouts.mu.Lock()
	defer c.k.callouts.mu.Unlock()
	return c.due || c.index >= 0
}

// Drain stops the callout and waits for a function that runs (callout_drain).
// The callout's mutex must not be held. Not from the function itself.
func (c *Callout) Drain() {
	w := &c.k.callouts
	if s := c.k.sched; s != nil {
		s.wait("drain of callout "+c.name, func() bool {
			c.Stop()
			return !c.isActive()
		}, c.q.Load().owner)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c.cancel(); c.active; c.cancel() {
		w.cond.Wait()
	}
}

func (c *Callout) isActive() bool {
	c.k.callouts.mu.Lock()
	defer c.k.callouts.mu.Unlock()
	return c.active
}

// softclock is the callout's work: it takes the mutex, looks whether the callout
// is still due, and calls the function.
func (c *Callout) softclock() {
	w := &c.k.callouts
	w.mu.Lock()
	due := c.due
	c.active = due
	w.mu.Unlock()
	if !due {
		return
	}
	if c.mtx != nil {
		c.mtx.Lock()
	}
	w.mu.Lock()
	due = c.due
	c.due = false
	w.mu.Unlock()
	if due {
		c.fn()
	}
	if c.mtx != nil {
		c.mtx.Unlock()
	}
	w.mu.Lock()
	c.active = false
	w.cond.Broadcast()
	w.mu.Unlock()
}

// next is the time of the earliest armed callout.
func (w *callouts) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.heap) == 0 {
		return 0, false
	}
	return w.heap[0].when, true
}

// fire posts every callout that is due at now to its CPU, in order of time.
func (w *callouts) fire(now time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.heap) > 0 && w.heap[0].when <= now {
		c := heap.Pop(&w.heap).(*Callout)
		c.due = true
		c.enqueue()
	}
}

// timer is the goroutine that fires callouts on a real clock. It sleeps until
// the earliest one, without limit when none is armed.
func (k *Kernel) timer() {
	w := &k.callouts
	defer close(w.done)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-w.kick:
		case <-alarm.C:
		}
		w.fire(k.Uptime())
		alarm.Stop()
		if d, ok := w.arm(); ok {
			alarm.Reset(d - k.Uptime())
		}
	}
}

// arm notes and returns the time the timer goroutine must wake for.
func (w *callouts) arm() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = 0
	if len(w.heap) == 0 {
		return 0, false
	}
	w.armed = w.heap[0].when
	return w.armed, true
}

// calloutHeap orders callouts by time, then by the order of arming.
type calloutHeap []*Callout

func (h calloutHeap) Len() int { return len(h) }
func (h calloutHeap) Less(i, j int) bool {
	if h[i].when != h[j].when {
		return h[i].when < h[j].when
	}
	return h[i].seq < h[j].seq
}
func (h calloutHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *calloutHeap) Push(x any) {
	c := x.(*Callout)
	c.index = len(*h)
	*h = append(*h, c)
}
func (h *calloutHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	c.index = -1
	return c
}
