package iflib

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib/busdma"
)

// DMAMem is memory that a driver shares with its hardware (struct
// iflib_dma_info). The zero value holds nothing.
type DMAMem struct {
	ctx *Ctx
	tag *busdma.Tag
	mem busdma.Mem
}

// DMAAlloc returns size bytes of zeroed, contiguous memory aligned to align, a
// power of two up to 2 MiB, within reach of the device (iflib_dma_alloc_align).
// The caller frees it. The error wraps ENOMEM or EINVAL. Any goroutine.
func (ctx *Ctx) DMAAlloc(size, align uint64) (DMAMem, error) {
	tag, err := busdma.NewTag(ctx.k, busdma.TagConfig{
		Name: ctx.name + " dma", Align: align, Width: ctx.scctx.DMAWidth,
		MaxSize: size, NSegments: 1, MaxSegSize: max(size, align),
	})
	if err != nil {
		return DMAMem{}, fmt.Errorf("%s: DMA memory: %w", ctx.name, err)
	}
	mem, err := busdma.Alloc(tag)
	if err != nil {
		_ = tag.Destroy() // nothing uses it
		return DMAMem{}, fmt.Errorf("%s: DMA memory: %w", ctx.name, err)
	}
	return DMAMem{ctx: ctx, tag: tag, mem: mem}, nil
}

// Addr is the bus address of the first byte.
func (m DMAMem) Addr() Addr { return m.mem.Addr }

// Size is the length in bytes.
func (m DMAMem) Size() uint64 { return m.mem.Size }

// Bytes is the memory as bytes. Words that the device reads or writes while the
// driver does are accessed through Words64 or Words32.
func (m DMAMem) Bytes() []byte { return m.mem.Bytes() }

// Words64 is the memory as little-endian 64-bit words.
func (m DMAMem) Words64() []uint64 { return m.mem.Words64() }

// Words32 is the memory as little-endian 32-bit words.
func (m DMAMem) Words32() []uint32 {
	return m.ctx.k.Mem.Words32(m.mem.Addr, int(m.mem.Size/4))
}

// Free gives the memory back (iflib_dma_free). Freeing twice does nothing.
func (m *DMAMem) Free() {
	if m.tag == nil {
		return
	}
	m.mem.Free()
	// Its only memory is gone, so the tag is not busy.
	_ = m.tag.Destroy()
	*m = DMAMem{}
}

// ringMem is the memory of one queue set's rings.
type ringMem struct {
	rings []QueueMem
	mem   []DMAMem
}

// allocRings allocates the rings of one queue set, sizes in bytes.
func (ctx *Ctx) allocRings(sizes []uint64) (ringMem, error) {
	var r ringMem
	for _, n := range sizes {
		m, err := ctx.DMAAlloc(n, ctx.sctx.QAlign)
		if err != nil {
			r.free()
			return ringMem{}, err
		}
		r.mem = append(r.mem, m)
		r.rings = append(r.rings, QueueMem{Mem: ctx.k.Mem, Addr: m.Addr(), Size: n})
	}
	return r, nil
}

func (r *ringMem) free() {
	for i := range r.mem {
		r.mem[i].Free()
	}
	*r = ringMem{}
}

// zero clears the ring. A peek may be reading it, so words are stored one by
// one.
func (q QueueMem) zero() {
	w := q.Words64()
	for i := range w {
		StoreRelaxed64(&w[i], 0)
	}
}
