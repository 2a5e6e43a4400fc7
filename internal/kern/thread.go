package kern

import (
	"iter"
	"time"
)

// Thread is a kernel thread (kthread): a goroutine in the threaded executor, a
// coroutine in the stepped one, where a CPU and a TaskQueue are run by one too.
type Thread struct {
	k    *Kernel
	name string
	done chan struct{} // closed when fn has returned

	// Stepped executor only; one goroutine at a time runs there.
	id       uintptr // not 0
	resume   func() (struct{}, bool)
	unwind   func()
	yield    func(struct{}) bool
	ended    bool
	midItem  bool           // a queue's coroutine is inside an item
	ready    func() bool    // nil: not waiting
	waitsFor string         // what it waits for
	owner    func() *Thread // who can end the wait, as far as known
	wakeAt   time.Duration  // end of a Delay
	held     holder
}

// unwinding is the panic that ends a suspended coroutine when its kernel closes.
type unwinding struct{}

// Spawn starts a kernel thread that runs fn (kproc_create). In the threaded
// executor fn must return once Closing is true: Close waits for it. In the
// stepped one it runs when the scheduler picks it, and Close unwinds it, running
// its deferred calls, wherever it is suspended. Not after Close.
func (k *Kernel) Spawn(name string, fn func()) *Thread {
	t := &Thread{k: k, name: name, done: make(chan struct{})}
	if k.sched != nil {
		t.makeCoroutine(fn)
		k.sched.threads = append(k.sched.threads, t)
		return t
	}
	k.spawned.Add(1)
	go func() {
		defer k.spawned.Done()
		defer close(t.done)
		k.run(fn)
	}()
	return t
}

// Name is the name given to Spawn.
func (t *Thread) Name() string { return t.name }

// Join waits until the thread's function has returned. In the stepped executor
// the others run meanwhile, and a wait that cannot end is a deadlock.
func (t *Thread) Join() {
	if s := t.k.sched; s != nil {
		s.wait("join of "+t.name, func() bool { return t.ended }, func() *Thread { return t })
		return
	}
	<-t.done
}

func (t *Thread) makeCoroutine(fn func()) {
	t.id = t.k.sched.newID()
	t.resume, t.unwind = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer t.finish()
		fn()
	})
}

// finish ends the coroutine; a panic other than our own goes on to the driver.
func (t *Thread) finish() {
	t.end()
	if r := recover(); r != nil {
		if _, ok := r.(unwinding); !ok {
			t.k.sched.panicking(r)
			panic(r)
		}
	}
}

func (t *Thread) end() {
	if !t.ended {
		t.ended = true
		close(t.done)
	}
}

// suspend gives the CPU back to the scheduler until it picks t again.
func (t *Thread) suspend() {
	if !t.yield(struct{}{}) {
		panic(unwinding{})
	}
}

// runnable reports whether the scheduler may pick t at the time now.
func (t *Thread) runnable(now time.Duration) bool {
	return !t.ended && t.wakeAt <= now && (t.ready == nil || t.ready())
}
