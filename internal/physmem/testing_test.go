package physmem

import (
	"bytes"
	"testing"
)

// testSize leaves 3 MiB above the reserved one: room for every alignment.
const testSize = 4 << 20

// newMemory returns a small memory that the test closes.
func newMemory(tb testing.TB, cfg Config) *Memory {
	tb.Helper()
	if cfg.Size == 0 {
		cfg.Size = testSize
	}
	m, err := New(cfg)
	if err != nil {
		tb.Fatalf("New(%+v): %v", cfg, err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return m
}

func mustAlloc(tb testing.TB, m *Memory, size, align uint64) Addr {
	tb.Helper()
	a, err := m.Alloc(size, align)
	if err != nil {
		tb.Fatalf("Alloc(%d, %d): %v", size, align, err)
	}
	return a
}

func allZero(b []byte) bool { return bytes.Count(b, []byte{0}) == len(b) }

// mustPanic returns what fn panicked with.
func mustPanic(tb testing.TB, fn func()) (value any) {
	tb.Helper()
	defer func() {
		if value = recover(); value == nil {
			tb.Error("no panic")
		}
	}()
	fn()
	return nil
}
