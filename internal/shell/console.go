package shell

import (
	"bytes"
	"io"
	"sync"
)

// eraseLine goes to the beginning of the terminal's line and erases it.
const eraseLine = "\r\x1b[K"

// Console is where a machine's messages go while somebody may be typing. They appear in
// whole lines above the prompt. Any goroutine.
type Console struct {
	out io.Writer

	mu     sync.Mutex
	redraw func() // shows prompt and line again; nil: there is no prompt. Guarded by mu.
	part   []byte // of a line that has not ended, while there is a prompt. Guarded by mu.
}

// NewConsole is a console on a terminal.
func NewConsole(out io.Writer) *Console { return &Console{out: out} }

// Write prints messages.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redraw == nil {
		return c.out.Write(p)
	}
	c.part = append(c.part, p...)
	end := bytes.LastIndexByte(c.part, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	_, err := io.WriteString(c.out, eraseLine+string(c.part[:end]))
	c.part = c.part[:copy(c.part, c.part[end:])]
	c.redraw()
	return len(p), err
}

// prompting tells the console of a prompt; redraw shows it again.
func (c *Console) prompting(redraw func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redraw = redraw
}

// typed tells the console that the line has been typed.
func (c *Console) typed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redraw = nil
	// What becomes of the console is no affair of the line's.
	_, _ = c.out.Write(c.part)
	c.part = c.part[:0]
}
