package skelhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

// refusalLines bounds the messages about what was refused; the counter goes on.
const refusalLines = 16

// stats are the statistics registers (datasheet 6). Counters are named by their
// registers, as skelreg.StatTxFrames.
type stats struct {
	k     *iflib.Kernel
	name  string
	all   *hw.Stats
	regs  [skelreg.StatCount]*hw.StatReg
	lines atomic.Int32
}

func (s *stats) init(cfg hw.Config) {
	s.k, s.name = cfg.Kernel, cfg.Name
	s.all = hw.NewStats(engineQueues, skelreg.StatCount)
	for i := range s.regs {
		s.regs[i] = s.all.NewReg(i, hw.Report64)
	}
}

// index is the counter behind a register.
func index(stat uint64) int { return int(stat-skelreg.StatFirst) / skelreg.StatBytes }

// add counts on behalf of engine queue q; only its work does.
func (s *stats) add(q int, stat, v uint64) { s.all.Shard(q).Add(index(stat), v) }

// refuse counts something that the datasheet forbids, and tells whoever writes the
// driver what it was; any goroutine.
func (s *stats) refuse(format string, a ...any) {
	s.all.Add(index(skelreg.StatRefused), 1)
	if s.lines.Add(1) <= refusalLines {
		s.k.Printf("%s: refused: %s\n", s.name, fmt.Sprintf(format, a...))
	}
}

// read reads one half of a register; ok is false for any other.
func (s *stats) read(off uint64) (v uint32, ok bool) {
	if off < skelreg.StatFirst || index(off) >= skelreg.StatCount {
		return 0, false
	}
	r := s.regs[index(off)]
	if off%skelreg.StatBytes == 0 {
		return r.ReadLow(), true
	}
	return r.ReadHigh(), true
}

func (s *stats) reset() {
	for _, r := range s.regs {
		r.Reset()
	}
}
