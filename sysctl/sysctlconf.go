package sysctl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// ConfLine is one setting of a sysctl.conf.
type ConfLine struct {
	Line int    // number of the line, from 1, as in messages
	Arg  string // as on the command line of sysctl(8): name=value
}

// confLineLen is how much of a line one read takes (BUFSIZ-1); the rest counts as another line.
const confLineLen = 1023

// ParseSysctlConf splits a sysctl.conf into settings, as sysctl -f does (spec ifnet 5.1):
// comments cut, blanks trimmed, empty lines left out. The error is the reader's.
func ParseSysctlConf(r io.Reader) ([]ConfLine, error) {
	var lines []ConfLine
	br := bufio.NewReaderSize(r, confLineLen)
	for n := 1; ; n++ {
		// A full buffer without a newline is a line of its own, as with fgets.
		chunk, err := br.ReadSlice('\n')
		if len(chunk) > 0 {
			text, _, _ := bytes.Cut(chunk, []byte{0})
			if arg := trimSpace(cutComment(string(text))); arg != "" {
				lines = append(lines, ConfLine{n, arg})
			}
		}
		switch err {
		case nil, bufio.ErrBufferFull:
		case io.EOF:
			return lines, nil
		default:
			return lines, fmt.Errorf("reading sysctl.conf: %w", err)
		}
	}
}

// cutComment removes a comment. A # with a backslash before it is none; after the first quote of
// the line, what follows the matching quote is cut instead.
func cutComment(line string) string {
	for at := 0; at < len(line); at++ {
		hash := strings.IndexByte(line[at:], '#')
		if hash < 0 {
			return line
		}
		at += hash
		for _, quote := range []byte{'\'', '"'} {
			open := strings.IndexByte(line, quote)
			if open < 0 || open > at {
				continue
			}
			if shut := strings.IndexByte(line[open+1:], quote); shut >= 0 {
				return line[:open+1+shut+1]
			}
			return line
		}
		if at == 0 || line[at-1] != '\\' {
			return line[:at]
		}
	}
	return line
}
