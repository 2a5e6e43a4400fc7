package kern

import "sync/atomic"

// States of a work item. An item that is enqueued while it runs becomes
// queued|running and is pushed again by the CPU that finishes it, so an item
// never runs on two CPUs at once, not even when it was bound elsewhere in
// between.
//
//	from              event     to
//	0                 enqueue   queued (pushed)
//	queued            begin     running
//	running           enqueue   running|queued (not pushed)
//	running           end       0
//	running|queued    end       queued (pushed)
//	any               shut      |closed: never begins again
const (
	workQueued uint32 = 1 << iota
	workRunning
	workClosed
)

// work is what a run queue holds: the common part of tasks, interrupts and
// callouts. It is linked into a queue by itself, so queueing never allocates.
type work struct {
	state   atomic.Uint32
	waiters atomic.Int32 // goroutines in drain
	next    *work        // owned by the queue while pushed
	q       atomic.Pointer[runq]
	k       *Kernel
	name    string
	run     func()
}

func (w *work) init(k *Kernel, name string, q *runq, run func()) {
	w.k, w.name, w.run = k, name, run
	w.q.Store(q)
}

// enqueue marks w queued and pushes it unless it is running. It reports
// whether this call queued it.
func (w *work) enqueue() bool {
	for {
		s := w.state.Load()
		if s&(workQueued|workClosed) != 0 {
			return false
		}
		if w.state.CompareAndSwap(s, s|workQueued) {
			if s&workRunning == 0 {
				w.q.Load().push(w)
			}
			return true
		}
	}
}

// execute runs w, which the caller has popped from a queue.
func (w *work) execute() {
	if !w.begin() {
		w.wakeDrainers()
		return
	}
	w.run()
	w.end()
}

func (w *work) begin() bool {
	for {
		s := w.state.Load()
		next := s&^workQueued | workRunning
		if s&workClosed != 0 {
			next = workClosed
		}
		if w.state.CompareAndSwap(s, next) {
			return s&workClosed == 0
		}
	}
}

func (w *work) end() {
	for {
		s := w.state.Load()
		next := s &^ workRunning
		if s&workClosed != 0 {
			next = workClosed
		}
		if w.state.CompareAndSwap(s, next) {
			if next&workQueued != 0 {
				w.q.Load().push(w)
				return
			}
			w.wakeDrainers()
			return
		}
	}
}

// shut makes every later enqueue a no-op; what is queued will not begin.
func (w *work) shut() { w.state.Or(workClosed) }

func (w *work) busy() bool { return w.state.Load()&(workQueued|workRunning) != 0 }

func (w *work) wakeDrainers() {
	if w.waiters.Load() == 0 {
		return
	}
	w.k.drainMu.Lock()
	w.k.drainCond.Broadcast()
	w.k.drainMu.Unlock()
}

// drain waits until w is neither queued nor running.
func (w *work) drain() {
	if s := w.k.sched; s != nil {
		s.wait("drain of "+w.name, func() bool { return !w.busy() }, w.q.Load().owner)
		return
	}
	w.waiters.Add(1)
	w.k.drainMu.Lock()
	for w.busy() {
		w.k.drainCond.Wait()
	}
	w.k.drainMu.Unlock()
	w.waiters.Add(-1)
}
