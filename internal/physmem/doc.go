// Package physmem is the physical memory of one machine: the region that
// devices see, in which descriptor rings, mbuf storage and clusters live.
//
// It stands for what vm_page, contigmalloc(9) and the direct map do in FreeBSD.
// A bus address is an offset in the region, so the region can be the RAM of a
// QEMU guest as it is. The first MiB is never handed out: address 0 stays
// invalid, and so do the small numbers that a confused driver writes.
//
// No Go pointer may be stored in the region; the garbage collector does not
// look there.
//
//	m, err := physmem.New(physmem.Config{Size: 64 << 20})
//	if err != nil { ... }
//	defer m.Close()
//	ring, err := m.Alloc(16*1024, 4096)
//	if err != nil { ... }
//	desc := m.Words64(ring, 2048)
//	physmem.StoreRelaxed64(&desc[0], uint64(buf))
//
// Words that two sides share are read and written whole, aligned and with the
// functions of sync/atomic, or StoreRelaxed64 and StoreRelaxed32 where a later
// atomic store publishes them. Nothing smaller than 32 bits is shared.
package physmem
