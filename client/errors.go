package client

import (
	"fmt"
	"strings"
)

// Refused is a request that the machine did not carry out, or not to its end: it does not
// know the command, too many clients ask at a time, or a tool printed too much.
type Refused struct {
	Reason string // in the machine's words
	// Again reports that nothing was done and that a later try may succeed. Do has tried for
	// 10 seconds.
	Again bool
}

// Error is the reason.
func (e *Refused) Error() string { return e.Reason }

// Exit is a tool that ended with a status other than 0.
type Exit struct {
	Command string
	Status  int    // FreeBSD's of the tool
	Stderr  string // what it complained of in its last part
}

// Error is the last line that the tool complained with, which names the tool, or the status.
func (e *Exit) Error() string {
	text := strings.TrimSpace(e.Stderr)
	if text == "" {
		return fmt.Sprintf("%s: exit status %d", e.Command, e.Status)
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
