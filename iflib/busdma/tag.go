package busdma

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// maxWidth is the width of a bus address in bits.
const maxWidth = 64

// TagConfig is what a device demands of its buffers: the arguments of
// bus_dma_tag_create(9). A zero field demands nothing.
type TagConfig struct {
	Name       string // for messages: device and purpose, such as "em0 tx"
	Align      uint64 // every segment starts at a multiple; power of two up to physmem.MaxAlign
	Boundary   uint64 // no segment crosses a multiple; power of two, not below Align
	Width      int    // bits of address that the device drives, 1 to 64
	MaxSize    uint64 // bytes in one load, and the size that Alloc returns
	NSegments  int    // segments in one load
	MaxSegSize uint64 // bytes in one segment, not below Align
}

// Tag is a set of demands (bus_dma_tag_t), constant once made. It may be used by
// any number of goroutines with maps of their own.
type Tag struct {
	// What a load reads: one cache line.
	alignMask uint64
	crossMask uint64 // bits of an address above the boundary; 0: no boundary
	highMask  uint64 // bits of an address that the device does not drive
	maxSeg    uint64
	maxSize   uint64
	nsegs     int
	table     *table
	fail      *kern.FailPoint

	st     *state
	cfg    TagConfig
	cutSeg uint64       // size of all but the last segment of a long buffer: a multiple of the alignment
	zone   *zone        // nil: no buffer in memory needs bouncing
	users  atomic.Int64 // maps and memory of Alloc

	errSegs, errSize, errPages, errAddr error
}

// NewTag returns a tag for cfg. The error wraps EINVAL for demands that
// contradict each other. The counterpart is bus_dma_tag_create(9).
func NewTag(k *kern.Kernel, cfg TagConfig) (*Tag, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("busdma: tag %q: %w", cfg.Name, err)
	}
	st := stateOf(k)
	t := &Tag{cfg: cfg, st: st, table: st.table, fail: st.load}
	align := max(cfg.Align, 1)
	t.alignMask = align - 1
	if cfg.Boundary != 0 {
		t.crossMask = ^(cfg.Boundary - 1)
	}
	if cfg.Width != 0 {
		t.highMask = ^(uint64(math.MaxUint64) >> (maxWidth - cfg.Width))
	}
	t.maxSeg = orUnlimited(cfg.MaxSegSize)
	t.cutSeg = t.maxSeg &^ t.alignMask
	t.maxSize = orUnlimited(cfg.MaxSize)
	t.nsegs = cfg.NSegments
	if t.nsegs == 0 {
		t.nsegs = math.MaxInt
	}
	if align > 1 || (k.Mem.Size()-1)&t.highMask != 0 {
		t.zone = st.zoneFor(zoneKey{limit: t.limit(), align: max(align, bouncePage)})
	}
	t.errSegs = t.loadError(fmt.Sprintf("more than %d segments", cfg.NSegments), syscall.EFBIG)
	t.errSize = t.loadError(fmt.Sprintf("more than %d bytes", cfg.MaxSize), syscall.EINVAL)
	t.errPages = t.loadError("no bounce page", syscall.ENOMEM)
	t.errAddr = t.loadError("buffer outside memory", syscall.EFAULT)
	return t, nil
}

func (cfg *TagConfig) check() error {
	switch {
	case cfg.Align != 0 && (bits.OnesCount64(cfg.Align) != 1 || cfg.Align > physmem.MaxAlign):
		return fmt.Errorf("alignment %d: %w", cfg.Align, syscall.EINVAL)
	case cfg.Boundary != 0 && (bits.OnesCount64(cfg.Boundary) != 1 || cfg.Boundary < cfg.Align):
		return fmt.Errorf("boundary %d with alignment %d: %w", cfg.Boundary, cfg.Align, syscall.EINVAL)
	case cfg.Width < 0 || cfg.Width > maxWidth:
		return fmt.Errorf("width of %d bits: %w", cfg.Width, syscall.EINVAL)
	case cfg.NSegments < 0:
		return fmt.Errorf("%d segments: %w", cfg.NSegments, syscall.EINVAL)
	case cfg.MaxSegSize != 0 && cfg.MaxSegSize < cfg.Align:
		return fmt.Errorf("segments of %d bytes with alignment %d: %w", cfg.MaxSegSize, cfg.Align, syscall.EINVAL)
	}
	return nil
}

// loadError makes an error of loads beforehand, since a load may not allocate.
func (t *Tag) loadError(what string, errno syscall.Errno) error {
	return fmt.Errorf("busdma: loading %s: %s: %w", t.cfg.Name, what, errno)
}

// limit returns where a buffer within the device's reach ends at the latest.
func (t *Tag) limit() physmem.Addr {
	if t.highMask == 0 {
		return physmem.NoLimit
	}
	return physmem.Addr(^t.highMask + 1)
}

func orUnlimited(n uint64) uint64 {
	if n == 0 {
		return math.MaxUint64
	}
	return n
}

// Config returns what the tag was made from.
func (t *Tag) Config() TagConfig { return t.cfg }

// Destroy gives back what the tag holds. The error wraps EBUSY while maps or
// memory of the tag exist (bus_dma_tag_destroy(9)).
func (t *Tag) Destroy() error {
	if n := t.users.Load(); n != 0 {
		return fmt.Errorf("busdma: destroying tag %q with %d maps and allocations: %w", t.cfg.Name, n, syscall.EBUSY)
	}
	if t.zone == nil {
		return nil
	}
	return t.st.releaseZone(t.zone)
}

// NewMap returns an unloaded map (bus_dmamap_create(9)).
func (t *Tag) NewMap() *Map {
	t.users.Add(1)
	t.st.maps.Add(1)
	return &Map{tag: t}
}
