package hw

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
)

const (
	cacheLine = 64

	// pausePoll is how long Pause waits before it looks again.
	pausePoll = 10 * time.Microsecond
	// idlePolls is how often an engine goroutine looks for work before it announces
	// that it sleeps: about a microsecond, less than a wake costs the sender.
	idlePolls = 512
)

// Bits of a queue's state.
const (
	queueBusy   uint32 = 1 << iota // the work function runs
	queueAgain                     // kicked meanwhile, or while paused
	queuePaused                    // no run may begin
)

// engineQueue is one queue of an engine.
type engineQueue struct {
	state   atomic.Uint32
	pending atomic.Uint32 // EngineThread: a kick to be served
	runner  Runner        // the work function
	work    Work          // what Defer adds
	_       [cacheLine]byte
}

// Runner is the work function of one queue of an engine.
type Runner interface {
	// Run does what there is to do and returns when it finds nothing.
	Run()
}

// numbered is the Runner of a queue of a model that has one function for all.
type numbered struct {
	work func(q int)
	q    int
}

func (n numbered) Run() { n.work(n.q) }

// Engine runs the work function of each queue of one model, for one queue never twice
// at a time, and once more after a kick that came while it ran. The work function owns
// the queue's state; what it may not be called with is somebody else's lock.
type Engine struct {
	mode    EngineMode
	stepped bool
	queues  []engineQueue
	list    *WorkList
	hint    int // guarded by list's lock: queue that was busy
	k       *kern.Kernel

	task *kern.Task // inline: drains the list for frames from outside; stepped thread: the engine

	sleeping atomic.Uint32 // thread: the goroutine announced that it sleeps
	stop     atomic.Uint32
	wake     chan struct{} // of one
	thread   *kern.Thread
	once     sync.Once
}

// NewEngine makes the engine of a model with nqueues queues, at least one (transmit, receive, admin:
// the model's numbering). work must return when it finds nothing to do; nil, each queue
// is given its own by SetWork. Close ends the engine; the kernel does so at the latest. In the stepped executor a thread engine is a task,
// so that its turns are the scheduler's.
func NewEngine(cfg Config, nqueues int, work func(q int)) *Engine {
	e := &Engine{mode: cfg.Engine.For(cfg.Port), stepped: cfg.Kernel.Stepped(), k: cfg.Kernel,
		queues: make([]engineQueue, nqueues), list: cfg.Work, wake: make(chan struct{}, 1)}
	if e.list == nil {
		e.list = NewWorkList()
	}
	for q := range e.queues {
		e.queues[q].runner = numbered{work, q}
		e.queues[q].work = Work{Run: func() { e.runQueue(q) }, Wake: e.wakeList}
	}
	switch {
	case e.mode == EngineInline:
		e.task = e.k.NewTask(cfg.Name+" worklist", e.list.Drain)
		e.list.join(e)
	case e.stepped:
		e.task = e.k.NewTask(cfg.Name+" engine", func() { e.serve() })
	default:
		e.thread = e.k.Spawn(cfg.Name+" engine", e.loop)
	}
	e.k.OnClose(e.Close)
	return e
}

// SetWork gives queue q a work function of its own, which a doorbell reaches in one call.
// Before the first kick.
func (e *Engine) SetWork(q int, r Runner) { e.queues[q].runner = r }

// Mode returns who does the work.
func (e *Engine) Mode() EngineMode { return e.mode }

// List returns the work list that the engine drains and defers to.
func (e *Engine) List() *WorkList { return e.list }

// Kick has the work of queue q done: inline before it returns, unless the queue runs or
// is paused, which has it run again; with a thread by storing a flag. It does not drain
// the work list: Doorbell does.
func (e *Engine) Kick(q int) {
	if e.mode == EngineThread {
		e.signal(q)
		return
	}
	e.runQueue(q)
}

// Doorbell is Kick and Drain: what a register write that starts work ends with, without
// a lock held.
func (e *Engine) Doorbell(q int) {
	if e.mode == EngineThread {
		e.signal(q)
	} else {
		e.runQueue(q)
	}
	if !e.list.Empty() {
		e.list.Drain()
	}
}

// Drain does what port callbacks have left for the outermost register access.
func (e *Engine) Drain() {
	if !e.list.Empty() {
		e.list.Drain()
	}
}

// Defer is Kick for a port's callback: it runs nothing, here or in another engine.
func (e *Engine) Defer(q int) {
	if e.mode == EngineThread {
		e.signal(q)
		return
	}
	e.list.Add(&e.queues[q].work)
}

// runQueue runs the work function of q, again as long as it is kicked meanwhile.
func (e *Engine) runQueue(q int) {
	eq := &e.queues[q]
	s := &eq.state
	if !s.CompareAndSwap(0, queueBusy) && !markAgain(s) {
		return
	}
	for {
		eq.runner.Run()
		if s.CompareAndSwap(queueBusy, 0) {
			return
		}
		if !continueRun(s) {
			return
		}
	}
}

// markAgain leaves a kick to whoever runs or has paused the queue; true if there is
// nobody any more and the caller has become the runner.
func markAgain(s *atomic.Uint32) bool {
	for {
		v := s.Load()
		if v&(queueBusy|queuePaused) == 0 {
			if s.CompareAndSwap(v, queueBusy) {
				return true
			}
			continue
		}
		if v&queueAgain != 0 || s.CompareAndSwap(v, v|queueAgain) {
			return false
		}
	}
}

// continueRun ends a run that was kicked or is to pause; true for one more turn.
func continueRun(s *atomic.Uint32) bool {
	for {
		switch v := s.Load(); {
		case v&queuePaused != 0:
			if s.CompareAndSwap(v, v&^queueBusy) {
				return false
			}
		case v&queueAgain != 0:
			if s.CompareAndSwap(v, queueBusy) {
				return true
			}
		default:
			if s.CompareAndSwap(v, 0) {
				return false
			}
		}
	}
}

// Pause waits until the work of queue q does not run and keeps it from running until
// Resume: for resets and ring changes. Kicks are remembered. One goroutine pauses a queue
// at a time. Hold no lock, and never call it from the work function.
func (e *Engine) Pause(q int) {
	s := &e.queues[q].state
	s.Or(queuePaused)
	for s.Load()&queueBusy != 0 {
		e.k.Delay(pausePoll)
	}
}

// Resume lets queue q run again and serves the kicks since Pause.
func (e *Engine) Resume(q int) {
	if e.queues[q].state.And(^queuePaused)&queueAgain != 0 {
		e.Kick(q)
	}
}

// busy reports whether an inline run is in progress: its caller will drain. It looks
// first where it found one the last time. The caller holds WorkList.mu.
func (e *Engine) busy() bool {
	if e.queues[e.hint].state.Load()&queueBusy != 0 {
		return true
	}
	for q := range e.queues {
		if e.queues[q].state.Load()&queueBusy != 0 {
			e.hint = q
			return true
		}
	}
	return false
}

// wakeList has the list drained by a task of the kernel.
func (e *Engine) wakeList() { e.task.Enqueue() }

// signal leaves a kick to the engine's thread.
func (e *Engine) signal(q int) {
	p := &e.queues[q].pending
	if p.Load() == 0 {
		p.Store(1)
	}
	if e.stepped {
		e.task.Enqueue()
		return
	}
	if e.sleeping.Load() != 0 {
		e.awake()
	}
}

func (e *Engine) awake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// serve runs every queue that was kicked and reports whether there was one.
func (e *Engine) serve() bool {
	found := false
	for q := range e.queues {
		p := &e.queues[q].pending
		if p.Load() != 0 {
			p.Store(0)
			e.runQueue(q)
			found = true
		}
	}
	e.Drain()
	return found
}

// loop is the engine's goroutine.
func (e *Engine) loop() {
	for idle := 0; e.stop.Load() == 0; idle++ {
		if e.serve() {
			idle = 0
		}
		if idle < idlePolls {
			continue
		}
		e.sleeping.Store(1)
		if !e.anyPending() && e.stop.Load() == 0 {
			<-e.wake
		}
		e.sleeping.Store(0)
		idle = 0
	}
}

func (e *Engine) anyPending() bool {
	for q := range e.queues {
		if e.queues[q].pending.Load() != 0 {
			return true
		}
	}
	return false
}

// Close ends the engine and waits for a run in progress. Kicks do nothing of use
// afterwards. Again it does nothing. Not from the work function.
func (e *Engine) Close() {
	e.once.Do(func() {
		e.stop.Store(1)
		for q := range e.queues {
			if e.stepped {
				e.queues[q].state.Or(queuePaused) // the kernel unwinds what is suspended in a run
				continue
			}
			e.Pause(q)
		}
		if e.mode == EngineInline {
			e.list.leave(e)
		}
		if e.task != nil {
			e.task.Close()
		}
		if e.thread != nil {
			e.awake()
			e.thread.Join()
		}
	})
}
