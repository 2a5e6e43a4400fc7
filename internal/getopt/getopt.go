// Package getopt takes the flags off a command line as getopt(3) does, for the tools
// that FreeBSD has too: flags may be joined (-la), an argument may be (-I em0, -Iem0),
// "--" ends them, and so does the first word that is none.
package getopt

import (
	"fmt"
	"strings"
)

// Error is what getopt(3) prints of a flag that is not known or lacks its argument.
type Error string

func (e Error) Error() string { return string(e) }

// Flags are the flags of a tool.
type Flags struct {
	Plain  func(f byte) bool                // takes a flag without argument; false if it is none
	Valued string                           // flags with an argument
	Value  func(f byte, value string) error // takes one of them
}

// Parse gives the flags in front to the functions, in order, and returns the words
// behind. It ends at the first error: an [Error], or Value's own.
func (s Flags) Parse(args []string) (rest []string, err error) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		word := args[0][1:]
		args = args[1:]
		if word == "-" {
			break
		}
		for i := range len(word) {
			f := word[i]
			if s.Plain(f) {
				continue
			}
			if strings.IndexByte(s.Valued, f) < 0 {
				return nil, Error(fmt.Sprintf("illegal option -- %c", f))
			}
			value := word[i+1:]
			if value == "" {
				if len(args) == 0 {
					return nil, Error(fmt.Sprintf("option requires an argument -- %c", f))
				}
				value, args = args[0], args[1:]
			}
			if err := s.Value(f, value); err != nil {
				return nil, err
			}
			break
		}
	}
	return args, nil
}
