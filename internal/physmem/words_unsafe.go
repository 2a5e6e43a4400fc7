//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package physmem

import "unsafe"

// The sizes of the words that can be shared with a device.
const (
	wordSize64 = 8
	wordSize32 = 4
)

// Words64 returns n 64-bit words at a, a multiple of 8, as a device sees them:
// little endian, which is why the package builds only for little-endian hosts.
// Words outside the region or not aligned panic, as with Bytes.
func (m *Memory) Words64(a Addr, n int) []uint64 {
	b := m.Bytes(a, uint64(n)*wordSize64)
	if a%wordSize64 != 0 {
		m.badView(a, uint64(n)*wordSize64)
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Words32 returns n 32-bit little-endian words at a, a multiple of 4; see Words64.
func (m *Memory) Words32(a Addr, n int) []uint32 {
	b := m.Bytes(a, uint64(n)*wordSize32)
	if a%wordSize32 != 0 {
		m.badView(a, uint64(n)*wordSize32)
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
