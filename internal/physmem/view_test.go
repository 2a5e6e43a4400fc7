package physmem

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

func TestSliceIsBoundsChecked(t *testing.T) {
	m := newMemory(t, Config{})
	for _, c := range []struct {
		a  Addr
		n  uint64
		ok bool
	}{
		{0, 0, true},
		{0, testSize, true},
		{0, testSize + 1, false},
		{testSize - 4, 4, true},
		{testSize - 4, 5, false},
		{testSize, 0, true},
		{testSize + 1, 0, false},
		{math.MaxUint64, 1, false},
		{math.MaxUint64, math.MaxUint64, false},
		{8, math.MaxUint64, false},
	} {
		b, ok := m.Slice(c.a, c.n)
		if ok != c.ok || ok && (uint64(len(b)) != c.n || uint64(cap(b)) != c.n) {
			t.Errorf("Slice(%#x, %d) = %d bytes (cap %d), %v; want %v", c.a, c.n, len(b), cap(b), ok, c.ok)
		}
	}
}

func TestBytesOutsidePanics(t *testing.T) {
	m := newMemory(t, Config{})
	const want = "physmem: view of 2 bytes at 0x3fffff outside 4194304 bytes of memory"
	if got := mustPanic(t, func() { m.Bytes(testSize-1, 2) }); got != want {
		t.Errorf("panic %q, want %q", got, want)
	}
}

func TestWordsAreLittleEndianViews(t *testing.T) {
	m := newMemory(t, Config{})
	a := mustAlloc(t, m, 64, 64)
	w64, w32, b := m.Words64(a, 8), m.Words32(a, 16), m.Bytes(a, 64)
	StoreRelaxed64(&w64[1], 0x0807060504030201)
	for i := range byte(8) {
		if b[8+i] != i+1 {
			t.Errorf("byte %d of the word is %#x, want %#x", i, b[8+i], i+1)
		}
	}
	StoreRelaxed32(&w32[3], 0xa1a2a3a4)
	if w64[1] != 0xa1a2a3a404030201 {
		t.Errorf("word is %#x", w64[1])
	}
	if unsafe.Pointer(&w64[0]) != unsafe.Pointer(&b[0]) {
		t.Error("words are not a view of the bytes")
	}
	mustPanic(t, func() { m.Words64(a+4, 1) })
	mustPanic(t, func() { m.Words32(a+2, 1) })
	mustPanic(t, func() { m.Words64(testSize-8, 2) })
	mustPanic(t, func() { m.Words64(a, -1) })
}

// TestStatusWordPublishesFields is the protocol of every ring: fields first, the
// status word by atomic store. The race detector watches it.
func TestStatusWordPublishesFields(t *testing.T) {
	m := newMemory(t, Config{})
	desc := m.Words64(mustAlloc(t, m, 64, 64), 2)
	const laps = 1000
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := uint64(1); i <= laps; i++ {
			for atomic.LoadUint64(&desc[1]) != 2*i-1 {
				runtime.Gosched()
			}
			if desc[0] != i {
				t.Errorf("field is %d when the status says %d", desc[0], i)
			}
			atomic.StoreUint64(&desc[1], 2*i)
		}
	})
	for i := uint64(1); i <= laps; i++ {
		StoreRelaxed64(&desc[0], i)
		atomic.StoreUint64(&desc[1], 2*i-1)
		for atomic.LoadUint64(&desc[1]) != 2*i {
			runtime.Gosched()
		}
	}
	wg.Wait()
}
