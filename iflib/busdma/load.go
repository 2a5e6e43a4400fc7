package busdma

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/physmem"
)

// LoadMbuf loads the packet m for DMA in direction dir and writes its segments
// into segs. It returns how many there are: at most what the tag allows and segs
// holds. Empty mbufs have none. Data that crosses a boundary or exceeds the
// segment size is split, data that the device cannot reach or that starts
// misaligned is bounced, and pieces that follow each other in memory are one
// segment if the tag allows it. The packet stays the caller's and must not be
// freed before Unload.
//
// Errors leave the map unloaded: EFBIG for more segments than that, which a
// shorter chain may cure, ENOMEM when no bounce page is free, EINVAL for a packet
// longer than the tag's MaxSize. The failpoint busdma.load returns its errno.
// The counterpart is bus_dmamap_load_mbuf_sg(9); spec iflib 3.5 step 4.
func (t *Tag) LoadMbuf(mp *Map, m *mbuf.Mbuf, segs []Seg, dir Dir) (int, error) {
	if mp.loaded {
		mp.loadedTwice()
	}
	if v, hit := t.fail.Eval(); hit {
		return 0, t.injected(v)
	}
	segs = segs[:min(len(segs), t.nsegs)]
	n := t.plain(m, segs)
	if n < 0 {
		return t.loadSlow(mp, m, segs, dir)
	}
	mp.loaded, mp.dir = true, dir
	if t.table != nil {
		mp.record(segs[:n])
	}
	return n, nil
}

// LoadPlain is LoadMbuf of a packet that lies in memory as the device wants it, when
// nobody checks accesses: there is nothing to remember, so there is no map and nothing
// to unload. False: LoadMbuf has to look at the packet.
func (t *Tag) LoadPlain(m *mbuf.Mbuf, segs []Seg) (n int, ok bool) {
	if t.table != nil || t.fail.Armed() {
		return 0, false
	}
	n = t.plain(m, segs[:min(len(segs), t.nsegs)])
	return n, n >= 0
}

// plain makes a segment of each buffer of the packet and returns how many there are, or
// -1 if that is not all that has to be done.
func (t *Tag) plain(m *mbuf.Mbuf, segs []Seg) int {
	n, total, end := 0, uint64(0), uint64(0)
	for ; m != nil; m = m.Next {
		size := uint64(m.Len())
		if size == 0 {
			continue
		}
		a := uint64(m.BusAddr())
		last := a + size - 1
		if uint(n) >= uint(len(segs)) || a == end || size > t.maxSeg ||
			a&t.alignMask|(a^last)&t.crossMask|last&t.highMask != 0 {
			return -1
		}
		end = last + 1
		total += size
		segs[n] = Seg{Addr: physmem.Addr(a), Len: size}
		n++
	}
	if total > t.maxSize {
		return -1
	}
	return n
}

// LoadBuffer loads the n bytes at a, as LoadMbuf does a packet. A buffer that
// does not lie in memory gives EFAULT, a negative length EINVAL. The counterpart
// is bus_dmamap_load(9).
func (t *Tag) LoadBuffer(mp *Map, a physmem.Addr, n int, segs []Seg, dir Dir) (int, error) {
	if mp.loaded {
		mp.loadedTwice()
	}
	if v, hit := t.fail.Eval(); hit {
		return 0, t.injected(v)
	}
	if n < 0 {
		return 0, fmt.Errorf("busdma: loading %d bytes for %s: %w", n, t.cfg.Name, syscall.EINVAL)
	}
	if uint64(n) > t.maxSize {
		return 0, t.errSize
	}
	if _, ok := t.st.k.Mem.Slice(a, uint64(n)); !ok {
		return 0, t.errAddr
	}
	l := loader{t: t, mp: mp, segs: segs[:min(len(segs), t.nsegs)], dir: dir}
	if n > 0 {
		l.add(a, uint64(n))
	}
	return l.finish()
}

// injected returns the error that the failpoint busdma.load asks for: EIO when it
// names none.
func (t *Tag) injected(errno int) error {
	if errno <= 0 {
		errno = int(syscall.EIO)
	}
	return t.loadError("failpoint busdma.load", syscall.Errno(errno))
}

func (mp *Map) loadedTwice() {
	panic(fmt.Sprintf("busdma: a map of %s is loaded while it is loaded", mp.tag.cfg.Name))
}

// loadSlow loads a packet that LoadMbuf could not place as it lies.
func (t *Tag) loadSlow(mp *Map, m *mbuf.Mbuf, segs []Seg, dir Dir) (int, error) {
	if uint64(m.Length()) > t.maxSize {
		return 0, t.errSize
	}
	l := loader{t: t, mp: mp, segs: segs, dir: dir}
	for ; m != nil && l.err == nil; m = m.Next {
		if n := m.Len(); n > 0 {
			l.add(m.BusAddr(), uint64(n))
		}
	}
	return l.finish()
}

// loader is a load in progress. It stops adding at its first error.
type loader struct {
	t    *Tag
	mp   *Map
	segs []Seg
	dir  Dir
	n    int
	err  error
}

// add loads the size bytes at a, which follow each other in memory.
func (l *loader) add(a physmem.Addr, size uint64) {
	if uint64(a)&l.t.alignMask == 0 && (uint64(a)+size-1)&l.t.highMask == 0 {
		l.place(a, size)
		return
	}
	for size > 0 && l.err == nil {
		n := min(size, bouncePage)
		page, ok := l.t.zone.take()
		if !ok {
			l.err = l.t.errPages
			return
		}
		l.mp.bounce = append(l.mp.bounce, bounced{page: page, orig: a, size: n})
		l.place(page, n)
		a += physmem.Addr(n)
		size -= n
	}
}

// place makes segments of memory that the device reaches, aligned at its start.
func (l *loader) place(a physmem.Addr, size uint64) {
	for size > 0 {
		n := l.t.cut(uint64(a), size)
		if !l.extend(a, n) {
			if l.n == len(l.segs) {
				l.err = l.t.errSegs
				return
			}
			l.segs[l.n] = Seg{Addr: a, Len: n}
			l.n++
		}
		a += physmem.Addr(n)
		size -= n
	}
}

// cut returns how much of the size bytes at a fits one segment.
func (t *Tag) cut(a, size uint64) uint64 {
	if t.crossMask != 0 {
		size = min(size, (a|^t.crossMask)+1-a)
	}
	if size > t.maxSeg {
		size = t.cutSeg // keeps the next segment aligned
	}
	return size
}

// extend joins n bytes at a to the last segment if they follow it and the tag
// allows the result.
func (l *loader) extend(a physmem.Addr, n uint64) bool {
	if l.n == 0 {
		return false
	}
	s := &l.segs[l.n-1]
	if s.Addr+physmem.Addr(s.Len) != a || n > l.t.maxSeg-s.Len ||
		uint64(s.Addr^(a+physmem.Addr(n)-1))&l.t.crossMask != 0 {
		return false
	}
	s.Len += n
	return true
}

func (l *loader) finish() (int, error) {
	mp := l.mp
	mp.dir = l.dir
	if l.err != nil {
		mp.returnPages()
		return 0, l.err
	}
	mp.loaded = true
	if pages := len(mp.bounce); pages > 0 {
		l.countBounced(pages)
		mp.syncPages(PreWrite)
	}
	if l.t.table != nil {
		mp.record(l.segs[:l.n])
	}
	return l.n, nil
}

func (l *loader) countBounced(pages int) {
	t := l.t
	t.zone.bounced.Add(uint64(pages))
	t.st.bounced.Add(uint64(pages))
	for _, b := range l.mp.bounce {
		t.st.k.Probes.Fire3(probeBounce, t.cfg.Name, -1, uint64(b.orig), b.size, uint64(l.dir))
	}
}
