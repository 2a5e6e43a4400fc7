package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/shell"
)

// fake runs "ok ARGS", "fail N", "yes", which prints for ever, and "wait" and "listen",
// which wait for an interrupt; the latter has it for a success.
func fake(ctx context.Context, argv []string, stdout io.Writer) (status int, found bool) {
	switch argv[0] {
	case "ok":
		fmt.Fprintf(stdout, "%q\n", argv[1:])
		return 0, true
	case "fail":
		n, _ := strconv.Atoi(argv[1])
		return n, true
	case "yes":
		for ctx.Err() == nil {
			if _, err := fmt.Fprintln(stdout, "y"); err != nil {
				return 1, true
			}
		}
		return 130, true
	case "wait", "listen":
		// The command has its ctx already, so the signal is its own.
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGINT)
		<-ctx.Done()
		if argv[0] == "listen" {
			return 0, true
		}
		return 130, true
	}
	return 0, false
}

// run feeds a script to a shell and returns all that it prints.
func run(script string, interactive bool) (printed string, exit int) {
	var out bytes.Buffer
	s := &shell.Shell{
		Run: fake, Stdout: &out, Stderr: &out, Interactive: interactive,
		Help: func(w io.Writer, argv []string) int {
			fmt.Fprintf(w, "help of %q\n", argv)
			return 0
		},
	}
	exit = s.Loop(context.Background(), shell.NewReader(strings.NewReader(script)))
	return out.String(), exit
}

func TestScriptsRunAsInSh(t *testing.T) {
	for _, c := range []struct {
		script, want string
		exit         int
	}{
		{"", "", 0},
		{"ok 'a b' c\nok", "[\"a b\" \"c\"]\n[]\n", 0},
		{"ok a \\\nb\nok 'c\\\\'", "[\"a\" \"b\"]\n[\"c\\\\\\\\\"]\n", 0},
		{"fail 3\n\n# comment\n", "", 3},
		{"fail 3; ok $?", "[\"3\"]\n", 0},
		{"fail 3 && ok a || ok b && ok c", "[\"b\"]\n[\"c\"]\n", 0},
		{"ok a || ok b; ok c", "[\"a\"]\n[\"c\"]\n", 0},
		{"fail 1 && ok a", "", 1},
		{"nothing; echo $?", "sh: nothing: not found\n127\n", 0},
		{"fail 4\nexit\nok", "", 4},
		{"exit 300; ok", "", 44},
		{"quit 7", "", 7},
		{"exit x\nok", "sh: exit: Illegal number: x\n", 2},
		{"a 'b\nok", "sh: Syntax error: Unterminated quoted string\n", 2},
		{"true && echo -n a && echo b c; false", "ab c\n", 1},
		{"sleep 0.001 && sleep", "usage: sleep number\n", 1},
		{"help me", "help of [\"me\"]\n", 0},
		{"echo b | cat -; false | true; echo $?", "b\n0\n", 0},
		{"echo lost > /dev/null; echo a | sh -c 'exit 5'", "", 5},
		{"yes | head -1; echo $?", "y\n0\n", 0},
		{"wait; ok\nok", "", 130},
		{"wait | cat; ok", "", 130},
		{"listen; ok", "", 0},
	} {
		got, exit := run(c.script, false)
		if d := cmp.Diff(c.want, got); d != "" || exit != c.exit {
			t.Errorf("%q: exit %d, want %d\n%s", c.script, exit, c.exit, d)
		}
	}
}

func TestInteractiveShellsGoOn(t *testing.T) {
	got, exit := run("a 'b\necho $?\nwait; ok lost\necho $?\nexit x\nexit 6\nok", true)
	want := "sh: Syntax error: Unterminated quoted string\n2\n130\nsh: exit: Illegal number: x\n"
	if d := cmp.Diff(want, got); d != "" || exit != 6 {
		t.Errorf("exit %d\n%s", exit, d)
	}
}

// lines is an input of lines and errors.
type lines []any

func (l *lines) Line() (string, error) {
	next := (*l)[0]
	*l = (*l)[1:]
	if err, ok := next.(error); ok {
		return "", err
	}
	return next.(string), nil
}

func TestLoopTellsWhatInputSays(t *testing.T) {
	for _, c := range []struct {
		in   lines
		want string
		exit int
	}{
		{lines{"true", shell.ErrInterrupted, "echo $?", io.EOF}, "130\n", 0},
		{lines{shell.ErrInterrupted, io.EOF}, "", 130},
		{lines{errors.New("no terminal")}, "sh: no terminal\n", 1},
	} {
		var out bytes.Buffer
		s := &shell.Shell{Run: fake, Stdout: &out, Stderr: &out, Interactive: true}
		if exit := s.Loop(context.Background(), &c.in); exit != c.exit || out.String() != c.want {
			t.Errorf("exit %d, want %d: %q", exit, c.exit, out.String())
		}
	}
}

func TestLoopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := &shell.Shell{Run: fake}
	if exit := s.Loop(ctx, &lines{}); exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

func TestLongLinesAreRefused(t *testing.T) {
	got, exit := run("ok "+strings.Repeat("x", 2<<20), false)
	if got != "sh: bufio.Scanner: token too long\n" || exit != 1 {
		t.Errorf("%.80q, %d", got, exit)
	}
}

func TestCompletionsAreThoseOfTheLastCommand(t *testing.T) {
	choose := func(argv []string, word string) ([]string, bool) {
		return []string{word + strings.Join(argv, ","), "node."}, word == "o"
	}
	for _, c := range []struct {
		line, head string
		words      []string
	}{
		{"", "", []string{" ", "node. "}},
		{"a; b 'c d' o", "a; b 'c d' ", []string{"ob,c d ", "node."}},
		{"a&&b", "a&&", []string{"b ", "node. "}},
		{"a | b", "a | b", nil},
		{"a 'b", "a 'b", nil},
		{"a 'b c", "a 'b c", nil},
		{"a $x b", "a $x b", nil},
	} {
		head, words := shell.Completions(choose, c.line)
		if head != c.head || !cmp.Equal(words, c.words) {
			t.Errorf("%q: %q %q, want %q %q", c.line, head, words, c.head, c.words)
		}
	}
}
