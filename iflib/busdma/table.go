package busdma

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// granuleShift is log2 of the piece of memory that checking mode keeps a count
// for. Storage of an mbuf is 256 bytes, so packets do not share one.
const granuleShift = 8

// A granule counts loads that let the device read it in its low half and loads
// that let it write in its high half.
const (
	readUnit  uint64 = 1
	writeUnit uint64 = 1 << 32
	readMask         = writeUnit - 1
	writeMask        = ^readMask
)

// table says which memory devices may touch. Owners of maps change it while
// devices look: all accesses are atomic.
type table struct {
	granules []atomic.Uint64
}

func newTable(memory uint64) *table {
	return &table{granules: make([]atomic.Uint64, (memory+1<<granuleShift-1)>>granuleShift)}
}

// units returns what one load for dir adds to a granule.
func (d Dir) units() (n uint64) {
	if d&ToDevice != 0 {
		n = readUnit
	}
	if d&FromDevice != 0 {
		n += writeUnit
	}
	return n
}

func (tb *table) add(s Seg, dir Dir) { tb.change(s, dir.units()) }

func (tb *table) remove(s Seg, dir Dir) { tb.change(s, -dir.units()) }

func (tb *table) change(s Seg, delta uint64) {
	first, last := span(s.Addr, s.Len)
	for i := first; i <= last; i++ {
		tb.granules[i].Add(delta)
	}
}

// allows reports whether a device may touch n bytes at a, which lie in memory.
func (tb *table) allows(a physmem.Addr, n uint64, dir Dir) bool {
	if n == 0 {
		return true
	}
	first, last := span(a, n)
	for i := first; i <= last; i++ {
		count := tb.granules[i].Load()
		if dir&ToDevice != 0 && count&readMask == 0 || dir&FromDevice != 0 && count&writeMask == 0 {
			return false
		}
	}
	return true
}

// span returns the granules of n bytes at a; n is not 0.
func span(a physmem.Addr, n uint64) (first, last uint64) {
	return uint64(a) >> granuleShift, (uint64(a) + n - 1) >> granuleShift
}
