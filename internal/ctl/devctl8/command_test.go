package devctl8_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/internal/ctl/devctl8"
	"github.com/ifsim/ifsim/internal/machine"
)

var _ devctl8.Machine = (*machine.Machine)(nil)

// fake writes down what is done; what is done to "no" fails.
type fake struct{ done []string }

func (f *fake) note(what, device string) error {
	f.done = append(f.done, what+" "+device)
	if device == "no" {
		return fmt.Errorf("%s: %w", device, syscall.ENXIO)
	}
	return nil
}

func (f *fake) Attach(d string) error  { return f.note("attach", d) }
func (f *fake) Detach(d string) error  { return f.note("detach", d) }
func (f *fake) Disable(d string) error { return f.note("disable", d) }
func (f *fake) Enable(d string) error  { return f.note("enable", d) }
func (f *fake) Suspend(d string) error { return f.note("suspend", d) }
func (f *fake) Resume(d string) error  { return f.note("resume", d) }

const usage = `usage: devctl attach device
       devctl detach [-f] device
       devctl disable [-f] device
       devctl enable device
       devctl suspend device
       devctl resume device
`

func TestEachSubcommandDoesWhatItSays(t *testing.T) {
	for _, name := range []string{"attach", "detach", "disable", "enable", "suspend", "resume"} {
		f := &fake{}
		var stderr bytes.Buffer
		if exit := devctl8.Run(f, []string{name, "em0"}, &stderr); exit != 0 || stderr.Len() != 0 {
			t.Errorf("devctl %s em0: %d %q", name, exit, stderr.String())
		}
		if exit := devctl8.Run(f, []string{name, "no"}, &stderr); exit != 1 || stderr.String() != "devctl: Failed to "+name+" no: Device not configured\n" {
			t.Errorf("devctl %s no: %d %q", name, exit, stderr.String())
		}
		if want := []string{name + " em0", name + " no"}; !slices.Equal(f.done, want) {
			t.Errorf("devctl %s did %q", name, f.done)
		}
	}
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args, stderr, done string
		exit               int
	}{
		{"", usage, "", 1},
		{"help", usage, "", 1},
		{"reboot em0", "devctl: Unknown command reboot.\n", "", 1},
		{"attach", usage, "", 1},
		{"attach em0 em1", usage, "", 1},
		{"attach -f", "", "attach -f", 0},
		{"detach -f em0", "", "detach em0", 0},
		{"disable -ff em0", "", "disable em0", 0},
		{"detach", "usage: devctl detach [-f] device\n", "", 1},
		{"disable -f", "usage: devctl disable [-f] device\n", "", 1},
		{"detach -x em0", "devctl: illegal option -- x\nusage: devctl detach [-f] device\n", "", 1},
	} {
		f := &fake{}
		var stderr bytes.Buffer
		exit := devctl8.Run(f, strings.Fields(c.args), &stderr)
		if exit != c.exit || stderr.String() != c.stderr || strings.Join(f.done, ",") != c.done {
			t.Errorf("devctl %s: %d %q, did %q", c.args, exit, stderr.String(), f.done)
		}
	}
}
