package kern

import (
	"slices"
	"sync"
)

// Task is work that runs on a CPU's queue or on a TaskQueue (struct grouptask,
// struct task). It is queued at most once; an Enqueue while it runs makes it
// run again; it never runs on two CPUs at once.
type Task struct {
	work
	tq *TaskQueue // nil for a task of a CPU

	mu  sync.Mutex // guards cpu and the choice of queue
	cpu int
}

// NewTask makes a task that runs fn on CPU 0 until Bind says otherwise
// (GROUPTASK_INIT).
func (k *Kernel) NewTask(name string, fn func()) *Task {
	t := new(Task)
	t.init(k, name, k.cpuq(0), fn)
	return t
}

// Name is the name given at creation.
func (t *Task) Name() string { return t.name }

// Bind moves the task to cpu from the next Enqueue on (taskqgroup_attach_cpu).
// A task of a TaskQueue cannot be bound. Any goroutine.
func (t *Task) Bind(cpu int) {
	if t.tq != nil {
		panic("kern: Bind of " + t.name + ", a task of taskqueue " + t.tq.q.name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.q.Store(t.k.cpuq(cpu))
	t.cpu = cpu
}

// CPU is the CPU that the task is bound to, -1 for a task of a TaskQueue.
func (t *Task) CPU() int {
	if t.tq != nil {
		return -1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cpu
}

// Enqueue queues the task and reports whether this call did (GROUPTASK_ENQUEUE,
// taskqueue_enqueue). One atomic load when it is queued already; never blocks or
// allocates; any goroutine. After Close of the task or its queue it does nothing.
func (t *Task) Enqueue() bool {
	if t.state.Load()&(workQueued|workClosed) != 0 {
		return false
	}
	return t.enqueue()
}

// Queued reports whether the task waits to run.
func (t *Task) Queued() bool { return t.state.Load()&workQueued != 0 }

// Drain waits until the task is neither queued nor running (gtaskqueue_drain).
// Called from work of the same queue it would wait for itself.
func (t *Task) Drain() { t.drain() }

// Close makes every later Enqueue do nothing and waits for a run that has begun
// (taskqgroup_detach). What was queued does not run.
func (t *Task) Close() {
	t.shut()
	t.drain()
}

// TaskQueue is a queue with a thread of its own (taskqueue_create and
// taskqueue_start_threads with one thread).
type TaskQueue struct {
	k *Kernel
	q *runq
}

// NewTaskQueue makes a queue and starts its thread. Of a kernel that has closed it
// is a closed queue.
func (k *Kernel) NewTaskQueue(name string) *TaskQueue {
	tq := &TaskQueue{k: k, q: newRunq(name)}
	k.queueMu.Lock()
	defer k.queueMu.Unlock()
	if k.stopped {
		tq.q.closed.Store(true)
		return tq
	}
	k.taskqs = append(k.taskqs, tq.q)
	if k.sched == nil {
		go k.run(tq.q.loop)
	}
	return tq
}

// NewTask makes a task that runs fn on the queue (TASK_INIT).
func (tq *TaskQueue) NewTask(name string, fn func()) *Task {
	t := &Task{tq: tq}
	t.init(tq.k, name, tq.q, fn)
	return t
}

// Drain waits until everything that was queued when it was called has run
// (taskqueue_drain_all).
func (tq *TaskQueue) Drain() {
	barrier := tq.NewTask(tq.q.name+" barrier", func() {})
	barrier.Enqueue()
	barrier.Drain()
}

// Close drains the queue and ends its thread (taskqueue_free). Tasks enqueued
// later do not run. A second Close does nothing. Not from a task of the queue.
func (tq *TaskQueue) Close() {
	tq.Drain()
	if !tq.k.forgetTaskQueue(tq.q) {
		return
	}
	if tq.k.sched != nil {
		tq.k.sched.retire(tq.q)
		return
	}
	tq.q.stop()
}

// forgetTaskQueue takes q off the list of queues; false if it is not on it.
func (k *Kernel) forgetTaskQueue(q *runq) bool {
	k.queueMu.Lock()
	defer k.queueMu.Unlock()
	i := slices.Index(k.taskqs, q)
	if i < 0 {
		return false
	}
	k.taskqs = slices.Delete(k.taskqs, i, i+1)
	return true
}
