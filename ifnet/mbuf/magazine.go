package mbuf

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// magSize is how many items move between a cache and the depot under one lock (spec budget 6).
const magSize = 64

// magazine is a stack of free items.
type magazine[T any] struct {
	n     int
	items [magSize]*T
	next  *magazine[T] // in a list of the depot
}

// depot is a zone's shared stock: whole magazines, moved under mu. A zone creates items until its limit is reached
// and never gives memory back before the kernel closes; what it has is in the depot, in caches or in use.
type depot[T any] struct {
	k       *kern.Kernel
	name    string
	warning string // printed when the limit is hit
	itemLen int    // bytes

	fails atomic.Uint64

	mu      sync.Mutex
	full    *magazine[T]
	empty   *magazine[T]
	partial *magazine[T] // never nil; takes what does not fill a magazine
	limit   int          // items; 0 = none
	created int
	// fill creates up to max items into an empty magazine.
	fill func(mag *magazine[T], max int)
	// allocs and frees of closed caches and of other zones.
	allocs, frees uint64
	warned        time.Duration // when the warning was last printed, 0 = never
}

// warnInterval is how long a zone keeps quiet about its limit (FreeBSD's zone_warning ratecheck).
const warnInterval = 300 * time.Second

func (d *depot[T]) init(k *kern.Kernel, name, warning string, itemLen, limit int, fill func(*magazine[T], int)) {
	d.k, d.name, d.warning, d.itemLen, d.limit, d.fill = k, name, warning, itemLen, limit, fill
	d.partial = new(magazine[T])
}

// takeFull swaps an empty magazine for one with items; nil in a famine, and then mag stays with the caller.
func (d *depot[T]) takeFull(mag *magazine[T]) *magazine[T] {
	d.mu.Lock()
	if f := d.full; f != nil {
		d.full = f.next
		mag.next = d.empty
		d.empty = mag
		d.mu.Unlock()
		return f
	}
	if p := d.partial; p.n > 0 {
		d.partial = mag
		d.mu.Unlock()
		return p
	}
	room := magSize
	if d.limit > 0 {
		room = min(room, d.limit-d.created)
	}
	if room > 0 {
		d.fill(mag, room)
		d.created += mag.n
	}
	warn := room <= 0 && d.warnDue()
	d.mu.Unlock()
	if warn {
		d.k.Printf("[zone: %s] %s\n", d.name, d.warning)
	}
	if mag.n == 0 {
		d.fails.Add(1)
		return nil
	}
	return mag
}

// warnDue reports whether the limit may be complained about again. Caller holds mu.
func (d *depot[T]) warnDue() bool {
	now := d.k.Uptime()
	if d.warned != 0 && now-d.warned < warnInterval {
		return false
	}
	d.warned = now
	return true
}

// putFull takes a full magazine and returns an empty one.
func (d *depot[T]) putFull(mag *magazine[T]) *magazine[T] {
	d.mu.Lock()
	mag.next = d.full
	d.full = mag
	e := d.empty
	if e != nil {
		d.empty = e.next
	}
	d.mu.Unlock()
	if e == nil {
		e = new(magazine[T])
	}
	return e
}

// put returns one item. Caller holds mu.
func (d *depot[T]) put(x *T) {
	if d.partial.n == magSize {
		d.partial.next = d.full
		d.full = d.partial
		if d.partial = d.empty; d.partial == nil {
			d.partial = new(magazine[T])
		} else {
			d.empty = d.partial.next
		}
	}
	d.partial.items[d.partial.n] = x
	d.partial.n++
}

// absorb takes all items of a magazine.
func (d *depot[T]) absorb(mag *magazine[T]) {
	d.mu.Lock()
	for ; mag.n > 0; mag.n-- {
		d.put(mag.items[mag.n-1])
	}
	d.mu.Unlock()
}

// drain takes every item out of the depot and tells each to fn; they no longer count as created.
func (d *depot[T]) drain(fn func(x *T)) {
	empty := new(magazine[T])
	for {
		d.mu.Lock()
		mag := d.full
		if mag != nil {
			d.full = mag.next
		} else {
			mag = d.partial
			d.partial = empty
		}
		d.created -= mag.n
		d.mu.Unlock()
		if mag.n == 0 {
			return
		}
		empty = mag
		for ; mag.n > 0; mag.n-- {
			fn(mag.items[mag.n-1])
		}
	}
}

// slot is a cache's stock of one zone: two magazines, so that a load that swings around a full or an empty one
// does not go to the depot each time. The counters are read by others.
type slot[T any] struct {
	loaded, prev  *magazine[T]
	d             *depot[T]
	allocs, frees uint64
}

func (s *slot[T]) init(d *depot[T]) {
	s.d = d
	s.loaded, s.prev = new(magazine[T]), new(magazine[T])
}

// pop is one item of the loaded magazine, nil if there is none: the part of get that inlines.
func (s *slot[T]) pop() *T {
	mag := s.loaded
	n := mag.n - 1
	if n < 0 {
		return nil
	}
	mag.n = n
	physmem.StoreRelaxed64(&s.allocs, s.allocs+1)
	return mag.items[n&(magSize-1)]
}

// get is one item, nil in a famine (counted).
func (s *slot[T]) get() *T {
	if x := s.pop(); x != nil {
		return x
	}
	if s.reload() == nil {
		return nil
	}
	return s.pop()
}

func (s *slot[T]) reload() *magazine[T] {
	if s.prev.n > 0 {
		s.loaded, s.prev = s.prev, s.loaded
		return s.loaded
	}
	mag := s.d.takeFull(s.loaded)
	if mag != nil {
		s.loaded = mag
	}
	return mag
}

// push returns one item to the loaded magazine, false if that is full: the part of put that inlines.
func (s *slot[T]) push(x *T) bool {
	mag := s.loaded
	n := mag.n
	if n == magSize {
		return false
	}
	mag.items[n&(magSize-1)] = x
	mag.n = n + 1
	physmem.StoreRelaxed64(&s.frees, s.frees+1)
	return true
}

// put returns one item.
func (s *slot[T]) put(x *T) {
	if s.push(x) {
		return
	}
	s.unload()
	s.push(x)
}

func (s *slot[T]) unload() {
	if s.prev.n == magSize {
		s.prev = s.d.putFull(s.prev)
	}
	s.loaded, s.prev = s.prev, s.loaded
}

// close returns stock and counters to the depot. The slot is of no use afterwards.
func (s *slot[T]) close() {
	s.d.absorb(s.loaded)
	s.d.absorb(s.prev)
	s.d.mu.Lock()
	s.d.allocs += s.allocs
	s.d.frees += s.frees
	s.d.mu.Unlock()
	s.loaded, s.prev = nil, nil
}

// counts are the allocations and frees through this slot; any goroutine.
func (s *slot[T]) counts() (allocs, frees uint64) {
	// frees first: an item freed is counted allocated
	frees = atomic.LoadUint64(&s.frees)
	return atomic.LoadUint64(&s.allocs), frees
}
