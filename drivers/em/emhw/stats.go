package emhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

const statRegs = (emreg.StatsLast-emreg.StatsFirst)/4 + 1

// stat is the number of the counter behind a statistics register; of a pair it is the
// low half's.
func stat(off int) int { return (off - emreg.StatsFirst) / 4 }

// statistics are the counters (spec 1g 5.5): cleared by reading, stuck at the maximum.
type statistics struct {
	*hw.Stats
	regs [statRegs]*hw.StatReg // nil for the high half of a pair
}

// initStats makes the counters: a shard for each transmit queue and one for the receive
// unit.
func (n *nic) initStats() {
	s := &n.stats
	s.Stats = hw.NewStats(n.chip.queues+1, statRegs)
	for i := range s.regs {
		s.regs[i] = s.NewReg(i, hw.Intel32)
	}
	for _, low := range []int{emreg.GORCL, emreg.GOTCL, emreg.TORL, emreg.TOTL} {
		s.regs[stat(low)] = s.NewReg(stat(low), hw.Intel64)
		s.regs[stat(low)+1] = nil
	}
}

// read returns the register at off, which lies in the block, and clears it. A pair is
// read low half first and cleared by the high one.
func (s *statistics) read(off uint64) uint32 {
	i := stat(int(off))
	switch {
	case s.regs[i] == nil:
		return s.regs[i-1].ReadHigh()
	case i+1 < statRegs && s.regs[i+1] == nil:
		return s.regs[i].ReadLow()
	}
	return uint32(s.regs[i].Read())
}

func (s *statistics) reset() {
	for _, r := range s.regs {
		if r != nil {
			r.Reset()
		}
	}
}

// fcsLen is what octet counters and size classes count beside the frame.
const fcsLen = 4

// countTx adds what went out since the last call; errors of the frames were refused by
// the port for good.
func countTx(sh hw.StatShard, t *hw.Tally, errors uint64) {
	octets := t.Bytes + fcsLen*t.Frames
	sh.Add(stat(emreg.TPT), t.Frames)
	sh.Add(stat(emreg.GPTC), t.Frames-min(errors, t.Frames))
	sh.Add(stat(emreg.TOTL), octets)
	sh.Add(stat(emreg.GOTCL), octets)
	for i, v := range t.Bins {
		if v != 0 {
			sh.Add(stat(emreg.PTC64)+i, v)
		}
	}
	if t.Multicast|t.Broadcast|t.TSOPackets|errors != 0 {
		sh.Add(stat(emreg.MPTC), t.Multicast)
		sh.Add(stat(emreg.BPTC), t.Broadcast)
		sh.Add(stat(emreg.TSCTC), t.TSOPackets)
		sh.Add(stat(emreg.ECOL), errors)
	}
	*t = hw.Tally{}
}

// countRx counts a frame of size bytes, FCS included, that was put into memory.
func countRx(sh hw.StatShard, size int, cast hw.Cast) {
	sh.Add(stat(emreg.TPR), 1)
	sh.Add(stat(emreg.GPRC), 1)
	sh.Add(stat(emreg.TORL), uint64(size))
	sh.Add(stat(emreg.GORCL), uint64(size))
	sh.Add(stat(emreg.PRC64)+hw.SizeBin(size-fcsLen), 1)
	switch cast {
	case hw.Broadcast:
		sh.Add(stat(emreg.BPRC), 1)
	case hw.Multicast:
		sh.Add(stat(emreg.MPRC), 1)
	}
}
