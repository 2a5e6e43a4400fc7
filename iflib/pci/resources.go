package pci

import "slices"

// Region is the address range behind a base address register.
type Region struct {
	BARInfo
	Addr    uint64
	Enabled bool // the function decodes it
}

// Regions are the address ranges of the function, by register. That of an MSI-X table that
// the device left to the bus is among them. Any goroutine.
func (f *Function) Regions() []Region {
	mode := f.mode.Load()
	list := make([]Region, 0, len(f.bars))
	for i := range f.bars {
		decode := uint32(modeMem)
		if f.bars[i].Kind == IO {
			decode = modeIO
		}
		list = append(list, Region{f.bars[i].BARInfo, f.bars[i].addr, mode&decode != 0})
	}
	slices.SortFunc(list, func(a, b Region) int { return a.Index - b.Index })
	return list
}

// IRQs are the interrupt numbers that the driver has: those of its messages, else that of
// the line if a handler is set up. Any goroutine.
func (f *Function) IRQs() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == intrINTx && f.intx.intr.Load() != nil {
		return []int{f.number(0)}
	}
	return slices.Clone(f.irqs)
}

// LineIRQs are the interrupt numbers of lines: the lowest and the highest.
func LineIRQs() (first, last int) { return firstLineIRQ, firstMSIIRQ - 1 }

// AddressRange is where the bus puts registers of a kind: the first address and the last.
func AddressRange(kind BARKind) (first, last uint64) {
	r := addressRanges[kind]
	return r.start, r.end - 1
}
