package conf

import (
	"strconv"
	"strings"
)

const (
	// maxWord bounds a word, a quoted string and the value of a macro, in bytes.
	maxWord = 8096
	// maxDepth bounds files that include each other.
	maxDepth = 16
	// maxText bounds all files of a load together, in bytes.
	maxText = 8 << 20
)

// source is a text that is being read: a file, the value of a macro, or characters
// that were put back.
type source struct {
	text  string
	off   int
	pos   Pos  // of the next character; a macro's characters all have the place of its $
	macro bool // in here a $ is only a character
	file  bool
}

// lexer cuts text into tokens (yylex of parse.y).
type lexer struct {
	p     *parser
	stack []source
	total int // bytes of the files so far
}

// push has the lexer read s before it goes on.
func (l *lexer) push(s source) { l.stack = append(l.stack, s) }

// pushFile has it read a file.
func (l *lexer) pushFile(name, text string) {
	l.total += len(text)
	l.push(source{text: text, pos: Pos{File: name, Line: 1, Col: 1}, file: true})
}

// files is the number of files that are open.
func (l *lexer) files() int {
	n := 0
	for i := range l.stack {
		if l.stack[i].file {
			n++
		}
	}
	return n
}

const eof = -1

// top is where the next character comes from; nil at the end of everything.
func (l *lexer) top() *source {
	for len(l.stack) > 0 {
		s := &l.stack[len(l.stack)-1]
		if s.file {
			skipContinuation(s)
		}
		if s.off < len(s.text) {
			return s
		}
		if len(l.stack) == 1 {
			return nil
		}
		l.stack = l.stack[:len(l.stack)-1]
	}
	return nil
}

// skipContinuation passes over a backslash and the newline behind it.
func skipContinuation(s *source) {
	for strings.HasPrefix(s.text[s.off:], "\\\n") {
		s.off += 2
		s.pos.Line++
		s.pos.Col = 1
	}
}

// peek is the next character, or eof. A backslash hides itself.
func (l *lexer) peek() int {
	s := l.top()
	if s == nil {
		return eof
	}
	if c := s.text[s.off]; c != '\\' || !s.file || s.off+1 == len(s.text) {
		return int(c)
	}
	return int(s.text[s.off+1])
}

// next takes the next character.
func (l *lexer) next() int {
	s := l.top()
	if s == nil {
		return eof
	}
	if s.text[s.off] == '\\' && s.file && s.off+1 < len(s.text) {
		s.advance()
	}
	return s.advance()
}

// advance takes a character as it stands.
func (s *source) advance() int {
	c := s.text[s.off]
	s.off++
	switch {
	case !s.file:
	case c == '\n':
		s.pos.Line++
		s.pos.Col = 1
	default:
		s.pos.Col++
	}
	return int(c)
}

// pos is the place of the next character.
func (l *lexer) pos() Pos {
	if s := l.top(); s != nil {
		return s.pos
	}
	if len(l.stack) == 1 {
		return l.stack[0].pos
	}
	return Pos{}
}

// inMacro reports whether the next character comes from a macro.
func (l *lexer) inMacro() bool {
	s := l.top()
	return s != nil && s.macro
}

// fail complains and gives the rest of the line up.
func (l *lexer) fail(at Pos, format string, a ...any) token {
	l.p.errorf(at, format, a...)
	l.toEOL()
	return token{kind: tokError, pos: at}
}

// toEOL skips to the end of the line of the file and takes it.
func (l *lexer) toEOL() {
	for len(l.stack) > 1 && !l.stack[len(l.stack)-1].file {
		l.stack = l.stack[:len(l.stack)-1]
	}
	for c := l.next(); c != '\n' && c != eof; c = l.next() {
	}
}

// file is the innermost file that is being read, nil at the end.
func (l *lexer) file() *source {
	for i := len(l.stack) - 1; i >= 0; i-- {
		if l.stack[i].file {
			return &l.stack[i]
		}
	}
	return nil
}

// token takes the next token.
func (l *lexer) token() token {
	for l.peek() == ' ' || l.peek() == '\t' {
		l.next()
	}
	off := 0
	if f := l.file(); f != nil {
		off = f.off
	}
	t := l.cut()
	t.off = off
	return t
}

// cut takes a token that begins here, or behind a comment.
func (l *lexer) cut() token {
	if l.peek() == '#' {
		for c := l.peek(); c != '\n' && c != eof; c = l.peek() {
			l.next()
		}
	}
	at := l.pos()
	switch c := l.peek(); {
	case c == eof:
		return token{kind: tokEOF, pos: at}
	case c == '$' && !l.inMacro():
		return l.macro(at)
	case c == '"' || c == '\'':
		return l.quoted(at)
	case c == '<' || c == '>' || c == '-':
		return l.operator(at)
	case isAlnum(c) || c == ':' || c == '_':
		return l.word(at)
	default:
		return token{kind: kind(l.next()), pos: at}
	}
}

// macro takes $name and goes on with its value.
func (l *lexer) macro(at Pos) token {
	l.next()
	var name []byte
	for c := l.peek(); c == '_' || isAlnum(c); c = l.peek() {
		if len(name) == maxWord {
			return l.fail(at, "string too long")
		}
		name = append(name, byte(l.next()))
	}
	m, ok := l.p.macros[string(name)]
	if !ok {
		return l.fail(at, "macro '%s' not defined", name)
	}
	m.used = true
	l.push(source{text: m.value, pos: at, macro: true})
	return l.token()
}

// quoted takes a string in quotes. Newlines in it are dropped, and a backslash only
// means something before the quote or a newline.
func (l *lexer) quoted(at Pos) token {
	quote := l.next()
	var text []byte
	for {
		s := l.raw()
		if s == nil {
			l.p.errorf(at, "reached end of file while parsing quoted string")
			return token{kind: tokError, pos: at}
		}
		c := s.advance()
		if c == '\\' && s.off < len(s.text) && (int(s.text[s.off]) == quote || s.text[s.off] == '\n') {
			c = s.advance()
		} else if c == quote {
			return token{kind: tokString, text: string(text), pos: at}
		}
		if c == '\n' {
			continue
		}
		if len(text) == maxWord {
			return l.fail(at, "string too long")
		}
		text = append(text, byte(c))
	}
}

// raw is the source of the next character, without continuation lines; nil at the end
// of the file.
func (l *lexer) raw() *source {
	for len(l.stack) > 0 {
		s := &l.stack[len(l.stack)-1]
		if s.off < len(s.text) {
			return s
		}
		if s.file {
			return nil
		}
		l.stack = l.stack[:len(l.stack)-1]
	}
	return nil
}

// operator takes what begins with <, > or -.
func (l *lexer) operator(at Pos) token {
	c := l.next()
	next := l.peek()
	switch {
	case c == '<' && next == '>':
		l.next()
		return token{kind: tokXRange, pos: at}
	case c == '>' && next == '<':
		l.next()
		return token{kind: tokIRange, pos: at}
	case c == '-' && next == '>':
		l.next()
		return token{kind: tokArrow, pos: at}
	case c == '-' && isDigit(next):
		return l.negative(at)
	}
	return token{kind: kind(c), pos: at}
}

// negative takes a number behind its sign, or leaves what is none.
func (l *lexer) negative(at Pos) token {
	digits := []byte{'-'}
	from, macro := l.pos(), l.inMacro()
	for isDigit(l.peek()) {
		if len(digits) == maxWord {
			return l.fail(at, "string too long")
		}
		digits = append(digits, byte(l.next()))
	}
	if endsNumber(l.peek()) {
		return l.number(at, string(digits))
	}
	l.push(source{text: string(digits[1:]), pos: from, macro: macro})
	return token{kind: '-', pos: at}
}

// word takes a number, a keyword or a string.
func (l *lexer) word(at Pos) token {
	var text []byte
	digits := true
	for c := l.peek(); inString(c); c = l.peek() {
		if len(text) == maxWord {
			return l.fail(at, "string too long")
		}
		digits = digits && isDigit(c)
		text = append(text, byte(l.next()))
	}
	switch w := string(text); {
	case digits && endsNumber(l.peek()):
		return l.number(at, w)
	case keywords[w]:
		return token{kind: tokKeyword, text: w, pos: at}
	default:
		return token{kind: tokString, text: w, pos: at}
	}
}

func (l *lexer) number(at Pos, text string) token {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		why := "too large"
		if text[0] == '-' {
			why = "too small"
		}
		return l.fail(at, "\"%s\" invalid number: %s", text, why)
	}
	return token{kind: tokNumber, num: n, text: strconv.FormatInt(n, 10), pos: at}
}

func isDigit(c int) bool { return c >= '0' && c <= '9' }

func isAlnum(c int) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// inString reports whether a word may go on with c.
func inString(c int) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune("(){}<>!=/#,", rune(c))
}

// endsNumber reports whether c may follow a number.
func endsNumber(c int) bool {
	return c == eof || strings.ContainsRune(" \t\n\v\f\r),/}=", rune(c))
}
