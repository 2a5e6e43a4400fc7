// Package nstest gives tests the network namespaces of package netns. Only tests
// import it.
package nstest

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/internal/netns"
)

// insideEnv is set in the process that has namespaces of its own.
const insideEnv = "IFSIM_NSTEST_INSIDE"

// Unavailable skips a test that cannot be run here, but fails where CI is set.
func Unavailable(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Attr are the attributes of a process with a user and a network namespace of its own,
// in which it is root. The caller's thread must not end before the process.
func Attr() *syscall.SysProcAttr { return netns.Attr() }

// Inside runs the calling test again in a process of [Attr], and reports whether it is
// that second run:
//
//	if !nstest.Inside(t) {
//		return
//	}
//
// The test fails if the second run does; it is [Unavailable] without namespaces.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run="+pattern(t), "-test.v", "-test.timeout="+flagValue("test.timeout"))
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	err = netns.Run(cmd)
	if errors.Is(err, netns.ErrUnavailable) {
		Unavailable(t, "%v", err)
	}
	if err != nil {
		t.Errorf("in namespaces: %v\n%s", err, &out)
	} else if strings.Contains(out.String(), "--- SKIP") {
		t.Skipf("in namespaces:\n%s", &out)
	} else {
		t.Logf("in namespaces:\n%s", &out)
	}
	return false
}

// pattern chooses this test, and of its parts those that -run chooses.
func pattern(t *testing.T) string {
	name := "^" + t.Name() + "$"
	if _, parts, some := strings.Cut(flagValue("test.run"), "/"); some {
		name += "/" + parts
	}
	return name
}

func flagValue(name string) string { return flag.Lookup(name).Value.String() }
