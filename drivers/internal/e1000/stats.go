package e1000

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/sysctl"
)

// Stat is one counter of the statistics block. Octet counters are pairs, the high half
// in the next register, which must be read second: that clears the pair (spec 1g 5.5).
type Stat struct {
	Name, Descr string // of its sysctl; no sysctl when Name is empty
	Reg         uint64
	Pair        bool
}

// Stats are the sums of counters that clear when read (struct e1000_hw_stats). Update
// runs under the ctx lock; the sums may be read by any goroutine.
type Stats struct {
	table []Stat
	sums  []atomic.Uint64
	byReg map[uint64]int
}

// NewStats makes sums for the counters of a table.
func NewStats(table []Stat) *Stats {
	s := &Stats{table: table, sums: make([]atomic.Uint64, len(table)), byReg: make(map[uint64]int, len(table))}
	for i, st := range table {
		s.byReg[st.Reg] = i
	}
	return s
}

const pairHigh = 4 // from the low register of a pair to the high one

// Update adds what the part counted since the last time (em_update_stats_counters).
func (s *Stats) Update(r *Regs) {
	for i, st := range s.table {
		n := uint64(r.Read32(st.Reg))
		if st.Pair {
			n |= uint64(r.Read32(st.Reg+pairHigh)) << 32
		}
		s.sums[i].Add(n)
	}
}

// Discard clears the part's counters by reading them
// (e1000_clear_hw_cntrs_base_generic).
func (s *Stats) Discard(r *Regs) {
	for _, st := range s.table {
		r.Read32(st.Reg)
		if st.Pair {
			r.Read32(st.Reg + pairHigh)
		}
	}
}

// Sum is the count of the counter at reg, 0 if the table has none there.
func (s *Stats) Sum(reg uint64) uint64 {
	i, ok := s.byReg[reg]
	if !ok {
		return 0
	}
	return s.sums[i].Load()
}

// AddSysctls makes a leaf for each counter that has a name.
func (s *Stats) AddSysctls(c *sysctl.Ctx, parent *sysctl.OID) {
	for i, st := range s.table {
		if st.Name != "" {
			c.U64(parent, st.Name, sysctl.RD|sysctl.Stats, &s.sums[i], st.Descr)
		}
	}
}
