// Package mbuf holds packet buffers: chains of small headers over storage that a device can address.
//
// It is FreeBSD's mbuf(9) (sys/mbuf.h, kern/uipc_mbuf.c, kern/kern_mbuf.c) in Go. An [Mbuf] is a Go struct from
// a slab; its 256-byte area and its cluster lie in the machine's physical memory and have bus addresses. [Zones]
// owns the memory of one machine, its limits and its counters; a [Cache] is one owner's private stock, so that
// the data path allocates and frees without a lock.
//
//	z, err := mbuf.Init(k, mbuf.Config{})
//	c := z.NewCache()             // one owner: a sender, a queue, a worker
//	defer c.Close()
//	m := c.GetCl(mbuf.FlagPktHdr) // nil in a famine
//	m.SetLen(copy(m.Room(), frame))
//	m.Pkt.Len = int32(m.Len())
//	if m = c.Pullup(m, 34); m == nil {
//		return syscall.ENOMEM // the chain is gone
//	}
//	c.FreeChain(m)
//
// Nothing here sleeps: every allocation is M_NOWAIT and returns nil when a limit, physical memory or a fail point
// says so. Who owns a chain after a failure is part of each function's contract (spec ifnet 10.2).
package mbuf
