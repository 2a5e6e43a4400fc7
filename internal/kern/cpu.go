package kern

import "strconv"

// NCPU is the number of CPUs, 1 to MaxCPU (mp_ncpus).
func (k *Kernel) NCPU() int { return len(k.cpus) }

// AllCPUs is the set 0..NCPU-1 (all_cpus).
func (k *Kernel) AllCPUs() CPUSet {
	var s CPUSet
	for i := range k.cpus {
		s.Add(i)
	}
	return s
}

// PhysicalCPUs is the set of each core's first thread: what iflib uses without
// logical cores.
func (k *Kernel) PhysicalCPUs() CPUSet {
	var s CPUSet
	for i := 0; i < len(k.cpus); i += k.threadsPerCore {
		s.Add(i)
	}
	return s
}

// CPUName is "cpu" and the number, as run queues and threads are named.
func (k *Kernel) CPUName(cpu int) string { return "cpu" + strconv.Itoa(cpu) }

// L2Neighbour is the CPU that shares a second-level cache with cpu: the next
// thread of its core. It reports false for a core of one thread (spec iflib 2.5).
func (k *Kernel) L2Neighbour(cpu int) (int, bool) {
	if cpu < 0 || cpu >= len(k.cpus) {
		return 0, false
	}
	first := cpu - cpu%k.threadsPerCore
	threads := min(k.threadsPerCore, len(k.cpus)-first)
	if threads == 1 {
		return 0, false
	}
	return first + (cpu-first+1)%threads, true
}

// cpuq is the queue of cpu; a number outside the machine is a broken invariant.
func (k *Kernel) cpuq(cpu int) *runq {
	if cpu < 0 || cpu >= len(k.cpus) {
		panic("kern: no CPU " + strconv.Itoa(cpu))
	}
	return k.cpus[cpu]
}
