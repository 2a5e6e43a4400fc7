package cbq

import (
	"math"

	"github.com/ifsim/ifsim/altq"
)

// The estimator's filter (RM_FILTER_GAIN): an average moves by 1/32 of what is new.
const (
	filterGain = 5
	filterUnit = 1 << filterGain
)

// What pfctl assumes of bursts (cbq_compute_idletime).
const (
	gain         = 1 - 1.0/filterUnit
	minBurst     = 2
	maxBurst     = 16
	maxBurstSlow = 4
	slowTime     = 10e6 // ns that a packet's surplus takes at which a class is slow
	leastShare   = 1e-4 // of a class without bandwidth
	clusterBytes = 2048 // MCLBYTES
	nsPerSecond  = 1_000_000_000
	bitsPerByte  = 8
	nsPerMicro   = 1000
	maxBandwidth = math.MaxUint32 // what the 32-bit scheduler is given of a link's rate
	optScale     = 8              // of the options between pfctl and kernel
)

// params are a class's estimator settings. Idle times are microseconds x 32.
type params struct {
	nsPerByte int64
	maxIdle   int64 // upper bound of the average idle time
	minIdle   int64 // lower bound
	offTime   int64 // microseconds of a suspension
	tooSlow   bool  // the class's rate is below what can be expressed
}

// newParams computes what pfctl does from the bandwidths of class and interface in
// bits a second and the MTU, and then what the kernel makes of it (rmc_newclass).
func newParams(bandwidth, ifBandwidth uint64, mtu int) params {
	f := leastShare
	if bandwidth != 0 {
		f = float64(bandwidth) / float64(ifBandwidth)
	}
	ifns := bitsPerByte * float64(nsPerSecond) / float64(ifBandwidth)
	ns := ifns / f
	pktSize := mtu
	if pktSize > clusterBytes {
		pktSize &^= clusterBytes
	}
	ptime := float64(pktSize) * ifns
	surplus := ptime * (1 - f) / f
	burst := float64(maxBurst)
	if surplus > slowTime {
		burst = maxBurstSlow
	}
	var p params
	if ns*float64(mtu) > math.MaxInt32 {
		p.tooSlow = true
		ns = float64(math.MaxInt32 / mtu)
	}
	toBurst := math.Pow(gain, burst)
	maxIdle := ptime * max((1/f-1)*(1-toBurst)/toBurst, 1-gain)
	toMin := math.Pow(gain, minBurst-1)
	offTime := surplus * (1 + filterUnit*(1-toMin)/toMin)
	minIdle := -float64(mtu) * ns

	p.nsPerByte = max(int64(ns), 1)
	option := func(t float64) int64 { return int64(t * optScale * filterUnit / (nsPerMicro * ns)) }
	kernel := func(t float64) int64 { return option(t) * p.nsPerByte / optScale }
	p.maxIdle = max(kernel(maxIdle), 1)
	p.minIdle = min(kernel(minIdle), 0)
	p.offTime = max(kernel(offTime)>>filterGain, 1)
	return p
}

// TooSlow reports whether a class's bandwidth is too low to be kept to: pfctl warns
// then.
func TooSlow(bandwidth uint64, c altq.Config) bool {
	return newParams(bandwidth, ifBandwidth(c), c.MTUOrDefault()).tooSlow
}

// ifBandwidth is the interface's bandwidth as the scheduler takes it, at least 1.
func ifBandwidth(c altq.Config) uint64 { return max(min(c.Bandwidth, maxBandwidth), 1) }

// elapsed is a - b in microseconds as TV_DELTA has it: exact while the seconds
// differ by 0 to 2, else 2 s.
func elapsed(a, b int64) int64 {
	const second = 1_000_000
	if ds := a/second - b/second; ds < 0 || ds > 2 {
		return long
	}
	return a - b
}

// long is the longest time that elapsed tells apart.
const long = 2_000_000

// micros is t nanoseconds in microseconds, a little low (NSEC_TO_USEC).
func micros(t int64) int64 { return t>>10 + t>>16 + t>>17 }
