package pktgen8

import (
	"fmt"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Params say what to do.
type Params = client.PktgenParams

// settings are the parameters of a run with nothing left out.
type settings struct{ Params }

// Bounds of the parameters.
const (
	MinFrame     = 60      // bytes without FCS
	MaxThreads   = 64      // senders
	MaxFrames    = 1 << 40 // of one run
	MaxBurst     = 1 << 16
	MaxFragments = 63 // pkt-gen's
	MaxWait      = 600
	MinReport    = 10 // ms; pkt-gen takes less for too short to mean something
	MaxReport    = 3_600_000
)

// Defaults of pkt-gen.
const (
	defaultBurst   = 512
	defaultWait    = 5
	burstsInSecond = 300 // at least, when a rate is kept
	defaultSrc4    = "10.0.0.1"
	defaultDst4    = "10.1.0.1"
	defaultSrc6    = "fd00::1"
	defaultDst6    = "fd00:1::1"
)

// fill replaces what was left out.
func (p *settings) fill() {
	orDefault(&p.Mode, client.PktgenModeTx)
	orDefault(&p.OnDrop, client.PktgenDropRetry)
	orDefault(&p.Threads, 1)
	orDefault(&p.Fragments, 1)
	orDefault(&p.Wait, defaultWait)
	orDefault(&p.Size, p.leastSize())
	src, dst := defaultSrc4, defaultDst4
	if p.IPv6 {
		src, dst = defaultSrc6, defaultDst6
	}
	orDefault(&p.SrcIP, src)
	orDefault(&p.DstIP, dst)
	burst := defaultBurst
	if p.Mode == client.PktgenModePing {
		burst = 1
	}
	orDefault(&p.Burst, burst)
	if p.Rate > 0 && p.Burst > 0 {
		p.Burst = max(1, int(min(float64(p.Burst), p.Rate/burstsInSecond)))
	}
}

func orDefault[T comparable](v *T, otherwise T) {
	var none T
	if *v == none {
		*v = otherwise
	}
}

// leastSize is the size of the shortest frame in bytes.
func (p *settings) leastSize() int {
	n := p.headers()
	if p.Mode == client.PktgenModePing {
		n += stampLen
	}
	return max(MinFrame, n)
}

// headers is the length of a frame's headers.
func (p *settings) headers() int {
	if p.IPv6 {
		return ifnet.EtherHdrLen + hw.IPv6HdrLen + hw.UDPHdrLen
	}
	return ifnet.EtherHdrLen + hw.IPv4HdrLen + hw.UDPHdrLen
}

// check says what is wrong with the numbers, for an interface with an MTU.
func (p *settings) check(mtu int) error {
	switch p.Mode {
	case client.PktgenModeTx, client.PktgenModeRx, client.PktgenModePing, client.PktgenModePong:
	default:
		return fmt.Errorf("mode %q: tx, rx, ping or pong", p.Mode)
	}
	switch p.OnDrop {
	case client.PktgenDropRetry, client.PktgenDropCount:
	default:
		return fmt.Errorf("what is refused shall be %q: retry or count", p.OnDrop)
	}
	least, largest := p.leastSize(), min(mtu+ifnet.EtherHdrLen, mbuf.MJum16Bytes)
	switch {
	case p.Frames > MaxFrames:
		return fmt.Errorf("%d frames: 1 to %d, or 0 without end", p.Frames, uint64(MaxFrames))
	case p.sends() && (p.Size < least || p.Size > largest):
		return fmt.Errorf("frames of %d bytes: %d to %d with an MTU of %d", p.Size, least, largest, mtu)
	case p.MinSize != 0 && (p.MinSize < least || p.MinSize >= p.Size):
		return fmt.Errorf("random sizes from %d bytes: %d to %d", p.MinSize, least, p.Size-1)
	case p.Threads < 1 || p.Threads > MaxThreads:
		return fmt.Errorf("%d threads: 1 to %d", p.Threads, MaxThreads)
	case p.Threads > 1 && p.Mode != client.PktgenModeTx:
		return fmt.Errorf("%d threads: only tx has more than one", p.Threads)
	case !(p.Rate >= 0): // NaN too
		return fmt.Errorf("rate %v: not a number of frames a second", p.Rate)
	case p.Burst < 1 || p.Burst > MaxBurst:
		return fmt.Errorf("bursts of %d frames: 1 to %d", p.Burst, MaxBurst)
	case p.Fragments < 1 || p.Fragments > MaxFragments:
		return fmt.Errorf("%d fragments: 1 to %d", p.Fragments, MaxFragments)
	case p.Wait < 0 || p.Wait > MaxWait:
		return fmt.Errorf("waiting %d seconds for the link: 0 to %d", p.Wait, MaxWait)
	case p.ReportMS != 0 && (p.ReportMS < MinReport || p.ReportMS > MaxReport):
		return fmt.Errorf("a report each %d ms: %d to %d, or 0 for none", p.ReportMS, MinReport, MaxReport)
	}
	return nil
}

// sends reports whether the mode makes frames.
func (p *settings) sends() bool {
	return p.Mode == client.PktgenModeTx || p.Mode == client.PktgenModePing
}

// interval is the time between reports, 0 for none.
func (p *settings) interval() time.Duration { return time.Duration(p.ReportMS) * time.Millisecond }
