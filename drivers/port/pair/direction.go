package pair

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/port"
)

const (
	// DefaultDepth is how many frames a direction holds unless the name says otherwise.
	DefaultDepth = 1024
	// MaxDepth bounds the depth that a name may ask for.
	MaxDepth = 64 << 10

	arenaBytes = 2 << 20 // storage of a direction: DefaultDepth frames of 1518 bytes fit
	slotAlign  = 64      // frames begin on a cache line of their own
)

// slot is one queued frame: where it lies and where the storage behind it ends.
type slot struct {
	off, len uint32
	end      uint64
}

// direction is the bounded queue of one direction. Frames tail..lend are with the
// receiver, lend..head wait. The indices and byte positions run freely; a frame that
// would cross the arena's end begins at its start instead.
type direction struct {
	mu   sync.Mutex
	tx   *Port // sender, nil if not bound
	rx   *Port // receiver, nil if not bound
	up   bool
	ring []slot

	head, lend, tail uint32
	mask             uint32
	bHead, bTail     uint64 // bytes allocated and freed
	arena            []byte
	blocked          queueSet // sender's queues whose last Send was short
}

func (d *direction) init(depth int) {
	slots := 1
	for slots < depth {
		slots <<= 1
	}
	d.ring = make([]slot, slots)
	d.mask = uint32(slots - 1)
	d.arena = make([]byte, arenaBytes)
}

// put queues frames of p until one does not fit. It returns how many were taken and
// how many of those were refused for good.
func (d *direction) put(p *Port, frames []port.Frame) (taken, bad int) {
	depth := uint32(p.w.depth)
	for i := range frames {
		n := frames[i].Len()
		cause, ok := port.CheckLength(n)
		if !d.up || d.tx != p {
			cause, ok = port.LinkDown, false
		}
		if !ok {
			p.tx.errors[cause]++
			bad++
			continue
		}
		if d.head-d.tail >= depth {
			return i, bad
		}
		buf := d.alloc(n)
		if buf == nil {
			return i, bad
		}
		for _, s := range frames[i].Segs {
			buf = buf[copy(buf, s):]
		}
		p.tx.frames++
		p.tx.bytes += uint64(n)
	}
	return len(frames), bad
}

// alloc takes the next slot and n bytes of storage for it, nil if there are none.
func (d *direction) alloc(n int) []byte {
	if d.head == d.tail {
		d.bHead, d.bTail = 0, 0 // empty: keep to the lines that are in the cache
	}
	size := uint64(len(d.arena))
	start := d.bHead
	if off := start % size; off+uint64(n) > size {
		start += size - off
	}
	end := start + (uint64(n)+slotAlign-1)&^(slotAlign-1)
	if end-d.bTail > size {
		return nil
	}
	off := start % size
	d.bHead = end
	d.ring[d.head&d.mask] = slot{off: uint32(off), len: uint32(n), end: end}
	d.head++
	return d.arena[off : off+uint64(n)]
}

// lendTo fills frames with what waits.
func (d *direction) lendTo(p *Port, frames []port.RxFrame) int {
	n := 0
	for ; n < len(frames) && d.lend != d.head; n++ {
		s := &d.ring[d.lend&d.mask]
		end := s.off + s.len
		frames[n] = port.RxFrame{Data: d.arena[s.off:end:end], Len: int(s.len)}
		p.rx.bytes += uint64(s.len)
		d.lend++
	}
	p.rx.frames += uint64(n)
	return n
}

// release frees the n oldest slots, which must be lent.
func (d *direction) release(n int) {
	if n == 0 {
		return
	}
	d.tail += uint32(n)
	d.bTail = d.ring[(d.tail-1)&d.mask].end
}

// clear empties the queue and returns how many frames had not been lent.
func (d *direction) clear() int {
	waiting := int(d.head - d.lend)
	d.tail, d.lend = d.head, d.head
	d.bHead, d.bTail = 0, 0
	return waiting
}

// setLink notes the link. When it goes down waiting senders must learn it.
func (d *direction) setLink(up bool) kick {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.up = up
	return d.wake(!up)
}

// wake takes the queues that wait for space if there is enough of it, or if forced. A
// quarter of the queue must be free, so that a woken sender finds room for a batch.
func (d *direction) wake(force bool) kick {
	if d.blocked == (queueSet{}) || d.tx == nil {
		return kick{}
	}
	depth := uint32(d.tx.w.depth)
	frames, bytes := d.head-d.tail, d.bHead-d.bTail
	if frames == 0 {
		bytes = 0
	}
	if !force && (frames > depth-(depth+3)/4 || bytes > arenaBytes-arenaBytes/4) {
		return kick{}
	}
	k := kick{p: d.tx, c: d.tx.client, queues: d.blocked}
	d.blocked = queueSet{}
	d.tx.calls.Add(1)
	return k
}
