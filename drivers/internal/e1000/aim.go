package e1000

import (
	"math"
	"sync/atomic"
)

// Load is what one vector's rings carried since attach: sums that only grow.
type Load struct{ Bytes, Packets uint64 }

// Values of the sysctl enable_aim.
const (
	AIMOff        = 0 // max_interrupt_rate, always
	AIMNormal     = 1
	AIMLowLatency = 2
)

// Constants of adaptive moderation (spec 1g 6.6, AIM of the newest sources).
const (
	aimOverhead   = 24 // preamble, FCS and gap of a frame
	aimMaxAverage = 3000
	aimMidLow     = 300 // between these two the divisor is 3
	aimMidHigh    = 1200
	aimScale      = 1_000_000 << 2

	aimNormalRate = 20_000 // interrupts a second
	aimLowRate    = 70_000
	aimSlowRate   = 4_000 // below gigabit
)

// AIM chooses interrupt rates from the traffic (em_newitr). It belongs to the filter of
// one vector.
type AIM struct{ tx, rx Load }

// Conditions are what a rate depends on beside the traffic.
type Conditions struct {
	Mode    int  // AIMOff to AIMLowLatency
	MaxRate int  // hw.em.max_interrupt_rate
	Gigabit bool // the link runs at 1 Gbit/s or more
	Tight   bool // the packet buffer does not hold two frames
}

// Rate returns interrupts a second for the traffic since the last call; 0 means leave
// it as it is.
func (a *AIM) Rate(c Conditions, tx, rx Load) int {
	avg := max(average(a.tx, tx), average(a.rx, rx))
	a.tx, a.rx = tx, rx
	switch {
	case c.Mode == AIMOff:
		return c.MaxRate
	case avg == 0:
		return 0
	case !c.Gigabit:
		return aimSlowRate
	case c.Tight:
		return c.MaxRate
	}
	avg = min(avg+aimOverhead, aimMaxAverage)
	if avg > aimMidLow && avg < aimMidHigh {
		avg /= 3
	} else {
		avg /= 2
	}
	limit := aimNormalRate
	if c.Mode == AIMLowLatency {
		limit = aimLowRate
	}
	return min(int(aimScale/avg), limit)
}

// average is the mean packet between two states of a sum, at most what an average is
// capped at: the words of a Load are read one after the other, so they may not match.
func average(old, now Load) uint64 {
	packets := now.Packets - old.Packets
	if packets == 0 || packets > math.MaxInt64 {
		return 0
	}
	return min((now.Bytes-old.Bytes)/packets, aimMaxAverage)
}

// Plus adds the sums of a ring that its owner stores relaxed; any goroutine.
func (l Load) Plus(ring *Load) Load {
	l.Bytes += atomic.LoadUint64(&ring.Bytes)
	l.Packets += atomic.LoadUint64(&ring.Packets)
	return l
}
