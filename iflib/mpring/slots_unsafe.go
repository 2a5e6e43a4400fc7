package mpring

import (
	"sync/atomic"
	"unsafe"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

func (r *Ring) slot(i uint32) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Pointer(&r.slots[i]))
}

// put stores a producer's item. The store is sequentially consistent: what the
// producer reads afterwards is later than it.
func (r *Ring) put(i uint32, m *mbuf.Mbuf) {
	atomic.StorePointer(r.slot(i), unsafe.Pointer(m))
}

// ready reports whether the item of a reserved slot is stored.
func (r *Ring) ready(i uint32) bool { return atomic.LoadPointer(r.slot(i)) != nil }

// Take takes the item out of slot i. Consumer only, for slots that Drain was
// given.
func (r *Ring) Take(i uint32) *mbuf.Mbuf {
	m := (*mbuf.Mbuf)(atomic.LoadPointer(r.slot(i)))
	r.clear(i)
	return m
}

// Put gives an item that could not be consumed back to its slot. Consumer only,
// after Take, before Drain returns.
func (r *Ring) Put(i uint32, m *mbuf.Mbuf) { r.put(i, m) }

// Peek returns the item of slot i and leaves it. Consumer only.
func (r *Ring) Peek(i uint32) *mbuf.Mbuf {
	return (*mbuf.Mbuf)(atomic.LoadPointer(r.slot(i)))
}
