package physmem

import (
	"fmt"
	"math"
	"sync"
	"syscall"
)

// Addr is a bus address: an offset in the region of one Memory.
type Addr uint64

// Limits of a region and of an allocation, in bytes.
const (
	MaxSize      = 1 << 30   // largest region
	DefaultSize  = 256 << 20 // region when Config.Size is 0
	ReservedSize = 1 << 20   // never handed out, at the bottom of the region
	MaxAlign     = 2 << 20   // largest alignment an allocation may ask for
	Granule      = 64        // sizes are rounded up to it, and it is the least alignment

	regionUnit = 4096 // a region is a whole number of pages
)

// NoLimit is the limit of an allocation that may lie anywhere.
const NoLimit Addr = math.MaxUint64

// Backing says what holds the region.
type Backing uint8

// The backings. A race-enabled build takes Heap for Auto, because the race
// detector neither sees plain accesses to mapped memory nor takes ordering
// from atomic operations there. There a region costs about a millisecond a MiB
// to make and to collect: a test takes one as small as it can.
const (
	Auto  Backing = iota // Memfd, or Heap under the race detector
	Memfd                // anonymous file, sealed against resizing
	File                 // the file named by Config.Path, for QEMU's memory-backend-file
	Heap                 // ordinary Go memory
)

// String returns the name of the backing in lower case.
func (b Backing) String() string {
	switch b {
	case Auto:
		return "auto"
	case Memfd:
		return "memfd"
	case File:
		return "file"
	case Heap:
		return "heap"
	}
	return fmt.Sprintf("backing(%d)", uint8(b))
}

// Config says how large the region is and what holds it.
type Config struct {
	Size    uint64  // bytes, rounded up to 4 KiB; 0 is DefaultSize, at most MaxSize
	Backing Backing // what holds the region
	Path    string  // of the File backing; created when it is not there
}

// Memory is the memory of one machine. Alloc, AllocBoundary, Free, InUse and
// Allocations may be called from any goroutine; so may the views, up to Close.
type Memory struct {
	region region
	data   []byte // the whole region; constant until Close

	mu    sync.Mutex
	arena arena // guarded by mu
	fresh Addr  // guarded by mu; from here up the region has never been handed out and holds zeros
}

// New returns a machine's memory, zeroed. The error wraps EINVAL for a size
// that is too small or above MaxSize or for a backing without its path, or the
// operating system's refusal.
func New(cfg Config) (*Memory, error) {
	size := cfg.Size
	if size == 0 {
		size = DefaultSize
	}
	if size <= ReservedSize || size > MaxSize {
		return nil, fmt.Errorf("physmem: size of %d bytes is not above %d and at most %d: %w",
			size, ReservedSize, MaxSize, syscall.EINVAL)
	}
	size = roundUp(size, regionUnit)
	r, err := openRegion(cfg, size)
	if err != nil {
		return nil, fmt.Errorf("physmem: %w", err)
	}
	m := &Memory{region: r, data: r.data, fresh: ReservedSize}
	if !r.zeroed {
		m.fresh = Addr(size)
	}
	m.arena.init(ReservedSize, Addr(size))
	return m, nil
}

// Alloc hands out size bytes of contiguous zeroed memory at a multiple of align,
// a power of two up to MaxAlign; alignments below Granule are raised to it.
// The error wraps ENOMEM when no free extent fits and EINVAL for a size of 0 or
// an impossible alignment. The counterpart is contigmalloc(9) with M_NOWAIT|M_ZERO.
func (m *Memory) Alloc(size, align uint64) (Addr, error) {
	return m.AllocBoundary(size, align, 0)
}

// AllocBoundary is Alloc of memory that crosses no multiple of boundary, a
// power of two not below size; 0 is no boundary.
func (m *Memory) AllocBoundary(size, align, boundary uint64) (Addr, error) {
	return m.AllocBelow(NoLimit, size, align, boundary)
}

// AllocBelow is AllocBoundary of memory that ends at or below limit, for a device
// that cannot address all of it.
func (m *Memory) AllocBelow(limit Addr, size, align, boundary uint64) (Addr, error) {
	want, err := newRequest(size, align, boundary)
	if err != nil {
		return 0, err
	}
	want.limit = limit
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.arena.alloc(want)
	if !ok {
		return 0, fmt.Errorf("physmem: allocating %d bytes aligned to %d: %w", size, want.align, syscall.ENOMEM)
	}
	end := a + Addr(want.size)
	if a < m.fresh {
		clear(m.data[a:min(end, m.fresh)])
	}
	m.fresh = max(m.fresh, end)
	return a, nil
}

// Free takes back what Alloc or AllocBoundary returned as a. Any other address
// is a broken invariant and panics.
func (m *Memory) Free(a Addr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.arena.release(a) {
		panic(fmt.Sprintf("physmem: free of %#x, which is not allocated", uint64(a)))
	}
}

// InUse returns the bytes handed out and not freed, each allocation rounded up
// to Granule: what a leak check compares.
func (m *Memory) InUse() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arena.inUse
}

// Allocations returns how many allocations are handed out and not freed.
func (m *Memory) Allocations() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.arena.busy)
}

// Size returns the size of the region in bytes, the reserved first MiB included.
func (m *Memory) Size() uint64 { return uint64(len(m.data)) }

// Fd returns the descriptor of the file that holds the region, for QEMU or
// another process to map; false for the Heap backing. It stays Memory's property.
func (m *Memory) Fd() (uintptr, bool) {
	if m.region.file == nil {
		return 0, false
	}
	return m.region.file.Fd(), true
}

// Close unmaps the region. Nobody may hold a view of it or use it afterwards;
// kern.Kernel.Close ends every goroutine of the machine first. A second Close
// does nothing.
func (m *Memory) Close() error {
	m.data = nil
	if err := m.region.close(); err != nil {
		return fmt.Errorf("physmem: %w", err)
	}
	return nil
}
