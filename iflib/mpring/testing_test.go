package mpring

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

func newKernel(tb testing.TB, cfg kern.Config) *kern.Kernel {
	tb.Helper()
	cfg.Mem.Size = 4 << 20
	k, err := kern.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := k.Close(); err != nil {
			tb.Error(err)
		}
	})
	return k
}

// item is an mbuf that carries a producer and a sequence number.
func item(producer, seq int) *mbuf.Mbuf {
	m := &mbuf.Mbuf{}
	m.Pkt.FlowID = uint32(producer)
	m.Pkt.Len = int32(seq)
	return m
}

// sink consumes as it is told and remembers what it got.
type sink struct {
	k      *kern.Kernel
	got    []*mbuf.Mbuf
	limit  uint32 // items a call may take; 0 is no limit
	closed bool   // Drain takes nothing
	inside int
	most   int // most goroutines seen in Drain
}

func (s *sink) CanDrain(*Ring) bool { return !s.closed }

func (s *sink) Drain(r *Ring, cidx, pidx uint32) uint32 {
	s.inside++
	s.most = max(s.most, s.inside)
	defer func() { s.inside-- }()
	if s.closed {
		return 0
	}
	n := r.Distance(cidx, pidx)
	if s.limit != 0 {
		n = min(n, s.limit)
	}
	for range n {
		s.k.SchedPoint()
		s.got = append(s.got, r.Take(cidx))
		cidx = r.Next(cidx)
	}
	return n
}
