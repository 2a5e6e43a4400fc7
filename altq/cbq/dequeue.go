package cbq

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Dequeue removes the packet that the tree lets go next (cbq_dequeue).
func (d *CBQ) Dequeue(t altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	now := t.Micros()
	c, first := d.polled, (*class)(nil)
	d.polled = nil
	if c == nil {
		if c, first = d.choose(now); c == nil {
			return nil
		}
	}
	m := d.get(c, t, drops)
	n := int64(m.Pkt.Len)
	if c.bytesAlloc > 0 {
		c.bytesAlloc -= n
	}
	r := &d.active[c.pri]
	r.first = c
	if c.bytesAlloc <= 0 || first == c {
		r.first = c.peer
	}
	d.estimate(c, n, now)
	return m
}

// Poll is the packet that the next Dequeue returns.
func (d *CBQ) Poll(t altq.Time, _ *altq.Drops) *mbuf.Mbuf {
	c, _ := d.choose(t.Micros())
	d.polled = c
	if c == nil {
		return nil
	}
	return c.queue.Head()
}

// choose is the class to send, nil if none may, and who lends to it is in
// d.borrowed (_rmc_wrr_dequeue_next). first is the first class over its share that
// it met, which may be the one chosen.
func (d *CBQ) choose(now int64) (c, first *class) {
	d.polled, d.borrowed = nil, nil
	for {
		for pri := MaxPriority - 1; pri >= 0; pri-- {
			if d.active[pri].busy == 0 {
				continue
			}
			if c := d.round(pri, now, &first); c != nil {
				return c, first
			}
		}
		if first == nil || d.cutoff >= d.root.depth {
			break
		}
		d.cutoff++
	}
	d.cutoff = maxDepth
	if !d.efficient || first == nil {
		return nil, nil
	}
	// Everybody is over the limit, and the link would be idle.
	d.borrowed = first.borrow
	d.cutoff = min(d.cutoff, first.borrow.depth)
	return first, first
}

// Passes over the classes of a priority: their turns, and, when one that may send
// has used up its turn, once more without regard to turns.
const (
	inTurn = iota
	deficit
	anyTurn
)

// round goes through the classes of one priority in turn and returns one that may
// send, nil if there is none.
func (d *CBQ) round(pri int, now int64, first **class) *class {
	begin := d.active[pri].first
	for pass := inTurn; ; pass = anyTurn {
		c := begin
		for {
			if pass < anyTurn && c.bytesAlloc <= 0 {
				c.bytesAlloc += c.wAllotment
			}
			if c.queue.Len() > 0 {
				switch {
				case c.undertime == 0 || d.underLimit(c, now):
					if c.bytesAlloc > 0 || pass == anyTurn {
						return c
					}
					pass = deficit
					d.borrowed = nil
				case *first == nil && c.borrow != nil:
					*first = c
				}
			}
			c.bytesAlloc = 0
			if c = c.peer; c == begin {
				break
			}
		}
		if pass != deficit {
			return nil
		}
	}
}

// estimate books a packet of n bytes of class c, and how long c and its ancestors
// have been idle (rmc_update_class_util).
func (d *CBQ) estimate(c *class, n, now int64) {
	c.xmit.AddLen(int(n))
	d.advance(now, micros(n*d.nsPerByte))
	lender := d.borrowed
	for p := c; p != nil; p = p.parent {
		d.update(p, n, now)
		switch lender {
		case nil:
		case p:
			lender = nil
		default:
			p.borrows++
		}
		if p.parent == nil && p != c {
			p.xmit.AddLen(int(n))
		}
	}
	if b := d.borrowed; b != nil && d.cutoff >= b.depth {
		if c.queue.Len() == 0 || now < b.undertime {
			d.cutoff = d.lowestUnsatisfied(now)
		} else {
			d.cutoff = b.depth
		}
	}
	d.borrowed = nil
}

// advance moves the estimated end of transmission over a packet that takes pktTime.
func (d *CBQ) advance(now, pktTime int64) {
	switch {
	case now >= d.ifNow:
		d.ifNow = now + pktTime
	case elapsed(d.ifNow, now)+pktTime < d.maxIfTime:
		d.ifNow += pktTime
	default:
		d.ifNow = now + d.maxIfTime
	}
}

// update is the estimator of one class.
func (d *CBQ) update(c *class, n, now int64) {
	idle := elapsed(d.ifNow, c.last)
	if idle >= long {
		c.avgIdle = c.maxIdle
	}
	pktTime := micros(n * c.nsPerByte)
	idle -= pktTime
	c.avgIdle += idle - c.avgIdle>>filterGain
	if c.avgIdle <= 0 {
		c.avgIdle = max(c.avgIdle, c.minIdle)
		// By then the average will be back at 0.
		c.undertime = now + pktTime + (1-filterUnit)*c.avgIdle>>filterGain
		c.over++
	} else {
		c.avgIdle = min(c.avgIdle, c.maxIdle)
		c.undertime = 0
		d.wake(c)
	}
	c.last = d.ifNow
	c.lastPktTime = pktTime
}

// lowestUnsatisfied is the depth of the first class that needs something, the
// highest cutoff if none does (rmc_tl_satisfied).
func (d *CBQ) lowestUnsatisfied(now int64) int {
	for pri := MaxPriority - 1; pri >= 0; pri-- {
		begin := d.active[pri].first
		for c := begin; c != nil; {
			if !c.satisfied(now) {
				return c.depth
			}
			if c = c.peer; c == begin {
				break
			}
		}
	}
	return maxDepth
}
