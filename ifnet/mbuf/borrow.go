package mbuf

import "github.com/ifsim/ifsim/internal/kern"

// maxProcs bounds the per-P caches; Ps above share.
const maxProcs = 64

// Borrow lends a cache to code that owns none: that of the current P or, if it is lent already, a spare one.
// It belongs to the caller until Return; no lock is held meanwhile.
func (z *Zones) Borrow() *Cache {
	if c := z.perCPU[currentP()].Swap(nil); c != nil {
		return c
	}
	z.mu.Lock()
	if n := len(z.spare); n > 0 {
		c := z.spare[n-1]
		z.spare = z.spare[:n-1]
		z.mu.Unlock()
		return c
	}
	z.mu.Unlock()
	return z.NewCache()
}

// Return takes a borrowed cache back.
func (z *Zones) Return(c *Cache) {
	if z.perCPU[currentP()].CompareAndSwap(nil, c) {
		return
	}
	z.mu.Lock()
	z.spare = append(z.spare, c)
	z.mu.Unlock()
}

// currentP is a hint: the goroutine may move on at once.
func currentP() int {
	p := kern.CriticalEnter()
	kern.CriticalExit()
	return p % maxProcs
}

// Free frees one mbuf through the cache of the current P and returns the next: for code without a cache.
func Free(m *Mbuf) *Mbuf {
	z := m.z
	c := z.Borrow()
	next := c.Free(m)
	z.Return(c)
	return next
}

// FreeChain frees a chain, which may be nil, through the cache of the current P: for code without a cache.
func FreeChain(m *Mbuf) {
	if m == nil {
		return
	}
	z := m.z
	c := z.Borrow()
	c.FreeChain(m)
	z.Return(c)
}
