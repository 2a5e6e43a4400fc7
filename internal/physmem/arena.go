package physmem

import (
	"fmt"
	"math/bits"
	"syscall"
)

// firstFitTries is how many free extents an aligned request looks at in address
// order before it takes one that is large enough wherever it starts.
const firstFitTries = 64

// arena knows which parts of a region are free and which are handed out. It
// takes the lowest free extent that fits, splits it, and joins neighbours when
// memory comes back. All calls are O(log n) in the number of free extents,
// except a request that only a lucky alignment can satisfy, which looks at every
// extent large enough.
type arena struct {
	free  tree
	busy  map[Addr]uint64 // size by address
	inUse uint64          // sum of busy
}

// request is one allocation, normalised: size is a multiple of Granule.
type request struct {
	size, align, boundary uint64 // boundary 0: none
	limit                 Addr   // where it ends at the latest
}

func newRequest(size, align, boundary uint64) (request, error) {
	align = max(align, Granule)
	switch {
	case size == 0 || size > MaxSize:
		return request{}, fmt.Errorf("physmem: allocating %d bytes: %w", size, syscall.EINVAL)
	case align > MaxAlign || !powerOfTwo(align):
		return request{}, fmt.Errorf("physmem: alignment %d is not a power of two up to %d: %w",
			align, MaxAlign, syscall.EINVAL)
	case boundary != 0 && (!powerOfTwo(boundary) || boundary < size):
		return request{}, fmt.Errorf("physmem: boundary %d is not a power of two of at least the size %d: %w",
			boundary, size, syscall.EINVAL)
	}
	if boundary != 0 {
		// A boundary below the granule is kept by giving the request granules of its own.
		boundary = max(boundary, Granule)
	}
	return request{size: roundUp(size, Granule), align: align, boundary: boundary, limit: NoLimit}, nil
}

// fit returns the lowest address at or above from that suits the request.
func (r request) fit(from Addr) Addr {
	a := roundUp(uint64(from), r.align)
	if r.boundary != 0 && a&^(r.boundary-1) != (a+r.size-1)&^(r.boundary-1) {
		a = roundUp(roundUp(a, r.boundary), r.align)
	}
	return Addr(a)
}

// fits reports whether the request finds its place in e.
func (r request) fits(e extent) bool {
	return r.fit(e.start)+Addr(r.size) <= min(e.end(), r.limit)
}

// sure returns the extent size that satisfies the request wherever it starts.
func (r request) sure() uint64 {
	return r.size + max(r.align, r.boundary) + r.align
}

func (ar *arena) init(low, high Addr) {
	ar.busy = make(map[Addr]uint64)
	ar.free.insert(extent{start: low, size: uint64(high - low)})
}

func (ar *arena) alloc(r request) (Addr, bool) {
	e, ok := ar.free.first(r, firstFitTries)
	if !ok {
		e, ok = ar.free.firstOfSize(r.sure())
		ok = ok && r.fits(e)
	}
	if !ok {
		e, ok = ar.free.first(r, -1)
	}
	if !ok {
		return 0, false
	}
	a := r.fit(e.start)
	ar.free.remove(e.start)
	if a > e.start {
		ar.free.insert(extent{start: e.start, size: uint64(a - e.start)})
	}
	if end := a + Addr(r.size); end < e.end() {
		ar.free.insert(extent{start: end, size: uint64(e.end() - end)})
	}
	ar.busy[a] = r.size
	ar.inUse += r.size
	return a, true
}

// release frees what alloc returned and says whether a was such an address.
func (ar *arena) release(a Addr) bool {
	size, ok := ar.busy[a]
	if !ok {
		return false
	}
	delete(ar.busy, a)
	ar.inUse -= size
	e := extent{start: a, size: size}
	if below, ok := ar.free.below(a); ok && below.end() == a {
		ar.free.remove(below.start)
		e = extent{start: below.start, size: below.size + e.size}
	}
	if above, ok := ar.free.at(e.end()); ok {
		ar.free.remove(above.start)
		e.size += above.size
	}
	ar.free.insert(e)
	return true
}

func powerOfTwo(n uint64) bool { return bits.OnesCount64(n) == 1 }

// roundUp returns the least multiple of unit, a power of two, that is not below n.
func roundUp(n, unit uint64) uint64 { return (n + unit - 1) &^ (unit - 1) }
