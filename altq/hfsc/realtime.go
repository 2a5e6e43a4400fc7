package hfsc

// The real-time side: a backlogged class with a real-time curve is in the eligible tree of its interface, sorted by
// the time e from which it may claim its guarantee, with the deadline d of its next packet (spec altq 2.3).

// initED puts a class that has become backlogged in the tree; next is the length of its first packet (init_ed).
func (d *HFSC) initED(c *class, now uint64, next int) {
	c.deadline.min(c.rsc, now, c.cumul)
	c.eligible = c.deadline
	if !c.rsc.concave() {
		// A convex curve must be earned ahead of time, at its second slope.
		c.eligible.dx, c.eligible.dy = 0, 0
	}
	c.computeED(next)
	d.eligible.insert(&c.elig, c.e, c.d)
}

// updateED follows service under the guarantee (update_ed); cumul has it already.
func (d *HFSC) updateED(c *class, next int) {
	c.computeED(next)
	d.eligible.move(&c.elig, c.e, c.d, false)
}

// updateD follows service by link-sharing, after which another packet is next (update_d).
func (d *HFSC) updateD(c *class, next int) {
	c.d = c.deadline.y2x(c.cumul + uint64(next))
	d.eligible.setVal(&c.elig, c.d)
}

func (c *class) computeED(next int) {
	c.e = c.eligible.y2x(c.cumul)
	c.d = c.deadline.y2x(c.cumul + uint64(next))
}

// mostUrgent is the class with the earliest deadline of those that may claim their guarantee at now, nil if none may
// (hfsc_get_mindl).
func (d *HFSC) mostUrgent(now uint64) *class {
	if n := d.eligible.minUpTo(now); n != nil {
		return n.class
	}
	return nil
}
