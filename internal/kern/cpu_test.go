package kern

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestL2NeighbourIsTheNextThreadOfTheCore(t *testing.T) {
	for _, c := range []struct{ ncpu, threads, cpu, want int }{
		{4, 1, 0, -1}, {4, 2, 0, 1}, {4, 2, 1, 0}, {4, 2, 2, 3}, {4, 2, 3, 2}, {3, 2, 2, -1},
		{8, 4, 5, 6}, {8, 4, 7, 4}, {6, 4, 5, 4}, {4, 2, 4, -1}, {4, 2, -1, -1},
	} {
		k := newKernel(t, Config{Executor: Stepped, NCPU: c.ncpu, ThreadsPerCore: c.threads})
		got, ok := k.L2Neighbour(c.cpu)
		if ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("%d CPUs, %d a core: neighbour of %d is %d %v, want %d", c.ncpu, c.threads, c.cpu, got, ok, c.want)
		}
	}
}

func TestAllCPUs(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped, NCPU: 3})
	if s := k.AllCPUs(); s != NewCPUSet(0, 1, 2) || k.CPUName(2) != "cpu2" {
		t.Errorf("all CPUs %v, name %s", s, k.CPUName(2))
	}
	mustPanic(t, func() { k.NewTask("t", func() {}).Bind(3) })
	mustPanic(t, func() { k.NewIntr("i", -1, func() {}) })
}

// TestCPUSetFollowsAModel compares the set with a sorted slice.
func TestCPUSetFollowsAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cpus := rapid.SliceOfDistinct(rapid.IntRange(0, MaxCPU-1), rapid.ID[int]).Draw(rt, "cpus")
		s := NewCPUSet(append(cpus, -1, MaxCPU)...)
		slices.Sort(cpus)
		if s.Count() != len(cpus) {
			rt.Fatalf("count %d, want %d", s.Count(), len(cpus))
		}
		probe := rapid.IntRange(-2, MaxCPU+1).Draw(rt, "probe")
		if s.Has(probe) != slices.Contains(cpus, probe) {
			rt.Fatalf("has %d: %v", probe, s.Has(probe))
		}
		first, last, next := -1, -1, -1
		if len(cpus) > 0 {
			first, last, next = cpus[0], cpus[len(cpus)-1], cpus[0]
			if i := slices.IndexFunc(cpus, func(c int) bool { return c > probe }); i >= 0 {
				next = cpus[i]
			}
		}
		if s.First() != first || s.Last() != last || s.Next(probe) != next {
			rt.Fatalf("first %d last %d next(%d) %d, want %d %d %d", s.First(), s.Last(), probe, s.Next(probe), first, last, next)
		}
		s.Remove(first)
		if s.Has(first) || s.Count() != max(0, len(cpus)-1) {
			rt.Fatalf("%d is still there", first)
		}
	})
}
