package kern

import (
	"sync/atomic"
	"time"
)

// runq is the queue of one CPU or of one TaskQueue. Any goroutine pushes; one
// consumer pops. A push is a compare-and-swap on a stack that the consumer
// takes whole and reverses, so no producer ever waits for another one or for
// the consumer.
type runq struct {
	head   atomic.Pointer[work] // newest first
	parked atomic.Bool          // the consumer's goroutine waits on wake
	closed atomic.Bool
	wake   chan struct{} // of one; nil in the stepped executor

	ready  *work   // consumer's: oldest first
	worker *Thread // stepped executor's: the coroutine that runs this queue
	name   string
	ran    atomic.Uint64 // items executed
	done   chan struct{} // closed when the goroutine has ended

	uptime func() time.Duration // of the kernel; nil: the queue's use is not measured
	use    use
}

func newRunq(name string) *runq {
	return &runq{name: name, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (q *runq) push(w *work) {
	for {
		h := q.head.Load()
		w.next = h
		if q.head.CompareAndSwap(h, w) {
			break
		}
	}
	if q.closed.Load() {
		bury(q.head.Swap(nil))
		return
	}
	q.kick()
}

// kick wakes the consumer if it has announced that it sleeps: a load otherwise.
func (q *runq) kick() {
	if q.parked.Load() && q.parked.CompareAndSwap(true, false) {
		q.wake <- struct{}{}
	}
}

// pop takes the oldest item, nil when there is none. Consumer only.
func (q *runq) pop() *work {
	if q.ready == nil {
		for w := q.head.Swap(nil); w != nil; {
			next := w.next
			w.next = q.ready
			q.ready, w = w, next
		}
	}
	w := q.ready
	if w != nil {
		q.ready, w.next = w.next, nil
	}
	return w
}

// empty reports whether pop would return nil. Consumer only.
func (q *runq) empty() bool { return q.ready == nil && q.head.Load() == nil }

// owner is the coroutine that must run before an item of this queue ends.
func (q *runq) owner() *Thread { return q.worker }

// loop is the goroutine of the threaded executor.
func (q *runq) loop() {
	defer close(q.done)
	for !q.closed.Load() {
		if w := q.pop(); w != nil {
			w.execute()
			q.ran.Add(1)
			continue
		}
		q.park()
	}
	q.discard()
}

// park sleeps until something is pushed or the queue is closed.
func (q *runq) park() {
	q.parked.Store(true)
	if q.head.Load() == nil && !q.closed.Load() {
		q.sleep()
		return
	}
	if !q.parked.CompareAndSwap(true, false) {
		<-q.wake // a pusher took the announcement: its token is on the way
	}
}

// quiet reports whether the goroutine is parked with nothing to do.
func (q *runq) quiet() bool { return q.parked.Load() && q.head.Load() == nil }

// stop ends the goroutine and waits for it. What is queued does not run.
func (q *runq) stop() {
	q.closed.Store(true)
	q.kick()
	<-q.done
}

// discard drops what is queued when the queue ends. Consumer only.
func (q *runq) discard() {
	bury(q.ready)
	q.ready = nil
	bury(q.head.Swap(nil))
}

// bury marks the items of a list as never to run and lets go who drains them.
func bury(w *work) {
	for w != nil {
		next := w.next
		w.next = nil
		w.shut()
		w.state.And(^workQueued)
		w.wakeDrainers()
		w = next
	}
}
