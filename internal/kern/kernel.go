package kern

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
	"github.com/ifsim/ifsim/sysctl"
)

// Config says what machine New makes. The zero value is a threaded kernel on the
// real clock with as many CPUs as the host.
type Config struct {
	// NCPU is the number of CPUs, 1 to MaxCPU; 0 takes hint.ifsim.0.ncpu, else the host's.
	NCPU int
	// ThreadsPerCore groups consecutive CPUs into cores; 0 takes
	// hint.ifsim.0.threads_per_core, else 1.
	ThreadsPerCore int
	// Executor says who runs queues and threads.
	Executor Executor
	// Clock is real or manual.
	Clock ClockKind
	// Seed orders the stepped executor and feeds the fail points.
	Seed uint64
	// Mem is the machine's physical memory.
	Mem physmem.Config
	// Env is the kernel environment; nil is an empty one.
	Env *sysctl.Kenv
	// Console takes what Printf writes; nil keeps it in the message buffer only.
	Console io.Writer
	// Verbose is bootverbose; boot_verbose=YES in Env sets it too.
	Verbose bool
	// Invariants turns checking mode on: assertions, lock owners and lock order.
	Invariants bool
}

// Kernel is one machine. Its fields are fixed after New; its methods may be
// called from any goroutine unless they say otherwise.
type Kernel struct {
	// Env is the kernel environment (kenv(1)): tunables and hints.
	Env *sysctl.Kenv
	// Sysctl is the OID tree.
	Sysctl *sysctl.Tree
	// Mem is physical memory.
	Mem *physmem.Memory
	// Probes are the trace points.
	Probes *probe.Set

	clock          clock
	console        console
	callouts       callouts
	locks          lockRegistry
	witness        witness
	failpoints     failpoints
	panics         panicHooks
	sched          *stepper // nil in the threaded executor
	cpus           []*runq
	threadsPerCore int
	seed           uint64
	invariants     bool
	verbose        atomic.Int32
	closing        atomic.Bool
	spawned        sync.WaitGroup // threads of the threaded executor

	slotMu sync.Mutex
	slots  map[reflect.Type]any // guarded by slotMu

	queueMu sync.Mutex
	taskqs  []*runq // guarded by queueMu
	stopped bool    // guarded by queueMu: no queue starts any more

	closeMu sync.Mutex
	onClose []func() // guarded by closeMu

	drainMu   sync.Mutex
	drainCond *sync.Cond
}

// New makes a kernel and starts its executor. The error wraps EINVAL for a
// configuration out of range, or what memory could not be had for.
func New(cfg Config) (*Kernel, error) {
	if cfg.Env == nil {
		cfg.Env = sysctl.NewKenv()
	}
	ncpu, threads, err := topology(cfg)
	if err != nil {
		return nil, err
	}
	mem, err := physmem.New(cfg.Mem)
	if err != nil {
		return nil, fmt.Errorf("making a kernel: %w", err)
	}
	k := &Kernel{Env: cfg.Env, Mem: mem, threadsPerCore: threads, seed: cfg.Seed,
		invariants: cfg.Invariants, slots: make(map[reflect.Type]any)}
	k.drainCond = sync.NewCond(&k.drainMu)
	k.console.out = cfg.Console
	k.clock.init(cfg.Clock)
	k.callouts.init()
	k.locks.init()
	k.witness.init(cfg.Invariants, k.Printf)
	k.Probes = probe.NewSet(ncpu, k.Uptime)
	for i := range ncpu {
		q := newRunq(k.CPUName(i))
		q.uptime = k.Uptime
		k.cpus = append(k.cpus, q)
	}
	k.setVerbose(cfg)
	k.Sysctl = sysctl.NewTree(cfg.Env, k.Printf)
	if cfg.Executor == Stepped {
		k.sched = newStepper(k, cfg.Seed)
		k.Sysctl.SetYield(k.sched.yieldOrStep)
	}
	k.registerSysctls()
	k.start()
	return k, nil
}

// setVerbose takes boot_verbose as the loader does: set, and not to NO.
func (k *Kernel) setVerbose(cfg Config) {
	v, set := k.Env.Get("boot_verbose")
	if set && !strings.EqualFold(v, "no") || cfg.Verbose {
		k.verbose.Store(1)
	}
}

// topology is the number of CPUs and of threads a core that cfg asks for.
func topology(cfg Config) (ncpu, threads int, err error) {
	choose := func(v int, hint string, otherwise int) int {
		if v != 0 {
			return v
		}
		if v, err := cfg.Env.HintInt("ifsim", 0, hint); err == nil {
			return v
		}
		return otherwise
	}
	ncpu = choose(cfg.NCPU, "ncpu", min(runtime.NumCPU(), MaxCPU))
	threads = choose(cfg.ThreadsPerCore, "threads_per_core", 1)
	if ncpu < 1 || ncpu > MaxCPU || threads < 1 || threads > MaxCPU {
		return 0, 0, fmt.Errorf("making a kernel of %d CPUs, %d threads a core, at most %d: %w",
			ncpu, threads, MaxCPU, syscall.EINVAL)
	}
	return ncpu, threads, nil
}

// start starts the goroutines of the threaded executor.
func (k *Kernel) start() {
	if k.sched != nil {
		return
	}
	for _, q := range k.cpus {
		go k.run(q.loop)
	}
	if !k.clock.manual {
		go k.timer()
	}
}

// OnClose has Close call fn; the last one registered is called first. The CPUs
// still run then. A no-op once Close has begun.
func (k *Kernel) OnClose(fn func()) {
	k.closeMu.Lock()
	defer k.closeMu.Unlock()
	if !k.closing.Load() {
		k.onClose = append(k.onClose, fn)
	}
}

// Closing reports whether Close has begun: a spawned thread returns then.
func (k *Kernel) Closing() bool { return k.closing.Load() }

// Close calls the OnClose functions, waits for spawned threads (a stepped kernel
// unwinds its coroutines), ends every goroutine of the kernel, and then gives
// memory back. Work that is still queued does not run. A second Close does
// nothing. Not from work or threads of the kernel.
func (k *Kernel) Close() error {
	k.closeMu.Lock()
	fns := k.onClose
	k.onClose = nil
	again := k.closing.Swap(true)
	k.closeMu.Unlock()
	if again {
		return nil
	}
	for i := len(fns) - 1; i >= 0; i-- {
		fns[i]()
	}
	k.stop()
	k.Probes.Disable()
	if err := k.Mem.Close(); err != nil {
		return fmt.Errorf("closing a kernel: %w", err)
	}
	return nil
}

// stop ends the executor.
func (k *Kernel) stop() {
	if k.sched != nil {
		k.sched.close()
		return
	}
	k.spawned.Wait()
	if !k.clock.manual {
		close(k.callouts.quit)
		<-k.callouts.done
	}
	for _, q := range k.endQueues() {
		q.stop()
	}
}

// Verbose reports bootverbose (debug.bootverbose).
func (k *Kernel) Verbose() bool { return k.verbose.Load() != 0 }

// Invariants reports whether checking mode is on (options INVARIANTS, WITNESS).
func (k *Kernel) Invariants() bool { return k.invariants }

// Stepped reports whether the executor is the stepped one.
func (k *Kernel) Stepped() bool { return k.sched != nil }
