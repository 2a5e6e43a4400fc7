package codel

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Discipline is CoDel on an interface: one queue, no classes; a packet's queue
// number does not matter (struct codel_if). The queue's lock guards it.
type Discipline struct {
	queue  altq.ClassQueue
	policy *Policy
	xmit   altq.Counter
	drop   altq.Counter // refused or purged
}

var _ altq.Discipline = (*Discipline)(nil)

// New makes the discipline of an interface from its QLimit, Target and Interval
// (codel_add_altq).
func New(c altq.Config) *Discipline {
	return &Discipline{queue: altq.ClassQueue{Limit: altq.QLimitOrDefault(c.QLimit)},
		policy: NewPolicy(c.Target, c.Interval)}
}

// Type is altq.TypeCoDel.
func (d *Discipline) Type() altq.Type { return altq.TypeCoDel }

// Enqueue queues m unless the queue is full (codel_enqueue).
func (d *Discipline) Enqueue(m *mbuf.Mbuf, now altq.Time, drops *altq.Drops) bool {
	n := int(m.Pkt.Len)
	if !d.policy.Add(&d.queue, m, now, drops) {
		d.drop.AddLen(n)
		return false
	}
	return true
}

// Dequeue removes the next packet that CoDel lets pass (codel_dequeue).
func (d *Discipline) Dequeue(now altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	m := d.policy.Get(&d.queue, now, drops)
	if m != nil {
		d.xmit.Add(m)
	}
	return m
}

// Poll is the first packet, which Dequeue may drop.
func (d *Discipline) Poll(altq.Time, *altq.Drops) *mbuf.Mbuf { return d.queue.Head() }

// Purge drops everything, counted.
func (d *Discipline) Purge(drops *altq.Drops) { altq.Purge(d.policy, &d.queue, &d.drop, drops) }

// Walk implements altq.Walker.
func (d *Discipline) Walk(show func(qid altq.QID, m *mbuf.Mbuf)) { d.queue.Walk(0, show) }

// Len is the number of packets held.
func (d *Discipline) Len() int { return d.queue.Len() }

// Stats is the state of the one queue, whatever qid (codel_getqstats). Its length
// is the real one, where FreeBSD shows 0 (quirk Q5).
func (d *Discipline) Stats(altq.QID, altq.Time) (altq.ClassStats, error) {
	s := altq.ClassStats{QLen: d.queue.Len(), QLimit: d.queue.Limit, QType: altq.QCoDel, Xmit: d.xmit, Drop: d.drop}
	d.policy.Stats(&s)
	return s, nil
}
