package cbq

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// class is a class of the tree (struct rm_class). Times are microseconds since boot.
type class struct {
	qid    altq.QID
	pri    int
	depth  int // 0 for a leaf, else one more than the deepest child
	queue  altq.ClassQueue
	policy altq.Policy

	parent   *class
	borrow   *class // the parent, or nil
	children []*class
	peer     *class // the next of the same priority, in a ring

	params
	allotment  int64 // bytes a second
	wAllotment int64 // bytes a round
	bytesAlloc int64 // left of this round

	avgIdle     int64 // average idle time, microseconds x 32
	last        int64 // estimated end of the last packet
	lastPktTime int64
	undertime   int64 // when the class is within its share again, 0: it is
	sleeping    bool
	wakeTick    int64 // while sleeping: the tick at which the timer fires

	xmit, drop                         altq.Counter
	over, borrows, overactions, delays uint64
}

// overLimit reports whether the class has used more than its share at now.
func (c *class) overLimit(now int64) bool { return c.undertime != 0 && now < c.undertime }

// wake ends a suspension.
func (d *CBQ) wake(c *class) {
	if c.sleeping {
		c.sleeping = false
		d.sleeping--
	}
}

// delay suspends a class until it is within its share, and for as long as offTime
// says; top, if not nil, is the ancestor whose offTime it is (rmc_delay_class).
func (d *CBQ) delay(c, top *class, now int64) {
	c.overactions++
	if c.sleeping {
		return
	}
	off := c.offTime
	if top != nil {
		off = top.offTime
	}
	if extra := off - c.lastPktTime; extra > 0 {
		c.undertime += extra
	}
	c.sleeping = true
	d.sleeping++
	c.delays++
	// The next tick may be an instant away, so at least two.
	const leastTicks = 2
	ticks := int64(leastTicks)
	if wait := elapsed(c.undertime, now); wait > leastTicks*altq.TickMicros {
		ticks = (wait+altq.TickMicros-1)/altq.TickMicros + 1
	}
	c.wakeTick = now/altq.TickMicros + ticks
}

// Waiting reports whether a class is suspended.
func (d *CBQ) Waiting() bool { return d.sleeping != 0 }

// Expire wakes the classes whose time has come (rmc_restart).
func (d *CBQ) Expire(t altq.Time) bool {
	tick := t.Micros() / altq.TickMicros
	woken := false
	for _, c := range d.classes {
		if c.sleeping && c.wakeTick <= tick {
			d.wake(c)
			c.undertime = 0
			woken = true
		}
	}
	return woken
}

// underLimit reports whether a class over its share may send all the same, because
// an ancestor lends; that one is noted in d.borrowed. A class that may not is
// suspended, unless the cutoff is what forbids it (rmc_under_limit).
func (d *CBQ) underLimit(c *class, now int64) bool {
	d.borrowed = nil
	if c.parent == nil {
		return true
	}
	if c.sleeping {
		if now < c.undertime {
			return false
		}
		d.wake(c)
		c.undertime = 0
		return true
	}
	var top *class
	p := c
	for p.overLimit(now) {
		p = p.borrow
		if p == nil {
			if top != nil && top.avgIdle == top.minIdle {
				top = nil
			}
			d.delay(c, top, now)
			return false
		}
		if p.depth > d.cutoff {
			return false
		}
		top = p
	}
	if p != c {
		d.borrowed = p
	}
	return true
}

// satisfied reports whether a class needs nothing: it has had its share, or nothing
// waits in it or below it (rmc_satisfied).
func (c *class) satisfied(now int64) bool {
	if now < c.undertime {
		return true
	}
	if c.depth == 0 {
		return c.sleeping || c.queue.Len() == 0
	}
	for _, child := range c.children {
		if !child.satisfied(now) {
			return false
		}
	}
	return true
}

// get removes the class's next packet.
func (d *CBQ) get(c *class, now altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	before := c.queue.Len()
	m := altq.Get(c.policy, &c.queue, now, drops)
	d.n -= before - c.queue.Len()
	if c.queue.Len() == 0 {
		d.active[c.pri].busy--
	}
	return m
}
