package pf

import (
	"hash/fnv"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
)

// ifQueues is an interface with its queues (the entries of pf_altqs_active that have
// its name). PF.mu guards it.
type ifQueues struct {
	conf   conf.Altq
	queues []queue
	seed   uint64
	disc   altq.Discipline // not attached yet
	q      *altq.Queue     // nil: the interface is not there (PFALTQ_FLAG_IF_REMOVED)
}

// queue is a queue with its number.
type queue struct {
	conf        conf.Altq
	qid, parent altq.QID
}

// buildQueues makes what an interface of a configuration has, and finds the interfaces.
// Nothing is put into place. Those that do not exist have to wait for their arrival.
func (p *PF) buildQueues(list []conf.Altq, names nameTable) ([]*ifQueues, error) {
	ifs, err := group(list, names)
	if err != nil {
		return nil, err
	}
	for _, i := range ifs {
		if ifp := ifnet.ByName(p.k, i.conf.Ifname); ifp != nil {
			if i.q, err = altq.Of(ifp); err != nil {
				return nil, addError(altq.ErrNotReady, "%s", i.conf.Ifname)
			}
		}
	}
	return ifs, nil
}

// group collects queues by interface and makes their disciplines.
func group(list []conf.Altq, names nameTable) (ifs []*ifQueues, err error) {
	byName := make(map[string]*ifQueues)
	for _, a := range list {
		if a.Qname == "" {
			fillCodel(&a)
			byName[a.Ifname] = &ifQueues{conf: a, seed: seedOf(a.Ifname)}
			ifs = append(ifs, byName[a.Ifname])
			continue
		}
		of := byName[a.Ifname]
		of.queues = append(of.queues, queue{conf: a, qid: names[a.Qname], parent: names[a.Parent]})
	}
	for _, i := range ifs {
		if i.disc, err = i.build(); err != nil {
			return nil, err
		}
	}
	return ifs, nil
}

// Defaults of CODEL in ms.
const defaultTarget, defaultInterval = 5, 100

// fillCodel writes the defaults into the configuration, which shows them from then on
// (codel_add_altq).
func fillCodel(a *conf.Altq) {
	if a.Scheduler != altq.TypeCoDel {
		return
	}
	if a.Target == 0 {
		a.Target = defaultTarget
	}
	if a.Interval == 0 {
		a.Interval = defaultInterval
	}
}

// seedOf gives interfaces different random numbers, the same at each load.
func seedOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// build makes the discipline with its classes. Errors are those of the kernel's request.
func (i *ifQueues) build() (altq.Discipline, error) {
	d := newDiscipline(i.conf.Scheduler, altq.Config{
		Bandwidth: i.conf.IfBandwidth, MTU: i.conf.MTU, QLimit: i.conf.Qlimit, Seed: i.seed,
		Target: int(i.conf.Target), Interval: int(i.conf.Interval),
	})
	if d == nil {
		return nil, addError(altq.ErrNotReady, "%v on %s", i.conf.Scheduler, i.conf.Ifname)
	}
	for j := range i.queues {
		q := &i.queues[j]
		adder, ok := d.(altq.QueueAdder)
		if !ok {
			return nil, addError(altq.ErrNotReady, "%s on %s", q.conf.Qname, i.conf.Ifname)
		}
		if err := adder.AddQueue(q.config()); err != nil {
			return nil, addError(err, "%s on %s", q.conf.Qname, i.conf.Ifname)
		}
	}
	return d, nil
}

// config is what the discipline is told of a queue.
func (q *queue) config() altq.QueueConfig {
	c := &q.conf
	return altq.QueueConfig{
		QID: q.qid, Parent: q.parent, Priority: c.Priority, QLimit: c.Qlimit, Flags: c.Flags, Bandwidth: c.Bandwidth,
		RealTime: c.Realtime, LinkShare: c.Linkshare, UpperLimit: c.Upperlimit, Buckets: int(c.Buckets), Hogs: c.Hogs,
	}
}

// profile is the interface's regulator.
func (i *ifQueues) profile() altq.Profile {
	return altq.Profile{Rate: i.conf.IfBandwidth, Depth: uint64(i.conf.TBRSize)}
}

// enable begins to shape (pf_enable_altq). An interface that goes away meanwhile has no
// discipline to enable, and nothing is lost.
func (i *ifQueues) enable() {
	if i.q != nil && i.q.Enable() == nil {
		_ = i.q.SetTBR(i.profile())
	}
}

// disable ends it (pf_disable_altq).
func (i *ifQueues) disable() {
	if i.q == nil {
		return
	}
	i.q.Disable()
	// That there was no regulator is no matter.
	_ = i.q.SetTBR(altq.Profile{})
}

// attach gives the interface its discipline, or leaves it alone if it has just gone.
func (i *ifQueues) attach(shaping bool) {
	if i.q == nil {
		return
	}
	if i.q.Attach(i.disc) != nil {
		i.q = nil
		return
	}
	if shaping {
		i.enable()
	}
}

// replaceQueues puts a set of queues into place and takes the old one away
// (pf_commit_altq). mu is held.
func (p *PF) replaceQueues(ifs []*ifQueues) {
	old := p.ifs
	p.ifs = ifs
	p.ticket++
	kept := make(map[*altq.Queue]bool)
	for _, i := range ifs {
		i.attach(p.shaping)
		kept[i.q] = true
	}
	for _, i := range old {
		if i.q != nil && !kept[i.q] {
			i.disable()
			_ = i.q.Detach() // disabled, so it can
		}
	}
}

// event follows interfaces that come and go (pf_altq_ifnet_event).
func (p *PF) event(ifp *ifnet.Ifnet, e ifnet.EventKind) {
	if e != ifnet.EventArrival && e != ifnet.EventDeparture {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.ifs {
		if i.conf.Ifname != ifp.Name() {
			continue
		}
		if e == ifnet.EventDeparture {
			if i.q != nil {
				i.disable()
				_ = i.q.Detach()
			}
			i.q = nil
			continue
		}
		p.arrive(i, ifp)
	}
}

// arrive gives an interface that has come the queues that waited for it.
func (p *PF) arrive(i *ifQueues, ifp *ifnet.Ifnet) {
	q, err := altq.Of(ifp)
	if err != nil || i.q != nil {
		return
	}
	// What it was built of has been accepted before.
	if i.disc, err = i.build(); err == nil {
		i.q = q
		i.attach(p.shaping)
	}
}

// QueueInfo is an interface or a queue with its state.
type QueueInfo struct {
	conf.Altq
	QID     altq.QID         // 0: the interface
	Removed bool             // the interface is not there
	Stats   *altq.ClassStats // nil: the interface's entry, or it is not there
}

// Queues lists interfaces and queues in order of definition, and says which commit they
// are of: another ticket means other queues (DIOCGETALTQS, DIOCGETQSTATS).
func (p *PF) Queues() (list []QueueInfo, ticket uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.ifs {
		list = append(list, i.info(i.conf, 0))
		for _, q := range i.queues {
			list = append(list, i.info(q.conf, q.qid))
		}
	}
	return list, p.ticket
}

func (i *ifQueues) info(a conf.Altq, qid altq.QID) QueueInfo {
	info := QueueInfo{Altq: a, QID: qid, Removed: i.q == nil}
	if i.q == nil || qid == 0 && i.conf.Scheduler != altq.TypeCoDel {
		return info
	}
	if s, err := i.q.Stats(i.conf.Scheduler, qid); err == nil {
		info.Stats = &s
	}
	return info
}
