package shell

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// builtin is a command of the shell's own.
type builtin func(s *Shell, ctx context.Context, argv []string, stdout io.Writer) (status int)

// builtins are the commands of the shell's own.
var builtins = map[string]builtin{
	"echo":  echo,
	"exit":  exit,
	"false": func(*Shell, context.Context, []string, io.Writer) int { return 1 },
	"help":  help,
	"quit":  exit,
	"sleep": sleep,
	"true":  func(*Shell, context.Context, []string, io.Writer) int { return 0 },
}

// Builtins are the names of the shell's own commands, sorted.
func Builtins() []string {
	names := make([]string, 0, len(builtins))
	for name := range builtins {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func echo(_ *Shell, _ context.Context, argv []string, stdout io.Writer) int {
	words, end := argv[1:], "\n"
	if len(words) > 0 && words[0] == "-n" {
		words, end = words[1:], ""
	}
	fmt.Fprint(stdout, strings.Join(words, " ")+end)
	return 0
}

func help(s *Shell, _ context.Context, argv []string, stdout io.Writer) int {
	return s.Help(stdout, argv[1:])
}

// exit ends the shell with a status, or that of the last command.
func exit(s *Shell, _ context.Context, argv []string, _ io.Writer) (status int) {
	s.ended = true
	if len(argv) == 1 {
		return s.status
	}
	const mask = 0xff
	n, err := strconv.ParseUint(argv[1], 10, 31)
	if err != nil {
		s.complain("%s: Illegal number: %s", argv[0], argv[1])
		s.ended = !s.Interactive
		return statusUsage
	}
	return int(n & mask)
}

// sleep waits for seconds of the host's time.
func sleep(s *Shell, ctx context.Context, argv []string, _ io.Writer) int {
	const longest = 1e9
	var seconds float64
	err := strconv.ErrSyntax
	if len(argv) == 2 {
		seconds, err = strconv.ParseFloat(argv[1], 64)
	}
	if err != nil || !(seconds >= 0 && seconds <= longest) {
		fmt.Fprintln(s.Stderr, "usage: sleep number")
		return 1
	}
	select {
	case <-time.After(time.Duration(seconds * float64(time.Second))):
		return 0
	case <-ctx.Done():
		return statusInterrupted
	}
}
