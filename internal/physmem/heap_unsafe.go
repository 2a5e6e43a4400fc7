package physmem

import "unsafe"

// heapBytes returns size bytes of Go memory, aligned for 64-bit words. The
// collector never scans it: its type holds no pointer.
func heapBytes(size uint64) []byte {
	words := make([]uint64, size/wordSize64)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}
