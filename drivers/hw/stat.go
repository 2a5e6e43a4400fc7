package hw

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// Stats are the counters of a device: monotonic, one shard for each queue, so that
// counting is an add and a plain store to memory of the queue's own. Registers
// (StatReg) sum the shards when they are read and clear by remembering where they were.
type Stats struct {
	shards []StatShard
	shared []atomic.Uint64
}

// StatShard is a queue's part. Only the owner of the queue adds to it.
type StatShard []uint64

// NewStats makes n counters for queues queues.
func NewStats(queues, n int) *Stats {
	const wordsPerLine = cacheLine / wordBytes
	s := &Stats{shards: make([]StatShard, queues), shared: make([]atomic.Uint64, n)}
	padded := (n + wordsPerLine - 1) / wordsPerLine * wordsPerLine
	for i := range s.shards {
		// The line behind keeps the next allocation off what a CPU writes.
		s.shards[i] = make(StatShard, padded+wordsPerLine)[:n]
	}
	return s
}

// Shard returns the part of queue q.
func (s *Stats) Shard(q int) StatShard { return s.shards[q] }

// Add counts v for counter id.
func (sh StatShard) Add(id int, v uint64) { physmem.StoreRelaxed64(&sh[id], sh[id]+v) }

// Add counts v for counter id on behalf of no queue, from any goroutine.
func (s *Stats) Add(id int, v uint64) { s.shared[id].Add(v) }

// Total returns what counter id has counted since NewStats. It is exact when the
// queues are quiet.
func (s *Stats) Total(id int) uint64 {
	sum := s.shared[id].Load()
	for _, sh := range s.shards {
		sum += atomic.LoadUint64(&sh[id])
	}
	return sum
}

// StatKind is how a register shows its counter.
type StatKind struct {
	Bits     uint8 // width, 1..64
	Clear    bool  // reading clears
	Saturate bool  // sticks at its maximum; else wraps
}

// The usual kinds.
var (
	Intel32  = StatKind{Bits: 32, Clear: true, Saturate: true} // spec 1g 5.5
	Intel64  = StatKind{Bits: 64, Clear: true, Saturate: true} // octets of the gigabit parts
	Intel36  = StatKind{Bits: 36, Clear: true, Saturate: true} // octets of ixgbe
	Port32   = StatKind{Bits: 32}                              // ixl: wraps, never cleared
	Port48   = StatKind{Bits: 48}
	Report64 = StatKind{Bits: 64} // bnxt's statistics blocks
)

// StatReg is a statistics register, or a pair of them. Any goroutine.
type StatReg struct {
	stats *Stats
	id    int
	kind  StatKind

	mu      sync.Mutex // guards what follows
	base    uint64     // total when the register last was 0
	latch   uint64     // total when the low half was read
	latched bool
}

// NewReg returns a register that shows counter id.
func (s *Stats) NewReg(id int, kind StatKind) *StatReg {
	return &StatReg{stats: s, id: id, kind: kind}
}

// value returns what the register shows for a total.
func (r *StatReg) value(total uint64) uint64 {
	v := total - r.base
	if r.kind.Bits >= 64 {
		return v
	}
	limit := uint64(1)<<r.kind.Bits - 1
	if r.kind.Saturate {
		return min(v, limit)
	}
	return v & limit
}

// Read reads the whole register at once and clears it if its kind says so.
func (r *StatReg) Read() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.stats.Total(r.id)
	v := r.value(total)
	if r.kind.Clear {
		r.base, r.latched = total, false
	}
	return v
}

// Peek reads the register as a debugger would: nothing changes.
func (r *StatReg) Peek() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value(r.stats.Total(r.id))
}

// ReadLow reads the low half of a pair and holds the high half for ReadHigh.
func (r *StatReg) ReadLow() uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latch, r.latched = r.stats.Total(r.id), true
	return uint32(r.value(r.latch))
}

// ReadHigh reads the high half: of what ReadLow saw if that came before. It clears the
// pair if its kind says so; what was counted since ReadLow is kept.
func (r *StatReg) ReadHigh() uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.latch
	if !r.latched {
		total = r.stats.Total(r.id)
	}
	v := r.value(total)
	r.latched = false
	if r.kind.Clear {
		r.base = total
	}
	return uint32(v >> windowBits)
}

// Reset makes the register 0, as a reset of the device does.
func (r *StatReg) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base, r.latched = r.stats.Total(r.id), false
}
