package getopt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/internal/getopt"
)

func TestFlagsAreTakenInOrderUntilTheFirstOtherWord(t *testing.T) {
	errBad := errors.New("bad value")
	for _, c := range []struct {
		args, want string // want: what the functions were given
		rest       []string
		err        error
	}{
		{args: "", want: ""},
		{args: "em0 -a", rest: []string{"em0", "-a"}},
		{args: "-a -b x -a", want: "a b", rest: []string{"x", "-a"}},
		{args: "-ab", want: "a b"},
		{args: "-aIem0 -b", want: "a I=em0 b"},
		{args: "-I -a b", want: "I=-a", rest: []string{"b"}},
		{args: "-a -- -b", want: "a", rest: []string{"-b"}},
		{args: "-a -", want: "a", rest: []string{"-"}},
		{args: "-az -b", want: "a", err: getopt.Error("illegal option -- z")},
		{args: "-b -aI", want: "b a", err: getopt.Error("option requires an argument -- I")},
		{args: "-Ibad -a", want: "I=bad", err: errBad},
	} {
		var got []string
		rest, err := getopt.Flags{
			Plain: func(f byte) bool {
				if f != 'a' && f != 'b' {
					return false
				}
				got = append(got, string(f))
				return true
			},
			Valued: "I",
			Value: func(f byte, value string) error {
				got = append(got, string(f)+"="+value)
				if value == "bad" {
					return errBad
				}
				return nil
			},
		}.Parse(strings.Fields(c.args))
		if !errors.Is(err, c.err) || strings.Join(got, " ") != c.want {
			t.Errorf("%q: gave %q, %v; want %q, %v", c.args, got, err, c.want, c.err)
		}
		if err == nil && !cmp.Equal(rest, append([]string{}, c.rest...)) {
			t.Errorf("%q: left %q, want %q", c.args, rest, c.rest)
		}
	}
}
