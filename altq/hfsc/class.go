package hfsc

import "github.com/ifsim/ifsim/altq"

// class is a queue, or what groups queues (struct hfsc_class). Fields of the two sides belong to realtime.go and
// linkshare.go; x is in clock units, y in bytes.
type class struct {
	qid      altq.QID
	parent   *class // nil: the root
	children []*class
	queue    altq.ClassQueue
	policy   altq.Policy // nil: drop-tail
	xmit     altq.Counter
	drop     altq.Counter
	period   uint32 // how often the queue became busy

	rsc, fsc, usc *serviceCurve // real-time, link-share, upper limit; nil for none

	total uint64 // bytes sent, by the children also
	cumul uint64 // bytes sent under the guarantee

	// real-time
	deadline, eligible runtimeCurve
	e, d               uint64
	elig               node // in HFSC.eligible while backlogged

	// link-sharing, as a child
	virtual, ulimit runtimeCurve
	vt, f           uint64 // virtual time, fit time
	myf, myfadj     uint64 // fit time by the own limit, and what was added to it
	vtadj, vtoff    uint64 // added to and taken from the curve's virtual time
	initvt          uint64 // vt at the beginning of the busy period
	settled         wide   // the parent's periods that vtoff has
	vtperiod        uint32 // busy periods
	parentperiod    uint32 // the parent's vtperiod at the last one
	nactive         int    // 1 for a backlogged leaf, else backlogged children
	act             node   // in the parent's active while backlogged

	// link-sharing, as a parent
	active         tree // backlogged children
	cvtmin, cvtmax uint64
	periods        wide // sum of cvtmax over the busy periods
}

// newClass is a class without place in the hierarchy (hfsc_class_create).
func newClass(q altq.QueueConfig, parent *class) *class {
	c := &class{qid: q.QID, parent: parent}
	c.queue.Limit = altq.QLimitOrDefault(q.QLimit)
	c.elig.class, c.act.class = c, c
	if c.rsc = curveOrNil(q.RealTime); c.rsc != nil {
		c.deadline = newRuntimeCurve(c.rsc, 0, 0)
	}
	if c.fsc = curveOrNil(q.LinkShare); c.fsc != nil {
		c.virtual = newRuntimeCurve(c.fsc, 0, 0)
	}
	if c.usc = curveOrNil(q.UpperLimit); c.usc != nil {
		c.ulimit = newRuntimeCurve(c.usc, 0, 0)
	}
	if parent != nil {
		c.settled = parent.periods
	}
	return c
}

func curveOrNil(c altq.Curve) *serviceCurve {
	if c.IsZero() {
		return nil
	}
	s := newServiceCurve(c)
	return &s
}

// curveOf is the curve as statistics show it.
func curveOf(s *serviceCurve) altq.Curve {
	if s == nil {
		return altq.Curve{}
	}
	return s.curve()
}

// interior tells that c groups others and holds no packets.
func (c *class) interior() bool { return len(c.children) > 0 }

// stats is the class's state (hfsc_get_class_stats_v1).
func (c *class) stats(now uint64) altq.ClassStats {
	s := altq.ClassStats{
		QID: c.qid, QLen: c.queue.Len(), QLimit: c.queue.Limit, QType: altq.KindOf(c.policy),
		Xmit: c.xmit, Drop: c.drop, Period: c.period,
		HFSC: &altq.HFSCStats{
			RealTime: curveOf(c.rsc), LinkShare: curveOf(c.fsc), UpperLimit: curveOf(c.usc),
			Total: c.total, Cumul: c.cumul, D: c.d, E: c.e, VT: c.vt, F: c.f,
			InitVT: c.initvt, VTOff: c.offset(), CVTMax: c.cvtmax, MyF: c.myf, CFMin: c.cfmin(), CVTMin: c.cvtmin,
			MyFAdj: c.myfadj, VTAdj: c.vtadj, CurTime: now,
			VTPeriod: c.vtperiod, ParentPeriod: c.parentperiod, NActive: c.nactive,
		},
	}
	if c.policy != nil {
		c.policy.Stats(&s)
	}
	return s
}
