package tool_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
)

func TestExitSaysWhatIsWrongOnceAndReturnsTheStatus(t *testing.T) {
	const usage = tool.Usage("usage: t [-x]\n")
	for _, c := range []struct {
		err    error
		stderr string
		exit   int
	}{
		{nil, "", 0},
		{errors.New("no"), "t: no\n", 1},
		{usage, "usage: t [-x]\n", 1},
		{fmt.Errorf("wrapped: %w", usage), "usage: t [-x]\n", 1},
		{tool.Status{Code: 65, Err: errors.New("no data")}, "t: no data\n", 65},
		{tool.Status{Code: 2}, "", 2},
		{fmt.Errorf("wrapped: %w", tool.Status{Code: 64, Err: usage}), "usage: t [-x]\n", 64},
	} {
		var stderr bytes.Buffer
		if exit := tool.Exit("t", c.err, &stderr); exit != c.exit || stderr.String() != c.stderr {
			t.Errorf("%v: %d %q, want %d %q", c.err, exit, stderr.String(), c.exit, c.stderr)
		}
	}
}

func TestFlagsThatAreNoneAreAUsage(t *testing.T) {
	bad := errors.New("bad value")
	flags := getopt.Flags{
		Plain:  func(f byte) bool { return f == 'x' },
		Valued: "v",
		Value:  func(byte, string) error { return bad },
	}
	rest, err := tool.Flags("t", "usage: t\n", flags, []string{"-x", "a", "-x"})
	if err != nil || len(rest) != 2 {
		t.Errorf("%q, %v", rest, err)
	}
	if _, err := tool.Flags("t", "usage: t\n", flags, []string{"-q"}); err != tool.Usage("t: illegal option -- q\nusage: t\n") {
		t.Errorf("%#v", err)
	}
	if _, err := tool.Flags("t", "usage: t\n", flags, []string{"-v1"}); err != bad {
		t.Errorf("%v", err)
	}
}
