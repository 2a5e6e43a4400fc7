package mbuf

import "unsafe"

// headerSlab is the size of a slab of Go structs: above 32 KiB, where the allocator puts no word of its own in
// front, so that headers keep to their cache lines.
const headerSlab = 64 << 10

// arena hands out zeroed structs from slabs.
type arena[T any] struct{ free []T }

func (a *arena[T]) next() *T {
	if len(a.free) == 0 {
		var one T
		a.free = make([]T, headerSlab/unsafe.Sizeof(one))
	}
	x := &a.free[0]
	a.free = a.free[1:]
	return x
}
