package pcapfilter

import (
	"fmt"
	"strings"

	"golang.org/x/net/bpf"
)

// maxNesting bounds parentheses and signs inside one another.
const maxNesting = 64

// Compile compiles an expression; the program keeps snap bytes of a packet that it
// accepts. An empty one accepts every packet, and is no program at all. Errors are
// libpcap's where it has one, and else name what is not supported.
func Compile(text string, snap int) ([]bpf.Instruction, error) {
	tokens, err := scan(text)
	if err != nil || len(tokens) == 1 {
		return nil, err
	}
	p := parser{tokens: tokens}
	n, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != kindEnd {
		return nil, errSyntax
	}
	return link(n, uint32(snap)), nil
}

// quals are the qualifiers in front of an id: "tcp", "src or dst", "port".
type quals struct{ proto, dir, what string }

type parser struct {
	tokens []token
	pos    int
	depth  int
	last   *quals // of the id before, which a lone id takes over; nil: none
	// shift is how far tags seen so far move what follows the Ethernet addresses. As in
	// libpcap it goes by the order of the text.
	shift uint32
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) take() token {
	t := p.tokens[p.pos]
	if t.kind != kindEnd {
		p.pos++
	}
	return t
}

// accept takes a sign if it comes next.
func (p *parser) accept(sign string) bool {
	if !p.peek().is(sign) {
		return false
	}
	p.pos++
	return true
}

// nest counts a level of nesting until the result is called.
func (p *parser) nest() (leave func(), err error) {
	p.depth++
	if p.depth > maxNesting {
		return nil, fmt.Errorf("more than %d parentheses and signs inside one another", maxNesting)
	}
	return func() { p.depth-- }, nil
}

// expr is a chain of terms: and and or bind alike, from the left.
func (p *parser) expr() (node, error) {
	n, err := p.term(false)
	for err == nil {
		var b node
		switch {
		case p.accept("and"):
			if b, err = p.term(true); err == nil {
				n = andNode{n, b}
			}
		case p.accept("or"):
			if b, err = p.term(true); err == nil {
				n = orNode{n, b}
			}
		default:
			return n, nil
		}
	}
	return nil, err
}

// term is a condition that and, or and not join; behind and and or a lone id will do.
func (p *parser) term(joined bool) (node, error) {
	leave, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer leave()
	if p.accept("!") {
		n, err := p.term(joined)
		if err != nil {
			return nil, err
		}
		return notNode{n}, nil
	}
	if n, ok, err := p.relation(); ok || err != nil {
		return n, err
	}
	if p.accept("(") {
		n, err := p.expr()
		if err == nil && !p.accept(")") {
			err = errSyntax
		}
		return n, err
	}
	return p.qualified(joined)
}

// addressKinds are the qualifiers of ids.
var addressKinds = map[string]bool{"host": true, "net": true, "port": true, "portrange": true, "proto": true, "protochain": true, "gateway": true}

// qualified is a condition that begins with a word: a protocol, a keyword, or an id with
// its qualifiers.
func (p *parser) qualified(joined bool) (node, error) {
	var q quals
	if t := p.peek(); t.kind == kindWord && protocols[t.text] != nil {
		q.proto = t.text
		p.pos++
	}
	if n, ok, err := p.other(q.proto); ok || err != nil {
		p.last = nil
		return n, err
	}
	q.dir = p.direction()
	if t := p.peek(); t.kind == kindWord && addressKinds[t.text] && (q.dir == "" || t.text != "proto") {
		q.what = t.text
		p.pos++
	}
	switch {
	case q == quals{}:
		if t := p.peek(); t.kind == kindWord && unsupported[t.text] {
			return nil, fmt.Errorf("'%s' is not supported", t.text)
		}
		if !joined || p.last == nil {
			return nil, errSyntax
		}
		q = *p.last
	case q.dir == "" && q.what == "":
		p.last = nil
		return protocols[q.proto](p.shift)
	}
	p.last = &q
	return p.id(q)
}

// direction takes "src", "dst", "src or dst", "src and dst" and the like.
func (p *parser) direction() string {
	first := p.peek()
	if !first.word("src") && !first.word("dst") {
		return ""
	}
	p.pos++
	join := p.peek()
	if !join.is("or") && !join.is("and") {
		return first.text
	}
	if second := p.tokens[p.pos+1]; second.text == first.text || !second.word("src") && !second.word("dst") {
		return first.text
	}
	p.pos += 2
	return "src " + join.text + " dst"
}

// idFollows reports whether what comes next can be an id.
func (p *parser) idFollows() bool {
	t := p.peek()
	return t.kind == kindWord || t.kind == kindEscaped || t.kind == kindNumber
}

// id is an id, or several in parentheses, that share qualifiers.
func (p *parser) id(q quals) (node, error) {
	leave, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer leave()
	switch {
	case p.accept("!"):
		n, err := p.id(q)
		if err != nil {
			return nil, err
		}
		return notNode{n}, nil
	case p.accept("("):
		n, err := p.id(q)
		for err == nil && !p.accept(")") {
			and := p.accept("and")
			if !and && !p.accept("or") {
				return nil, errSyntax
			}
			var b node
			if b, err = p.id(q); err != nil {
				break
			}
			if and {
				n = andNode{n, b}
			} else {
				n = orNode{n, b}
			}
		}
		return n, err
	case !p.idFollows():
		return nil, errSyntax
	}
	t := p.take()
	if t.kind == kindWord && (protocols[t.text] != nil || addressKinds[t.text] || keywords[t.text]) {
		return nil, errSyntax
	}
	return p.address(q, t)
}

// network takes what may follow an address: a prefix length or a mask.
func (p *parser) network(t token) (text string, err error) {
	switch {
	case p.accept("/"):
		n := p.take()
		if n.kind != kindNumber {
			return "", errSyntax
		}
		return fmt.Sprintf("%s/%d", t.text, n.num), nil
	case p.peek().word("mask"):
		p.pos++
		n := p.take()
		if n.kind != kindWord {
			return "", errSyntax
		}
		return t.text + " mask " + n.text, nil
	}
	return t.text, nil
}

// keywords are words that are no ids.
var keywords = map[string]bool{"src": true, "dst": true, "mask": true, "less": true, "greater": true, "len": true,
	"length": true, "vlan": true, "broadcast": true, "multicast": true, "inbound": true, "outbound": true}

// unsupported are words of the grammar that nothing here has.
var unsupported = func() map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields("fddi tr wlan igrp atalk aarp decnet lat sca moprc mopdl iso esis isis " +
		"clnp stp ipx netbeui radio addr1 addr2 addr3 addr4 ra ta type subtype dir byte ifindex mpls pppoed pppoes " +
		"geneve vxlan llc lane metac bcc oam vpi vci on ifname rset ruleset rnr rulenum srnr subrulenum reason action") {
		words[w] = true
	}
	return words
}()
