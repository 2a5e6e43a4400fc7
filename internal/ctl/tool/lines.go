package tool

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/sysctl"
)

// EachLine gives the words of each line of a file to a function: those in front of a "#",
// at least two (arp -f, ndp -f). The tool of that name says what is wrong, and goes on; in
// the end that is a failure of which everything has been said.
func (s IO) EachLine(name, file string, do func(words []string) error) error {
	f, err := s.Open(file)
	if err != nil {
		return Messagef("cannot open %s: %s", file, sysctl.Strerror(err))
	}
	defer f.Close()
	failed := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		switch len(words) {
		case 0:
			continue
		case 1:
			err = Messagef("bad line: %s", text)
		default:
			err = do(words)
		}
		if err != nil {
			Exit(name, err, s.Stderr)
			failed = true
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if failed {
		return Status{Code: Failure}
	}
	return nil
}
