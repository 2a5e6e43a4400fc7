package kern

import _ "unsafe" // for go:linkname

//go:linkname procPin runtime.procPin
//go:nosplit
func procPin() int

//go:linkname procUnpin runtime.procUnpin
//go:nosplit
func procUnpin()

//go:linkname procyield runtime.procyield
//go:nosplit
func procyield(cycles uint32)

// CriticalEnter pins the goroutine to its P (critical_enter): until
// CriticalExit only the OS can take the CPU away. It returns the number of the
// P, below GOMAXPROCS, for per-P caches. Sections nest. Nothing inside may
// block, allocate, call an interface, lock a Mtx or reach a SchedPoint.
func CriticalEnter() int { return procPin() }

// CriticalExit ends what CriticalEnter began (critical_exit).
func CriticalExit() { procUnpin() }
