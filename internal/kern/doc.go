// Package kern is the kernel under a machine: one value that owns the clock,
// the CPUs and their run queues, the environment, the OID tree, physical
// memory and the trace points. Everything above keeps its own state in typed
// slots of it (Attach, Lookup), so that two machines in one process share
// nothing.
//
// A CPU is a queue of interrupt filters, tasks and callouts. Who drains it is
// the executor's business:
//
//   - Threads: one goroutine a CPU and one a TaskQueue, parked when idle.
//   - Stepped: no goroutine runs by itself; the caller drives with Step,
//     RunUntilIdle and Advance, and the order is a function of the seed. Work
//     and Spawn'd threads are coroutines that may be switched at SchedPoint
//     and on lock contention. A deadlock is a panic with a *DeadlockError.
//
// The clock is real or manual; a manual clock is moved by Advance and Delay
// alone. Nothing runs each tick.
//
// Counterparts in FreeBSD: kern_clock.c, kern_timeout.c, subr_gtaskqueue.c,
// subr_taskqueue.c, kern_mutex.c, kern_sx.c, subr_witness.c, subr_lock.c
// (profiling), kern_fail.c, subr_smp.c.
//
//	k, err := kern.New(kern.Config{NCPU: 2, Executor: kern.Stepped, Clock: kern.ManualClock})
//	if err != nil {
//		return err
//	}
//	defer k.Close()
//	t := k.NewTask("rx", func() { k.Printf("ran at tick %d\n", k.Ticks()) })
//	t.Bind(1)
//	t.Enqueue()
//	k.RunUntilIdle()
package kern
