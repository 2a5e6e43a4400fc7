package conf

import (
	"math"
	"strconv"

	"github.com/ifsim/ifsim/altq"
)

// schedulers are the keywords of schedulers. FreeBSD's own tool wants codelq; its
// manual and what it prints have codel.
var schedulers = map[string]altq.Type{
	"cbq": altq.TypeCBQ, "priq": altq.TypePRIQ, "hfsc": altq.TypeHFSC, "fairq": altq.TypeFAIRQ,
	"codel": altq.TypeCoDel, "codelq": altq.TypeCoDel,
}

// flagWords are the flags that queues of all schedulers have.
var flagWords = map[string]altq.Flags{
	"default": altq.FlagDefault, "red": altq.FlagRED, "ecn": altq.FlagRED | altq.FlagECN, "rio": altq.FlagRIO, "codel": altq.FlagCoDel,
}

// scheduler reads a scheduler and its options.
func (p *parser) scheduler() schedSpec {
	s := schedSpec{kind: schedulers[p.tok.text]}
	p.next()
	if !p.char('(') {
		return s
	}
	p.items(func() {
		switch s.kind {
		case altq.TypeCoDel:
			p.codelOption(&s)
		case altq.TypeHFSC:
			p.hfscOption(&s)
		case altq.TypeFAIRQ:
			p.fairqOption(&s)
		default:
			p.flag(&s)
		}
	})
	return s
}

// flag reads a flag of a queue.
func (p *parser) flag(s *schedSpec) {
	at := p.tok.pos
	w := p.word()
	f, ok := flagWords[w]
	if s.kind == altq.TypeCBQ && w == "borrow" {
		f, ok = altq.FlagBorrow, true
	}
	if !ok {
		p.fail(at, "unknown %v flag \"%s\"", s.kind, w)
	}
	s.flags |= f
}

func (p *parser) hfscOption(s *schedSpec) {
	switch {
	case p.tok.is("realtime"):
		p.curve(&s.realtime, true)
	case p.tok.is("linkshare"):
		p.curve(&s.linkshare, true)
	case p.tok.is("upperlimit"):
		p.curve(&s.upperlimit, true)
	default:
		p.flag(s)
	}
}

func (p *parser) fairqOption(s *schedSpec) {
	switch {
	case p.tok.is("linkshare"):
		p.curve(&s.linkshare, false)
	case p.keyword("hogs"):
		s.hogs = p.bandwidth()
	case p.keyword("buckets"):
		s.buckets = p.anyNumber()
	default:
		p.flag(s)
	}
}

func (p *parser) codelOption(s *schedSpec) {
	at := p.tok.pos
	switch {
	case p.keyword("target"):
		p.already(at, s.target != 0, "target")
		s.target = p.anyNumber()
	case p.keyword("interval"):
		p.already(at, s.interval != 0, "interval")
		s.interval = p.anyNumber()
	default:
		if w := p.word(); w != "ecn" {
			p.fail(at, "unknown codel option \"%s\"", w)
		}
		s.ecn = true
	}
}

// already complains of an option of a scheduler that was there before.
func (p *parser) already(at Pos, seen bool, what string) {
	if seen {
		p.fail(at, "%s already specified", what)
	}
}

// curve reads a service curve: a rate, or m1, d and m2 in parentheses. In that of FAIRQ
// there are no commas.
func (p *parser) curve(c *curveSpec, commas bool) {
	at, what := p.tok.pos, p.tok.text
	p.next()
	p.already(at, c.used, what)
	c.used = true
	if !p.char('(') {
		c.m2 = p.bandwidth()
		return
	}
	c.m1 = p.bandwidth()
	if commas {
		p.char(',')
	}
	d := p.tok.pos
	ms := p.number()
	if ms < 0 || ms > math.MaxInt32 {
		p.fail(d, "timing in curve out of range")
	}
	c.d = uint32(ms)
	if commas {
		p.char(',')
	}
	c.m2 = p.bandwidth()
	p.expect(')')
}

// anyNumber reads a number in any base that strtoul knows.
func (p *parser) anyNumber() uint32 {
	t := p.tok
	if t.kind != tokNumber && t.kind != tokString {
		p.syntax()
		return 0
	}
	p.next()
	n, err := strconv.ParseUint(t.text, 0, 64)
	if err != nil {
		p.fail(t.pos, "%s is not a number", t.text)
	}
	if n > math.MaxInt32 {
		p.fail(t.pos, "%s is too large", t.text)
	}
	return uint32(n)
}
