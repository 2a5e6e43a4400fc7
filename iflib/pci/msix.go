package pci

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
)

// States of a vector.
const (
	vecMasked uint32 = 1 << iota
	vecPending
)

// vector is a message, and the handler it is bound to. Raising and unmasking meet
// without a lock: the raiser sets pending and then looks at the mask again, the
// unmasker clears the mask and then takes pending, so one of them sends.
type vector struct {
	intr  atomic.Pointer[kern.Intr]
	state atomic.Uint32
}

func (v *vector) setMask(on bool) {
	if on {
		v.state.Or(vecMasked)
	} else {
		v.state.And(^vecMasked)
	}
}

// takePending clears the pending bit and reports whether it was set.
func (v *vector) takePending() bool {
	return v.state.And(^vecPending)&vecPending != 0
}

// Layout of a table entry and of the BAR that holds the table.
const (
	entryBytes  = 16
	entryAddr   = 0
	entryAddrHi = 4
	entryData   = 8
	entryCtrl   = 12

	minPBA      = 0x2000 // pending bits of tables of up to 512 entries (spec 10g)
	minTableBAR = 0x4000
	pbaWordBits = 32
	pbaAlign    = 8
)

// What a message writes where (the local APIC of the CPU).
const (
	apicBase     = 0xfee00000
	apicCPUShift = 12
	apicVector0  = 0x30
)

type msixEntry struct {
	addr, addrHi, data atomic.Uint32
	vector
}

// program lets the entry send its message to cpu.
func (e *msixEntry) program(cpu, i int) {
	e.addr.Store(apicBase | uint32(cpu)<<apicCPUShift)
	e.addrHi.Store(0)
	e.data.Store(apicVector0 + uint32(i))
}

// msixTable is the table and its pending bits as registers of a BAR (PCI 3.0 6.8.2.6).
type msixTable struct {
	f       *Function
	entries []msixEntry
	bir     int
	pba     uint32 // offset of the pending bits
}

var _ Registers32 = (*msixTable)(nil)

func pbaOffset(n int) uint64 { return max(minPBA, uint64(n)*entryBytes) }

// tableBytes is what a BAR needs for n vectors.
func tableBytes(n int) uint64 {
	bytes := (uint64(n) + 7) / 8
	return pbaOffset(n) + (bytes+pbaAlign-1)&^(pbaAlign-1)
}

func (t *msixTable) init(f *Function, n int) {
	t.f, t.entries, t.pba = f, make([]msixEntry, n), uint32(pbaOffset(n))
	t.reset()
}

// reset masks every vector and forgets addresses and pending bits; handlers stay.
func (t *msixTable) reset() {
	for i := range t.entries {
		e := &t.entries[i]
		e.addr.Store(0)
		e.addrHi.Store(0)
		e.data.Store(0)
		e.state.Store(vecMasked)
	}
}

// Read32 returns a word of the table or of the pending bits, 0 elsewhere.
func (t *msixTable) Read32(off uint64) uint32 {
	if off >= uint64(t.pba) {
		return t.pending(off - uint64(t.pba))
	}
	if off/entryBytes >= uint64(len(t.entries)) {
		return 0
	}
	e := &t.entries[off/entryBytes]
	switch off % entryBytes {
	case entryAddr:
		return e.addr.Load()
	case entryAddrHi:
		return e.addrHi.Load()
	case entryData:
		return e.data.Load()
	}
	return e.state.Load() & vecMasked
}

// Write32 changes a table entry; clearing the mask sends a pending message. Pending
// bits are read-only.
func (t *msixTable) Write32(off uint64, v uint32) {
	if off >= uint64(t.pba) || off/entryBytes >= uint64(len(t.entries)) {
		return
	}
	e := &t.entries[off/entryBytes]
	switch off % entryBytes {
	case entryAddr:
		e.addr.Store(v & msiAddrMask)
	case entryAddrHi:
		e.addrHi.Store(v)
	case entryData:
		e.data.Store(v)
	case entryCtrl:
		e.setMask(v&vecMasked != 0)
		t.f.retry(&e.vector, modeMSIX)
	}
}

func (t *msixTable) pending(off uint64) uint32 {
	var w uint32
	first := off / wordSize * pbaWordBits
	for i := range uint64(pbaWordBits) {
		if n := first + i; n < uint64(len(t.entries)) && t.entries[n].state.Load()&vecPending != 0 {
			w |= 1 << i
		}
	}
	return w
}
