package tool

import (
	"bufio"
	"io"
	"strings"
)

// EachLine gives the words of each line to a function: those in front of a "#", at least
// two (the files of arp -f and ndp -f). The tool of that name says what is wrong, and goes
// on; in the end that is a failure of which everything has been said.
func EachLine(name string, lines *bufio.Scanner, stderr io.Writer, do func(words []string) error) error {
	failed := false
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		var err error
		switch len(words) {
		case 0:
			continue
		case 1:
			err = Messagef("bad line: %s", text)
		default:
			err = do(words)
		}
		if err != nil {
			Exit(name, err, stderr)
			failed = true
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if failed {
		return Status{Code: Failure}
	}
	return nil
}
