package kern

import "math/bits"

// MaxCPU is the largest number of CPUs a kernel may have (MAXCPU).
const MaxCPU = 256

const cpusetWord = 64

// CPUSet is a set of CPU numbers below MaxCPU (cpuset_t), a value that copies
// by assignment. The zero value is empty.
type CPUSet struct{ bits [MaxCPU / cpusetWord]uint64 }

// NewCPUSet returns the set of the given CPUs; numbers outside 0..MaxCPU-1 are ignored.
func NewCPUSet(cpus ...int) CPUSet {
	var s CPUSet
	for _, c := range cpus {
		s.Add(c)
	}
	return s
}

// Add puts cpu into the set (CPU_SET); a number outside 0..MaxCPU-1 is ignored.
func (s *CPUSet) Add(cpu int) {
	if cpu >= 0 && cpu < MaxCPU {
		s.bits[cpu/cpusetWord] |= 1 << (cpu % cpusetWord)
	}
}

// Remove takes cpu out of the set (CPU_CLR).
func (s *CPUSet) Remove(cpu int) {
	if cpu >= 0 && cpu < MaxCPU {
		s.bits[cpu/cpusetWord] &^= 1 << (cpu % cpusetWord)
	}
}

// Has reports whether cpu is a member (CPU_ISSET).
func (s CPUSet) Has(cpu int) bool {
	return cpu >= 0 && cpu < MaxCPU && s.bits[cpu/cpusetWord]&(1<<(cpu%cpusetWord)) != 0
}

// First is the lowest member, -1 when the set is empty (CPU_FFS less one).
func (s CPUSet) First() int { return s.from(0) }

// Last is the highest member, -1 when the set is empty (CPU_FLS less one).
func (s CPUSet) Last() int {
	for i := len(s.bits) - 1; i >= 0; i-- {
		if s.bits[i] != 0 {
			return i*cpusetWord + bits.Len64(s.bits[i]) - 1
		}
	}
	return -1
}

// Count is the number of members (CPU_COUNT).
func (s CPUSet) Count() int {
	n := 0
	for _, w := range s.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next is the first member above cpu, wrapping from the last to the first; -1
// when the set is empty. cpu itself need not be a member.
func (s CPUSet) Next(cpu int) int {
	if n := s.from(cpu + 1); n >= 0 {
		return n
	}
	return s.First()
}

// from is the lowest member at or above cpu, -1 when there is none.
func (s CPUSet) from(cpu int) int {
	cpu = max(cpu, 0)
	for i := cpu / cpusetWord; i < len(s.bits); i++ {
		w := s.bits[i]
		if i == cpu/cpusetWord {
			w &= ^uint64(0) << (cpu % cpusetWord)
		}
		if w != 0 {
			return i*cpusetWord + bits.TrailingZeros64(w)
		}
	}
	return -1
}
