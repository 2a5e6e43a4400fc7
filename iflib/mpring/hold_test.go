package mpring

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
)

// TestWhoLooksTakesNothingAndStrandsNothing has somebody hold the ring between the steps
// of producers, in the stepped executor.
func TestWhoLooksTakesNothingAndStrandsNothing(t *testing.T) {
	const producers, each = 3, 10
	looks, handed := 0, 0
	for seed := range uint64(300) {
		k := newKernel(t, kern.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed + 1})
		s := &sink{k: k, limit: uint32(seed % 5)}
		r, _ := New(k, 64, s)
		for p := range producers {
			k.Spawn(fmt.Sprintf("producer %d", p), func() {
				for i := range each {
					r.Enqueue(item(p, i), uint32(seed%9), seed%7 == 0)
				}
			})
		}
		k.Spawn("looker", func() {
			for range 20 {
				before := r.load()
				held, more := r.Hold(func(cidx, pidx uint32) {
					looks++
					for i := cidx; i != pidx; i = r.Next(i) {
						if r.Peek(i) == nil {
							t.Errorf("seed %d: slot %d of %s is empty", seed, i, r.State())
						}
						k.SchedPoint()
					}
					if s.inside != 0 || !r.Busy() {
						t.Errorf("seed %d: somebody else consumes", seed)
					}
				})
				if held && !more && r.load().samePublication(before) && before.flag() != busy && r.load().flag() != before.flag() {
					t.Errorf("seed %d: from %s to %s", seed, before, r.State())
				}
				if more {
					handed++
					r.CheckDrainage(32)
				}
				k.SchedPoint()
			}
		})
		k.RunUntilIdle()
		r.CheckDrainage(32)
		if len(s.got) != producers*each || r.Enqueues() != producers*each || !r.IsIdle() || s.most != 1 {
			t.Fatalf("seed %d: consumed %d, %d consumers at once, %s", seed, len(s.got), s.most, r.State())
		}
	}
	if looks < 100 || handed == 0 {
		t.Errorf("%d looks, %d of them with work left over: nothing was tested", looks, handed)
	}
}

func TestLooksBesideConcurrentProducers(t *testing.T) {
	const producers, each = 4, 3000
	k := newKernel(t, kern.Config{})
	c := &counter{}
	r, _ := New(k, 4096, c)
	var wg, looker sync.WaitGroup
	var accepted atomic.Int64
	var over atomic.Bool
	looker.Go(func() {
		for !over.Load() {
			_, more := r.Hold(func(cidx, pidx uint32) {
				for i := cidx; i != pidx; i = r.Next(i) {
					if r.Peek(i) == nil {
						t.Error("a published slot is empty")
					}
				}
			})
			if more {
				r.CheckDrainage(32)
			}
		}
	})
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				if r.Enqueue(item(p, i), 32, false) {
					accepted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	over.Store(true)
	looker.Wait()
	r.CheckDrainage(32)
	if c.n.Load() != accepted.Load() || !r.IsIdle() {
		t.Errorf("accepted %d, consumed %d, %s", accepted.Load(), c.n.Load(), r.State())
	}
}

func TestAHeldOrBusyRingIsNotHeld(t *testing.T) {
	k := newKernel(t, kern.Config{})
	s := &sink{k: k, closed: true}
	r, _ := New(k, 16, s)
	r.Enqueue(item(0, 0), 8, false)
	state := r.State()
	held, more := r.Hold(func(cidx, pidx uint32) {
		if c, p := r.Span(); c != cidx || p != pidx || r.Distance(cidx, pidx) != 1 {
			t.Errorf("span %d to %d, %d to %d", cidx, pidx, c, p)
		}
		if again, _ := r.Hold(func(uint32, uint32) { t.Error("looked twice at once") }); again {
			t.Error("held twice")
		}
	})
	if !held || more || r.State() != state {
		t.Errorf("held %v, more %v, %s before, %s after", held, more, state, r.State())
	}
}
