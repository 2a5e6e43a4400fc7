package conf

import "net/netip"

// Action is what a rule does with a packet.
type Action uint8

// Actions.
const (
	Pass  Action = iota // PF_PASS
	Block               // PF_DROP
	Match               // PF_MATCH: only what else the rule says
)

// String is the action's keyword.
func (a Action) String() string { return [...]string{"pass", "block", "match"}[a] }

// Direction is the direction of packets that a rule is for.
type Direction uint8

// Directions.
const (
	InOut Direction = iota // PF_INOUT: both
	In                     // PF_IN
	Out                    // PF_OUT
)

// Family is an address family.
type Family uint8

// Families.
const (
	AnyFamily Family = 0
	Inet      Family = 4
	Inet6     Family = 6
)

// Protocols that have ports, flags or a family of their own.
const (
	protoICMP   = 1
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58
)

// Peer is one end of the packets that a rule is for (struct pf_rule_addr).
type Peer struct {
	Addr netip.Prefix // invalid: any
	Not  bool         // all but Addr
	Op   PortOp
	Port [2]uint16
}

// any reports whether every address, of one family at least, and every port will do.
func (p Peer) any() bool { return p.anyAddr() && !p.Not && p.Op == NoPort }

// anyAddr reports whether the addresses before a negation are all.
func (p Peer) anyAddr() bool { return !p.Addr.IsValid() || p.Addr.Bits() == 0 }

// Rule is a filter rule of single values (struct pfctl_rule).
type Rule struct {
	Pos       Pos
	Action    Action
	Dir       Direction
	Quick     bool
	Ifname    string // of an interface or a group; "": any
	IfNot     bool   // all but Ifname
	Family    Family
	Proto     uint8 // 0: any
	Src, Dst  Peer
	Flags     uint8 // of TCP: of FlagSet, these are set and no others
	FlagSet   uint8 // 0: not looked at
	TOS       uint8 // 0: not looked at
	KeepState bool
	Qname     string // "": none
	PQname    string // for acknowledgements and low delay; "": Qname
}

// ruleSpec is a rule as it is written.
type ruleSpec struct {
	rule     Rule
	ifs      []ifItem
	protos   []uint8
	src, dst peerSpec
	options  map[string]bool // that have been there
	keep     bool
	hasFlags bool
}

// maxRules bounds what the lists of a text can expand to.
const maxRules = 1 << 16

// rule reads a pass, block or match rule.
func (p *parser) rule() {
	s := ruleSpec{rule: Rule{Pos: p.start.pos}, options: make(map[string]bool)}
	p.action(&s)
	switch {
	case p.keyword("in"):
		s.rule.Dir = In
	case p.keyword("out"):
		s.rule.Dir = Out
	}
	if p.tok.is("log") {
		p.unsupported(p.tok.pos, "log")
	}
	s.rule.Quick = p.keyword("quick")
	if p.tok.is("log") {
		p.unsupported(p.tok.pos, "log")
	}
	s.ifs = p.interfaces()
	if r := p.tok; r.is("route-to") || r.is("reply-to") || r.is("dup-to") || r.is("fastroute") {
		p.unsupported(r.pos, r.text)
	}
	switch {
	case p.keyword("inet"):
		s.rule.Family = Inet
	case p.keyword("inet6"):
		s.rule.Family = Inet6
	}
	p.protocols(&s)
	p.fromTo(&s)
	for !p.dead && p.tok.kind != '\n' && p.tok.kind != tokEOF {
		p.filterOption(&s)
	}
	if !p.dead && p.enter(sectionFilter) {
		p.finishRule(&s)
	}
}

// action reads the first words of a rule.
func (p *parser) action(s *ruleSpec) {
	word := p.tok.text
	p.next()
	switch word {
	case "pass":
		s.rule.Action = Pass
	case "match":
		s.rule.Action = Match
	case "block":
		s.rule.Action = Block
		if p.keyword("drop") {
			return
		}
		if t := p.tok; t.is("return") || t.is("return-rst") || t.is("return-icmp") || t.is("return-icmp6") {
			p.unsupported(t.pos, "block "+t.text)
		}
	}
}

// protocols reads proto and what follows it.
func (p *parser) protocols(s *ruleSpec) {
	if !p.keyword("proto") {
		return
	}
	p.list(func() {
		t := p.tok
		n, known := protocols[t.text]
		switch {
		case t.kind == tokString && !known:
			p.fail(t.pos, "unknown protocol %s", t.text)
		case t.kind == tokNumber && (t.num < 0 || t.num > 255):
			p.fail(t.pos, "protocol outside range")
		case t.kind == tokNumber:
			n = uint8(t.num)
		case t.kind != tokString:
			p.syntax()
		}
		if n == 0 {
			p.fail(t.pos, "proto 0 cannot be used")
		}
		p.next()
		s.protos = append(s.protos, n)
	})
}

// fromTo reads all, or from and to.
func (p *parser) fromTo(s *ruleSpec) {
	if p.keyword("all") {
		return
	}
	if p.keyword("from") {
		s.src = p.peer()
	}
	if p.tok.is("os") {
		p.unsupported(p.tok.pos, "os")
	}
	if p.keyword("to") {
		s.dst = p.peer()
	}
}

// optionOnce complains of an option of a rule that is there for the second time.
func (p *parser) optionOnce(s *ruleSpec, key, complaint string) {
	if s.options[key] {
		p.fail(p.tok.pos, "%s cannot be redefined", complaint)
	}
	s.options[key] = true
}

// filterOption reads one of the options at the end of a rule.
func (p *parser) filterOption(s *ruleSpec) {
	t := p.tok
	if t.kind == '!' {
		p.unsupported(t.pos, "tagged")
		return
	}
	if t.kind != tokKeyword {
		p.syntax()
		return
	}
	switch t.text {
	case "flags":
		p.optionOnce(s, "flags", "flags")
		p.next()
		p.flags(s)
	case "tos":
		p.optionOnce(s, "tos", "tos")
		p.next()
		s.rule.TOS = p.tos()
	case "keep", "no", "modulate", "synproxy":
		p.optionOnce(s, "state", "modulate or keep")
		p.state(s)
	case "queue":
		p.optionOnce(s, "queue", "queue")
		p.next()
		p.ruleQueue(s)
	case "user", "group", "icmp-type", "icmp6-type", "prio", "ridentifier", "fragment", "allow-opts", "label", "dnpipe",
		"dnqueue", "tag", "tagged", "probability", "rtable", "divert-to", "divert-reply", "scrub", "set":
		p.unsupported(t.pos, t.text)
	default:
		p.syntax()
	}
}

// state reads how a rule keeps state.
func (p *parser) state(s *ruleSpec) {
	how := p.tok
	p.next()
	p.expectKeyword("state")
	switch how.text {
	case "keep":
		s.keep = true
	case "modulate", "synproxy":
		p.unsupported(how.pos, how.text+" state")
	}
	if how.text != "no" && p.tok.kind == '(' {
		p.unsupported(p.tok.pos, "state options")
	}
}

// ruleQueue reads the queue, or the two queues, of a rule.
func (p *parser) ruleQueue(s *ruleSpec) {
	at := p.tok.pos
	if !p.char('(') {
		s.rule.Qname = p.word()
	} else {
		s.rule.Qname = p.word()
		p.char(',')
		if p.tok.kind != ')' {
			s.rule.PQname = p.word()
		}
		p.expect(')')
	}
	if len(s.rule.Qname) > queueNameMax {
		p.fail(at, "rule qname too long (max %d chars)", queueNameMax)
	}
	if len(s.rule.PQname) > queueNameMax {
		p.fail(at, "rule pqname too long (max %d chars)", queueNameMax)
	}
}

// tcpFlags are the letters of TCP's flags, lowest bit first.
const tcpFlags = "FSRPAUEW"

// Flags of TCP that pf itself looks at.
const (
	tcpSYN = 0x02
	tcpACK = 0x10
)

// flags reads set/of.
func (p *parser) flags(s *ruleSpec) {
	s.hasFlags = true
	if p.keyword("any") {
		return
	}
	if p.tok.kind != '/' {
		s.rule.Flags = p.flagLetters()
	}
	p.expect('/')
	s.rule.FlagSet = p.flagLetters()
}

func (p *parser) flagLetters() (f uint8) {
	t := p.tok
	for _, c := range p.word() {
		bit := -1
		for i, letter := range tcpFlags {
			if letter == c {
				bit = i
			}
		}
		if bit < 0 {
			p.fail(t.pos, "bad flags %s", t.text)
			return 0
		}
		f |= 1 << bit
	}
	return f
}

// finishRule applies the defaults, checks the rule and expands its lists.
func (p *parser) finishRule(s *ruleSpec) {
	r := &s.rule
	if r.Flags&r.FlagSet != r.Flags {
		p.fail(r.Pos, "flags always false")
		return
	}
	if r.FlagSet != 0 && len(s.protos) > 0 && !hasProto(s.protos, protoTCP) {
		p.fail(r.Pos, "flags only apply to tcp")
		return
	}
	r.KeepState = s.keep || r.Action == Pass && !s.options["state"]
	if r.Action == Pass && r.KeepState && !s.hasFlags {
		r.Flags, r.FlagSet = tcpSYN, tcpSYN|tcpACK
	}
	p.expandRule(s)
}

func hasProto(list []uint8, proto uint8) bool {
	for _, p := range list {
		if p == proto {
			return true
		}
	}
	return false
}

// expandRule makes a rule of each combination of a rule's lists, in FreeBSD's order
// (expand_rule).
func (p *parser) expandRule(s *ruleSpec) {
	n := len(p.cfg.Rules)
	orOne := func(list []uint8) []uint8 {
		if len(list) == 0 {
			return []uint8{0}
		}
		return list
	}
	ifs := s.ifs
	if len(ifs) == 0 {
		ifs = []ifItem{{}}
	}
	for _, i := range ifs {
		for _, proto := range orOne(s.protos) {
			for src := range s.src.each {
				for dst := range s.dst.each {
					r := s.rule
					r.Ifname, r.IfNot, r.Proto, r.Src, r.Dst = i.name, i.not, proto, src, dst
					if !p.addRule(r) {
						return
					}
				}
			}
		}
	}
	if len(p.cfg.Rules) == n && !p.dead {
		p.fail(s.rule.Pos, "rule expands to no valid combination")
	}
}

// addRule adds one rule, unless its addresses are of different families. False ends the
// expansion.
func (p *parser) addRule(r Rule) bool {
	for _, peer := range [...]Peer{r.Src, r.Dst} {
		f := familyOf(peer.Addr)
		if f == AnyFamily {
			continue
		}
		if r.Family != AnyFamily && r.Family != f {
			return true
		}
		r.Family = f
	}
	if r.Proto != 0 && r.Proto != protoTCP {
		r.Flags, r.FlagSet = 0, 0
	}
	if !p.consistent(&r) {
		p.fail(r.Pos, "skipping rule due to errors")
		return false
	}
	if len(p.cfg.Rules) == maxRules {
		p.fail(r.Pos, "more than %d rules", maxRules)
		return false
	}
	p.cfg.Rules = append(p.cfg.Rules, r)
	p.verbosef("%s\n", r)
	return true
}

func familyOf(p netip.Prefix) Family {
	switch {
	case !p.IsValid():
		return AnyFamily
	case p.Addr().Is4():
		return Inet
	}
	return Inet6
}

// consistent checks a rule (filter_consistent).
func (p *parser) consistent(r *Rule) bool {
	ok := true
	bad := func(format string, a ...any) {
		p.errorf(r.Pos, format, a...)
		ok = false
	}
	if r.Proto != protoTCP && r.Proto != protoUDP && (r.Src.Op != NoPort || r.Dst.Op != NoPort) {
		bad("port only applies to tcp/udp")
	}
	if r.Proto == protoICMP && r.Family == Inet6 {
		bad("proto %s doesn't match address family %s", "icmp", "inet6")
	}
	if r.Proto == protoICMPv6 && r.Family == Inet {
		bad("proto %s doesn't match address family %s", "icmp6", "inet")
	}
	if r.Action != Pass && r.KeepState {
		bad("keep state is great, but only for pass rules")
	}
	return ok
}
