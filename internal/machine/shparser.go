package machine

import (
	"fmt"
	"strings"
)

// shParser reads the part of sh(1) that configuration files use. It always
// terminates: every step takes at least one byte.
type shParser struct {
	file string
	text string
	at   int
	line int

	get      func(name string) (string, bool)
	assign   func(name, value string, more bool, where string)
	warnings []string
}

func (p *shParser) end() bool { return p.at >= len(p.text) }

// peek is the next byte, 0 at the end.
func (p *shParser) peek() byte {
	if p.end() {
		return 0
	}
	return p.text[p.at]
}

// next takes a byte, 0 at the end.
func (p *shParser) next() byte {
	if p.end() {
		return 0
	}
	b := p.text[p.at]
	p.at++
	if b == '\n' {
		p.line++
	}
	return b
}

func (p *shParser) warnf(line int, format string, a ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf("%s:%d: ", p.file, line)+fmt.Sprintf(format, a...))
}

func isBlank(b byte) bool    { return b == ' ' || b == '\t' || b == '\r' }
func isOperator(b byte) bool { return strings.IndexByte("\n;&|<>()", b) >= 0 }
func isNameByte(b byte, first bool) bool {
	return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' || !first && b >= '0' && b <= '9'
}

// blanks skips what separates words, continued lines included.
func (p *shParser) blanks() {
	for !p.end() {
		switch {
		case isBlank(p.peek()):
			p.next()
		case strings.HasPrefix(p.text[p.at:], "\\\n"):
			p.next()
			p.next()
		default:
			return
		}
	}
}

// comment skips to the end of the line.
func (p *shParser) comment() {
	for !p.end() && p.peek() != '\n' {
		p.next()
	}
}

// script reads commands until the end.
func (p *shParser) script() {
	for p.blanks(); !p.end(); p.blanks() {
		switch b := p.peek(); {
		case b == '#':
			p.comment()
		case isOperator(b):
			p.next()
		default:
			p.command()
		}
	}
}

// pending is an assignment whose command is not over yet.
type pending struct {
	name, value string
	more        bool
	line        int
}

// command reads one simple command. Assignments count when nothing follows them, or
// behind export; sh would run anything else.
func (p *shParser) command() {
	var vars []pending
	command, line := "", p.line
	for p.blanks(); !p.end() && !isOperator(p.peek()); p.blanks() {
		if p.peek() == '#' {
			p.comment()
			break
		}
		v := pending{line: p.line}
		v.name, v.more = p.assignment()
		w, ok := p.word()
		v.value = w
		switch {
		case !ok:
			return // the word's warning says why
		case v.name != "":
			vars = append(vars, v)
		case w == "export" && command == "":
		case command == "":
			command = w
		}
	}
	if command != "" {
		p.warnf(line, "%s: not run", command)
		return
	}
	for _, v := range vars {
		p.assign(v.name, v.value, v.more, fmt.Sprintf("%s:%d", p.file, v.line))
	}
}

// assignment takes "name=" or "name+=" if that is what comes.
func (p *shParser) assignment() (name string, more bool) {
	i := p.at
	for i < len(p.text) && isNameByte(p.text[i], i == p.at) {
		i++
	}
	if i == p.at {
		return "", false
	}
	name, rest := p.text[p.at:i], p.text[i:]
	switch {
	case strings.HasPrefix(rest, "="):
		p.at = i + len("=")
		return name, false
	case strings.HasPrefix(rest, "+="):
		p.at = i + len("+=")
		return name, true
	}
	return "", false
}

// word reads one word, quotes and expansions done. It is false, after a warning,
// for a quote without an end and for a word beyond all bounds.
func (p *shParser) word() (string, bool) {
	var b strings.Builder
	line := p.line
	for !p.end() && !isBlank(p.peek()) && !isOperator(p.peek()) {
		ok := true
		switch c := p.next(); c {
		case '\'':
			ok = p.single(&b)
		case '"':
			ok = p.double(&b)
		default:
			p.char(&b, c, false)
		}
		if !ok {
			p.warnf(line, "Syntax error: Unterminated quoted string")
			return "", false
		}
	}
	if b.Len() > maxRCValue {
		p.warnf(line, "value of more than %d bytes", maxRCValue)
		return "", false
	}
	return b.String(), true
}

// single reads up to the closing quote.
func (p *shParser) single(b *strings.Builder) bool {
	for !p.end() {
		c := p.next()
		if c == '\'' {
			return true
		}
		b.WriteByte(c)
	}
	return false
}

// double is single for double quotes, inside which $, ` and \ mean something.
func (p *shParser) double(b *strings.Builder) bool {
	for !p.end() {
		c := p.next()
		if c == '"' {
			return true
		}
		p.char(b, c, true)
	}
	return false
}

// char treats one byte that has been taken, in or out of double quotes.
func (p *shParser) char(b *strings.Builder, c byte, quoted bool) {
	switch c {
	case '\\':
		p.escape(b, quoted)
	case '$':
		if b.Len() <= maxRCValue {
			b.WriteString(p.expansion())
		}
	case '`':
		p.warnf(p.line, "command substitution: not run")
		for !p.end() && p.next() != '`' {
		}
	default:
		b.WriteByte(c)
	}
}

// escape treats what follows a backslash.
func (p *shParser) escape(b *strings.Builder, quoted bool) {
	if p.end() {
		b.WriteByte('\\')
		return
	}
	c := p.next()
	if c == '\n' {
		return
	}
	if quoted && strings.IndexByte("$`\"\\", c) < 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// expansion is the value of what follows a dollar sign.
func (p *shParser) expansion() string {
	switch c := p.peek(); {
	case c == '{':
		p.next()
		return p.braces()
	case c == '(':
		p.warnf(p.line, "command substitution: not run")
		p.parentheses()
		return ""
	case !isNameByte(c, true):
		return "$"
	}
	v, _ := p.get(p.name())
	return v
}

// name takes the name of a variable.
func (p *shParser) name() string {
	start := p.at
	for !p.end() && isNameByte(p.peek(), p.at == start) {
		p.next()
	}
	return p.text[start:p.at]
}

// braces is the value of ${name}, ${name-word}, ${name:-word}, ${name+word} or
// ${name:+word}, whose word is taken literally; the brace has been read.
func (p *shParser) braces() string {
	line := p.line
	name := p.name()
	start := p.at
	for !p.end() && p.peek() != '}' {
		p.next()
	}
	op := p.text[start:p.at]
	closed := p.next() == '}'
	v, set := p.get(name)
	null, isNull := strings.CutPrefix(op, ":")
	set = set && !(isNull && v == "")
	switch {
	case !closed || name == "":
	case op == "":
		return v
	case strings.HasPrefix(null, "-"):
		if set {
			return v
		}
		return null[1:]
	case strings.HasPrefix(null, "+"):
		if set {
			return null[1:]
		}
		return ""
	}
	p.warnf(line, "Bad substitution: ${%.32s", p.text[start-len(name):p.at])
	return ""
}

// parentheses skips a command substitution; the first one is next.
func (p *shParser) parentheses() {
	for depth := 0; !p.end(); {
		switch p.next() {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return
			}
		}
	}
}
