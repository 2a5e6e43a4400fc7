// Package priq is strict priority queueing (altq_priq.c; spec altq 2.1): of the
// queues that hold packets the one of highest priority sends, always. There are up
// to 16, each with a priority of its own.
package priq

import (
	"fmt"
	"math/bits"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/aqm"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// MaxPriority is the number of priorities (PRIQ_MAXPRI); they count from 0.
const MaxPriority = 16

// PRIQ is the discipline of one interface (struct priq_if). The queue's lock
// guards it.
type PRIQ struct {
	cfg     altq.Config
	classes [MaxPriority]*class
	table   altq.ClassTable[class]
	busy    uint // bit p: class p holds packets
	n       int
}

// class is one queue (struct priq_class).
type class struct {
	qid    altq.QID
	pri    int
	queue  altq.ClassQueue
	policy altq.Policy
	period uint32
	xmit   altq.Counter
	drop   altq.Counter
}

var _ altq.QueueAdder = (*PRIQ)(nil)

// New makes a discipline without queues (priq_add_altq).
func New(c altq.Config) *PRIQ { return &PRIQ{cfg: c} }

// AddQueue adds a queue (priq_add_queue). ErrConfig: no number, or a priority
// outside 0 to 15; ErrInUse: the number or the priority is taken.
func (p *PRIQ) AddQueue(c altq.QueueConfig) error {
	switch {
	case c.QID == 0 || c.Priority < 0 || c.Priority >= MaxPriority:
		return fmt.Errorf("priq queue %d of priority %d: %w", c.QID, c.Priority, altq.ErrConfig)
	case p.classes[c.Priority] != nil || p.table.Find(c.QID) != nil:
		return fmt.Errorf("priq queue %d of priority %d: %w", c.QID, c.Priority, altq.ErrInUse)
	}
	cl := &class{qid: c.QID, pri: c.Priority, queue: altq.ClassQueue{Limit: altq.QLimitOrDefault(c.QLimit)}}
	cl.policy = aqm.New(c, aqm.RIOFirst, aqm.PktTime(p.cfg.MTUOrDefault(), p.cfg.Bandwidth), p.cfg.Seed)
	p.classes[c.Priority] = cl
	p.table.Add(c.QID, cl)
	if c.Flags&altq.FlagDefault != 0 {
		p.table.Default = cl
	}
	return nil
}

// Type is altq.TypePRIQ.
func (p *PRIQ) Type() altq.Type { return altq.TypePRIQ }

// Enqueue puts m into its queue, or that of the default (priq_enqueue).
func (p *PRIQ) Enqueue(m *mbuf.Mbuf, now altq.Time, d *altq.Drops) bool {
	cl := p.table.For(m)
	if cl == nil {
		d.Free(m)
		return false
	}
	n := int(m.Pkt.Len)
	if !altq.Add(cl.policy, &cl.queue, m, now, d) {
		cl.drop.AddLen(n)
		return false
	}
	p.n++
	p.busy |= 1 << cl.pri
	return true
}

// first is the class of highest priority that holds packets, nil if none does.
func (p *PRIQ) first() *class {
	if p.busy == 0 {
		return nil
	}
	return p.classes[bits.Len(p.busy)-1]
}

// Dequeue removes the first packet of the highest priority (priq_dequeue).
func (p *PRIQ) Dequeue(now altq.Time, d *altq.Drops) *mbuf.Mbuf {
	cl := p.first()
	if cl == nil {
		return nil
	}
	before := cl.queue.Len()
	m := altq.Get(cl.policy, &cl.queue, now, d)
	p.n -= before - cl.queue.Len()
	if cl.queue.Len() == 0 {
		cl.period++
		p.busy &^= 1 << cl.pri
	}
	cl.xmit.Add(m)
	return m
}

// Poll is the first packet of the highest priority.
func (p *PRIQ) Poll(altq.Time, *altq.Drops) *mbuf.Mbuf {
	if cl := p.first(); cl != nil {
		return cl.queue.Head()
	}
	return nil
}

// Purge drops everything, counted (priq_purge).
func (p *PRIQ) Purge(d *altq.Drops) {
	for _, cl := range p.classes {
		if cl != nil {
			altq.Purge(cl.policy, &cl.queue, &cl.drop, d)
		}
	}
	p.n, p.busy = 0, 0
}

// Walk implements altq.Walker.
func (p *PRIQ) Walk(show func(qid altq.QID, m *mbuf.Mbuf)) {
	for _, cl := range p.classes {
		if cl != nil {
			cl.queue.Walk(cl.qid, show)
		}
	}
}

// Len is the number of packets held.
func (p *PRIQ) Len() int { return p.n }

// Stats is the state of one queue (priq_getqstats).
func (p *PRIQ) Stats(qid altq.QID, _ altq.Time) (altq.ClassStats, error) {
	cl := p.table.Find(qid)
	if cl == nil {
		return altq.ClassStats{}, altq.ErrNoQueue
	}
	s := altq.ClassStats{QID: qid, QLen: cl.queue.Len(), QLimit: cl.queue.Limit, QType: altq.KindOf(cl.policy),
		Xmit: cl.xmit, Drop: cl.drop, Period: cl.period}
	if cl.policy != nil {
		cl.policy.Stats(&s)
	}
	return s, nil
}
