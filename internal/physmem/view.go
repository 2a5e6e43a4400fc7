package physmem

import "fmt"

// Slice returns the n bytes at bus address a: what a device may ask for. It is
// false when they do not lie in the region; a device's address is input.
func (m *Memory) Slice(a Addr, n uint64) ([]byte, bool) {
	size := uint64(len(m.data))
	if uint64(a) > size || n > size-uint64(a) {
		return nil, false
	}
	end := uint64(a) + n
	return m.data[a:end:end], true
}

// Bytes returns the n bytes at a, which the caller owns. Bytes outside the region
// are a broken invariant and panic.
func (m *Memory) Bytes(a Addr, n uint64) []byte {
	b, ok := m.Slice(a, n)
	if !ok {
		m.badView(a, n)
	}
	return b
}

// badView keeps the formatting out of Bytes, which inlines without it.
func (m *Memory) badView(a Addr, n uint64) {
	panic(fmt.Sprintf("physmem: view of %d bytes at %#x outside %d bytes of memory", n, uint64(a), len(m.data)))
}
