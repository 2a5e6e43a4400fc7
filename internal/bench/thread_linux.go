package bench

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// bind gives the calling goroutine a thread of its own, on one CPU. The thread ends with
// the goroutine.
func bind(cpu int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	// A CPU that this process may not use leaves the thread where it is.
	_ = unix.SchedSetaffinity(0, &set)
}

// yield lets another thread have the CPU.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// threadCPU is the CPU time that the calling thread has used.
func threadCPU() time.Duration { return cpuClock(unix.CLOCK_THREAD_CPUTIME_ID) }

// processCPU is the CPU time that the process has used. Exact for threads that
// are not running.
func processCPU() time.Duration { return cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuClock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
