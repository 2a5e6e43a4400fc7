package red

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// rioThresholds are the thresholds in packets of the three drop precedences, low
// precedence first.
var rioThresholds = [precedences]struct{ lo, hi uint64 }{{35, 45}, {20, 30}, {5, 15}}

// precedences is the number of drop precedences of a class (NDROPPREC).
const precedences = 3

// RIO is RED with three drop precedences (rio_t): packets of low precedence are
// judged by their own number, those of higher precedence also by that of the lower.
//
// The precedence is that of DSCP's assured forwarding, but no packet shows it here:
// pf's way to the DS field ends in a nil pointer in FreeBSD, so every packet has
// the lowest (quirk Q1). The other two are kept up, and shown, all the same.
type RIO struct {
	timing timing
	decay  decay
	prec   [precedences]struct {
		average
		qlen  int // packets of this precedence or a lower one
		stats altq.REDStats
	}
	random random
}

var _ altq.Policy = (*RIO)(nil)

// NewRIO makes a RIO policy (rio_alloc). pktTime is the time that a packet takes in
// microseconds, 0 for 800.
func NewRIO(pktTime int64, seed uint64) *RIO {
	t := newTiming(pktTime)
	r := &RIO{timing: t, decay: newDecay(t.weight), random: random{seed}}
	for i := range r.prec {
		r.prec[i].init(t, rioThresholds[i].lo, rioThresholds[i].hi)
	}
	return r
}

// Kind is QRIO.
func (r *RIO) Kind() altq.QType { return altq.QRIO }

// Add judges a packet by the average of its precedence and queues or drops it
// (rio_addq).
func (r *RIO) Add(q *altq.ClassQueue, m *mbuf.Mbuf, now altq.Time, d *altq.Drops) bool {
	for i := range r.prec {
		p := &r.prec[i]
		p.arrive(now, p.qlen, r.timing, r.decay, 0)
	}
	own := &r.prec[0]
	v := own.judge(own.qlen, r.timing, &r.random)
	if v == accept && q.Len() >= q.Limit {
		v = forced
	}
	if v != accept {
		for i := range r.prec {
			r.prec[i].count = 0
		}
		drop(&own.stats, v, m, d)
		return false
	}
	for i := range r.prec {
		r.prec[i].qlen++
	}
	own.stats.Xmit.Add(m)
	q.Append(m)
	return true
}

// Get removes the next packet; a precedence of which none is left begins to be idle
// (rio_getq).
func (r *RIO) Get(q *altq.ClassQueue, now altq.Time, _ *altq.Drops) *mbuf.Mbuf {
	m := q.Take()
	if m == nil {
		return nil
	}
	for i := range r.prec {
		p := &r.prec[i]
		if p.qlen--; p.qlen == 0 {
			p.sleep(now)
		}
	}
	return m
}

// Purged takes n packets off.
func (r *RIO) Purged(n int) {
	for i := range r.prec {
		r.prec[i].qlen -= n
	}
}

// Stats adds the state of all three to that of the class (rio_getstats).
func (r *RIO) Stats(s *altq.ClassStats) {
	for i := range r.prec {
		st := r.prec[i].stats
		st.QAvg = int64(r.prec[i].avg >> r.timing.shift)
		s.RED = append(s.RED, st)
	}
}
