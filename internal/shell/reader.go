package shell

import (
	"bufio"
	"io"
	"strings"
)

// maxLine is the longest line of a script in bytes.
const maxLine = 1 << 20

// Reader is an [Input] without a terminal: a script.
type Reader struct {
	lines *bufio.Scanner
}

// NewReader reads lines from r.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return &Reader{lines: lines}
}

// Line is the next line. A line with a backslash at its end goes on in the next.
func (r *Reader) Line() (string, error) {
	var line string
	for r.lines.Scan() {
		text := r.lines.Text()
		whole := strings.TrimRight(text, `\`)
		if odd := (len(text)-len(whole))%2 == 1; !odd {
			return line + text, nil
		}
		line += text[:len(text)-1]
	}
	if err := r.lines.Err(); err != nil {
		return "", err
	}
	if line != "" {
		return line, nil
	}
	return "", io.EOF
}
