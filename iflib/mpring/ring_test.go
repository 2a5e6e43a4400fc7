package mpring

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"pgregory.net/rapid"
)

func TestNewRefusesSizes(t *testing.T) {
	k := newKernel(t, kern.Config{})
	for _, size := range []int{-1, 0, 1, 65537} {
		if _, err := New(k, size, &sink{k: k}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("New(%d) = %v, want EINVAL", size, err)
		}
	}
}

func TestFreshRingIsIdle(t *testing.T) {
	k := newKernel(t, kern.Config{})
	r, _ := New(k, 16, &sink{k: k})
	if want := "pidx_head: 0000 pidx_tail: 0000 cidx: 0000 state: IDLE"; r.State() != want || !r.IsIdle() {
		t.Errorf("state %q, want %q", r.State(), want)
	}
}

func TestEnqueueIntoIdleRingDrainsAtOnce(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k}
	r, _ := New(k, 16, s)
	for i := range 20 {
		if !r.Enqueue(item(0, i), 32, false) {
			t.Fatalf("enqueue %d refused", i)
		}
	}
	if len(s.got) != 20 || r.Enqueues() != 20 || r.Starts() != 20 || !r.IsIdle() {
		t.Errorf("got %d items, enqueues %d, starts %d, %s", len(s.got), r.Enqueues(), r.Starts(), r.State())
	}
}

func TestAbdicatingSenderNeverDrains(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k}
	r, _ := New(k, 16, s)
	r.Enqueue(item(0, 0), 32, true)
	if len(s.got) != 0 || r.load().flag() != abdicated {
		t.Fatalf("drained %d, %s", len(s.got), r.State())
	}
	if r.Abdications() != 0 {
		t.Errorf("enqueue counted %d abdications, want 0", r.Abdications())
	}
	r.CheckDrainage(32)
	if len(s.got) != 1 || !r.IsIdle() || r.Starts() != 0 {
		t.Errorf("after the check: %d items, starts %d, %s", len(s.got), r.Starts(), r.State())
	}
}

func TestRingHoldsSizeLessTwo(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 2048, s)
	n := 0
	for r.Enqueue(item(0, n), 32, false) {
		n++
	}
	if n != 2046 || r.Drops() != 1 || r.Len() != 2046 {
		t.Errorf("held %d (Len %d), drops %d; want 2046 and 1", n, r.Len(), r.Drops())
	}
}

func TestStalledRingRestarts(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 16, s)
	for i := range 3 {
		r.Enqueue(item(0, i), 32, false)
	}
	if !r.IsStalled() || r.Stalls() != 1 || r.Restarts() != 0 {
		t.Fatalf("%s, stalls %d, restarts %d", r.State(), r.Stalls(), r.Restarts())
	}
	r.CheckDrainage(32)
	if !r.IsStalled() {
		t.Fatal("a ring that cannot drain left STALLED")
	}
	s.closed = false
	r.CheckDrainage(32)
	if len(s.got) != 3 || r.Restarts() != 1 || !r.IsIdle() {
		t.Errorf("%d items, restarts %d, %s", len(s.got), r.Restarts(), r.State())
	}
}

func TestBudgetWithoutAnotherProducerDoesNotStrand(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 512, s)
	for i := range 300 {
		r.Enqueue(item(0, i), 32, false)
	}
	s.closed, s.limit = false, 32
	r.CheckDrainage(8)
	if len(s.got) != 300 || !r.IsIdle() || r.Abdications() != 0 {
		t.Errorf("%d items, abdications %d, %s", len(s.got), r.Abdications(), r.State())
	}
}

func TestPurgeEmptiesAStalledRing(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 64, s)
	for i := range 40 {
		r.Enqueue(item(0, i), 32, false)
	}
	p := &sink{k: k}
	r.Purge(p)
	if len(p.got) != 40 || len(s.got) != 0 || !r.IsIdle() {
		t.Errorf("purged %d, drained %d, %s", len(p.got), len(s.got), r.State())
	}
}

func TestResetStatsZeroesAllSix(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 4, s)
	for i := range 5 {
		r.Enqueue(item(0, i), 32, false)
	}
	r.ResetStats()
	if n := r.Enqueues() + r.Drops() + r.Starts() + r.Stalls() + r.Restarts() + r.Abdications(); n != 0 {
		t.Errorf("counters add up to %d after a reset", n)
	}
	s.closed = false
	r.CheckDrainage(32)
	if r.Enqueues() != 0 || r.Restarts() != 1 {
		t.Errorf("enqueues %d, restarts %d after the reset; want 0 and 1", r.Enqueues(), r.Restarts())
	}
}

// TestRingFollowsTheModel runs random operations of one goroutine against a
// plain queue with the transitions of the state table.
func TestRingFollowsTheModel(t *testing.T) {
	k := newKernel(t, kern.Config{})
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 40).Draw(t, "size")
		s := &sink{k: k}
		r, _ := New(k, size, s)
		var accepted, drops uint64
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) {
				n := rapid.IntRange(1, 5).Draw(t, "n")
				abdicate := rapid.Bool().Draw(t, "abdicate")
				var ms []*mbuf.Mbuf
				for i := range n {
					ms = append(ms, item(0, int(accepted)+i))
				}
				room := size - 1 - r.Len()
				before := r.load().flag()
				ok := r.EnqueueN(ms, 32, abdicate)
				if ok != (n < room) {
					t.Fatalf("enqueue of %d into room %d: %v", n, room, ok)
				}
				if !ok {
					drops += uint64(n)
					return
				}
				accepted += uint64(n)
				want := idle
				switch {
				case abdicate && before == idle:
					want = abdicated
				case abdicate:
					want = before
				case s.closed:
					want = stalled
				}
				if got := r.load().flag(); got != want {
					t.Fatalf("state %d after enqueue (abdicate %v, closed %v, before %d), want %d", got, abdicate, s.closed, before, want)
				}
			},
			"check": func(t *rapid.T) { r.CheckDrainage(uint32(rapid.IntRange(0, 40).Draw(t, "budget"))) },
			"toggle": func(t *rapid.T) {
				s.closed = !s.closed
				s.limit = uint32(rapid.IntRange(0, 4).Draw(t, "limit"))
			},
			"": func(t *rapid.T) {
				if r.Enqueues() != accepted || r.Drops() != drops || len(s.got)+r.Len() != int(accepted) {
					t.Fatalf("enqueues %d/%d drops %d/%d consumed %d in ring %d", r.Enqueues(), accepted, r.Drops(), drops, len(s.got), r.Len())
				}
				for i, m := range s.got {
					if int(m.Pkt.Len) != i {
						t.Fatalf("item %d came as number %d", m.Pkt.Len, i)
					}
				}
			},
		})
	})
}

// TestInterleavedProducersLoseNothing runs producers in the stepped executor:
// the seed decides who goes on at every step, also between reservation, store
// and publication.
func TestInterleavedProducersLoseNothing(t *testing.T) {
	const producers, each = 4, 12
	for seed := range uint64(300) {
		k := newKernel(t, kern.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed + 1})
		s := &sink{k: k, limit: uint32(seed % 5)}
		r, _ := New(k, 16+int(seed%32), s)
		var accepted [producers]int
		for p := range producers {
			k.Spawn(fmt.Sprintf("producer %d", p), func() {
				for i := range each {
					if r.Enqueue(item(p, i), uint32(seed%9), seed%7 == 0) {
						accepted[p]++
					}
				}
			})
		}
		k.RunUntilIdle()
		r.CheckDrainage(32)
		total := 0
		var last [producers]int
		for p := range last {
			last[p] = -1
			total += accepted[p]
		}
		for _, m := range s.got {
			if p := m.Pkt.FlowID; int(m.Pkt.Len) <= last[p] {
				t.Fatalf("seed %d: producer %d: item %d after %d", seed, p, m.Pkt.Len, last[p])
			} else {
				last[p] = int(m.Pkt.Len)
			}
		}
		if len(s.got) != total || r.Enqueues() != uint64(total) || r.Drops() != producers*each-uint64(total) || !r.IsIdle() {
			t.Fatalf("seed %d: accepted %d, consumed %d, enqueues %d, drops %d, %s", seed, total, len(s.got), r.Enqueues(), r.Drops(), r.State())
		}
		if s.most != 1 {
			t.Fatalf("seed %d: %d consumers at once", seed, s.most)
		}
	}
}

// counter counts what it consumes.
type counter struct {
	inside, most, n atomic.Int64
}

func (c *counter) CanDrain(*Ring) bool { return true }
func (c *counter) Drain(r *Ring, cidx, pidx uint32) uint32 {
	if in := c.inside.Add(1); in > c.most.Load() {
		c.most.Store(in)
	}
	n := r.Distance(cidx, pidx)
	for range n {
		if r.Take(cidx) == nil {
			panic("a published slot is empty")
		}
		cidx = r.Next(cidx)
	}
	c.n.Add(int64(n))
	c.inside.Add(-1)
	return n
}

func TestConcurrentProducers(t *testing.T) {
	const producers, each = 8, 5000
	k := newKernel(t, kern.Config{})
	c := &counter{}
	r, _ := New(k, 256, c)
	var wg sync.WaitGroup
	var accepted atomic.Int64
	for p := range producers {
		wg.Go(func() {
			m := item(p, 0)
			for range each {
				if r.Enqueue(m, 32, false) {
					accepted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if c.n.Load() != accepted.Load() || r.Enqueues() != uint64(accepted.Load()) || !r.IsIdle() || c.most.Load() != 1 {
		t.Errorf("accepted %d, consumed %d, enqueues %d, consumers at once %d, %s",
			accepted.Load(), c.n.Load(), r.Enqueues(), c.most.Load(), r.State())
	}
	if accepted.Load()+int64(r.Drops()) != producers*each {
		t.Errorf("accepted %d + drops %d, offered %d", accepted.Load(), r.Drops(), producers*each)
	}
}

// discard consumes without looking.
type discard struct{}

func (discard) CanDrain(*Ring) bool { return true }
func (discard) Drain(r *Ring, cidx, pidx uint32) uint32 {
	n := r.Distance(cidx, pidx)
	for range n {
		r.Take(cidx)
		cidx = r.Next(cidx)
	}
	return n
}

// BenchmarkEnqueue is the ring's cost alone: one producer that drains what it
// enqueued.
func BenchmarkEnqueue(b *testing.B) {
	k := newKernel(b, kern.Config{})
	r, _ := New(k, 2048, discard{})
	m := item(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		r.Enqueue(m, 32, false)
	}
}

func BenchmarkEnqueueParallel(b *testing.B) {
	k := newKernel(b, kern.Config{})
	r, _ := New(k, 2048, discard{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		m := item(0, 0)
		for pb.Next() {
			r.Enqueue(m, 32, false)
		}
	})
}
