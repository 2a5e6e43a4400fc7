package red

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Params of a RED queue (the arguments of red_alloc).
type Params struct {
	// MinTh and MaxTh are the thresholds in packets; 0 is 5 and 15.
	MinTh, MaxTh int
	// PktTime is the time that a packet takes in microseconds, 0 for 800. The weight
	// of the average follows from it.
	PktTime int64
	// ECN marks packets that can be marked instead of dropping them early.
	ECN bool
	// Seed of the random numbers.
	Seed uint64
}

// Default thresholds in packets (TH_MIN, TH_MAX).
const (
	defaultMinTh = 5
	defaultMaxTh = 15
)

// RED is random early detection (red_t). The queue's lock guards it.
type RED struct {
	timing timing
	decay  decay
	avg    average
	ecn    bool
	random random
	stats  altq.REDStats
}

var _ altq.Policy = (*RED)(nil)

// New makes a RED policy (red_alloc). Thresholds that are not in order are pulled
// apart.
func New(p Params) *RED {
	lo, hi := p.MinTh, p.MaxTh
	if lo <= 0 {
		lo = defaultMinTh
	}
	if hi <= 0 {
		hi = defaultMaxTh
	}
	r := &RED{timing: newTiming(p.PktTime), decay: newDecay(weightNormal), ecn: p.ECN, random: random{p.Seed}}
	r.avg.init(r.timing, uint64(lo), uint64(max(hi, lo+1)))
	return r
}

// Kind is QRED.
func (r *RED) Kind() altq.QType { return altq.QRED }

// Add judges a packet by the average and queues, marks or drops it (red_addq).
func (r *RED) Add(q *altq.ClassQueue, m *mbuf.Mbuf, now altq.Time, d *altq.Drops) bool {
	const skip = 1 // the packet itself
	r.avg.arrive(now, q.Len(), r.timing, r.decay, skip)
	v := r.avg.judge(q.Len(), r.timing, &r.random)
	if v == early && r.ecn && markECN(m) {
		r.avg.count = 0
		r.stats.Marked++
		v = accept
	}
	if v == accept && q.Len() >= q.Limit {
		v = forced
	}
	if v == accept {
		r.stats.Xmit.Add(m)
		q.Append(m)
		return true
	}
	r.avg.count = 0
	drop(&r.stats, v, m, d)
	return false
}

// drop books and frees a packet.
func drop(s *altq.REDStats, v verdict, m *mbuf.Mbuf, d *altq.Drops) {
	if v == early {
		s.DropUnforced++
	} else {
		s.DropForced++
	}
	s.Drop.Add(m)
	d.Free(m)
}

// Get removes the next packet; a queue found empty begins to be idle (red_getq).
func (r *RED) Get(q *altq.ClassQueue, now altq.Time, _ *altq.Drops) *mbuf.Mbuf {
	m := q.Take()
	if m == nil {
		r.avg.sleep(now)
	} else {
		r.avg.idle = false
	}
	return m
}

// Purged changes nothing: what is queued counts only when a packet comes.
func (r *RED) Purged(int) {}

// Stats adds RED's state to that of its class (red_getstats).
func (r *RED) Stats(s *altq.ClassStats) {
	st := r.stats
	st.QAvg = int64(r.avg.avg >> r.timing.shift)
	s.RED = append(s.RED, st)
}
