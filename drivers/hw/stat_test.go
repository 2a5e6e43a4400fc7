package hw

import (
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestStatRegClearsOnRead(t *testing.T) {
	s := NewStats(2, 3)
	r := s.NewReg(1, Intel32)
	s.Shard(0).Add(1, 3)
	s.Shard(1).Add(1, 1)
	s.Add(1, 1)
	if r.Peek() != 5 || r.Read() != 5 || r.Read() != 0 { // case 57
		t.Error("want 5, 5, 0")
	}
	s.Shard(1).Add(1, 2)
	s.Shard(1).Add(2, 7)
	if got := r.Read(); got != 2 {
		t.Errorf("%d, want 2", got)
	}
	if got := s.Total(1); got != 7 {
		t.Errorf("total %d, want 7", got)
	}
	s.Add(1, 1)
	if r.Reset(); r.Peek() != 0 {
		t.Error("Reset left something")
	}
}

func TestStatRegSaturatesOrWraps(t *testing.T) {
	for _, c := range []struct {
		kind StatKind
		add  uint64
		want uint64
	}{
		{Intel32, 1<<32 + 5, 1<<32 - 1},
		{Port32, 1<<32 + 5, 5},
		{Port48, 1<<48 + 9, 9},
		{Intel36, 1 << 40, 1<<36 - 1},
		{Report64, 1 << 63, 1 << 63},
	} {
		s := NewStats(1, 1)
		r := s.NewReg(0, c.kind)
		s.Shard(0).Add(0, c.add)
		if got := r.Read(); got != c.want {
			t.Errorf("%+v: %#x, want %#x", c.kind, got, c.want)
		}
	}
	s := NewStats(1, 1)
	r := s.NewReg(0, Port32)
	s.Add(0, 3)
	if first, second := r.Read(), r.Read(); first != 3 || second != 3 {
		t.Errorf("a register that does not clear read %d, then %d", first, second)
	}
}

func TestStatPairLosesNothingBetweenItsHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStats(1, 1)
		r := s.NewReg(0, Intel64)
		var sum, total uint64
		for range rapid.IntRange(1, 20).Draw(t, "reads") {
			add := rapid.Uint64Range(0, 1<<34).Draw(t, "add")
			s.Add(0, add)
			low := r.ReadLow()
			between := rapid.Uint64Range(0, 1<<34).Draw(t, "between")
			s.Add(0, between)
			sum += uint64(low) | uint64(r.ReadHigh())<<32
			total += add + between
		}
		sum += uint64(r.ReadHigh()) << 32 // without a low read
		if rest := total - sum; rest >= 1<<34+1<<32 {
			t.Fatalf("%d counted, %d read", total, sum)
		}
		if s.Total(0) != total {
			t.Fatalf("total %d, want %d", s.Total(0), total)
		}
	})
}

func TestStatsReadWhileQueuesCount(t *testing.T) {
	const queues, n = 4, 20000
	s := NewStats(queues, 2)
	r := s.NewReg(0, Intel32)
	var sum uint64
	var wg sync.WaitGroup
	for q := range queues {
		wg.Go(func() {
			for range n {
				s.Shard(q).Add(0, 1)
			}
		})
	}
	wg.Go(func() {
		for range 1000 {
			sum += r.Read()
		}
	})
	wg.Wait()
	if sum += r.Read(); sum != queues*n {
		t.Errorf("read %d in all, want %d", sum, queues*n)
	}
}

func BenchmarkStatShardAdd(b *testing.B) {
	sh := NewStats(1, 8).Shard(0)
	for b.Loop() {
		sh.Add(3, 1)
	}
}
