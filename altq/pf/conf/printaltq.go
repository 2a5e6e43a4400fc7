package conf

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/altq"
)

// flagNames are the words of flags, in order of bits.
var flagNames = [...]string{"red", "ecn", "rio", "codel", "cleardscp", "flowvalve", "borrow", "wrr", "efficient", "root", "default"}

func writeFlags(b *strings.Builder, f altq.Flags) {
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			b.WriteString(" " + name)
		}
	}
}

// Line is the definition of an interface or, level deep in the tree, a queue, as pfctl
// -s queue shows it: words, each with a blank behind it (print_altq, print_queue; spec
// altq 5).
func (a *Altq) Line(level int) string { return a.line(level, true, nil) }

// line writes the definition; with spec it has percentages as they were written.
func (a *Altq) line(level int, withIf bool, spec *queueSpec) string {
	var b strings.Builder
	if a.Qname == "" {
		fmt.Fprintf(&b, "altq on %s ", a.Ifname)
		if !a.writeOptions(&b, spec) {
			fmt.Fprintf(&b, "%v ", a.Scheduler)
		}
		writeBandwidth(&b, a.IfBandwidth, spec)
		if a.Qlimit != altq.DefaultQLimit {
			fmt.Fprintf(&b, "qlimit %d ", a.Qlimit)
		}
		fmt.Fprintf(&b, "tbrsize %d ", a.TBRSize)
		return b.String()
	}
	fmt.Fprintf(&b, "queue %s%s ", strings.Repeat(" ", level), a.Qname)
	if withIf {
		fmt.Fprintf(&b, "on %s ", a.Ifname)
	}
	if rooted(a.Scheduler) {
		writeBandwidth(&b, a.Bandwidth, spec)
	}
	if a.Priority != DefaultPriority {
		fmt.Fprintf(&b, "priority %d ", a.Priority)
	}
	if a.Qlimit != altq.DefaultQLimit {
		fmt.Fprintf(&b, "qlimit %d ", a.Qlimit)
	}
	a.writeOptions(&b, spec)
	return b.String()
}

func writeBandwidth(b *strings.Builder, bps uint64, spec *queueSpec) {
	if spec == nil || spec.bandwidth.Percent == 0 {
		fmt.Fprintf(b, "bandwidth %s ", Rate(float64(bps)))
	} else if spec.bandwidth.Percent < percentBase {
		fmt.Fprintf(b, "bandwidth %d%% ", spec.bandwidth.Percent)
	}
}

// writeOptions writes the scheduler with its options; false if it has none.
func (a *Altq) writeOptions(b *strings.Builder, spec *queueSpec) bool {
	if a.Scheduler == altq.TypeCoDel {
		return a.writeCodel(b)
	}
	var s schedSpec
	if spec != nil {
		s = spec.sched
	}
	var o strings.Builder
	writeFlags(&o, a.Flags)
	if a.Realtime.M2 != 0 {
		writeCurve(&o, "realtime", a.Realtime, s.realtime)
	}
	if l := a.Linkshare; l.M2 != 0 && (l.M2 != a.Bandwidth || l.D != 0) {
		writeCurve(&o, "linkshare", l, s.linkshare)
	}
	if a.Upperlimit.M2 != 0 {
		writeCurve(&o, "upperlimit", a.Upperlimit, s.upperlimit)
	}
	if o.Len() == 0 {
		return false
	}
	fmt.Fprintf(b, "%v(%s ) ", a.Scheduler, o.String())
	return true
}

// writeCodel writes the options of CODEL, ecn next to the number before it as FreeBSD
// does.
func (a *Altq) writeCodel(b *strings.Builder) bool {
	if a.Target == 0 && a.Interval == 0 && !a.CodelECN {
		return false
	}
	b.WriteString("codel(")
	if a.Target != 0 {
		fmt.Fprintf(b, " target %d", a.Target)
	}
	if a.Interval != 0 {
		fmt.Fprintf(b, " interval %d", a.Interval)
	}
	if a.CodelECN {
		b.WriteString("ecn")
	}
	b.WriteString(" ) ")
	return true
}

// writeCurve writes a curve; its rates pass through 32 bits (print_hfsc_sc).
func writeCurve(b *strings.Builder, name string, c altq.Curve, spec curveSpec) {
	rate := func(bps uint64, w Bandwidth) string {
		if w.Percent > 0 {
			return fmt.Sprintf("%d%%", w.Percent)
		}
		return Rate(float64(uint32(bps)))
	}
	if c.D == 0 {
		fmt.Fprintf(b, " %s %s", name, rate(c.M2, spec.m2))
		return
	}
	fmt.Fprintf(b, " %s(%s %d %s)", name, rate(c.M1, spec.m1), c.D, rate(c.M2, spec.m2))
}

// verboseAltq tells pfctl -v of an interface.
func (p *parser) verboseAltq(a *Altq, spec queueSpec, children []string) {
	line := a.line(0, true, &spec)
	if len(children) > 0 {
		line += "queue { " + strings.Join(children, " ") + " }"
	}
	p.verbosef("%s\n", line)
}

// verboseQueue tells pfctl -v of a queue.
func (p *parser) verboseQueue(t promise, spec queueSpec, children []string, withIf bool) {
	st := p.queues.byIf[t.ifname]
	if st == nil || st.queues[t.name] == nil {
		return
	}
	a := st.queues[t.name].altq
	line := a.line(0, withIf, &spec)
	if len(children) > 0 {
		line += "{ " + strings.Join(children, " ") + " }"
	}
	p.verbosef("%s\n", line)
}
