package ifconfig8_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
)

// three are em0 (up, in group lab), em1 and ix0 (in no group), and one that is hidden.
func three(t *testing.T) *box {
	b := newBox(t)
	em0 := b.add("em", 0, nic{})
	em0.SetFlags(ifnet.FlagUp, 0)
	must(t, em0.Ioctl(ifnet.IoctlAddGroup, "lab"))
	b.add("em", 1, nic{})
	b.add("ix", 0, nic{})
	b.add("hid", 0, nic{}).SetFlags(ifnet.FlagCantConfig, 0)
	return b
}

func TestOptionsChooseInterfaces(t *testing.T) {
	b := three(t)
	for args, want := range map[string]string{
		"-l": "em0 em1 ix0\n", "-l -u": "em0\n", "-ld": "em1 ix0\n", "-g lab -l": "em0\n", "-l -glab": "em0\n",
		"-l -G lab": "em1 ix0\n", "-l -g none": "\n", "-l ether": "em0 em1 ix0\n", "-n -k -L -l --": "em0 em1 ix0\n",
	} {
		stdout, stderr, exit := b.run(strings.Fields(args)...)
		if stdout != want || stderr != "" || exit != 0 {
			t.Errorf("ifconfig %s: %q %q %d, want %q", args, stdout, stderr, exit, want)
		}
	}
	stdout, _, _ := b.run("-d")
	if n := strings.Count(stdout, "flags="); n != 2 || strings.Contains(stdout, "em0:") {
		t.Errorf("ifconfig -d shows\n%s", stdout)
	}
}

func TestMessagesGoToStderrWithStatusOne(t *testing.T) {
	b := three(t)
	for args, want := range map[string]string{
		"em9":            "ifconfig: interface em9 does not exist\n",
		"em9 up":         "ifconfig: interface em9 does not exist\n",
		"em0 no":         "ifconfig: no: bad value\n",
		"em0 create":     "ifconfig: interface em0 already exists\n",
		"vlan7 create":   "ifconfig: SIOCIFCREATE2 (vlan7): Invalid argument\n",
		"-j cell -l":     "ifconfig: jail \"cell\" not found\n",
		"-x":             "ifconfig: illegal option -- x\nusage: ifconfig ",
		"-l -g":          "ifconfig: option requires an argument -- g\nusage: ifconfig ",
		"-d -u":          "usage: ifconfig ",
		"-l -m":          "usage: ifconfig ",
		"-a em0":         "usage: ifconfig ",
		"-a inet inet6":  "usage: ifconfig ",
		"-l no address":  "usage: ifconfig ",
		"-d -u -l inet6": "usage: ifconfig ",
	} {
		stdout, stderr, exit := b.run(strings.Fields(args)...)
		usage := strings.HasSuffix(want, "usage: ifconfig ")
		if stdout != "" || exit != 1 || stderr != want && !(usage && strings.HasPrefix(stderr, want)) {
			t.Errorf("ifconfig %s: %q %q %d, want %q", args, stdout, stderr, exit, want)
		}
	}
}

func TestCommandsGoToTheMachine(t *testing.T) {
	b := three(t)
	for _, args := range [][]string{{"em0", "mtu", "9000", "-tso"}, {"em1", "inet", "192.0.2.1"}, {"ix0", "description", ""}} {
		if stdout, stderr, exit := b.run(args...); stdout+stderr != "" || exit != 0 {
			t.Errorf("%q: %q %q %d", args, stdout, stderr, exit)
		}
	}
	want := [][]string{{"mtu", "9000", "-tso"}, {"inet", "192.0.2.1"}, {"description", ""}}
	if diff := cmp.Diff(want, b.words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if stdout, stderr, exit := b.run("em0", "name", "wan0"); stdout != "wan0\n" || stderr != "" || exit != 0 {
		t.Errorf("rename: %q %q %d", stdout, stderr, exit)
	}
}

func FuzzRun(f *testing.F) {
	for _, s := range []string{"", "-m -v em0", "-l -g lab", "-adu", "em0 create", "-G", "em0 inet6", "-- em0", "-"} {
		f.Add(s)
	}
	b := newBox(f)
	b.add("em", 0, nic{})
	f.Fuzz(func(t *testing.T, line string) {
		stdout, stderr, exit := b.run(strings.Fields(line)...)
		if exit != 0 && exit != 1 || exit == 1 && stderr == "" || exit == 1 && stdout != "" {
			t.Errorf("ifconfig %s: %q %q %d", line, stdout, stderr, exit)
		}
	})
}
