package fairq

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/aqm"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// maxPri is the number of priorities and so of classes (FAIRQ_MAXPRI).
const maxPri = 8

// FAIRQ is the discipline of one interface (struct fairq_if). AddQueue comes before it is attached; then the queue's lock
// guards it, as all of altq.Discipline.
type FAIRQ struct {
	cfg      altq.Config
	classes  [maxPri]*class // by priority
	table    altq.ClassTable[class]
	fallback *class // the default class
	packets  int
	polled   *class // what Poll chose
}

var _ altq.QueueAdder = (*FAIRQ)(nil)

// New is a discipline without classes (fairq_add_altq).
func New(cfg altq.Config) *FAIRQ { return &FAIRQ{cfg: cfg} }

// Type is altq.TypeFAIRQ.
func (d *FAIRQ) Type() altq.Type { return altq.TypeFAIRQ }

// Len is the number of packets held.
func (d *FAIRQ) Len() int { return d.packets }

// AddQueue adds a class (fairq_add_queue). ErrConfig: priority not 0 to 7, or no number. ErrInUse: the priority or
// the number is taken.
func (d *FAIRQ) AddQueue(q altq.QueueConfig) error {
	switch {
	case q.Priority < 0 || q.Priority >= maxPri:
		return fmt.Errorf("fairq queue %d of priority %d: %w", q.QID, q.Priority, altq.ErrConfig)
	case q.QID == 0:
		return fmt.Errorf("fairq queue without a number: %w", altq.ErrConfig)
	case d.classes[q.Priority] != nil:
		return fmt.Errorf("fairq queue %d: priority %d: %w", q.QID, q.Priority, altq.ErrInUse)
	case d.table.Find(q.QID) != nil:
		return fmt.Errorf("fairq queue %d: %w", q.QID, altq.ErrInUse)
	}
	pktTime := aqm.PktTime(d.cfg.MTUOrDefault(), d.cfg.Bandwidth)
	c := newClass(q, aqm.New(q, aqm.RIOFirst, pktTime, d.cfg.Seed))
	d.classes[q.Priority] = c
	d.table.Add(q.QID, c)
	if q.Flags&altq.FlagDefault != 0 {
		d.fallback = c
	}
	return nil
}

// Stats is the state of one class.
func (d *FAIRQ) Stats(qid altq.QID, _ altq.Time) (altq.ClassStats, error) {
	c := d.table.Find(qid)
	if c == nil {
		return altq.ClassStats{}, fmt.Errorf("fairq queue %d: %w", qid, altq.ErrNoQueue)
	}
	return c.stats(), nil
}

// Enqueue puts m into the bucket of its flow in the class of its number, or in the default (fairq_enqueue).
func (d *FAIRQ) Enqueue(m *mbuf.Mbuf, now altq.Time, drops *altq.Drops) bool {
	c, hash := d.table.Find(m.QID), m.QIDHash
	if c == nil {
		c = d.fallback
	}
	if c == nil {
		drops.Free(m)
		return false
	}
	if !c.enqueue(m, hash, now, drops) {
		return false
	}
	d.packets++
	return true
}

// choose is the class to serve: the highest below its bandwidth, else the highest; nil if all are empty. m is its
// next packet.
func (d *FAIRQ) choose(now altq.Time) (best *class, m *mbuf.Mbuf) {
	for pri := maxPri - 1; pri >= 0; pri-- {
		c := d.classes[pri]
		if c == nil || !c.busy {
			continue
		}
		head, over := c.poll(now)
		if head == nil {
			c.busy = false
			continue
		}
		if best == nil || !over {
			best, m = c, head
		}
		if !over {
			break
		}
	}
	return best, m
}

// Poll is the packet that Dequeue takes next (fairq_dequeue with ALTDQ_POLL). It gives the turn on: a second one may
// choose another.
func (d *FAIRQ) Poll(now altq.Time, _ *altq.Drops) (m *mbuf.Mbuf) {
	if d.packets == 0 {
		return nil
	}
	d.polled, m = d.choose(now)
	return m
}

// Dequeue removes the next packet of the class to serve; nil: nothing waits (fairq_dequeue with ALTDQ_REMOVE).
func (d *FAIRQ) Dequeue(now altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	if d.packets == 0 {
		return nil
	}
	c := d.polled
	d.polled = nil
	if c == nil {
		c, _ = d.choose(now)
	}
	held := c.packets
	m := c.take(now, drops)
	d.packets -= held - c.packets
	return m
}

// Walk implements altq.Walker.
func (d *FAIRQ) Walk(show func(qid altq.QID, m *mbuf.Mbuf)) {
	for _, c := range d.classes {
		if c == nil {
			continue
		}
		for i := range c.buckets {
			c.buckets[i].queue.Walk(c.qid, show)
		}
	}
}

// Purge drops everything, and counts it as dropped by the classes (fairq_purge).
func (d *FAIRQ) Purge(drops *altq.Drops) {
	for _, c := range d.classes {
		if c != nil {
			c.purge(drops)
		}
	}
	d.packets, d.polled = 0, nil
}
