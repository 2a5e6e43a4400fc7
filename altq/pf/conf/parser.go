package conf

import (
	"io"
	"net/netip"
	"strings"
)

// Interface is what a text may ask of an interface.
type Interface struct {
	Speed uint64         // of the link in bits/s; 0: not known
	MTU   int            // bytes
	Addrs []netip.Prefix // its addresses with the networks that they are in
}

// Options are what a text is read with.
type Options struct {
	// Lax leaves statements out that this pf does not have; they are errors otherwise.
	Lax bool
	// Interface looks an interface up; nil: there is none.
	Interface func(name string) (Interface, bool)
	// Open returns the text of a file that is included; nil: there is none.
	Open func(name string) (string, error)
	// Macros have values that the text does not change (pfctl -D).
	Macros map[string]string
	// Verbose gets the statements as they were understood (pfctl -v); nil: nobody does.
	// What it fails to write is lost.
	Verbose io.Writer
}

// Config is what a text says.
type Config struct {
	// Altqs are interfaces and queues, parents first, in order of definition.
	Altqs []Altq
	// Rules are the filter rules, lists expanded, in order of evaluation.
	Rules []Rule
	// Skip are interfaces and groups on which nothing is filtered (set skip on).
	Skip []string
	// StateLimit is the largest number of states (set limit states); 0: not set.
	StateLimit int
	// Timeouts are seconds by name (set timeout); those that are not set are missing.
	Timeouts map[string]uint32
}

// macro is a variable of the text.
type macro struct {
	value string
	fixed bool // from the command line
	used  bool
}

// section is a part of the text; parts come in this order.
type section int

const (
	sectionNone section = iota
	sectionOption
	sectionEther
	sectionScrub
	sectionQueue
	sectionNAT
	sectionFilter
)

// parser reads a text statement by statement.
type parser struct {
	o        Options
	lex      lexer
	macros   map[string]*macro
	cfg      Config
	messages []Message
	failed   bool // the text does not load

	section   section
	unordered bool // set require-order no
	queues    queueSet

	// The statement that is being read.
	tok   token
	dead  bool  // given up: tok matches nothing, nothing more is read or said
	held  token // when dead: what tok was
	depth int   // of braces
	start token
	text  string // of the file that start stands in
	whole bool   // when dead: skip the statement, not only its line
}

// Parse reads a text that is called file in messages. ok is false if it does not load;
// the Config is empty then.
func Parse(file, text string, o Options) (cfg Config, messages []Message, ok bool) {
	p := &parser{o: o, macros: make(map[string]*macro)}
	p.lex.p = p
	for name, value := range o.Macros {
		p.macros[name] = &macro{value: value, fixed: true}
	}
	if len(text) > maxText {
		p.errorf(Pos{File: file, Line: 1, Col: 1}, "text longer than %d bytes", maxText)
		return Config{}, p.messages, false
	}
	p.lex.pushFile(file, text)
	for p.next(); p.tok.kind != tokEOF; {
		p.statement()
	}
	p.checkCommit()
	if p.failed {
		return Config{}, p.messages, false
	}
	return p.cfg, p.messages, true
}

// next takes the next token, unless the statement has been given up.
func (p *parser) next() {
	if p.dead {
		return
	}
	p.tok = p.lex.token()
	switch p.tok.kind {
	case '{':
		p.depth++
	case '}':
		p.depth--
	case tokError:
		p.giveUp()
	}
}

// giveUp ends the statement: whatever is asked of tok is no from here on.
func (p *parser) giveUp() {
	if !p.dead {
		p.dead, p.held = true, p.tok
		p.tok = token{kind: tokError, pos: p.tok.pos}
	}
}

// fail gives the statement up with a message (yyerror and YYERROR).
func (p *parser) fail(at Pos, format string, a ...any) {
	if !p.dead {
		p.errorf(at, format, a...)
		p.giveUp()
	}
}

// syntax gives the statement up at the token.
func (p *parser) syntax() { p.fail(p.tok.pos, "syntax error") }

// keyword takes the keyword if it comes.
func (p *parser) keyword(word string) bool {
	if !p.tok.is(word) {
		return false
	}
	p.next()
	return true
}

// char takes the character if it comes.
func (p *parser) char(c kind) bool {
	if p.tok.kind != c {
		return false
	}
	p.next()
	return true
}

// expect takes the character, which must come.
func (p *parser) expect(c kind) {
	if !p.char(c) {
		p.syntax()
	}
}

// expectKeyword takes the keyword, which must come.
func (p *parser) expectKeyword(word string) {
	if !p.keyword(word) {
		p.syntax()
	}
}

// word takes a string.
func (p *parser) word() string {
	if p.tok.kind != tokString {
		p.syntax()
		return ""
	}
	w := p.tok.text
	p.next()
	return w
}

// number takes a number.
func (p *parser) number() int64 {
	if p.tok.kind != tokNumber {
		p.syntax()
		return 0
	}
	n := p.tok.num
	p.next()
	return n
}

// newlines passes over the ends of lines, which do not matter inside braces.
func (p *parser) newlines() {
	for p.tok.kind == '\n' {
		p.next()
	}
}

// list reads one item, or several in braces. Commas between them need not be.
func (p *parser) list(item func()) {
	if !p.char('{') {
		item()
		return
	}
	p.newlines()
	for !p.dead {
		item()
		p.newlines()
		if p.char('}') {
			return
		}
		p.char(',')
		p.newlines()
	}
}

// items reads items up to a closing parenthesis, which it takes. Commas between them
// need not be.
func (p *parser) items(item func()) {
	for !p.dead {
		item()
		if p.char(')') {
			return
		}
		p.char(',')
	}
}

// statement reads one statement and the end of its line.
func (p *parser) statement() {
	p.dead, p.whole, p.depth, p.start = false, false, 0, p.tok
	if f := p.lex.file(); f != nil {
		p.text = f.text
	}
	before := p.cfg
	switch p.tok.kind {
	case '\n':
	case tokString:
		p.macroDefinition()
	case tokKeyword:
		p.keywordStatement()
	default:
		p.syntax()
	}
	if p.tok.kind != '\n' && p.tok.kind != tokEOF {
		p.syntax()
	}
	if p.dead {
		p.cfg = before
	}
	p.recover()
	if p.tok.kind == '\n' {
		p.next()
	}
}

// recover skips what is left of a statement that has been given up.
func (p *parser) recover() {
	if !p.dead {
		return
	}
	p.dead = false
	p.tok = p.held
	for p.tok.kind != '\n' && p.tok.kind != tokEOF || p.tok.kind == '\n' && p.whole && p.depth > 0 {
		if p.tok.kind == tokError {
			// The lexer is at the next line already.
			p.tok = token{kind: '\n', pos: p.tok.pos}
			p.dead = false
			return
		}
		p.next()
		if p.dead {
			p.dead, p.tok = false, p.held
		}
	}
}

// keywordStatement reads a statement that begins with a keyword.
func (p *parser) keywordStatement() {
	switch p.tok.text {
	case "include":
		p.include()
	case "set":
		p.option()
	case "altq":
		p.altqLine()
	case "queue":
		p.queueLine()
	case "pass", "block", "match":
		p.rule()
	default:
		s, ok := foreign[p.tok.text]
		if !ok {
			p.syntax()
			return
		}
		if p.enter(s) {
			p.unsupported(p.tok.pos, p.tok.text)
		}
	}
}

// foreign are statements of FreeBSD that this pf does not have, with their sections;
// a table may stand anywhere.
var foreign = map[string]section{
	"table": sectionNone, "ether": sectionEther, "scrub": sectionScrub, "no": sectionNAT, "nat": sectionNAT, "rdr": sectionNAT, "binat": sectionNAT,
	"nat-anchor": sectionNAT, "rdr-anchor": sectionNAT, "binat-anchor": sectionNAT, "anchor": sectionFilter,
	"load": sectionFilter, "antispoof": sectionFilter,
}

// enter checks that a statement of the section may stand here (check_rulestate).
func (p *parser) enter(s section) bool {
	if s == sectionNone {
		return true
	}
	if !p.unordered && p.section > s {
		p.fail(p.start.pos, "Rules must be in order: options, ethernet, normalization, queueing, translation, filtering")
		return false
	}
	p.section = s
	return true
}

// maxShown bounds what a message shows of a statement, in bytes.
const maxShown = 100

// unsupported leaves the whole statement out for what stands at a place. Without
// Options.Lax the text does not load.
func (p *parser) unsupported(at Pos, what string) {
	if p.dead {
		return
	}
	p.giveUp()
	p.whole = true
	p.recover()
	end := p.tok.off
	if p.tok.pos.File != p.start.pos.File || end < p.start.off {
		end = len(p.text)
	}
	shown := strings.Join(strings.Fields(p.text[p.start.off:end]), " ")
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "") + "..."
	}
	if p.o.Lax {
		p.warnf(at, "%s: not in the subset of pf.conf(5) that is known here, left out: %q", what, shown)
	} else {
		p.errorf(at, "%s: not in the subset of pf.conf(5) that is known here: %q", what, shown)
	}
	p.giveUp()
}

// include reads another file.
func (p *parser) include() {
	p.next()
	at := p.tok.pos
	name := p.word()
	if p.dead {
		return
	}
	if p.tok.kind != '\n' && p.tok.kind != tokEOF {
		p.syntax()
		return
	}
	if p.o.Open == nil || p.lex.files() >= maxDepth {
		p.fail(at, "failed to include file %s", name)
		return
	}
	text, err := p.o.Open(name)
	if err != nil || len(text) > maxText-p.lex.total {
		p.fail(at, "failed to include file %s", name)
		return
	}
	// Its last line ends, whatever it ends with.
	p.lex.pushFile(name, text+"\n\n")
}

// macroDefinition reads name = value.
func (p *parser) macroDefinition() {
	name := p.tok
	p.next()
	if p.tok.kind != '=' {
		p.syntax()
		return
	}
	p.next()
	var value strings.Builder
	for first := true; first || p.tok.kind == tokString || p.tok.kind == tokNumber; first = false {
		if p.tok.kind != tokString && p.tok.kind != tokNumber {
			p.syntax()
			return
		}
		if !first {
			value.WriteByte(' ')
		}
		value.WriteString(p.tok.text)
		if value.Len() > maxWord {
			p.fail(name.pos, "string too long")
			return
		}
		p.next()
	}
	if p.dead {
		return
	}
	p.verbosef("%s = \"%s\"\n", name.text, value.String())
	if strings.ContainsAny(name.text, " \t\v\f\r") {
		p.fail(name.pos, "macro name cannot contain whitespace")
		return
	}
	if m := p.macros[name.text]; m == nil || !m.fixed {
		p.macros[name.text] = &macro{value: value.String()}
	}
}
