package codel

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Defaults in milliseconds, also of a queue of another discipline.
const (
	defaultTarget   = 5
	defaultInterval = 100
	unitsPerMilli   = altq.MachClkFreq / 1000
)

// The control law's arithmetic (codel_Newton_step).
const (
	startMaxPacket = 256       // largest packet before one was seen
	recOne         = 1<<16 - 1 // 1/sqrt(1) in 16 bits
	recShift       = 16
	recentDrops    = 16 // intervals for which the last rate of drops is remembered
)

// Policy is CoDel over one queue (struct codel). The queue's lock guards it.
type Policy struct {
	target, interval uint64 // Time units

	count, lastCount uint32
	rec              uint16 // 1/sqrt(count) in 16 bits
	dropping         bool
	firstAbove       altq.Time // when the wait must end to have lasted an interval, 0: not above target
	dropNext         altq.Time
	maxPacket        int

	dropped   altq.Counter // by the law
	overLimit altq.Counter // for want of room
}

var _ altq.Policy = (*Policy)(nil)

// NewPolicy makes the policy of a queue, target and interval in milliseconds, 0 for
// 5 and 100 (codel_alloc).
func NewPolicy(target, interval int) *Policy {
	if target <= 0 {
		target = defaultTarget
	}
	if interval <= 0 {
		interval = defaultInterval
	}
	return &Policy{target: uint64(target) * unitsPerMilli, interval: uint64(interval) * unitsPerMilli,
		rec: recOne, maxPacket: startMaxPacket}
}

// Kind is QCoDel.
func (p *Policy) Kind() altq.QType { return altq.QCoDel }

// Add queues a packet with the time of its arrival, or drops it if the queue is
// full (codel_addq). The time stands in Pkt.RcvTstmp, which has no other use on
// the way out.
func (p *Policy) Add(q *altq.ClassQueue, m *mbuf.Mbuf, now altq.Time, d *altq.Drops) bool {
	if q.Len() >= q.Limit {
		p.overLimit.Add(m)
		d.Free(m)
		return false
	}
	m.Flags &^= mbuf.FlagTstmp | mbuf.FlagTstmpLRO
	m.Pkt.RcvTstmp = int64(now)
	q.Append(m)
	return true
}

// shouldDrop looks at a packet just taken from q (codel_should_drop).
func (p *Policy) shouldDrop(q *altq.ClassQueue, m *mbuf.Mbuf, now altq.Time) bool {
	if m == nil {
		p.firstAbove = 0
		return false
	}
	p.maxPacket = max(p.maxPacket, int(m.Pkt.Len))
	if now.Since(altq.Time(m.Pkt.RcvTstmp)) < p.target || q.Bytes() <= p.maxPacket {
		p.firstAbove = 0
		return false
	}
	if p.firstAbove == 0 {
		p.firstAbove = now + altq.Time(p.interval)
		return false
	}
	return now > p.firstAbove
}

// Get removes the next packet that the law lets pass, and drops those in front of
// it that it does not (codel_getq). The last packet of a queue always passes.
func (p *Policy) Get(q *altq.ClassQueue, now altq.Time, d *altq.Drops) *mbuf.Mbuf {
	m := q.Take()
	if m == nil {
		p.dropping = false
		return nil
	}
	drop := p.shouldDrop(q, m, now)
	switch {
	case p.dropping && !drop:
		p.dropping = false
	case p.dropping:
		for p.dropping && now >= p.dropNext {
			p.count++
			p.newton()
			m = p.replace(q, m, d)
			if p.shouldDrop(q, m, now) {
				p.dropNext = p.law(p.dropNext)
			} else {
				p.dropping = false
			}
		}
	case drop:
		m = p.replace(q, m, d)
		p.shouldDrop(q, m, now)
		p.start(now)
	}
	return m
}

// replace drops m and takes the next.
func (p *Policy) replace(q *altq.ClassQueue, m *mbuf.Mbuf, d *altq.Drops) *mbuf.Mbuf {
	p.dropped.Add(m)
	d.Free(m)
	return q.Take()
}

// start begins to drop: soon after the last time at the rate it had then.
func (p *Policy) start(now altq.Time) {
	p.dropping = true
	if int64(now-p.dropNext) < int64(recentDrops*p.interval) {
		p.count = (p.count - p.lastCount) | 1
		p.newton()
	} else {
		p.count, p.rec = 1, recOne
	}
	p.lastCount = p.count
	p.dropNext = p.law(now)
}

// newton makes one step towards 1/sqrt(count) (codel_Newton_step).
func (p *Policy) newton() {
	const three = 3 << 32
	inv := uint64(p.rec) << recShift
	inv2 := inv * inv >> 32
	v := (three - uint64(p.count)*inv2) >> 2
	p.rec = uint16(v * inv >> 31 >> recShift)
}

// law is the time of the drop after one at t: an interval over sqrt(count) later
// (codel_control_law).
func (p *Policy) law(t altq.Time) altq.Time {
	return t + altq.Time(uint32(p.interval*(uint64(p.rec)<<recShift)>>32))
}

// Purged ends dropping: nothing waits any more.
func (p *Policy) Purged(int) { p.dropping, p.firstAbove = false, 0 }

// Stats adds the policy's state, and its drops at the head, to that of a class.
func (p *Policy) Stats(s *altq.ClassStats) {
	s.CoDel = &altq.CoDelStats{MaxPacket: p.maxPacket, Drop: p.dropped}
	s.Drop.Packets += p.dropped.Packets
	s.Drop.Bytes += p.dropped.Bytes
}
