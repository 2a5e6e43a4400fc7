package dmesg8_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/ctl/dmesg8"
	"github.com/ifsim/ifsim/internal/kern"
)

func TestDmesg(t *testing.T) {
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	const usage = "usage: dmesg [-ac]\n"
	for _, c := range []struct {
		print, args    string
		stdout, stderr string
		exit           int
	}{
		{"", "", "", "", 0},
		{"em0: <Intel(R)>\tx\n", "", "em0: <Intel(R)>\tx\n", "", 0},
		{"a\\b\x1b\x7f\u00e9\u0085", "-a", "em0: <Intel(R)>\tx\na\\\\b\\^[\\^?\u00e9\\302\\205\n", "", 0},
		{"", "em0", "", usage, 1},
		{"", "-x", "", "dmesg: illegal option -- x\n" + usage, 1},
		{"\n", "-c", "em0: <Intel(R)>\tx\na\\\\b\\^[\\^?\u00e9\\302\\205\n", "", 0},
		{"more\n", "", "more\n", "", 0},
	} {
		k.Printf("%s", c.print)
		var stdout, stderr bytes.Buffer
		exit := dmesg8.Run(k, strings.Fields(c.args), &stdout, &stderr)
		if stdout.String() != c.stdout || stderr.String() != c.stderr || exit != c.exit {
			t.Errorf("dmesg %s: %q %q %d, want %q", c.args, stdout.String(), stderr.String(), exit, c.stdout)
		}
	}
}
