package pf

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
)

// ruleset is what packets are held against. Only counters change.
type ruleset struct {
	rules []rule
	skip  []string // interfaces and groups that are not filtered
}

// rule is a filter rule as packets are held against it (struct pf_krule): what tells
// most packets apart comes first.
type rule struct {
	action              conf.Action
	dir                 conf.Direction
	family              conf.Family
	proto, tos          uint8
	flags, flagSet      uint8
	quick, ifNot, keeps bool
	ifname              string
	src, dst            peer
	qid, pqid           altq.QID
	conf                *conf.Rule

	evaluations, packets, bytes, states atomic.Uint64
}

// addr128 is an address of either family; IPv4 has the upper 32 bits.
type addr128 struct{ hi, lo uint64 }

func (a addr128) and(m addr128) addr128 { return addr128{a.hi & m.hi, a.lo & m.lo} }

// peer is one end of a rule.
type peer struct {
	addr, mask addr128 // mask 0: any
	not        bool
	op         conf.PortOp
	port       [2]uint16
}

const (
	halfBits = 64 // of an addr128
	ip4Shift = 32
)

// maskOf is the mask of so many leading bits.
func maskOf(bits int) addr128 {
	if bits <= halfBits {
		return addr128{hi: ^(^uint64(0) >> bits)}
	}
	return addr128{hi: ^uint64(0), lo: ^(^uint64(0) >> (bits - halfBits))}
}

func addrOf(a netip.Addr) addr128 {
	if a.Is4() {
		b := a.As4()
		return addr128{hi: uint64(binary.BigEndian.Uint32(b[:])) << ip4Shift}
	}
	b := a.As16()
	return addr128{hi: binary.BigEndian.Uint64(b[:]), lo: binary.BigEndian.Uint64(b[halfBits/8:])}
}

func compilePeer(c conf.Peer) peer {
	p := peer{not: c.Not, op: c.Op, port: c.Port}
	if c.Addr.IsValid() {
		p.mask = maskOf(c.Addr.Bits())
		p.addr = addrOf(c.Addr.Addr()).and(p.mask)
	}
	return p
}

// compile makes the rules of a configuration.
func compile(cfg conf.Config, names nameTable) *ruleset {
	set := &ruleset{rules: make([]rule, len(cfg.Rules)), skip: slices.Clone(cfg.Skip)}
	for i, c := range cfg.Rules {
		r := &set.rules[i]
		r.conf = &c
		r.action, r.dir, r.family, r.proto, r.tos = c.Action, c.Dir, c.Family, c.Proto, c.TOS
		r.flags, r.flagSet, r.quick, r.keeps = c.Flags, c.FlagSet, c.Quick, c.KeepState
		r.ifname, r.ifNot = c.Ifname, c.IfNot
		r.src, r.dst = compilePeer(c.Src), compilePeer(c.Dst)
		r.qid, r.pqid = names[c.Qname], names[c.PQname]
		if r.pqid == 0 {
			r.pqid = r.qid
		}
	}
	return set
}

// hasAddr reports whether an address is this end's.
func (p *peer) hasAddr(a addr128) bool { return (a.and(p.mask) == p.addr) != p.not }

// place is the interface that a packet is at.
type place struct {
	ifp  *ifnet.Ifnet
	name string
}

// is reports whether a name is the interface's or of a group that it is in. The names of
// groups do not end with a digit.
func (p place) is(name string) bool {
	if name == p.name {
		return true
	}
	last := name[len(name)-1]
	return (last < '0' || last > '9') && p.ifp.InGroup(name)
}

// matches reports whether a packet is one of those that the rule is for.
func (r *rule) matches(at place, pd *packet) bool {
	switch {
	case r.proto != 0 && r.proto != pd.proto,
		r.dir != conf.InOut && r.dir != pd.dir,
		r.family != conf.AnyFamily && r.family != pd.family,
		r.tos != 0 && r.tos != pd.tos,
		r.ifname != "" && at.is(r.ifname) == r.ifNot,
		!r.src.hasAddr(pd.src), !r.dst.hasAddr(pd.dst):
		return false
	}
	if pd.fragment {
		// Its ports and flags are not known.
		return r.src.op == conf.NoPort && r.dst.op == conf.NoPort && (pd.proto != protoTCP || r.flagSet == 0)
	}
	return r.src.op.Match(r.src.port[0], r.src.port[1], pd.sport) &&
		r.dst.op.Match(r.dst.port[0], r.dst.port[1], pd.dport) &&
		(pd.proto != protoTCP || pd.flags&r.flagSet == r.flags)
}

// actions are what rules do to a packet (struct pf_rule_actions).
type actions struct{ qid, pqid altq.QID }

// apply takes what a rule says.
func (a *actions) apply(r *rule) {
	if r.qid != 0 {
		a.qid = r.qid
	}
	if r.pqid != 0 {
		a.pqid = r.pqid
	}
}

// count counts a packet.
func (r *rule) count(pd *packet) {
	r.packets.Add(1)
	r.bytes.Add(uint64(pd.length))
}

// skips reports whether packets at an interface are not looked at.
func (s *ruleset) skips(at place) bool {
	for _, name := range s.skip {
		if at.is(name) {
			return true
		}
	}
	return false
}

// evaluate finds the rule that decides about a packet, nil for the default, which passes
// it, and what all rules together do to it (pf_test_rule). The last rule that matches
// decides, or the first with quick; match rules decide nothing.
func (s *ruleset) evaluate(at place, pd *packet) (decides *rule, a actions) {
	for i := range s.rules {
		r := &s.rules[i]
		r.evaluations.Add(1)
		if !r.matches(at, pd) {
			continue
		}
		if r.action == conf.Match {
			r.count(pd)
			a.apply(r)
		} else {
			decides = r
		}
		if r.quick {
			break
		}
	}
	if decides != nil {
		decides.count(pd)
		a.apply(decides)
	}
	return decides, a
}
