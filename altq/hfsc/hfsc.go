package hfsc

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/aqm"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// maxClasses is how many classes an interface may have (HFSC_MAX_CLASSES).
const maxClasses = 2048

// HFSC is an interface's HFSC scheduler (struct hfsc_if). AddQueue comes before it is attached; then the
// queue's lock guards it, as all of altq.Discipline.
type HFSC struct {
	cfg      altq.Config
	table    altq.ClassTable[class]
	classes  []*class // parents before children
	root     *class
	fallback *class // the default class
	eligible tree
	packets  int
	polled   *class // what Poll chose

	asked    altq.Time // when a packet was asked for, or none waited
	askedAt  uint64    // that moment by the clock, which stalls do not move
	patience uint64    // the longest time that is no stall
}

var _ altq.QueueAdder = (*HFSC)(nil)

// A link that sends is asked for its next packet before it could have sent the longest, with time for a host that
// stumbles.
const (
	longestPacket = 64 << 10
	stumble       = altq.MachClkFreq
)

// New is a scheduler without classes (hfsc_add_altq).
func New(cfg altq.Config) *HFSC {
	d := &HFSC{cfg: cfg, patience: stumble}
	if cfg.Bandwidth != 0 {
		d.patience = add(d.patience, altq.MulDiv(longestPacket*bitsPerByte, altq.MachClkFreq, cfg.Bandwidth))
	}
	return d
}

// Type is altq.TypeHFSC.
func (d *HFSC) Type() altq.Type { return altq.TypeHFSC }

// Len is the number of packets held.
func (d *HFSC) Len() int { return d.packets }

// AddQueue adds a class, parents before children (hfsc_add_queue). The first has no parent and is the root; its
// link-share curve is the interface's rate and has no effect. ErrConfig: no number, no such parent, the parent is the
// default class or has no link-share curve to divide, or a curve that FreeBSD's pfctl refuses or that would let
// packets wait forever. ErrInUse: the number is taken. ErrTooMany: 2048 classes.
func (d *HFSC) AddQueue(q altq.QueueConfig) error {
	parent := d.table.Find(q.Parent)
	switch {
	case q.QID == 0, parent == nil && (d.root != nil || q.Parent != 0):
		return fmt.Errorf("hfsc queue %d below %d: %w", q.QID, q.Parent, altq.ErrConfig)
	case d.table.Find(q.QID) != nil:
		return fmt.Errorf("hfsc queue %d: %w", q.QID, altq.ErrInUse)
	case len(d.classes) == maxClasses:
		return fmt.Errorf("hfsc queue %d: %w", q.QID, altq.ErrTooMany)
	}
	if err := checkPlace(q, parent, d.fallback); err != nil {
		return fmt.Errorf("hfsc queue %d: %w", q.QID, err)
	}
	c := newClass(q, parent)
	c.policy = d.newPolicy(q)
	d.link(c)
	if q.Flags&altq.FlagDefault != 0 {
		d.fallback = c
	}
	return nil
}

// link puts a class in its place.
func (d *HFSC) link(c *class) {
	d.table.Add(c.qid, c)
	d.classes = append(d.classes, c)
	if c.parent == nil {
		d.root = c
		return
	}
	c.parent.children = append(c.parent.children, c)
}

// newPolicy is the drop policy that a queue asks for, nil for drop-tail. RED takes the fastest of the curves for the
// rate of the queue.
func (d *HFSC) newPolicy(q altq.QueueConfig) altq.Policy {
	m2 := max(q.RealTime.M2, q.LinkShare.M2, q.UpperLimit.M2)
	return aqm.New(q, aqm.REDFirst, aqm.PktTime(d.cfg.MTUOrDefault(), m2), d.cfg.Seed)
}

// Stats is the state of one class.
func (d *HFSC) Stats(qid altq.QID, now altq.Time) (altq.ClassStats, error) {
	c := d.table.Find(qid)
	if c == nil {
		return altq.ClassStats{}, fmt.Errorf("hfsc queue %d: %w", qid, altq.ErrNoQueue)
	}
	return c.stats(d.clock(now)), nil
}

// clock is the time for curves. It is now, less what passed while packets waited and nobody asked for them: nothing
// was sent then, and classes with a guarantee would claim all of that at once.
func (d *HFSC) clock(now altq.Time) uint64 {
	passed := now.Since(d.asked)
	if d.packets > 0 {
		return d.askedAt + min(passed, d.patience)
	}
	d.asked, d.askedAt = now, d.askedAt+passed
	return d.askedAt
}

// ask is the clock when a packet is asked for.
func (d *HFSC) ask(now altq.Time) uint64 {
	d.askedAt = d.clock(now)
	d.asked = now
	return d.askedAt
}

// Enqueue puts m into the leaf of its number, or that of the default (hfsc_enqueue).
func (d *HFSC) Enqueue(m *mbuf.Mbuf, now altq.Time, drops *altq.Drops) bool {
	at := d.clock(now)
	c := d.table.Find(m.QID)
	if c == nil || c.interior() {
		c = d.fallback
	}
	if c == nil {
		drops.Free(m)
		return false
	}
	n := int(m.Pkt.Len)
	if !altq.Add(c.policy, &c.queue, m, now, drops) {
		c.drop.AddLen(n)
		return false
	}
	d.packets++
	if c.queue.Len() == 1 {
		d.activate(c, at, n)
	}
	return true
}

// activate makes a class compete for service (set_active).
func (d *HFSC) activate(c *class, now uint64, next int) {
	if c.rsc != nil {
		d.initED(c, now, next)
	}
	if c.fsc != nil {
		c.initVF(now)
	}
	c.period++
}

// choose is the class to serve, nil if none may be served now; realtime tells that it is served under its guarantee.
func (d *HFSC) choose(now uint64) (c *class, realtime bool) {
	if c := d.mostUrgent(now); c != nil {
		return c, true
	}
	return d.root.next(now), false
}

// Poll is the packet that Dequeue takes now (hfsc_dequeue with ALTDQ_POLL).
func (d *HFSC) Poll(now altq.Time, _ *altq.Drops) *mbuf.Mbuf {
	if d.packets == 0 {
		return nil
	}
	if d.polled, _ = d.choose(d.ask(now)); d.polled == nil {
		return nil
	}
	return d.polled.queue.Head()
}

// Dequeue removes the most urgent packet that may claim its class's guarantee, else the one that link-sharing serves
// (hfsc_dequeue with ALTDQ_REMOVE). nil: nothing waits, or upper limits forbid all.
func (d *HFSC) Dequeue(now altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	if d.packets == 0 {
		return nil
	}
	at := d.ask(now)
	c, realtime := d.polled, false
	d.polled = nil
	if c != nil {
		realtime = c.rsc != nil && c.e <= at
	} else if c, realtime = d.choose(at); c == nil {
		return nil
	}
	held := c.queue.Len()
	m := altq.Get(c.policy, &c.queue, now, drops)
	d.packets -= held - c.queue.Len()
	c.xmit.Add(m)
	d.served(c, int(m.Pkt.Len), at, realtime)
	return m
}

// served charges a class with n bytes.
func (d *HFSC) served(c *class, n int, now uint64, realtime bool) {
	head := c.queue.Head()
	c.updateVF(n, now, head == nil)
	if realtime {
		c.cumul += uint64(n)
	}
	switch {
	case c.rsc == nil:
	case head == nil:
		d.eligible.remove(&c.elig)
	case realtime:
		d.updateED(c, int(head.Pkt.Len))
	default:
		d.updateD(c, int(head.Pkt.Len))
	}
}

// Walk implements altq.Walker.
func (d *HFSC) Walk(show func(qid altq.QID, m *mbuf.Mbuf)) {
	for _, c := range d.classes {
		c.queue.Walk(c.qid, show)
	}
}

// Purge drops everything, and counts it as dropped by the classes (hfsc_purge).
func (d *HFSC) Purge(drops *altq.Drops) {
	d.polled = nil
	for _, c := range d.classes {
		if c.queue.Len() == 0 {
			continue
		}
		d.packets -= c.queue.Len()
		altq.Purge(c.policy, &c.queue, &c.drop, drops)
		d.served(c, 0, d.askedAt, false)
	}
}
