package hw

import (
	"sync"
	"sync/atomic"
)

// States of a Work.
const (
	workIdle    uint32 = iota
	workQueued         // on the list, or about to be
	workRunning        // its function runs
	workAgain          // added while it runs
)

// Work is something to do because a port called back. It is on one list at most once;
// added while it runs it runs again afterwards.
type Work struct {
	// Run does the work, on the goroutine that drains the list.
	Run func()
	// Wake is called by Add when nobody is about to drain the list, for a frame that came
	// from outside: it arranges for a Drain soon, without waiting. nil leaves the work
	// to the next Drain.
	Wake func()

	state atomic.Uint32
	next  *Work // guarded by WorkList.mu
}

// drainBudget is how many works one Drain runs before it leaves the rest to Wake, so
// that a register access ends although others go on adding.
const drainBudget = 256

// WorkList is what the models of one fabric have to do for each other. Port callbacks
// add to it and run nothing, so a frame that goes through a pair port, is answered, and
// answered again, never makes a call inside a call: the outermost register access
// drains the list when it has dropped its locks, or an engine goroutine does. Only one
// goroutine drains at a time; another's Drain leaves its work to that one. All methods
// are for any goroutine.
type WorkList struct {
	count    atomic.Int32 // works on the list
	draining atomic.Uint32
	_        [56]byte // what Empty reads shares no line with the lock

	mu         sync.Mutex // guards what follows; held for a few instructions
	head, tail *Work
	engines    []*Engine // inline engines: whoever runs one drains the list afterwards
}

// NewWorkList returns an empty list.
func NewWorkList() *WorkList { return &WorkList{} }

// Empty reports whether nothing waits: one atomic load.
func (l *WorkList) Empty() bool { return l.count.Load() == 0 }

// Add puts w on the list unless it is there. It never runs it.
func (l *WorkList) Add(w *Work) {
	for {
		switch s := w.state.Load(); s {
		case workQueued, workAgain:
			return
		case workRunning:
			if w.state.CompareAndSwap(s, workAgain) {
				return
			}
		default:
			if w.state.CompareAndSwap(s, workQueued) {
				l.push(w)
				return
			}
		}
	}
}

// push appends w and sees to it that somebody drains.
func (l *WorkList) push(w *Work) {
	l.mu.Lock()
	w.next = nil
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.count.Add(1)
	attended := l.draining.Load() != 0 || l.engineBusy()
	l.mu.Unlock()
	if !attended && w.Wake != nil {
		w.Wake()
	}
}

// engineBusy reports whether an inline engine runs. The one that does is looked at
// first the next time. The caller holds mu.
func (l *WorkList) engineBusy() bool {
	for i, e := range l.engines {
		if e.busy() {
			l.engines[0], l.engines[i] = e, l.engines[0]
			return true
		}
	}
	return false
}

// pop takes the oldest work, nil if there is none.
func (l *WorkList) pop() *Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.head
	if w == nil {
		return nil
	}
	l.head = w.next
	if l.head == nil {
		l.tail = nil
	}
	l.count.Add(-1)
	return w
}

// Drain runs what is on the list and what that adds, in order, unless somebody drains
// already. Hold no lock. It is bounded: what is left goes to Wake.
func (l *WorkList) Drain() {
	for budget := drainBudget; !l.Empty(); {
		if !l.draining.CompareAndSwap(0, 1) {
			return // that one looks again after it has finished
		}
		for ; budget > 0; budget-- {
			w := l.pop()
			if w == nil {
				break
			}
			l.run(w)
		}
		l.draining.Store(0)
		if budget <= 0 {
			l.delegate()
			return
		}
	}
}

// run runs w once; if it was added meanwhile it goes to the end of the list.
func (l *WorkList) run(w *Work) {
	w.state.Store(workRunning)
	w.Run()
	if !w.state.CompareAndSwap(workRunning, workIdle) {
		w.state.Store(workQueued)
		l.push(w)
	}
}

// delegate hands what is left to the first work that can arrange for a Drain.
func (l *WorkList) delegate() {
	l.mu.Lock()
	w := l.head
	for w != nil && w.Wake == nil {
		w = w.next
	}
	l.mu.Unlock()
	if w != nil {
		w.Wake()
	}
}

// join makes the list count on e to drain it after a run.
func (l *WorkList) join(e *Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engines = append(l.engines, e)
}

func (l *WorkList) leave(e *Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, x := range l.engines {
		if x == e {
			l.engines = append(l.engines[:i:i], l.engines[i+1:]...)
			return
		}
	}
}
