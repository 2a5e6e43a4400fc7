package conf

import "github.com/ifsim/ifsim/altq"

// Largest priorities of a scheduler, plus one.
const (
	cbqMaxPri   = 8
	priqMaxPri  = 16
	fairqMaxPri = 8
)

// evalQueue computes what a queue has, checks it and defines it (eval_pfqueue).
func (p *parser) evalQueue(st *ifState, a *Altq, spec queueSpec) bool {
	a.IfBandwidth, a.MTU = st.altq.IfBandwidth, st.altq.MTU
	if st.queues[a.Qname] != nil {
		p.errorf(a.Pos, "queue %s already exists on interface %s", a.Qname, a.Ifname)
		return false
	}
	var parent *queueState
	ref := a.IfBandwidth
	if a.Parent != "" {
		if parent = st.queues[a.Parent]; parent == nil {
			p.errorf(a.Pos, "parent %s not found for %s", a.Parent, a.Qname)
			return false
		}
		ref = parent.altq.Bandwidth
	}
	if a.Qlimit == 0 {
		a.Qlimit = altq.DefaultQLimit
	}
	if rooted(a.Scheduler) {
		a.Bandwidth = spec.bandwidth.of(ref)
		if parent != nil && a.Scheduler != altq.TypeHFSC {
			p.sumBandwidth(a, parent)
		}
	}
	a.options(spec.sched, ref)
	if !p.evalScheduler(st, a, parent) {
		return false
	}
	st.queues[a.Qname] = &queueState{altq: *a}
	p.cfg.Altqs = append(p.cfg.Altqs, *a)
	return true
}

// sumBandwidth adds a queue to what its parent's children have together.
func (p *parser) sumBandwidth(a *Altq, parent *queueState) {
	parent.bandwidth += a.Bandwidth
	if have := parent.altq.Bandwidth; parent.bandwidth > have {
		p.warnf(a.Pos, "the sum of the child bandwidth (%d) higher than parent \"%s\" (%d)", parent.bandwidth, parent.altq.Qname, have)
	}
}

// evalScheduler does what is the scheduler's own.
func (p *parser) evalScheduler(st *ifState, a *Altq, parent *queueState) bool {
	switch a.Scheduler {
	case altq.TypeCBQ:
		return p.evalCBQ(st, a)
	case altq.TypePRIQ:
		return p.evalPRIQ(st, a)
	case altq.TypeHFSC:
		return p.evalHFSC(st, a, parent)
	case altq.TypeFAIRQ:
		return p.evalFAIRQ(st, a, parent)
	}
	return true
}

// evalPRIQ checks a queue of PRIQ (eval_pfqueue_priq).
func (p *parser) evalPRIQ(st *ifState, a *Altq) bool {
	if a.Priority >= priqMaxPri {
		p.errorf(a.Pos, "priority out of range: max %d", priqMaxPri-1)
		return false
	}
	if st.prios[a.Priority] {
		p.errorf(a.Pos, "%s does not have a unique priority on interface %s", a.Qname, a.Ifname)
		return false
	}
	st.prios[a.Priority] = true
	st.countDefault(a)
	return true
}

func (st *ifState) countDefault(a *Altq) {
	if a.Flags&altq.FlagDefault != 0 {
		st.defaults++
	}
}

// linkshare gives a queue of HFSC or FAIRQ its default share, and the root the whole
// interface. Not ok: it is a child of the default queue.
func (p *parser) linkshare(st *ifState, a *Altq, parent *queueState) (root, ok bool) {
	if parent == nil {
		a.Linkshare = altq.Curve{M1: a.IfBandwidth, M2: a.IfBandwidth}
		return true, true
	}
	if parent.altq.Flags&altq.FlagDefault != 0 {
		p.errorf(a.Pos, "adding %s would make default queue %s not a leaf", a.Qname, a.Parent)
		return false, false
	}
	st.countDefault(a)
	if a.Linkshare.M2 == 0 {
		a.Linkshare.M2 = a.Bandwidth
	}
	return false, true
}

// evalHFSC checks a queue of HFSC and admits its curves (eval_pfqueue_hfsc).
func (p *parser) evalHFSC(st *ifState, a *Altq, parent *queueState) bool {
	if root, ok := p.linkshare(st, a, parent); root || !ok {
		return ok
	}
	for _, c := range [...]altq.Curve{a.Realtime, a.Linkshare, a.Upperlimit} {
		if c.M1 > 0 && c.M2 == 0 {
			p.errorf(a.Pos, "m2 is zero for %s", a.Qname)
			return false
		}
	}
	for _, c := range [...]altq.Curve{a.Realtime, a.Linkshare, a.Upperlimit} {
		if c.M1 != 0 && c.M1 < c.M2 {
			p.errorf(a.Pos, "m1 must be zero for convex curve: %s", a.Qname)
			return false
		}
	}
	return p.admitRealtime(st, a) && p.admitLinkshare(a, parent, "linkshare sc exceeds parent's sc") && p.checkUpperlimit(a)
}

// realtimePercent of the interface may be promised in real-time curves.
const realtimePercent = 80

// admitRealtime checks the guarantees of the whole interface.
func (p *parser) admitRealtime(st *ifState, a *Altq) bool {
	if a.Realtime.M2 == 0 {
		return true
	}
	limit := altq.Curve{M2: a.IfBandwidth / percentBase * realtimePercent}
	st.realtime.add(a.Realtime)
	if !st.realtime.under(limit) {
		p.errorf(a.Pos, "real-time sc exceeds %d%% of the interface bandwidth (%s)", realtimePercent, Rate(float64(limit.M2)))
		return false
	}
	return true
}

// admitLinkshare checks the shares of a parent's children.
func (p *parser) admitLinkshare(a *Altq, parent *queueState, complaint string) bool {
	if a.Linkshare.M2 == 0 {
		return true
	}
	parent.linkshare.add(a.Linkshare)
	if !parent.linkshare.under(parent.altq.Linkshare) {
		p.errorf(a.Pos, "%s", complaint)
		return false
	}
	return true
}

func (p *parser) checkUpperlimit(a *Altq) bool {
	u := a.Upperlimit
	if u.M2 == 0 {
		return true
	}
	if u.M1 > a.IfBandwidth || u.M2 > a.IfBandwidth {
		p.errorf(a.Pos, "upper-limit larger than interface bandwidth")
		return false
	}
	if a.Realtime.M2 > u.M2 {
		p.errorf(a.Pos, "upper-limit sc smaller than real-time sc")
		return false
	}
	return true
}

// evalFAIRQ checks a queue of FAIRQ (eval_pfqueue_fairq), the root as that of HFSC
// (spec altq Q12). FreeBSD leaves priorities to its kernel.
func (p *parser) evalFAIRQ(st *ifState, a *Altq, parent *queueState) bool {
	root, ok := p.linkshare(st, a, parent)
	if root {
		st.prios[a.Priority] = true
	}
	if root || !ok {
		return ok
	}
	if !p.admitLinkshare(a, parent, "link-sharing sc exceeds parent's sc") {
		return false
	}
	switch {
	case a.Priority >= fairqMaxPri:
		p.errorf(a.Pos, "DIOCADDALTQ: Invalid argument")
		return false
	case st.prios[a.Priority]:
		p.errorf(a.Pos, "DIOCADDALTQ: Device busy")
		return false
	}
	st.prios[a.Priority] = true
	return true
}
