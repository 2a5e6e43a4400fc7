package kern

// SpinWait is what a bounded busy wait does between two looks at memory
// (cpu_spinwait): one pause instruction, which costs some 25 ns and leaves the
// core to its other thread. Any goroutine.
func SpinWait() { procyield(1) }
