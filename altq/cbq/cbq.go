package cbq

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/aqm"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Limits of an interface.
const (
	// MaxClasses is the number of classes, the root included (CBQ_MAX_CLASSES).
	MaxClasses = 256
	// MaxPriority is the number of priorities, which classes may share (RM_MAXPRIO).
	MaxPriority = 8

	maxDepth = 32 // RM_MAXDEPTH: the cutoff when every ancestor may lend
)

// CBQ is the discipline of one interface (cbq_state_t, struct rm_ifdat). The
// queue's lock guards it.
type CBQ struct {
	cfg       altq.Config
	nsPerByte int64
	maxPkt    int64 // bytes
	maxIfTime int64 // microseconds that the estimate may run ahead
	efficient bool

	table   altq.ClassTable[class]
	classes []*class
	root    *class
	active  [MaxPriority]ring

	n        int
	cutoff   int    // ancestors of a greater depth do not lend
	ifNow    int64  // estimated end of the last transmission
	polled   *class // what the last Poll chose (pollcache_)
	borrowed *class // who lends to the class that was chosen
	sleeping int    // suspended classes
}

// ring is the classes of one priority.
type ring struct {
	first *class // whose turn it is
	busy  int    // classes with packets (na_)
	num   int64
	alloc int64 // sum of allotments
}

var (
	_ altq.QueueAdder = (*CBQ)(nil)
	_ altq.Timed      = (*CBQ)(nil)
)

// New makes a discipline without classes (cbq_add_altq, rmc_init). A bandwidth of
// more than 2^32-1 b/s counts as that.
func New(c altq.Config) *CBQ {
	c.Bandwidth = ifBandwidth(c)
	d := &CBQ{cfg: c, maxPkt: int64(c.MTUOrDefault()), cutoff: maxDepth}
	d.nsPerByte = newParams(c.Bandwidth, c.Bandwidth, c.MTUOrDefault()).nsPerByte
	const (
		runAhead = 16 // packets
		slowLink = 10_000_000
		slowPart = 4
	)
	pktTime := d.maxPkt * d.nsPerByte
	d.maxIfTime = pktTime / nsPerMicro * runAhead
	if pktTime > slowLink {
		d.maxIfTime /= slowPart
	}
	return d
}

// AddQueue adds a class (cbq_add_queue). The first has FlagRoot and no parent; one
// that is no root has a parent. ErrConfig: not so, a second root or default, a
// number or priority out of range, or more than 256 classes; ErrInUse: the number
// is taken.
func (d *CBQ) AddQueue(q altq.QueueConfig) error {
	root := q.Flags&altq.FlagRoot != 0
	parent := d.table.Find(q.Parent)
	switch {
	case q.QID == 0 || len(d.classes) >= MaxClasses,
		q.Priority < 0 || q.Priority >= MaxPriority,
		root && (d.root != nil || q.Parent != 0),
		!root && parent == nil,
		q.Flags&altq.FlagDefault != 0 && (d.table.Default != nil || root):
		return fmt.Errorf("cbq queue %d: %w", q.QID, altq.ErrConfig)
	case d.table.Find(q.QID) != nil:
		return fmt.Errorf("cbq queue %d: %w", q.QID, altq.ErrInUse)
	}
	if root {
		d.efficient = q.Flags&altq.FlagEfficient != 0
		q.Flags, q.Priority = 0, 0
	}
	c := d.newClass(q, parent)
	if root {
		d.root = c
	}
	if q.Flags&altq.FlagDefault != 0 {
		d.table.Default = c
	}
	d.table.Add(q.QID, c)
	d.classes = append(d.classes, c)
	return nil
}

// newClass puts a class into the tree and the ring of its priority (rmc_newclass).
func (d *CBQ) newClass(q altq.QueueConfig, parent *class) *class {
	bandwidth := q.Bandwidth
	if parent == nil {
		bandwidth = d.cfg.Bandwidth
	}
	mtu := d.cfg.MTUOrDefault()
	c := &class{qid: q.QID, pri: q.Priority, parent: parent, params: newParams(min(bandwidth, d.cfg.Bandwidth), d.cfg.Bandwidth, mtu)}
	c.queue.Limit = altq.QLimitOrDefault(q.QLimit)
	c.policy = aqm.New(q, aqm.REDFirst, c.nsPerByte*int64(mtu)/nsPerMicro, d.cfg.Seed)
	c.avgIdle = c.maxIdle
	c.allotment = nsPerSecond / c.nsPerByte
	if parent != nil {
		if q.Flags&altq.FlagBorrow != 0 {
			c.borrow = parent
		}
		parent.children = append(parent.children, c)
	}
	for p, depth := parent, 1; p != nil && p.depth < depth; p, depth = p.parent, depth+1 {
		p.depth = depth
	}
	r := &d.active[c.pri]
	c.peer = c
	if r.first == nil {
		r.first = c
	} else {
		last := r.first
		for last.peer != r.first {
			last = last.peer
		}
		last.peer, c.peer = c, r.first
	}
	r.num++
	r.alloc += c.allotment
	r.weigh(d.maxPkt)
	return c
}

// weigh computes what each class of a priority may send in a round
// (rmc_wrr_set_weights).
func (r *ring) weigh(maxPkt int64) {
	m := r.alloc / (r.num * maxPkt)
	for c := r.first; ; {
		c.wAllotment = 0
		if m != 0 {
			c.wAllotment = c.allotment / m
		}
		if c = c.peer; c == r.first {
			return
		}
	}
}

// Type is altq.TypeCBQ.
func (d *CBQ) Type() altq.Type { return altq.TypeCBQ }

// Enqueue puts m into its class, or that of the default (cbq_enqueue). A full class
// drops its oldest packet, not m; the class then counts a drop of m's length
// (quirk Q11).
func (d *CBQ) Enqueue(m *mbuf.Mbuf, t altq.Time, drops *altq.Drops) bool {
	c := d.table.For(m)
	if c == nil {
		drops.Free(m)
		return false
	}
	n := int(m.Pkt.Len)
	if !d.put(c, m, t, drops) {
		c.drop.AddLen(n)
		return false
	}
	d.n++
	return true
}

// put adds a packet to a class; who is within its share may lend again
// (rmc_queue_packet).
func (d *CBQ) put(c *class, m *mbuf.Mbuf, t altq.Time, drops *altq.Drops) bool {
	d.lowerCutoff(c, t.Micros())
	idle := c.queue.Len() == 0
	if c.policy == nil {
		c.queue.Append(m)
	} else if !c.policy.Add(&c.queue, m, t, drops) {
		return false
	}
	if idle {
		d.active[c.pri].busy++
	}
	if c.queue.Len() <= c.queue.Limit {
		return true
	}
	drops.Free(c.queue.Take())
	return false
}

// lowerCutoff brings the cutoff down to the lowest of a class and its lenders that
// is within its share.
func (d *CBQ) lowerCutoff(c *class, now int64) {
	if d.cutoff <= 0 {
		return
	}
	if c.undertime < now {
		d.cutoff = min(d.cutoff, c.depth)
		return
	}
	for p := c.borrow; p != nil && p.depth < d.cutoff; p = p.borrow {
		if p.undertime < now {
			d.cutoff = p.depth
			return
		}
	}
}

// Purge drops everything; CBQ does not count it as drops of the classes.
func (d *CBQ) Purge(drops *altq.Drops) {
	for _, c := range d.classes {
		altq.Purge(c.policy, &c.queue, nil, drops)
	}
	for i := range d.active {
		d.active[i].busy = 0
	}
	d.n, d.polled, d.borrowed = 0, nil, nil
}

// Walk implements altq.Walker.
func (d *CBQ) Walk(show func(qid altq.QID, m *mbuf.Mbuf)) {
	for _, c := range d.classes {
		c.queue.Walk(c.qid, show)
	}
}

// Len is the number of packets held.
func (d *CBQ) Len() int { return d.n }

// Stats is the state of one class (cbq_getqstats).
func (d *CBQ) Stats(qid altq.QID, _ altq.Time) (altq.ClassStats, error) {
	c := d.table.Find(qid)
	if c == nil {
		return altq.ClassStats{}, altq.ErrNoQueue
	}
	s := altq.ClassStats{
		QID: qid, QLen: c.queue.Len(), QLimit: c.queue.Limit, QType: altq.KindOf(c.policy), Xmit: c.xmit, Drop: c.drop,
		CBQ: &altq.CBQStats{
			Depth: c.depth, Priority: c.pri, Over: c.over, Borrows: c.borrows, Overactions: c.overactions, Delays: c.delays,
			MaxIdle: c.maxIdle, MinIdle: c.minIdle, AvgIdle: c.avgIdle, OffTime: c.offTime,
			NsPerByte: c.nsPerByte, WRRAllot: c.wAllotment,
		},
	}
	if c.policy != nil {
		c.policy.Stats(&s)
	}
	return s, nil
}
