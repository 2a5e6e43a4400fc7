package e1000hw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// Stat is the number of the counter behind a statistics register; of a pair it is the
// low half's.
func Stat(off int) int { return (off - emreg.StatsFirst) / emreg.RegStride }

// Statistics are the counters (spec 1g 5.5): cleared by reading, stuck at the maximum.
type Statistics struct {
	*hw.Stats
	regs []*hw.StatReg // nil for the high half of a pair
}

// init makes the counters of the registers up to last: a shard for each transmit queue
// and one for the receive unit.
func (s *Statistics) init(shards int, last uint64) {
	n := Stat(int(last)) + 1
	s.Stats = hw.NewStats(shards, n)
	s.regs = make([]*hw.StatReg, n)
	for i := range s.regs {
		s.regs[i] = s.NewReg(i, hw.Intel32)
	}
	for _, low := range []int{emreg.GORCL, emreg.GOTCL, emreg.TORL, emreg.TOTL} {
		s.regs[Stat(low)] = s.NewReg(Stat(low), hw.Intel64)
		s.regs[Stat(low)+1] = nil
	}
}

// Has reports whether off is a register of the block.
func (s *Statistics) Has(off uint64) bool {
	return off >= emreg.StatsFirst && off < emreg.StatsFirst+uint64(len(s.regs))*emreg.RegStride
}

// Read returns the register at off, which lies in the block, and clears it. A pair is
// read low half first and cleared by the high one.
func (s *Statistics) Read(off uint64) uint32 {
	i := Stat(int(off))
	switch {
	case s.regs[i] == nil:
		return s.regs[i-1].ReadHigh()
	case i+1 < len(s.regs) && s.regs[i+1] == nil:
		return s.regs[i].ReadLow()
	}
	return uint32(s.regs[i].Read())
}

func (s *Statistics) reset() {
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
	sh.Add(Stat(emreg.TPT), t.Frames)
	sh.Add(Stat(emreg.GPTC), t.Frames-min(errors, t.Frames))
	sh.Add(Stat(emreg.TOTL), octets)
	sh.Add(Stat(emreg.GOTCL), octets)
	for i, v := range t.Bins {
		if v != 0 {
			sh.Add(Stat(emreg.PTC64)+i, v)
		}
	}
	if t.Multicast|t.Broadcast|t.TSOPackets|errors != 0 {
		sh.Add(Stat(emreg.MPTC), t.Multicast)
		sh.Add(Stat(emreg.BPTC), t.Broadcast)
		sh.Add(Stat(emreg.TSCTC), t.TSOPackets)
		sh.Add(Stat(emreg.ECOL), errors)
	}
	*t = hw.Tally{}
}

// countRx counts a frame of size bytes, FCS included, that was put into memory.
func countRx(sh hw.StatShard, size int, cast hw.Cast) {
	sh.Add(Stat(emreg.TPR), 1)
	sh.Add(Stat(emreg.GPRC), 1)
	sh.Add(Stat(emreg.TORL), uint64(size))
	sh.Add(Stat(emreg.GORCL), uint64(size))
	sh.Add(Stat(emreg.PRC64)+hw.SizeBin(size-fcsLen), 1)
	switch cast {
	case hw.Broadcast:
		sh.Add(Stat(emreg.BPRC), 1)
	case hw.Multicast:
		sh.Add(Stat(emreg.MPRC), 1)
	}
}
