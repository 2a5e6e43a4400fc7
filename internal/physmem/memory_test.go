package physmem

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestSizeLimits(t *testing.T) {
	for _, c := range []struct {
		size, want uint64
		err        error
	}{
		{size: 0, want: DefaultSize},
		{size: ReservedSize + 1, want: ReservedSize + 4096},
		{size: testSize, want: testSize},
		{size: MaxSize, want: MaxSize},
		{size: ReservedSize, err: syscall.EINVAL},
		{size: MaxSize + 1, err: syscall.EINVAL},
	} {
		m, err := New(Config{Size: c.size, Backing: Memfd})
		if !errors.Is(err, c.err) {
			t.Errorf("New of %d bytes: %v, want %v", c.size, err, c.err)
		}
		if err != nil {
			continue
		}
		if m.Size() != c.want {
			t.Errorf("New of %d bytes has %d, want %d", c.size, m.Size(), c.want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBackingsShareTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ram")
	for _, c := range []struct {
		cfg  Config
		file bool
	}{
		{Config{Backing: Heap}, false},
		{Config{Backing: Memfd}, true},
		{Config{Backing: File, Path: path}, true},
	} {
		t.Run(c.cfg.Backing.String(), func(t *testing.T) {
			m := newMemory(t, c.cfg)
			a := mustAlloc(t, m, 64, 0)
			copy(m.Bytes(a, 5), "hello")
			fd, ok := m.Fd()
			if ok != c.file {
				t.Fatalf("Fd gives %v, want %v", ok, c.file)
			}
			if !ok {
				return
			}
			got := make([]byte, 5)
			if _, err := unix.Pread(int(fd), got, int64(a)); err != nil || string(got) != "hello" {
				t.Errorf("the file holds %q at %#x (%v), want hello", got, a, err)
			}
		})
	}
	if _, err := New(Config{Backing: File}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("file backing without a path: %v, want EINVAL", err)
	}
	if _, err := New(Config{Backing: Heap + 1}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("unknown backing: %v, want EINVAL", err)
	}
}

func TestMemfdCannotBeResized(t *testing.T) {
	m := newMemory(t, Config{Backing: Memfd})
	fd, _ := m.Fd()
	for _, size := range []int64{testSize / 2, testSize * 2} {
		if err := unix.Ftruncate(int(fd), size); err != unix.EPERM {
			t.Errorf("resizing the memfd to %d: %v, want EPERM", size, err)
		}
	}
}

func TestFileKeepsNothingOfAnEarlierMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ram")
	dirty := make([]byte, testSize)
	for i := range dirty {
		dirty[i] = 0xa5
	}
	if err := os.WriteFile(path, dirty, 0o600); err != nil {
		t.Fatal(err)
	}
	m := newMemory(t, Config{Backing: File, Path: path})
	if a := mustAlloc(t, m, 8192, 0); !allZero(m.Bytes(a, 8192)) {
		t.Error("memory from an old file is not zero")
	}
}

func TestReusedMemoryIsZero(t *testing.T) {
	m := newMemory(t, Config{})
	a := mustAlloc(t, m, 4096, 0)
	for i, b := 0, m.Bytes(a, 4096); i < len(b); i++ {
		b[i] = 0xff
	}
	m.Free(a)
	// The second allocation covers the first and memory never used.
	if b := mustAlloc(t, m, 8192, 0); b != a || !allZero(m.Bytes(b, 8192)) {
		t.Errorf("allocation at %#x after %#x was freed: want the same address, zeroed", b, a)
	}
}

func TestAllocRefusesBadRequests(t *testing.T) {
	m := newMemory(t, Config{})
	for _, c := range []struct {
		size, align, boundary uint64
		err                   error
	}{
		{0, 64, 0, syscall.EINVAL},
		{64, 96, 0, syscall.EINVAL},
		{64, 2 * MaxAlign, 0, syscall.EINVAL},
		{64, 64, 96, syscall.EINVAL},
		{128, 64, 64, syscall.EINVAL},
		{1 << 63, 64, 0, syscall.EINVAL},
		{testSize - ReservedSize + 1, 64, 0, syscall.ENOMEM},
		{testSize - ReservedSize, 64, 0, nil},
	} {
		a, err := m.AllocBoundary(c.size, c.align, c.boundary)
		if !errors.Is(err, c.err) {
			t.Errorf("AllocBoundary(%d, %d, %d): %v, want %v", c.size, c.align, c.boundary, err, c.err)
		}
		if err == nil {
			m.Free(a)
		}
	}
	if m.InUse() != 0 || m.Allocations() != 0 {
		t.Errorf("%d bytes in %d allocations in use, want none", m.InUse(), m.Allocations())
	}
}

func TestFreeOfAWrongAddressPanics(t *testing.T) {
	m := newMemory(t, Config{})
	a := mustAlloc(t, m, 4096, 0)
	mustPanic(t, func() { m.Free(a + 64) })
	m.Free(a)
	const want = "physmem: free of 0x100000, which is not allocated"
	if got := mustPanic(t, func() { m.Free(a) }); got != want {
		t.Errorf("double free panics with %q, want %q", got, want)
	}
	if m.InUse() != 0 {
		t.Errorf("InUse is %d after panics, want 0", m.InUse())
	}
}

// TestAlignedHoleIsFound puts a fitting hole behind more misaligned ones than
// first fit looks at.
func TestAlignedHoleIsFound(t *testing.T) {
	m := newMemory(t, Config{})
	const page = 4096
	var all []Addr
	for m.InUse() < testSize-ReservedSize {
		all = append(all, mustAlloc(t, m, 64, 64))
	}
	hole := func(start, size Addr) {
		for a := start; a < start+size; a += 64 {
			m.Free(a)
		}
	}
	// A page wide each, but from the middle of one page to the middle of the next.
	for i := range Addr(2 * firstFitTries) {
		hole(ReservedSize+i*3*page+page/2, page)
	}
	want := all[len(all)-1] + 64 - page
	hole(want, page)
	if a, err := m.Alloc(page, page); err != nil || a != want {
		t.Errorf("Alloc of an aligned page = %#x, %v; want %#x", a, err, want)
	}
	if _, err := m.Alloc(page, page); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("second aligned page: %v, want ENOMEM", err)
	}
}

func TestConcurrentAllocationsDoNotOverlap(t *testing.T) {
	m := newMemory(t, Config{})
	var wg sync.WaitGroup
	for id := range byte(4) {
		wg.Go(func() {
			var mine []Addr
			for i := range 400 {
				a, err := m.Alloc(256, 64<<(i%4))
				if err != nil {
					t.Error(err)
					return
				}
				b := m.Bytes(a, 256)
				for j := range b {
					b[j] = id
				}
				if mine = append(mine, a); len(mine) == 8 {
					for _, a := range mine {
						if b := m.Bytes(a, 256); b[0] != id || b[255] != id {
							t.Errorf("another goroutine wrote at %#x", a)
						}
						m.Free(a)
					}
					mine = mine[:0]
				}
			}
		})
	}
	wg.Wait()
	if m.InUse() != 0 {
		t.Errorf("InUse is %d, want 0", m.InUse())
	}
}

// modelUnits is the model's memory in granules. With alignments of up to
// 4 KiB this small, each request is answered by the exact search.
const modelUnits = 96

// model is the memory as an array of granules.
type model [modelUnits]bool

// fits says whether some address suits the request.
func (m *model) fits(r request) bool {
	n := r.size / Granule
	for u := uint64(0); u+n <= modelUnits; u++ {
		a := ReservedSize + u*Granule
		if a%r.align != 0 || a+r.size > uint64(r.limit) || r.boundary != 0 && a/r.boundary != (a+r.size-1)/r.boundary {
			continue
		}
		if !m.any(Addr(a), r.size) {
			return true
		}
	}
	return false
}

func (m *model) any(a Addr, size uint64) bool {
	u := (uint64(a) - ReservedSize) / Granule
	for _, busy := range m[u : u+size/Granule] {
		if busy {
			return true
		}
	}
	return false
}

func (m *model) set(a Addr, size uint64, busy bool) {
	u := (uint64(a) - ReservedSize) / Granule
	for i := range size / Granule {
		m[u+i] = busy
	}
}

func (m *model) inUse() (n uint64) {
	for _, busy := range m {
		if busy {
			n += Granule
		}
	}
	return n
}

func TestAllocatorAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ar arena
		ar.init(ReservedSize, ReservedSize+modelUnits*Granule)
		var m model
		sizes := map[Addr]uint64{}
		var order []Addr
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(order) > 0 && rapid.Bool().Draw(t, "free") {
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				a := order[i]
				order = append(order[:i], order[i+1:]...)
				m.set(a, sizes[a], false)
				if !ar.release(a) || ar.release(a) {
					t.Fatalf("release of %#x is not exact", a)
				}
			} else {
				r := drawRequest(t)
				a, ok := ar.alloc(r)
				if want := m.fits(r); ok != want {
					t.Fatalf("alloc(%+v) = %v, the model says %v", r, ok, want)
				}
				if ok {
					checkPlace(t, &m, r, a)
					m.set(a, r.size, true)
					sizes[a] = r.size
					order = append(order, a)
				}
			}
			if ar.inUse != m.inUse() || len(ar.busy) != len(order) {
				t.Fatalf("%d bytes in %d allocations, model %d in %d", ar.inUse, len(ar.busy), m.inUse(), len(order))
			}
		}
		for _, a := range order {
			ar.release(a)
		}
		if e, ok := ar.free.at(ReservedSize); !ok || e.size != modelUnits*Granule {
			t.Fatalf("free memory did not join again: %+v", e)
		}
	})
}

func drawRequest(t *rapid.T) request {
	size := uint64(rapid.IntRange(1, 20*Granule).Draw(t, "size"))
	align := uint64(1) << rapid.IntRange(0, 12).Draw(t, "align")
	var boundary uint64
	if rapid.Bool().Draw(t, "bounded") {
		boundary = roundUpPower(size) << rapid.IntRange(0, 2).Draw(t, "boundary")
	}
	r, err := newRequest(size, align, boundary)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "limited") {
		r.limit = ReservedSize + Addr(rapid.IntRange(0, modelUnits*Granule).Draw(t, "limit"))
	}
	return r
}

func roundUpPower(n uint64) uint64 {
	p := uint64(1)
	for p < n {
		p *= 2
	}
	return p
}

func checkPlace(t *rapid.T, m *model, r request, a Addr) {
	end := uint64(a) + r.size
	switch {
	case a < ReservedSize || end > ReservedSize+modelUnits*Granule:
		t.Fatalf("%+v placed at %#x, outside", r, a)
	case end > uint64(r.limit):
		t.Fatalf("%+v placed at %#x, above its limit", r, a)
	case uint64(a)%r.align != 0:
		t.Fatalf("%+v placed at %#x, misaligned", r, a)
	case r.boundary != 0 && uint64(a)/r.boundary != (end-1)/r.boundary:
		t.Fatalf("%+v placed at %#x, across a boundary", r, a)
	case m.any(a, r.size):
		t.Fatalf("%+v placed at %#x, in use", r, a)
	}
}

func TestCloseTwice(t *testing.T) {
	m := newMemory(t, Config{Backing: Memfd})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, ok := m.Slice(ReservedSize, 1); ok || m.Size() != 0 {
		t.Error("closed memory still gives views")
	}
	if _, ok := m.Fd(); ok {
		t.Error("closed memory still has a descriptor")
	}
}

func BenchmarkAllocFree(b *testing.B) {
	m := newMemory(b, Config{Size: 64 << 20, Backing: Heap})
	// Holes everywhere: 16384 free extents.
	var keep []Addr
	for range 16384 {
		keep = append(keep, mustAlloc(b, m, 64, 64))
		mustAlloc(b, m, 64, 64)
	}
	for _, a := range keep {
		m.Free(a)
	}
	for b.Loop() {
		a, err := m.Alloc(4096, 4096)
		if err != nil {
			b.Fatal(err)
		}
		m.Free(a)
	}
}
