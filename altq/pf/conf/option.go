package conf

import (
	"fmt"
	"maps"
	"math"
)

// verbosef tells pfctl -v something.
func (p *parser) verbosef(format string, a ...any) {
	if p.o.Verbose != nil {
		_, _ = fmt.Fprintf(p.o.Verbose, format, a...)
	}
}

// option reads a set statement.
func (p *parser) option() {
	p.next()
	at, what := p.tok.pos, p.tok.text
	if p.tok.kind != tokKeyword {
		p.syntax()
		return
	}
	p.next()
	switch what {
	case "skip":
		p.skip()
	case "limit":
		p.each(func() { p.limit(at) })
	case "timeout":
		p.each(func() { p.timeout(at) })
	case "require-order":
		p.requireOrder()
	case "block-policy":
		p.fixedOption(at, what, "drop")
	case "state-policy":
		p.fixedOption(at, what, "floating")
	case "optimization":
		p.fixedOption(at, what, "normal")
	case "loginterface":
		p.fixedOption(at, what, "none")
	case "ruleset-optimization", "debug":
		// They change what is printed and how fast, nothing else.
		if p.enter(sectionOption) {
			p.word()
		}
	default:
		p.unsupported(at, what)
	}
}

// each reads a setting or several in braces, which belong to the options.
func (p *parser) each(setting func()) {
	if p.enter(sectionOption) {
		p.list(setting)
	}
}

// fixedOption accepts the one value of an option that is what happens here.
func (p *parser) fixedOption(at Pos, what, only string) {
	if !p.enter(sectionOption) {
		return
	}
	if p.tok.kind != tokString && p.tok.kind != tokKeyword {
		p.syntax()
		return
	}
	if p.tok.text != only {
		p.unsupported(at, what+" "+p.tok.text)
		return
	}
	p.next()
}

// skip reads the interfaces that are not filtered.
func (p *parser) skip() {
	if p.tok.is("on") {
		for _, i := range p.interfaces() {
			switch {
			case i.not:
				p.fail(i.pos, "skip on ! <interface> is not supported")
			case i.name != "none":
				p.cfg.Skip = append(p.cfg.Skip, i.name)
			}
		}
		return
	}
	p.syntax()
}

// limit reads a limit; only that of states means something here.
func (p *parser) limit(at Pos) {
	name := p.word()
	n := p.positive()
	switch {
	case p.dead:
	case name != "states":
		p.unsupported(at, "limit "+name)
	case n > math.MaxInt32:
		p.fail(at, "unable to set limit %s %d", name, n)
	default:
		p.cfg.StateLimit = int(n)
	}
}

// positive reads a number that is not negative and fits 32 bits.
func (p *parser) positive() int64 {
	at := p.tok.pos
	n := p.number()
	if n < 0 || n > math.MaxUint32 {
		p.fail(at, "only positive values permitted")
	}
	return n
}

// Timeouts are the timeouts that a text may set, with their defaults in seconds
// (pf_default_rule_to_initial).
var timeouts = map[string]uint32{
	"tcp.first": 120, "tcp.opening": 30, "tcp.established": 24 * 60 * 60, "tcp.closing": 15 * 60, "tcp.finwait": 45,
	"tcp.closed": 90, "udp.first": 60, "udp.single": 30, "udp.multiple": 60, "icmp.first": 20, "icmp.error": 10,
	"other.first": 60, "other.single": 30, "other.multiple": 60,
}

// DefaultTimeout is the timeout of that name in seconds when no text sets it, 0 for a
// name that is not known.
func DefaultTimeout(name string) uint32 { return timeouts[name] }

// foreignTimeouts are those of things that this pf does not have.
var foreignTimeouts = map[string]bool{
	"frag": true, "interval": true, "adaptive.start": true, "adaptive.end": true, "src.track": true, "tcp.tsdiff": true,
}

// timeout reads the timeout of a state.
func (p *parser) timeout(at Pos) {
	name := p.tok.text
	if !p.keyword("interval") {
		name = p.word()
	}
	n := p.positive()
	switch _, known := timeouts[name]; {
	case p.dead:
	case foreignTimeouts[name]:
		p.unsupported(at, "timeout "+name)
	case !known:
		p.fail(at, "unknown timeout %s", name)
	default:
		set := make(map[string]uint32)
		maps.Copy(set, p.cfg.Timeouts)
		set[name] = uint32(n)
		p.cfg.Timeouts = set
	}
}

// requireOrder reads whether sections must come in order.
func (p *parser) requireOrder() {
	switch {
	case p.keyword("no"):
		p.unordered = true
	case p.tok.kind == tokString && p.tok.text == "yes":
		p.next()
		p.unordered = false
	case p.tok.kind == tokString:
		p.fail(p.tok.pos, "invalid value '%s', expected 'yes' or 'no'", p.tok.text)
	default:
		p.syntax()
	}
}

// ifItem is an interface in a list.
type ifItem struct {
	name string
	not  bool
	pos  Pos
}

// ifNameMax is the longest name of an interface in bytes (IFNAMSIZ less one).
const ifNameMax = 15

// interfaces reads on and the interfaces behind it; nothing if they are missing.
func (p *parser) interfaces() (list []ifItem) {
	if !p.keyword("on") {
		return nil
	}
	p.list(func() {
		i := ifItem{pos: p.tok.pos}
		i.not = p.char('!')
		if i.name = p.word(); i.name == "" {
			p.syntax()
		}
		if len(i.name) > ifNameMax {
			p.fail(i.pos, "interface name too long")
		}
		if !p.dead {
			list = append(list, i)
		}
	})
	return list
}
