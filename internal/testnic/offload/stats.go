package offload

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// maxRefusalLines bounds the messages about refused writes; the counter goes on.
const maxRefusalLines = 16

// Stats are the statistics registers of a part (datasheet 7). Counters are named by
// their registers, as nicreg.StatRxFrames.
type Stats struct {
	k     *kern.Kernel
	name  string
	all   *hw.Stats
	regs  [nicreg.StatCount]*hw.StatReg
	lines atomic.Int32 // messages about refusals
}

// NewStats makes the statistics of a part with engine queues 0 to queues-1.
func NewStats(cfg hw.Config, queues int) *Stats {
	s := &Stats{k: cfg.Kernel, name: cfg.Name, all: hw.NewStats(queues, nicreg.StatCount)}
	for i := range s.regs {
		s.regs[i] = s.all.NewReg(i, hw.StatKind{Bits: 64})
	}
	return s
}

// id is the counter behind a statistics register.
func id(stat uint64) int { return int(stat-nicreg.StatFirst) / nicreg.StatRegisters }

// Count counts v on behalf of engine queue q; only that queue's work calls it.
func (s *Stats) Count(q int, stat, v uint64) { s.all.Shard(q).Add(id(stat), v) }

// CountTx counts what transmit queue q has sent and lost since the last call; only its
// work calls it.
func (s *Stats) CountTx(q int, b *hw.TxBatch) {
	s.Count(q, nicreg.StatTxFrames, b.Tally.Frames)
	s.Count(q, nicreg.StatTxBytes, b.Tally.Bytes)
	b.Tally = hw.Tally{}
	if lost := b.TakeErrors(); lost > 0 {
		s.Count(q, nicreg.StatTxErrors, uint64(lost))
	}
}

// Refuse counts what the datasheet forbids and says so, the first few times. Any
// goroutine.
func (s *Stats) Refuse(format string, a ...any) {
	s.all.Add(id(nicreg.StatRefused), 1)
	if s.lines.Add(1) <= maxRefusalLines {
		s.k.Printf("%s: %s refused\n", s.name, fmt.Sprintf(format, a...))
	}
}

// Read reads one half of a register; ok is false if off is no statistics register.
func (s *Stats) Read(off uint64) (v uint32, ok bool) {
	if off < nicreg.StatFirst || id(off) >= nicreg.StatCount {
		return 0, false
	}
	r := s.regs[id(off)]
	if off%nicreg.StatRegisters == 0 {
		return r.ReadLow(), true
	}
	return r.ReadHigh(), true
}

// Reset clears the registers.
func (s *Stats) Reset() {
	for _, r := range s.regs {
		r.Reset()
	}
}
