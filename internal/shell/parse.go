package shell

import (
	"fmt"
	"strings"
)

// Join is how a command depends on the one before it in a list.
type Join string

// The joins. The first command of a list has Always.
const (
	Always Join = ";"
	And    Join = "&&"
	Or     Join = "||"
)

// Command is one command of a list.
type Command struct {
	Join  Join
	Words []Word
	// Host is what the host's sh does with the output, "" for nothing: the text behind a
	// pipe sign, or a redirection as "cat >file".
	Host string
}

// Word is a word of a command: pieces of text, with the last status between each two.
type Word []string

// Expand is the word as a command gets it when the last status is the given one.
func (w Word) Expand(status int) string { return strings.Join(w, fmt.Sprint(status)) }

// SyntaxError is a line that sh does not understand.
type SyntaxError string

func (e SyntaxError) Error() string { return "Syntax error: " + string(e) }

// errQuote is a quote without its end.
const errQuote = SyntaxError("Unterminated quoted string")

// unexpected is a token where it has no place.
func unexpected(token string) error {
	return SyntaxError(fmt.Sprintf("%q unexpected", token))
}

// unknown is what sh has and this shell has not.
func unknown(what string) error { return SyntaxError(what + " is not known here") }

const (
	blanks = " \t"
	// enders end a word that is not quoted.
	enders = blanks + ";&|<>()\n"
)

// parser takes a line apart.
type parser struct {
	rest string
}

// Parse takes a line apart. The error is a [SyntaxError].
func Parse(line string) ([]Command, error) {
	p := parser{rest: line}
	var list []Command
	for join := Always; ; {
		c := Command{Join: join}
		end, err := p.command(&c)
		if err != nil {
			return nil, err
		}
		switch empty := len(c.Words) == 0; {
		case end == "" && empty && join != Always:
			return nil, SyntaxError("newline unexpected")
		case empty && (end != "" || c.Host != ""):
			return nil, unexpected(end)
		case !empty:
			list = append(list, c)
		}
		if end == "" {
			return list, nil
		}
		join = Join(end)
	}
}

// command takes the words of a command and what ends it: a Join, or "" at the end of the
// line.
func (p *parser) command(c *Command) (end string, err error) {
	for {
		p.rest = strings.TrimLeft(p.rest, blanks)
		if p.rest == "" || p.rest[0] == '#' {
			p.rest = ""
			return "", nil
		}
		if end := p.operator(); end != "" {
			return end, nil
		}
		switch p.rest[0] {
		case '|', '>':
			if len(c.Words) == 0 {
				return p.rest[:1], nil
			}
			c.Host, err = p.host()
		case '&', '<', '(', ')':
			return "", unknown(p.rest[:1])
		default:
			var w Word
			if w, err = p.word(); err == nil {
				c.Words = append(c.Words, w)
			}
		}
		if err != nil {
			return "", err
		}
	}
}

// operator takes a Join off, if there is one.
func (p *parser) operator() string {
	for _, j := range [...]Join{And, Or, Always} {
		if rest, ok := strings.CutPrefix(p.rest, string(j)); ok {
			p.rest = rest
			return string(j)
		}
	}
	return ""
}

// host takes what is the host's: up to the next Join that is not quoted.
func (p *parser) host() (string, error) {
	all := p.rest
	prefix := "cat "
	if all[0] == '|' {
		p.rest, prefix = p.rest[1:], ""
	}
	from := p.rest
	for p.rest != "" {
		at := p.rest
		if p.operator() != "" {
			p.rest = at
			break
		}
		if err := p.skip(); err != nil {
			return "", err
		}
	}
	text := strings.TrimSpace(from[:len(from)-len(p.rest)])
	if text == "" {
		return "", unexpected(all[:1])
	}
	return prefix + text, nil
}

// skip passes over a character, with its quote if it is one.
func (p *parser) skip() error {
	first := p.rest[0]
	p.rest = p.rest[1:]
	switch first {
	case '\'', '"':
		var b builder
		return p.quoted(&b, first)
	case '\\':
		if p.rest != "" {
			p.rest = p.rest[1:]
		}
	}
	return nil
}

// builder makes a Word.
type builder struct {
	done Word
	text strings.Builder
}

// status ends a piece of text where the status goes.
func (b *builder) status() {
	b.done = append(b.done, b.text.String())
	b.text.Reset()
}

// word takes a word, with its quotes off.
func (p *parser) word() (Word, error) {
	var b builder
	for p.rest != "" && !strings.ContainsRune(enders, rune(p.rest[0])) {
		first := p.rest[0]
		p.rest = p.rest[1:]
		var err error
		switch first {
		case '\'', '"':
			err = p.quoted(&b, first)
		case '\\':
			if p.rest == "" {
				return nil, SyntaxError("nothing follows a backslash")
			}
			b.text.WriteByte(p.rest[0])
			p.rest = p.rest[1:]
		default:
			err = p.plain(&b, first)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b.done, b.text.String()), nil
}

// quoted takes what is left of a quote, and its end.
func (p *parser) quoted(b *builder, quote byte) error {
	for p.rest != "" {
		first := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case first == quote:
			return nil
		case quote == '\'':
			b.text.WriteByte(first)
		case first == '\\' && p.rest != "" && strings.ContainsRune("\"\\$`", rune(p.rest[0])):
			b.text.WriteByte(p.rest[0])
			p.rest = p.rest[1:]
		default:
			if err := p.plain(b, first); err != nil {
				return err
			}
		}
	}
	return errQuote
}

// plain takes a character that is neither a quote nor quoted by one: what it expands to.
func (p *parser) plain(b *builder, first byte) error {
	const name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789{(#@*!$-"
	next := byte(0)
	if p.rest != "" {
		next = p.rest[0]
	}
	switch {
	case first == '`':
		return unknown("`")
	case first == '$' && next == '?':
		p.rest = p.rest[1:]
		b.status()
	case first == '$' && next != 0 && strings.IndexByte(name, next) >= 0:
		return unknown("$" + string(next))
	default:
		b.text.WriteByte(first)
	}
	return nil
}
