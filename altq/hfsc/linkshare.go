package hfsc

import (
	"math/bits"

	"github.com/ifsim/ifsim/altq"
)

// The link-sharing side: each interior class has a tree of its backlogged children, sorted by their virtual times vt,
// with the fit times f before which upper limits forbid to serve them (spec altq 2.3).

// vtShift is by how much the virtual times of siblings are set back when one reaches twice that. They have no
// absolute meaning, and grow with the ratio of what a class gets to its curve: a class of 8 kb/s that has 400 Gb/s to
// itself would pass 64 bits within the hour.
const vtShift = 1 << 61

// wide is a sum that 64 bits may not hold.
type wide struct{ hi, lo uint64 }

func (w *wide) add(x uint64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, x, 0)
	w.hi += carry
}

// since is w less an earlier value of it, infinity if that does not fit.
func (w wide) since(old wide) uint64 {
	lo, borrow := bits.Sub64(w.lo, old.lo, 0)
	if w.hi-old.hi-borrow != 0 {
		return infinity
	}
	return lo
}

// offset is c's vtoff. FreeBSD adds to that of all children when a period of their parent begins; here that costs
// nothing until a child asks.
func (c *class) offset() uint64 {
	if c.parent == nil {
		return 0
	}
	return add(c.vtoff, c.parent.periods.since(c.settled))
}

// initVF makes a class that has become backlogged, and those ancestors that have not been, compete (init_vf).
func (c *class) initVF(now uint64) {
	activating := true
	for ; c.parent != nil; c = c.parent {
		if activating {
			activating = c.nactive == 0
			c.nactive++
		}
		if activating {
			c.join(now)
		}
		c.fit()
	}
}

// join enters the competition among the children of c's parent.
func (c *class) join(now uint64) {
	p := c.parent
	if last := p.active.last(); last != nil {
		vt := last.key
		if p.cvtmin != 0 {
			vt = (p.cvtmin + vt) / 2
		}
		if p.vtperiod != c.parentperiod || vt > c.vt {
			c.vt = vt
		}
	} else {
		// The first of a new period: virtual times start at 0, behind all of the last one.
		p.periods.add(p.cvtmax)
		c.vt, p.cvtmax, p.cvtmin = 0, 0, 0
	}
	c.vtoff, c.settled = c.offset(), p.periods
	c.initvt = c.vt

	u := add(c.vt, c.vtoff)
	c.virtual.min(c.fsc, u, c.total)
	if c.virtual.x == u {
		c.virtual.x, c.vtoff = c.vt, 0
	}
	c.vtadj = 0
	c.vtperiod++
	c.parentperiod = p.vtperiod
	if p.nactive == 0 {
		c.parentperiod++
	}
	c.f = 0
	p.active.insert(&c.act, c.vt, c.f)
	if c.usc != nil {
		c.ulimit.min(c.usc, now, c.total)
		c.myf = c.ulimit.y2x(c.total)
		c.myfadj = 0
	}
}

// cfmin is the earliest fit time of c's backlogged children, 0 if it has none.
func (c *class) cfmin() uint64 {
	if c.active.root == nil {
		return 0
	}
	return c.active.root.min
}

// fit recomputes the fit time: a class may be served when its own limit and that of some child allow.
func (c *class) fit() {
	if f := max(c.myf, c.cfmin()); f != c.f {
		c.f = f
		if c.nactive != 0 && c.fsc != nil {
			c.parent.active.setVal(&c.act, f)
		}
	}
}

// updateVF follows n bytes of service at now; empty tells that the queue of the class has nothing left (update_vf).
func (c *class) updateVF(n int, now uint64, empty bool) {
	// A class without a link-share curve was never counted by its ancestors. FreeBSD counts it off all the same,
	// which makes them forget another child that is backlogged.
	passive := empty && c.fsc != nil
	for ; c.parent != nil; c = c.parent {
		c.total += uint64(n)
		if c.fsc == nil || c.nactive == 0 {
			continue
		}
		if passive {
			c.nactive--
			passive = c.nactive == 0
		}
		if passive {
			c.leave()
			continue
		}
		c.advance()
		if c.usc != nil {
			c.limit(now)
		}
		c.fit()
		if c.vt >= 2*vtShift {
			c.parent.setBack()
		}
	}
}

// leave takes c out of the competition.
func (c *class) leave() {
	p := c.parent
	p.cvtmax = max(p.cvtmax, c.vt)
	p.active.remove(&c.act)
}

// advance moves the virtual time on after service.
func (c *class) advance() {
	p := c.parent
	c.vt = sub(add(c.virtual.y2x(c.total), c.vtadj), c.vtoff)
	if c.vt < p.cvtmin {
		// It was passed over while it did not fit, and must not make up for that.
		c.vtadj += p.cvtmin - c.vt
		c.vt = p.cvtmin
	}
	p.active.move(&c.act, c.vt, c.f, true)
}

// limit moves the class's own fit time on. What a class leaves unused of its limit is lost after a tick.
func (c *class) limit(now uint64) {
	c.myf = add(c.ulimit.y2x(c.total), c.myfadj)
	if c.myf < sub(now, altq.MachClkPerTick) {
		c.myfadj += now - c.myf
		c.myf = now
	}
}

// next is the backlogged leaf below c that link-sharing serves at now, nil if upper limits forbid all
// (actlist_firstfit and the descent in hfsc_dequeue).
func (c *class) next(now uint64) *class {
	for len(c.children) > 0 {
		n := c.active.firstFit(now)
		if n == nil {
			return nil
		}
		c.cvtmin = max(c.cvtmin, n.key)
		c = n.class
	}
	return c
}

// setBack takes vtShift off all virtual times below c. Those that lag further than that become equal.
func (c *class) setBack() {
	for _, child := range c.children {
		child.setBackVT()
	}
	c.cvtmin = sub(c.cvtmin, vtShift)
	c.cvtmax = sub(c.cvtmax, vtShift)
}

func (c *class) setBackVT() {
	if c.fsc == nil {
		return
	}
	old := c.vt
	c.vt = sub(old, vtShift)
	switch {
	case c.nactive == 0:
		// As if the last backlog were long ago.
		c.virtual, c.vtoff, c.settled = newRuntimeCurve(c.fsc, 0, c.total), 0, c.parent.periods
	case c.total-c.virtual.y > c.virtual.dy:
		c.virtual.x, c.virtual.y, c.virtual.dx, c.virtual.dy = c.vt, c.total, 0, 0
		c.vtoff, c.vtadj = 0, 0
	default:
		c.vtoff = add(c.vtoff, old-c.vt)
	}
	// All keys go down alike or to 0: the order stays.
	c.act.key = c.vt
}
