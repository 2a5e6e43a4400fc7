package pf

import (
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

var _ ifnet.Pfil = (*PF)(nil)

// Hook looks at a packet of IPv4 or IPv6 (pf_test, pf_test6). It passes it, with the
// number of its queue if rules give it one, or drops it.
func (p *PF) Hook(c *mbuf.Cache, ifp *ifnet.Ifnet, dir ifnet.PfilDir, af ifnet.AF, mp **mbuf.Mbuf) ifnet.PfilResult {
	m := *mp
	if p.pass(place{ifp, ifp.Name()}, dir, af, m) {
		return ifnet.PfilPass
	}
	*mp = nil
	c.FreeChain(m)
	return ifnet.PfilDropped
}

// pass decides about a packet and tags it.
func (p *PF) pass(at place, dir ifnet.PfilDir, af ifnet.AF, m *mbuf.Mbuf) bool {
	set := p.rules.Load()
	if set.skips(at) {
		return true
	}
	pd := packet{dir: conf.In}
	if dir == ifnet.PfilOut {
		pd.dir = conf.Out
	}
	if !pd.parse(m, 0, af) {
		p.short.Add(1)
		return false
	}
	act, hash, found := p.states.find(&pd)
	if !found && pd.icmpError {
		act, hash, found = p.findInner(&pd, m, af)
	}
	if !found {
		var r *rule
		if r, act = set.evaluate(at, &pd); r != nil {
			if r.action == conf.Block {
				return false
			}
			if r.keeps && !pd.fragment && !pd.icmpError {
				var ok bool
				if hash, ok = p.states.insert(&pd, r, act); !ok {
					p.memory.Add(1)
					return false
				}
			}
		}
	}
	tag(m, &pd, act, hash)
	return true
}

// tag writes the queue into the packet: the second one for what only acknowledges or
// asks for low delay (spec altq 3).
func tag(m *mbuf.Mbuf, pd *packet, act actions, hash uint32) {
	if act.qid == 0 {
		return
	}
	m.QID = act.qid
	if pd.pureAck() || pd.tos&lowDelay != 0 {
		m.QID = act.pqid
	}
	if hash != 0 {
		m.QIDHash = hash
	}
}

// findInner finds the state of the packet that an ICMP error is about, which went the
// other way.
func (p *PF) findInner(pd *packet, m *mbuf.Mbuf, af ifnet.AF) (actions, uint32, bool) {
	in := packet{dir: conf.In, quoted: true}
	if pd.dir == conf.In {
		in.dir = conf.Out
	}
	if !in.parse(m, pd.inner, af) {
		return actions{}, 0, false
	}
	return p.states.peek(&in)
}
