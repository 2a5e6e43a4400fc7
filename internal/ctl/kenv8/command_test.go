package kenv8_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/ctl/kenv8"
	"github.com/ifsim/ifsim/sysctl"
)

const usage = "usage: kenv [-l|-s] [-hNq]\n       kenv [-qv] variable[=value]\n       kenv [-q] -u variable\n"

// environment has a hint and two tunables.
func environment(t testing.TB) *sysctl.Kenv {
	t.Helper()
	env := sysctl.NewKenv()
	for _, pair := range [][2]string{{"hint.em.0.port", "null"}, {"kern.hz", "100"}, {"empty", ""}} {
		if err := env.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	return env
}

func TestOutputAndStatusAreFreeBSDs(t *testing.T) {
	long := strings.Repeat("x", sysctl.KenvValueLen+1)
	for _, c := range []struct {
		args           string
		stdout, stderr string
		exit           int
	}{
		{"", "hint.em.0.port=\"null\"\nkern.hz=\"100\"\nempty=\"\"\n", "", 0},
		{"-q", "hint.em.0.port=\"null\"\nkern.hz=\"100\"\nempty=\"\"\n", "", 0},
		{"-N", "hint.em.0.port\nkern.hz\nempty\n", "", 0},
		{"-h", "hint.em.0.port=\"null\"\n", "", 0},
		{"-hN", "hint.em.0.port\n", "", 0},
		{"kern.hz", "100\n", "", 0},
		{"-v kern.hz", "kern.hz=\"100\"\n", "", 0},
		{"empty", "\n", "", 0},
		{"none", "", "kenv: unable to get none\n", 255},
		{"-q none", "", "", 255},
		{"kern.hz=250", "kern.hz=\"250\"\n", "", 0},
		{"a=b=c", "a=\"b=c\"\n", "", 0},
		{"-v a=", "a=\"\"\n", "", 0},
		{"=x", "", "kenv: unable to set  to x\n", 255},
		{"a=" + long, "", "kenv: unable to set a to " + long + "\n", 255},
		{"-q a=" + long, "", "", 255},
		{"-u kern.hz", "", "", 0},
		{"-u none", "", "kenv: unable to unset none\n", 255},
		{"-qu none", "", "", 255},
		{"-l", "", "kenv: requested environment is unavailable\n", 255},
		{"-s", "", "kenv: requested environment is unavailable\n", 255},
		{"-ql", "", "", 255},
		{"-ls", "", usage, 1},
		{"-l kern.hz", "", usage, 1},
		{"-N kern.hz", "", usage, 1},
		{"-h kern.hz", "", usage, 1},
		{"-v", "", usage, 1},
		{"-u", "", usage, 1},
		{"kern.hz -v", "", usage, 1},
		{"-z", "", "kenv: illegal option -- z\n" + usage, 1},
	} {
		var stdout, stderr bytes.Buffer
		exit := kenv8.Run(environment(t), strings.Fields(c.args), &stdout, &stderr)
		if stdout.String() != c.stdout || stderr.String() != c.stderr || exit != c.exit {
			t.Errorf("kenv %s: %q %q %d, want %q %q %d", c.args, stdout.String(), stderr.String(), exit, c.stdout, c.stderr, c.exit)
		}
	}
}

func TestWhatIsSetIsThereAndWhatIsUnsetIsNot(t *testing.T) {
	env := environment(t)
	var out bytes.Buffer
	for _, args := range [][]string{{"kern.hz=250"}, {"new=1"}, {"-u", "empty"}} {
		if exit := kenv8.Run(env, args, &out, &out); exit != 0 {
			t.Errorf("kenv %q: status %d", args, exit)
		}
	}
	if got := fmt.Sprint(env.All()); got != "[hint.em.0.port=null kern.hz=250 new=1]" {
		t.Error(got)
	}
}

func TestAFullTableIsNotTold(t *testing.T) {
	env := sysctl.NewKenv()
	for i := range sysctl.KenvSize {
		if err := env.Set(fmt.Sprint("n", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	if exit := kenv8.Run(env, []string{"more=1"}, &stdout, &stderr); exit != 0 || stdout.String() != "more=\"1\"\n" || stderr.Len() != 0 {
		t.Errorf("%d %q %q", exit, stdout.String(), stderr.String())
	}
	if _, ok := env.Get("more"); ok {
		t.Error("a full table took another variable")
	}
}
