package conf

import "github.com/ifsim/ifsim/altq"

// rooted reports whether the scheduler has a tree of queues below a root.
func rooted(t altq.Type) bool {
	return t == altq.TypeCBQ || t == altq.TypeHFSC || t == altq.TypeFAIRQ
}

// Altq is an interface or a queue of it (struct pf_altq), all values computed.
type Altq struct {
	Ifname    string
	Qname     string // "": the interface itself
	Parent    string // name of the parent queue; "": none
	Scheduler altq.Type
	Pos       Pos // of the statement

	IfBandwidth uint64 // bits/s of the interface
	Bandwidth   uint64 // bits/s of the queue; 0 with PRIQ
	Priority    int
	Qlimit      int    // packets
	TBRSize     uint32 // bytes; of an interface
	MTU         int    // bytes; of the interface when the text was read
	Flags       altq.Flags

	Realtime, Linkshare, Upperlimit altq.Curve // HFSC; FAIRQ has Linkshare
	Buckets                         uint32     // FAIRQ; 0: the kernel's default
	Hogs                            uint64     // FAIRQ, bits/s
	Target, Interval                uint32     // CODEL, ms; 0: the kernel's default
	CodelECN                        bool
}

// Defaults of queues, and limits of what can be written.
const (
	DefaultPriority = 1
	maxPriority     = 255
	maxQlimit       = 65535
	queueNameMax    = 63
)

// curveSpec is a curve as it is written.
type curveSpec struct {
	used   bool
	m1, m2 Bandwidth
	d      uint32
}

// schedSpec is a scheduler with its options as they are written (struct node_queue_opt).
type schedSpec struct {
	kind                            altq.Type
	flags                           altq.Flags
	realtime, linkshare, upperlimit curveSpec
	hogs                            Bandwidth
	buckets, target, interval       uint32
	ecn                             bool
}

// queueSpec is what an altq or queue line says (struct queue_opts).
type queueSpec struct {
	bandwidth                                          Bandwidth
	priority, qlimit                                   int
	tbrsize                                            uint32
	sched                                              schedSpec
	hasBandwidth, hasPriority, hasQlimit, hasTBR, hasS bool
}

// altqLine reads altq on ... queue ...
func (p *parser) altqLine() {
	p.next()
	ifs := p.interfaces()
	spec := p.queueOptions()
	p.expectKeyword("queue")
	children := p.queueNames()
	at := p.start.pos
	if p.dead || !p.enter(sectionQueue) {
		return
	}
	switch {
	case spec.sched.kind == altq.TypeNone:
		p.fail(at, "no scheduler specified!")
	case len(children) == 0 && spec.sched.kind != altq.TypeCoDel:
		p.fail(at, "no child queues specified")
	case len(ifs) == 0:
		// Without an interface FreeBSD asks one without a name for its speed.
		p.fail(at, "SIOCGIFDATA: Device not configured")
	default:
		p.expandAltq(ifs, spec, children)
	}
}

// queueLine reads queue NAME ...
func (p *parser) queueLine() {
	p.next()
	name := p.word()
	ifs := p.interfaces()
	spec := p.queueOptions()
	children := p.queueNames()
	at := p.start.pos
	if p.dead || !p.enter(sectionQueue) {
		return
	}
	switch {
	case len(name) > queueNameMax:
		p.fail(at, "queue name too long (max %d chars)", queueNameMax)
	case spec.tbrsize != 0:
		p.fail(at, "cannot specify tbrsize for queue")
	case !p.expandQueue(name, ifs, spec, children):
		p.fail(at, "errors in queue definition")
	}
}

// queueNames reads the names of queues, none at the end of a line.
func (p *parser) queueNames() (names []string) {
	if p.tok.kind == '\n' || p.tok.kind == tokEOF {
		return nil
	}
	p.list(func() {
		at := p.tok.pos
		name := p.word()
		if len(name) > queueNameMax {
			p.fail(at, "queue name '%s' too long (max %d chars)", name, queueNameMax)
		}
		names = append(names, name)
	})
	return names
}

// once complains of an option that is there for the second time.
func (p *parser) once(seen *bool, what string) {
	if *seen {
		p.fail(p.tok.pos, "%s cannot be respecified", what)
	}
	*seen = true
}

// queueOptions reads what altq and queue lines have in common.
func (p *parser) queueOptions() queueSpec {
	q := queueSpec{bandwidth: fullBandwidth, priority: DefaultPriority, qlimit: altq.DefaultQLimit}
	for p.tok.kind == tokKeyword || p.tok.kind == tokString && p.tok.text == "codel" {
		switch p.tok.text {
		case "bandwidth":
			p.once(&q.hasBandwidth, "bandwidth")
			p.next()
			q.bandwidth = p.bandwidth()
		case "priority":
			p.once(&q.hasPriority, "priority")
			p.next()
			q.priority = int(p.ranged(maxPriority, "priority out of range: max %d"))
		case "qlimit":
			p.once(&q.hasQlimit, "qlimit")
			p.next()
			q.qlimit = int(p.ranged(maxQlimit, "qlimit out of range: max %d"))
		case "tbrsize":
			p.once(&q.hasTBR, "tbrsize")
			p.next()
			const maxTBR = 1<<32 - 1
			q.tbrsize = uint32(p.ranged(maxTBR, "tbrsize too big: max %d"))
		case "cbq", "priq", "hfsc", "fairq", "codel", "codelq":
			p.once(&q.hasS, "scheduler")
			q.sched = p.scheduler()
		default:
			return q
		}
	}
	return q
}

// ranged reads a number from 0 to limit.
func (p *parser) ranged(limit int64, complaint string) int64 {
	at := p.tok.pos
	n := p.number()
	if n < 0 || n > limit {
		p.fail(at, complaint, limit)
		return 0
	}
	return n
}
