package conf

import "fmt"

// Pos is a place in a file; lines and columns count from 1, columns in bytes.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Message is something pfctl says about a text. Its wording is FreeBSD's, without a
// program's name in front.
type Message struct {
	Pos     Pos
	Text    string
	Warning bool // the text loads all the same
}

func (m Message) String() string { return m.Pos.String() + ": " + m.Text }

// maxMessages bounds what one text can say.
const maxMessages = 1000

// errorf adds an error of the statement that is being read.
func (p *parser) errorf(at Pos, format string, a ...any) {
	p.failed = true
	p.say(Message{Pos: at, Text: fmt.Sprintf(format, a...)})
}

// warnf adds a warning.
func (p *parser) warnf(at Pos, format string, a ...any) {
	p.say(Message{Pos: at, Text: fmt.Sprintf(format, a...), Warning: true})
}

func (p *parser) say(m Message) {
	if len(p.messages) < maxMessages {
		p.messages = append(p.messages, m)
	}
}
