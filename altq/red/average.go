package red

import "github.com/ifsim/ifsim/altq"

// Fixed point and defaults (spec altq 2.5).
const (
	fpShift      = 12  // FP_SHIFT
	invPMax      = 10  // INV_P_MAX: inverse of the largest drop probability
	weightNormal = 512 // W_WEIGHT
	weightSlow   = 128 // W_WEIGHT_1: under 300 packets a second
	weightSlower = 64  // W_WEIGHT_2: under 50
	ppsSlow      = 300
	ppsSlower    = 50
	defaultTime  = 800 // microseconds a packet takes where nothing is known
	maxIdle      = 60  // seconds after which an idle queue's average is 0
	usPerSecond  = 1_000_000
)

// decay is the table of (1-1/weight)^(2^i) in fixed point (struct wtab).
type decay struct {
	pow []uint64
}

func newDecay(weight uint64) decay {
	var d decay
	for p := (weight - 1) << fpShift / weight; ; p = p * p >> fpShift {
		d.pow = append(d.pow, p)
		if p == 0 {
			return d
		}
	}
}

// of is (1-1/weight)^n in fixed point (pow_w).
func (d decay) of(n uint64) uint64 {
	if n >= 1<<(len(d.pow)-1) {
		return 0
	}
	v := uint64(1) << fpShift
	for i := 0; n > 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			v = v * d.pow[i] >> fpShift
		}
	}
	return v
}

// timing is what the weight follows from: how long a packet takes.
type timing struct {
	pktTime uint64 // microseconds
	weight  uint64
	shift   uint // log2 of weight
}

func newTiming(pktTime int64) timing {
	t := timing{pktTime: defaultTime, weight: weightNormal}
	if pktTime > 0 {
		t.pktTime = uint64(pktTime)
	}
	switch pps := usPerSecond / t.pktTime; {
	case pps < ppsSlower:
		t.weight = weightSlower
	case pps < ppsSlow:
		t.weight = weightSlow
	}
	for 1<<t.shift < t.weight {
		t.shift++
	}
	return t
}

// average is a moving average of a queue's length, and what decides by it: all of
// RED, one of three of RIO.
type average struct {
	minTh, maxTh uint64 // scaled by weight and fixed point
	probD        uint64
	avg          uint64 // average x weight x 2^fpShift
	count        uint64 // packets since the last drop
	old          bool   // the last packet saw an average above minTh
	idle         bool
	idleSince    altq.Time
}

func (a *average) init(t timing, minTh, maxTh uint64) {
	a.minTh = minTh << (t.shift + fpShift)
	a.maxTh = maxTh << (t.shift + fpShift)
	a.probD = 2 * (maxTh - minTh) * invPMax << fpShift
	a.idle = true
}

// arrive updates the average for a packet that finds qlen others. skip is what
// RED takes off the number of packets that an idle time is worth.
func (a *average) arrive(now altq.Time, qlen int, t timing, d decay, skip int64) {
	if a.idle {
		a.idle = false
		a.wake(now, t, d, skip)
	}
	a.avg += uint64(qlen)<<fpShift - a.avg>>t.shift
	a.count++
}

// wake lets the average decay for the time in which the queue was empty.
func (a *average) wake(now altq.Time, t timing, d decay, skip int64) {
	us, since := now.Micros(), a.idleSince.Micros()
	if us/usPerSecond-since/usPerSecond > maxIdle {
		a.avg = 0
		return
	}
	if n := (us-since)/int64(t.pktTime) - skip; n > 0 {
		a.avg = a.avg >> fpShift * d.of(uint64(n))
	}
}

// sleep notes that the queue is empty.
func (a *average) sleep(now altq.Time) {
	if !a.idle {
		a.idle, a.idleSince = true, now
	}
}

// verdict of an average about a packet.
type verdict int

const (
	accept verdict = iota
	early          // drop or mark
	forced         // drop
)

// judge decides about a packet that finds qlen others.
func (a *average) judge(qlen int, t timing, r *random) verdict {
	if a.avg < a.minTh || qlen <= 1 {
		a.old = false
		return accept
	}
	if a.avg >= a.maxTh {
		return forced
	}
	if !a.old {
		a.count, a.old = 1, true
		return accept
	}
	l := (a.avg - a.minTh) >> t.shift
	if done := a.count * l; done >= a.probD || r.next()%(a.probD-done) < l {
		return early
	}
	return accept
}

// random is a generator of 64-bit numbers (splitmix64), one a queue.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	const (
		step   = 0x9e3779b97f4a7c15
		first  = 0xbf58476d1ce4e5b9
		second = 0x94d049bb133111eb
	)
	r.state += step
	z := r.state
	z = (z ^ z>>30) * first
	z = (z ^ z>>27) * second
	return z ^ z>>31
}
