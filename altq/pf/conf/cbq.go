package conf

import (
	"math"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/cbq"
)

// nsPerByte is how long a byte takes at 1 bit/s, in ns.
const nsPerByte = 8e9

// evalCBQ checks a queue of CBQ (eval_pfqueue_cbq). The discipline itself computes the
// parameters that FreeBSD has from pfctl.
func (p *parser) evalCBQ(st *ifState, a *Altq) bool {
	if a.Priority >= cbqMaxPri {
		p.errorf(a.Pos, "priority out of range: max %d", cbqMaxPri-1)
		return false
	}
	if a.Parent == "" {
		a.Flags |= altq.FlagRoot | altq.FlagWRR
		st.roots++
	}
	st.countDefault(a)
	p.slowQueue(a)
	return true
}

// slowQueue warns of a queue whose rate cannot be kept to (cbq_compute_idletime; spec
// altq 2.2).
func (p *parser) slowQueue(a *Altq) {
	if a.Bandwidth == 0 || !cbq.TooSlow(a.Bandwidth, altq.Config{Bandwidth: a.IfBandwidth, MTU: a.MTU}) {
		return
	}
	p.warnf(a.Pos, "queue bandwidth must be larger than %s", Rate(nsPerByte*float64(a.MTU)/math.MaxInt32))
	p.warnf(a.Pos, "cbq: queue %s is too slow!", a.Qname)
}
