package busdma

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

// bouncePage is the size of a bounce page and MaxBouncePages how many a zone
// owns at most: as in FreeBSD, a bound on what bad alignment can cost.
const (
	bouncePage     = 4096
	MaxBouncePages = 1024
)

// zoneKey is what pages must satisfy. Tags with the same demands share a zone.
type zoneKey struct {
	limit physmem.Addr // where a page ends at the latest
	align uint64       // at least bouncePage
}

// zone is a pool of bounce pages (struct bounce_zone). It grows on demand and
// keeps its pages until its last tag is destroyed.
type zone struct {
	key     zoneKey
	name    string
	mem     *physmem.Memory
	ctx     *sysctl.Ctx
	refs    int // guarded by state.zoneMu
	bounced atomic.Uint64

	mu    sync.Mutex
	free  []physmem.Addr // guarded by mu
	total int            // guarded by mu; pages owned, free or in use
}

func newZone(mem *physmem.Memory, key zoneKey, name string) *zone {
	return &zone{key: key, name: name, mem: mem}
}

// take returns a page, or false when the zone is exhausted.
func (z *zone) take() (physmem.Addr, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if n := len(z.free); n > 0 {
		page := z.free[n-1]
		z.free = z.free[:n-1]
		return page, true
	}
	if z.total == MaxBouncePages {
		return 0, false
	}
	page, err := z.mem.AllocBelow(z.key.limit, bouncePage, z.key.align, 0)
	if err != nil {
		return 0, false
	}
	z.total++
	return page, true
}

func (z *zone) put(page physmem.Addr) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.free = append(z.free, page)
}

// pages returns how many pages the zone owns and how many of them are in use.
func (z *zone) pages() (total, active int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.total, z.total - len(z.free)
}

// drain gives every page back to memory. None is in use: a tag with maps cannot
// be destroyed.
func (z *zone) drain() {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, page := range z.free {
		z.mem.Free(page)
	}
	z.free, z.total = nil, 0
}

// bounced is one piece of a buffer that a page stands for (struct bounce_page).
type bounced struct {
	page, orig physmem.Addr
	size       uint64
}

// out copies from the buffer to the page, in from the page to the buffer.
func (b bounced) out(mem *physmem.Memory) { copy(mem.Bytes(b.page, b.size), mem.Bytes(b.orig, b.size)) }
func (b bounced) in(mem *physmem.Memory)  { copy(mem.Bytes(b.orig, b.size), mem.Bytes(b.page, b.size)) }
