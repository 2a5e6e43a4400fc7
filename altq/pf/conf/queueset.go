package conf

import (
	"math"

	"github.com/ifsim/ifsim/altq"
)

// queueSet is what is known of interfaces and queues while a text is read.
type queueSet struct {
	ifs     []*ifState
	byIf    map[string]*ifState
	pending []promise
}

// promise is a queue that an altq or queue line has named as a child.
type promise struct {
	name, parent, ifname string
	sched                altq.Type
}

// ifState is an interface with its queues.
type ifState struct {
	altq     Altq
	queues   map[string]*queueState
	roots    int
	defaults int
	prios    map[int]bool // PRIQ: taken
	realtime curveSum     // HFSC: of all queues
}

// queueState is a queue with what its children add up to.
type queueState struct {
	altq      Altq
	bandwidth uint64   // CBQ, FAIRQ: of the children, bits/s
	linkshare curveSum // HFSC, FAIRQ: of the children
}

// expandAltq defines each interface of an altq line, and its root queue (expand_altq).
func (p *parser) expandAltq(ifs []ifItem, spec queueSpec, children []string) {
	for _, i := range ifs {
		if i.not {
			p.fail(i.pos, "altq on ! <interface> is not supported")
			return
		}
		a := Altq{Ifname: i.name, Scheduler: spec.sched.kind, Qlimit: spec.qlimit, TBRSize: spec.tbrsize, Pos: p.start.pos}
		if !p.evalInterface(&a, spec) {
			p.giveUp()
			return
		}
		p.verboseAltq(&a, spec, children)
		if p.queues.byIf[i.name] != nil {
			p.fail(i.pos, "altq on %s already defined", i.name)
			return
		}
		st := p.queues.add(a)
		p.cfg.Altqs = append(p.cfg.Altqs, a)
		parent := ""
		if rooted(a.Scheduler) {
			parent = "root_" + i.name
			root := Altq{Ifname: i.name, Qname: parent, Scheduler: a.Scheduler, Qlimit: a.Qlimit, Pos: a.Pos}
			rootSpec := spec
			rootSpec.bandwidth = Bandwidth{Absolute: a.IfBandwidth}
			if !p.evalQueue(st, &root, rootSpec) {
				p.giveUp()
				return
			}
		}
		for _, c := range children {
			p.queues.pending = append(p.queues.pending, promise{c, parent, i.name, a.Scheduler})
		}
	}
}

func (q *queueSet) add(a Altq) *ifState {
	st := &ifState{altq: a, queues: make(map[string]*queueState), prios: make(map[int]bool)}
	if q.byIf == nil {
		q.byIf = make(map[string]*ifState)
	}
	q.byIf[a.Ifname] = st
	q.ifs = append(q.ifs, st)
	return st
}

// expandQueue defines a queue on each interface where it has been promised (expand_queue).
func (p *parser) expandQueue(name string, ifs []ifItem, spec queueSpec, children []string) (ok bool) {
	if len(ifs) == 0 {
		ifs = []ifItem{{}}
	}
	found, ok := 0, true
	for _, i := range ifs {
		// Children that are promised meanwhile are not for this line.
		for _, t := range p.queues.pending[:len(p.queues.pending):len(p.queues.pending)] {
			if t.name != name || i.name != "" && (i.name == t.ifname) == i.not {
				continue
			}
			found++
			if !p.defineQueue(t, spec, children) {
				ok = false
			}
			if p.dead {
				return false
			}
			if found == 1 || i.name != "" {
				p.verboseQueue(t, spec, children, i.name != "")
			}
		}
	}
	if found == 0 {
		p.errorf(p.start.pos, "queue %s has no parent", name)
		return false
	}
	return ok
}

// defineQueue defines a queue on one interface.
func (p *parser) defineQueue(t promise, spec queueSpec, children []string) bool {
	at := p.start.pos
	if k := spec.sched.kind; k != altq.TypeNone && k != t.sched {
		p.errorf(at, "exactly one scheduler type per interface allowed")
		return false
	}
	if t.sched == altq.TypePRIQ && len(children) > 0 {
		p.errorf(at, "priq queues cannot have child queues")
		return false
	}
	if t.sched == altq.TypePRIQ && spec.bandwidth != fullBandwidth {
		p.errorf(at, "priq doesn't take bandwidth")
		return false
	}
	a := Altq{
		Ifname: t.ifname, Qname: t.name, Parent: t.parent, Scheduler: t.sched,
		Priority: spec.priority, Qlimit: spec.qlimit, Pos: at,
	}
	st := p.queues.byIf[t.ifname]
	if st == nil {
		p.errorf(at, "altq not defined on %s", t.ifname)
		return false
	}
	ok := p.evalQueue(st, &a, spec)
	for _, c := range children {
		if c == t.name {
			p.errorf(at, "queue cannot have itself as child")
			ok = false
			continue
		}
		p.queues.pending = append(p.queues.pending, promise{c, t.name, t.ifname, t.sched})
	}
	return ok
}

// defaultMTU is that of an interface that does not exist.
const defaultMTU = 1500

// evalInterface computes what an interface has (eval_pfaltq).
func (p *parser) evalInterface(a *Altq, spec queueSpec) bool {
	a.MTU = defaultMTU
	var info Interface
	exists := false
	if p.o.Interface != nil {
		if info, exists = p.o.Interface(a.Ifname); exists && info.MTU > 0 {
			a.MTU = info.MTU
		}
	}
	switch {
	case spec.bandwidth.Absolute > 0:
		a.IfBandwidth = spec.bandwidth.Absolute
	case !exists:
		p.errorf(a.Pos, "SIOCGIFDATA: Device not configured")
		return false
	case info.Speed == 0:
		p.errorf(a.Pos, "interface %s does not know its bandwidth, please specify an absolute bandwidth", a.Ifname)
		return false
	default:
		if a.IfBandwidth = spec.bandwidth.of(info.Speed); a.IfBandwidth == 0 {
			a.IfBandwidth = info.Speed
		}
	}
	if a.Scheduler != altq.TypeHFSC && a.IfBandwidth > math.MaxUint32 {
		a.IfBandwidth = math.MaxUint32
		p.warnf(a.Pos, "interface %s bandwidth limited to %d bps because selected scheduler is 32-bit limited", a.Ifname, a.IfBandwidth)
	}
	a.options(spec.sched, a.IfBandwidth)
	if a.TBRSize == 0 {
		a.TBRSize = uint32(altq.DefaultDepth(a.IfBandwidth, a.MTU))
	}
	return true
}

// options computes what the scheduler's options mean when ref bits/s enclose them
// (eval_queue_opts).
func (a *Altq) options(s schedSpec, ref uint64) {
	a.Flags |= s.flags
	a.Realtime, a.Linkshare, a.Upperlimit = s.realtime.of(ref), s.linkshare.of(ref), s.upperlimit.of(ref)
	a.Hogs, a.Buckets = s.hogs.of(ref), s.buckets
	a.Target, a.Interval, a.CodelECN = s.target, s.interval, s.ecn
}

func (c curveSpec) of(ref uint64) altq.Curve {
	if !c.used {
		return altq.Curve{}
	}
	return altq.Curve{M1: c.m1.of(ref), D: c.d, M2: c.m2.of(ref)}
}

// checkCommit checks each interface when all is read (check_commit_altq). FreeBSD
// forgets what is wrong with all but the last (spec altq Q7).
func (p *parser) checkCommit() {
	for _, st := range p.queues.ifs {
		s := st.altq.Scheduler
		if s == altq.TypeCBQ && st.roots != 1 {
			p.errorf(st.altq.Pos, "should have one root queue on %s", st.altq.Ifname)
		}
		if s != altq.TypeCoDel && st.defaults != 1 {
			p.errorf(st.altq.Pos, "should have one default queue on %s", st.altq.Ifname)
		}
	}
}
