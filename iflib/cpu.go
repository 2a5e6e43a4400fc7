package iflib

import (
	"slices"

	"github.com/ifsim/ifsim/internal/kern"
)

// coreOffsetUnspecified is the core_offset of a device that leaves the choice to
// the framework (CORE_OFFSET_UNSPECIFIED).
const coreOffsetUnspecified = 0xffff

// cpuOffset remembers, for one set of CPUs, where the next device starts
// (struct cpu_offset).
type cpuOffset struct {
	set  kern.CPUSet
	next int // next_cpuid
	refs int
}

// cpuOffsets is the machine's list of them (cpu_offsets). mtx is cpu_offset_mtx.
type cpuOffsets struct {
	mtx  kern.Mtx
	list []*cpuOffset
}

// take returns the CPU to start with for a device that will use n CPUs of the
// set.
func (l *cpuOffsets) take(set kern.CPUSet, n int) int {
	l.mtx.Lock()
	defer l.mtx.Unlock()
	i := slices.IndexFunc(l.list, func(o *cpuOffset) bool { return o.set == set })
	if i < 0 {
		i = len(l.list)
		l.list = append(l.list, &cpuOffset{set: set, next: set.First()})
	}
	o := l.list[i]
	base := o.next
	o.next = cpuAdvance(set, base, n)
	o.refs++
	return base
}

// drop gives a reference back; the last one ends the record.
func (l *cpuOffsets) drop(set kern.CPUSet) {
	l.mtx.Lock()
	defer l.mtx.Unlock()
	i := slices.IndexFunc(l.list, func(o *cpuOffset) bool { return o.set == set })
	if i < 0 {
		panic("iflib: no CPU offset record for a device that holds one")
	}
	if l.list[i].refs--; l.list[i].refs == 0 {
		l.list = slices.Delete(l.list, i, i+1)
	}
}

// cpuAdvance steps n times to the next CPU of the set (cpuid_advance).
func cpuAdvance(set kern.CPUSet, cpu, n int) int {
	for range n % set.Count() {
		cpu = set.Next(cpu)
	}
	return cpu
}

// cpuForQueue is the CPU of a queue's task (get_cpuid_for_queue, spec iflib
// 2.5). base is the device's first CPU.
func (ctx *Ctx) cpuForQueue(base, qid int, tx bool) int {
	if ctx.knobs.separateTxRx.Load() == 0 {
		return cpuAdvance(ctx.cpus, base, qid)
	}
	nrx := ctx.scctx.NRxQSets
	if ctx.knobs.useLogicalCores.Load() != 0 && ctx.cpusPhysical && tx && qid < nrx {
		if cpu, ok := ctx.k.L2Neighbour(cpuAdvance(ctx.cpus, base, qid)); ok {
			return cpu
		}
	}
	if tx {
		qid += nrx
	}
	return cpuAdvance(ctx.cpus, base, qid)
}

// queueCPU is cpuForQueue from the resolved core_offset.
func (ctx *Ctx) queueCPU(qid int, tx bool) int {
	return ctx.cpuForQueue(int(ctx.knobs.coreOffset.Load()), qid, tx)
}

// findCPUs takes the interrupt CPUs of the bus, those of which every member is
// a core of its own if the device does not ask for logical ones.
func (ctx *Ctx) findCPUs() {
	ctx.cpus = ctx.k.PhysicalCPUs()
	ctx.cpusPhysical = true
	if ctx.cpus.Count() == 0 {
		ctx.printf("Unable to fetch CPU list\n")
		ctx.cpus = ctx.k.AllCPUs()
		ctx.cpusPhysical = false
	}
}

// resolveCoreOffset settles on the device's first CPU and shows it as
// core_offset (get_ctx_core_offset).
func (ctx *Ctx) resolveCoreOffset() {
	set := ctx.cpus
	want := int(ctx.knobs.coreOffset.Load())
	if want != coreOffsetUnspecified {
		ctx.knobs.coreOffset.Store(uint32(memberOf(set, want)))
		return
	}
	base := ctx.g.offsets.take(set, ctx.coresUsed())
	ctx.coreOffsetRef = true
	ctx.knobs.coreOffset.Store(uint32(base))
}

// memberOf makes a CPU of the set out of what a user asked for. A value outside
// the set is reduced by the set's span, which may leave it below the first CPU
// (FreeBSD's shift back into the range cancels out), and then moved up to a
// member.
func memberOf(set kern.CPUSet, want int) int {
	if want < set.First() || want > set.Last() {
		want %= set.Last() - set.First() + 1
	}
	for !set.Has(want) {
		want++
	}
	return want
}

// coresUsed counts the CPUs of the set that the device's queues would use if it
// started with the first one.
func (ctx *Ctx) coresUsed() int {
	var used kern.CPUSet
	for i := range ctx.scctx.NTxQSets {
		used.Add(ctx.cpuForQueue(ctx.cpus.First(), i, true))
	}
	for i := range ctx.scctx.NRxQSets {
		used.Add(ctx.cpuForQueue(ctx.cpus.First(), i, false))
	}
	n := 0
	for cpu := ctx.cpus.First(); cpu <= ctx.cpus.Last(); cpu++ {
		if ctx.cpus.Has(cpu) && used.Has(cpu) {
			n++
		}
	}
	return n
}

// dropCoreOffset gives the record back, if one was taken
// (unref_ctx_core_offset).
func (ctx *Ctx) dropCoreOffset() {
	if ctx.coreOffsetRef {
		ctx.g.offsets.drop(ctx.cpus)
		ctx.coreOffsetRef = false
	}
}
