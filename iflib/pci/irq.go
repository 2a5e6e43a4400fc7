package pci

import (
	"maps"
	"slices"

	"github.com/ifsim/ifsim/internal/kern"
)

// Interrupt numbers (x86): lines of functions have those of the I/O APIC behind the ISA
// interrupts, messages begin where the I/O APIC ends (MINIMUM_MSI_INT).
const (
	firstLineIRQ = 16
	numLineIRQs  = 8
	firstMSIIRQ  = firstLineIRQ + numLineIRQs
)

// Interrupt is an interrupt of the machine as vmstat(8) counts it. A number outlives its
// handlers, and so does the count.
type Interrupt struct {
	IRQ      int
	Handlers []string // names, in the order in which they were set up
	Count    uint64   // how often filters have run
}

// irq is an interrupt number that somebody has, or had.
type irq struct {
	taken    bool // by a message that is allocated
	handlers []*kern.Intr
	past     uint64 // counted by handlers that are gone
}

// Interrupts are the machine's interrupts by number, with those that have no handler any
// more (intrnames and intrcnt). Any goroutine.
func (b *Bus) Interrupts() []Interrupt {
	b.irqMu.Lock()
	defer b.irqMu.Unlock()
	list := make([]Interrupt, 0, len(b.irqs))
	for _, n := range slices.Sorted(maps.Keys(b.irqs)) {
		q := b.irqs[n]
		i := Interrupt{IRQ: n, Count: q.past}
		for _, h := range q.handlers {
			i.Handlers = append(i.Handlers, h.Name())
			i.Count += h.Count()
		}
		list = append(list, i)
	}
	return list
}

// allocIRQs takes the lowest n numbers that are free, in ascending order (msi_alloc).
func (b *Bus) allocIRQs(n int) []int {
	b.irqMu.Lock()
	defer b.irqMu.Unlock()
	nums := make([]int, 0, n)
	for num := firstMSIIRQ; len(nums) < n; num++ {
		q := b.irq(num)
		if !q.taken {
			q.taken = true
			nums = append(nums, num)
		}
	}
	return nums
}

// freeIRQs gives numbers back.
func (b *Bus) freeIRQs(nums []int) {
	b.irqMu.Lock()
	defer b.irqMu.Unlock()
	for _, num := range nums {
		b.irq(num).taken = false
	}
}

// irq is the state of a number. The lock is held.
func (b *Bus) irq(num int) *irq {
	q := b.irqs[num]
	if q == nil {
		q = &irq{}
		b.irqs[num] = q
	}
	return q
}

// number is the interrupt number of rid: its line's for 0. Called with mu held.
func (f *Function) number(rid int) int {
	if rid == 0 {
		return firstLineIRQ + (f.loc.Bus+f.loc.Slot)%numLineIRQs
	}
	return f.irqs[rid-1]
}

// addHandler counts a handler to a number.
func (b *Bus) addHandler(num int, h *kern.Intr) {
	b.irqMu.Lock()
	defer b.irqMu.Unlock()
	q := b.irq(num)
	q.handlers = append(q.handlers, h)
}

// removeHandler takes a handler from its number and keeps its count. The handler runs no
// more.
func (b *Bus) removeHandler(h *kern.Intr) {
	b.irqMu.Lock()
	defer b.irqMu.Unlock()
	for _, q := range b.irqs {
		if i := slices.Index(q.handlers, h); i >= 0 {
			q.handlers = slices.Delete(q.handlers, i, i+1)
			q.past += h.Count()
			return
		}
	}
}
