package kern

import (
	"sync"
	"testing"
)

func TestCounterSumsWhatEveryGoroutineAdds(t *testing.T) {
	c := NewCounter()
	const workers, rounds = 8, 1000
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				c.Add(3)
			}
		})
	}
	wg.Wait()
	if got, want := c.Load(), uint64(workers*rounds*3); got != want {
		t.Fatalf("Load() = %d, want %d", got, want)
	}
	c.Zero()
	if got := c.Load(); got != 0 {
		t.Fatalf("after Zero: Load() = %d, want 0", got)
	}
}

func TestCounterServesProcessorsThatCameLater(t *testing.T) {
	c := NewCounter()
	c.shards = nil
	c.Add(5)
	c.Add(1 << 40)
	if got, want := c.Load(), uint64(5+1<<40); got != want {
		t.Fatalf("Load() = %d, want %d", got, want)
	}
}

func TestCounterAddDoesNotAllocate(t *testing.T) {
	c := NewCounter()
	if n := testing.AllocsPerRun(100, func() { c.Add(1) }); n != 0 {
		t.Fatalf("Add allocates %v times", n)
	}
}

func BenchmarkCounterAdd(b *testing.B) {
	c := NewCounter()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Add(1)
		}
	})
}
