package kern

import (
	"sync"
	"sync/atomic"
)

// Intr is an interrupt vector: a filter that runs on a CPU when a device posts
// (struct intr_event with one filter handler).
type Intr struct {
	work
	count atomic.Uint64

	mu  sync.Mutex // guards cpu and the choice of queue
	cpu int
}

// NewIntr establishes filter on cpu (bus_setup_intr and bus_bind_intr).
func (k *Kernel) NewIntr(name string, cpu int, filter func()) *Intr {
	i := &Intr{cpu: cpu}
	i.init(k, name, k.cpuq(cpu), func() {
		i.count.Add(1)
		filter()
	})
	return i
}

// Name is the name given at creation, as vmstat -i shows it.
func (i *Intr) Name() string { return i.name }

// Post raises the interrupt: the filter will run on the vector's CPU, once for
// any number of posts before it begins, and again for a post while it runs. It
// never runs the filter in the caller, never blocks, never allocates; any
// goroutine; one atomic load when it is pending already.
func (i *Intr) Post() {
	if i.state.Load()&(workQueued|workClosed) == 0 {
		i.enqueue()
	}
}

// Pending reports whether the filter waits to run.
func (i *Intr) Pending() bool { return i.state.Load()&workQueued != 0 }

// Bind moves the vector to cpu from the next Post on (intr_event_bind).
func (i *Intr) Bind(cpu int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.q.Store(i.k.cpuq(cpu))
	i.cpu = cpu
}

// CPU is the CPU that the vector is bound to.
func (i *Intr) CPU() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cpu
}

// Count is how often the filter has run (vmstat -i).
func (i *Intr) Count() uint64 { return i.count.Load() }

// Close tears the vector down (bus_teardown_intr): a pending filter does not run,
// a running one is waited for, later posts do nothing. Not from the filter.
func (i *Intr) Close() {
	i.shut()
	i.drain()
}
