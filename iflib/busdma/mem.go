package busdma

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/internal/physmem"
)

// Mem is memory made for DMA, such as a descriptor ring: contiguous, zeroed, and
// always accessible to the device (bus_dmamem_alloc(9), struct iflib_dma_info).
type Mem struct {
	Addr physmem.Addr // idi_paddr
	Size uint64       // bytes
	tag  *Tag
}

// Alloc returns memory of the tag's MaxSize that meets its alignment, boundary
// and width (iflib_dma_alloc, bus_dmamem_alloc(9)). The error wraps ENOMEM, or
// EINVAL for a tag without MaxSize or with segments smaller than that.
func Alloc(t *Tag) (Mem, error) {
	size := t.cfg.MaxSize
	if size == 0 || size > t.maxSeg {
		return Mem{}, fmt.Errorf("busdma: allocating %d bytes for %s in one segment: %w", size, t.cfg.Name, syscall.EINVAL)
	}
	a, err := t.st.k.Mem.AllocBelow(t.limit(), size, t.cfg.Align, t.cfg.Boundary)
	if err != nil {
		return Mem{}, fmt.Errorf("busdma: allocating for %s: %w", t.cfg.Name, err)
	}
	t.users.Add(1)
	t.st.mem.Add(1)
	m := Mem{Addr: a, Size: size, tag: t}
	if t.table != nil {
		t.table.add(m.seg(), Bidirectional)
	}
	return m, nil
}

func (m *Mem) seg() Seg { return Seg{Addr: m.Addr, Len: m.Size} }

// Free gives the memory back (iflib_dma_free). Freeing a Mem twice, or the zero
// Mem, does nothing.
func (m *Mem) Free() {
	t := m.tag
	if t == nil {
		return
	}
	if t.table != nil {
		t.table.remove(m.seg(), Bidirectional)
	}
	t.st.k.Mem.Free(m.Addr)
	t.users.Add(-1)
	t.st.mem.Add(-1)
	*m = Mem{}
}

// Bytes returns the memory as the driver sees it. Words that the device shares
// are accessed through Words64.
func (m *Mem) Bytes() []byte { return m.tag.st.k.Mem.Bytes(m.Addr, m.Size) }

// Words64 returns the memory as 64-bit little-endian words; Align must be a
// multiple of 8. A size that is not leaves its last bytes out.
func (m *Mem) Words64() []uint64 { return m.tag.st.k.Mem.Words64(m.Addr, int(m.Size/wordSize64)) }
