package bufring

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

func item(producer, seq int) *mbuf.Mbuf {
	m := &mbuf.Mbuf{}
	m.Pkt.FlowID, m.Pkt.Len = uint32(producer), int32(seq)
	return m
}

func TestNewRefusesSizes(t *testing.T) {
	for _, size := range []int{-2, 0, 1, 3, 100, 1 << 21} {
		if _, err := New(size); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("New(%d) = %v, want EINVAL", size, err)
		}
	}
}

func TestRingHoldsSizeLessOne(t *testing.T) {
	for _, size := range []int{2, 4, 256} {
		r, _ := New(size)
		for lap := range 5 {
			n := 0
			for r.Enqueue(item(0, n)) {
				n++
			}
			if n != size-1 || !r.Full() || r.Drops() != uint64(lap+1) {
				t.Fatalf("size %d, lap %d: held %d, full %v, drops %d", size, lap, n, r.Full(), r.Drops())
			}
			for i := range n {
				if m := r.Dequeue(); m == nil || int(m.Pkt.Len) != i {
					t.Fatalf("size %d: item %d is %v", size, i, m)
				}
			}
			if r.Dequeue() != nil || !r.Empty() {
				t.Fatal("an empty ring gave an item")
			}
		}
	}
}

func TestRingFollowsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 1 << rapid.IntRange(1, 5).Draw(t, "log2")
		r, _ := New(size)
		var model []*mbuf.Mbuf
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) {
				m := item(0, n)
				n++
				if ok := r.TryEnqueue(m); ok != (len(model) < size-1) {
					t.Fatalf("enqueue into %d of %d: %v", len(model), size, ok)
				} else if ok {
					model = append(model, m)
				}
			},
			"dequeue": func(t *rapid.T) {
				var want *mbuf.Mbuf
				if len(model) > 0 {
					want, model = model[0], model[1:]
				}
				if r.Peek() != want || r.Dequeue() != want {
					t.Fatal("wrong item")
				}
			},
			"putback": func(t *rapid.T) {
				if len(model) > 0 {
					model[0] = item(0, -1)
					r.PutbackSC(model[0])
				}
			},
			"advance": func(t *rapid.T) {
				r.AdvanceSC()
				if len(model) > 0 {
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				var shown []*mbuf.Mbuf
				r.Walk(func(slot int, m *mbuf.Mbuf) {
					if want := (int(r.cons) + len(shown)) % size; slot != want {
						t.Fatalf("slot %d, want %d", slot, want)
					}
					shown = append(shown, m)
				})
				if !slices.Equal(shown, model) {
					t.Fatalf("%d items shown, %d held", len(shown), len(model))
				}
				if r.Len() != len(model) || r.Ready() != (len(model) > 0) || r.Empty() != (len(model) == 0) {
					t.Fatalf("Len %d, Ready %v, model %d", r.Len(), r.Ready(), len(model))
				}
			},
		})
	})
}

func TestPutbackIntoEmptyRingPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	r, _ := New(4)
	r.PutbackSC(item(0, 0))
}

func TestConcurrentProducersKeepTheirOrder(t *testing.T) {
	const producers, each = 4, 20000
	r, _ := New(64)
	var wg sync.WaitGroup
	var stop atomic.Bool
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				m := item(p, i)
				for !r.TryEnqueue(m) && !stop.Load() {
				}
			}
		})
	}
	var next [producers]int
	for got := 0; got < producers*each; {
		m := r.Dequeue()
		if m == nil {
			continue
		}
		if p := m.Pkt.FlowID; int(m.Pkt.Len) != next[p] {
			stop.Store(true)
			t.Fatalf("producer %d: item %d, want %d", p, m.Pkt.Len, next[p])
		} else {
			next[p]++
		}
		got++
	}
	wg.Wait()
}

// BenchmarkEnqueueDequeue is the ring's cost alone.
func BenchmarkEnqueueDequeue(b *testing.B) {
	r, _ := New(256)
	m := item(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		r.TryEnqueue(m)
		r.Dequeue()
	}
}
