package sysctl8_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/sysctl"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

const usageText = "usage: sysctl [-bdeFhilNnoqTtWx] [ -B <bufsize> ] [-f filename] name[=value] ...\n" +
	"       sysctl [-bdeFhlNnoqTtWx] [ -B <bufsize> ] -a\n"

func TestOutputShapes(t *testing.T) {
	const all = "hw.t.count: 9\nhw.t.small: 3\nhw.t.s: \nhw.t.ro: 50\nhw.t.tun: 3\nhw.t.x: 3\n"
	tests := []struct {
		args   string
		exit   int
		stdout string
		stderr string
	}{
		{"hw.t.ro", 0, "hw.t.ro: 50\n", ""},
		{"-n hw.t.ro", 0, "50\n", ""},
		{"-e hw.t.ro", 0, "hw.t.ro=50\n", ""},
		{"-N hw.t.ro", 0, "hw.t.ro\n", ""},
		{"-d hw.t.ro", 0, "hw.t.ro: max send queue size\n", ""},
		{"-d hw.t.ro=9", 0, "hw.t.ro: max send queue size\n", ""},
		{"-t hw.t.ro", 0, "hw.t.ro: integer\n", ""},
		{"-F hw.t.ro", 0, "hw.t.ro: I\n", ""},
		{"-t -F hw.t.ro", 0, "hw.t.ro: integer: I\n", ""},
		{"-td hw.t.ro", 0, "hw.t.ro: integer: max send queue size\n", ""},
		{"-ntFd hw.t.ro", 0, "integer: I: max send queue size\n", ""},
		{"-l hw.t.ro", 0, "hw.t.ro: 4: 50\n", ""},
		{"-l hw.t.s", 0, "hw.t.s: 1: \n", ""},
		{"-x hw.t.ro", 0, "hw.t.ro: 0x00000032\n", ""},
		{"-b hw.t.ro", 0, "2\x00\x00\x00", ""},
		{"hw.t.raw", 0, "", ""},
		{"-o hw.t.raw", 0, "hw.t.raw: Format:S,foo Length:24 Dump:0x30313233343536373839616263646566\n", ""},
		{"-x hw.t.raw", 0, "hw.t.raw: Format:S,foo Length:24 Dump:0x303132333435363738396162636465666768696a6b6c6d6e\n", ""},
		{"hw.t.broken", 0, "", ""},
		{"hw.t.s", 0, "hw.t.s: \n", ""},
		{"hw.t", 0, all, ""},
		{"-W hw.t", 0, "hw.t.small: 3\nhw.t.s: \nhw.t.x: 3\n", ""},
		{"-T hw.t", 0, "hw.t.tun: 3\n", ""},
		{"hw.t.hidden", 0, "hw.t.hidden.inner: 1\n", ""},
		{"hw.t.err.enomem", 0, "hw.t.err.enomem: 1\n", ""},
		{"-N hw.t.hidden", 0, "hw.t.hidden.inner\n", ""},
		{"-a", 0, all, ""},
		{"-a hw.t.x", 0, "hw.t.x: 3\n", ""},
		{"-B 2 hw.t.x", 0, "", ""},
		{"-B 4 hw.t.x", 0, "hw.t.x: 3\n", ""},
		{"-- hw.t.x", 0, "hw.t.x: 3\n", ""},
		{"hw.t.x hw.none hw.t.ro", 1, "hw.t.x: 3\nhw.t.ro: 50\n", "sysctl: unknown oid 'hw.none'\n"},
		{"-i hw.none", 0, "", ""},
		{"-q hw.none", 1, "", ""},
		{"-Nn hw.t.x", 1, "", usageText},
		{"-Nl hw.t.x", 1, "", usageText},
		{"", 1, "", usageText},
		{"-z", 1, "", "sysctl: illegal option -- z\n" + usageText},
		{"-B", 1, "", "sysctl: option requires an argument -- B\n" + usageText},
		{"-j j hw.t.x", 1, "", "sysctl: jail \"j\" not found\n"},
		{"-T hw.t.x=1", 1, "", "sysctl: Can't set variables when using -T or -W\n" + usageText},
		{"-f none", 66, "", "sysctl: none: No such file or directory\n"},
	}
	for _, tt := range tests {
		exit, stdout, stderr := newBox(t).run(strings.Fields(tt.args)...)
		if exit != tt.exit || stdout != tt.stdout || stderr != tt.stderr {
			t.Errorf("sysctl %s\n got %d %q %q\nwant %d %q %q", tt.args, exit, stdout, stderr, tt.exit, tt.stdout, tt.stderr)
		}
	}
}

func TestSetting(t *testing.T) {
	const long = "sysctl: oid too long: '"
	tests := []struct {
		args   []string
		exit   int
		stdout string
		stderr string
	}{
		{[]string{"hw.t.x=5"}, 0, "hw.t.x: 3 -> 5\n", ""},
		{[]string{"-n", "hw.t.x=5"}, 0, "3 -> 5\n", ""},
		{[]string{"-e", "hw.t.x=5"}, 0, "hw.t.x=3 -> 5\n", ""},
		{[]string{"-w", "hw.t.x : 5"}, 0, "hw.t.x: 3 -> 5\n", ""},
		{[]string{`hw.t.x= "5"`}, 0, "hw.t.x: 3 -> 5\n", ""},
		{[]string{"hw.t.x=-7"}, 0, "hw.t.x: 3 -> -7\n", ""},
		{[]string{"-b", "hw.t.x=5"}, 0, "\x03\x00\x00\x00\x05\x00\x00\x00", ""},
		{[]string{"hw.t.small=99"}, 1, "hw.t.small: 3\n", "sysctl: hw.t.small=99: Invalid argument\n"},
		{[]string{"hw.t.tun=1"}, 1, "", "sysctl: oid 'hw.t.tun' is a read only tunable\n" +
			"sysctl: Tunable values are set in /boot/loader.conf\n"},
		{[]string{"hw.t.ro=1"}, 1, "", "sysctl: oid 'hw.t.ro' is read only\n"},
		{[]string{"hw.t=1"}, 1, "", "sysctl: oid 'hw.t' isn't a leaf node\n"},
		{[]string{"hw.t.raw=1"}, 1, "", "sysctl: oid 'hw.t.raw' is type 5, cannot set that\n"},
		{[]string{"hw.t.x="}, 1, "", "sysctl: empty numeric value\n"},
		{[]string{"hw.t.x=\""}, 1, "", "sysctl: empty numeric value\n"},
		{[]string{"hw.t.x=1k"}, 1, "", "sysctl: invalid integer '1k'\n"},
		{[]string{"hw.t.x=,"}, 0, "hw.t.x: 3 -> 3\n", ""},
		{[]string{"hw.t.x=7, 8"}, 0, "hw.t.x: 3 -> 7\n", ""},
		{[]string{"hw.t.s=abcdefg"}, 0, "hw.t.s:  -> abcdefg\n", ""},
		{[]string{"hw.t.s=abcdefgh"}, 1, "hw.t.s: \n", "sysctl: hw.t.s=abcdefgh: Invalid argument\n"},
		{[]string{"hw.t.s='a b"}, 0, "hw.t.s:  -> a b\n", ""},
		{[]string{"hw.t.err.enotsup=2"}, 1, "hw.t.err.enotsup: 1\n", "sysctl: hw.t.err.enotsup=2: value is not available\n"},
		{[]string{"hw.t.err.enotdir=2"}, 1, "hw.t.err.enotdir: 1\n", "sysctl: hw.t.err.enotdir=2: specification is incomplete\n"},
		{[]string{"hw.t.err.enomem=2"}, 1, "hw.t.err.enomem: 1\n", "sysctl: hw.t.err.enomem=2: type is unknown to this program\n"},
		{[]string{"hw.t.count=7"}, 0, "hw.t.count: 9 -> 9\n", ""},
		{[]string{strings.Repeat("x", 1024)}, 1, "", long + strings.Repeat("x", 1024) + "'\n"},
		{[]string{"", "x"}, 2, "", "sysctl: unknown oid ''\nsysctl: unknown oid 'x'\n"},
	}
	for _, tt := range tests {
		exit, stdout, stderr := newBox(t).run(tt.args...)
		if exit != tt.exit || stdout != tt.stdout || stderr != tt.stderr {
			t.Errorf("sysctl %.60q\n got %d %q %q\nwant %d %q %q", tt.args, exit, stdout, stderr, tt.exit, tt.stdout, tt.stderr)
		}
	}
}

func TestFileLinesComeBeforeArgumentsAndNameTheirLine(t *testing.T) {
	b := newBox(t)
	b.file = "# first\nhw.t.x=4 # four\n\nhw.t.none=1\nhw.t.small=77\nhw.t.tun=1\nhw.t.x=z\n"
	exit, stdout, stderr := b.run("-f", "conf", "hw.t.x")
	wantOut := "hw.t.x: 3 -> 4\nhw.t.small: 4\nhw.t.x: 4\n"
	wantErr := "sysctl: unknown oid 'hw.t.none' at line 4\nsysctl: hw.t.small=77: Invalid argument at line 5\n" +
		"sysctl: oid 'hw.t.tun' is a read only tunable at line 6\nsysctl: Tunable values are set in /boot/loader.conf\n" +
		"sysctl: invalid integer 'z' at line 7\n"
	if exit != 4 || stdout != wantOut || stderr != wantErr {
		t.Errorf("got %d %q %q\nwant 4 %q %q", exit, stdout, stderr, wantOut, wantErr)
	}
	if exit, _, stderr = b.run("-i", "-q", "-fconf"); exit != 3 || strings.Contains(stderr, "none") {
		t.Errorf("with -i: %d %q", exit, stderr)
	}
}

func TestNodesShowWithNamesTypesAndDescriptions(t *testing.T) {
	b := newBox(t)
	if _, stdout, _ := b.run("-aN"); !strings.Contains(stdout, "\nhw.t\nhw.t.hidden\nhw.t.hidden.inner\n") ||
		strings.HasPrefix(stdout, "kern\n") || strings.Contains(stdout, "sysctl") {
		t.Errorf("-aN:\n%s", stdout)
	}
	if _, stdout, _ := b.run("-at"); !strings.Contains(stdout, "\nhw.t: node\n") {
		t.Errorf("-at:\n%s", stdout)
	}
	if _, stdout, _ := b.run("-d", "hw.t"); !strings.HasPrefix(stdout, "hw.t: test node\nhw.t.hidden: \n") {
		t.Errorf("-d of a node:\n%s", stdout)
	}
}

// Spec ifnet 3: units and the standard leaves of a device list in reverse of attach.
func TestDeviceBlockListsInReverseOfRegistration(t *testing.T) {
	tree := sysctl.NewTree(sysctl.NewKenv(), nil)
	c := tree.NewCtx()
	em := c.Node(tree.Dev(), "em", sysctl.RD, "")
	c.ConstString(em, "%parent", sysctl.RD, "", "parent class")
	for _, unit := range []string{"0", "1"} {
		n := c.Node(em, unit, sysctl.RD, "")
		c.ConstString(n, "%desc", sysctl.RD, "NIC", "device description")
		c.ConstString(n, "%driver", sysctl.RD, "em", "device driver name")
		c.ConstInt(n, "fc", sysctl.RD, 3, "")
	}
	var out bytes.Buffer
	exit := sysctl8.Run(tree, []string{"dev"}, &out, &out)
	want := "dev.em.1.fc: 3\ndev.em.1.%driver: em\ndev.em.1.%desc: NIC\n" +
		"dev.em.0.fc: 3\ndev.em.0.%driver: em\ndev.em.0.%desc: NIC\ndev.em.%parent: \n"
	if exit != 0 || out.String() != want {
		t.Errorf("got %d\n%s\nwant\n%s", exit, out.String(), want)
	}
}

// Field case 2: the knob is read at attach only.
func TestSimpleTxInSysctlConfChangesNothing(t *testing.T) {
	env := sysctl.NewKenv()
	tree := sysctl.NewTree(env, nil)
	attach := func() (*sysctl.Ctx, *atomic.Bool) {
		c, v := tree.NewCtx(), new(atomic.Bool)
		n := c.Node(c.Node(c.Node(tree.Dev(), "ix", sysctl.RD, ""), "0", sysctl.RD, ""), "iflib", sysctl.RD, "")
		c.Bool(n, "simple_tx", sysctl.RDTUN, v, "use simple tx ring")
		return c, v
	}
	c, v := attach()
	var out, errs bytes.Buffer
	exit := sysctl8.Run(tree, []string{"dev.ix.0.iflib.simple_tx=1"}, &out, &errs)
	want := "sysctl: oid 'dev.ix.0.iflib.simple_tx' is a read only tunable\nsysctl: Tunable values are set in /boot/loader.conf\n"
	if exit != 1 || errs.String() != want || out.String() != "" || v.Load() {
		t.Errorf("exit %d, %q, %q, value %v", exit, out.String(), errs.String(), v.Load())
	}
	if err := c.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := sysctl.ParseLoaderConf("loader.conf", strings.NewReader("dev.ix.0.iflib.simple_tx=1\n"), env); err != nil {
		t.Fatal(err)
	}
	if _, v = attach(); !v.Load() {
		t.Error("value 0 with the line in loader.conf before attach, want 1")
	}
}

func FuzzSysctl8Args(f *testing.F) {
	f.Add("-a", "")
	f.Add("-nbx\nhw.t.x=5", "hw.t.x=4 # four\n")
	f.Add("-f\nconf\n-B\n3\nhw.t", "hw.t.s=\"a'\n'#\n\\#")
	f.Add("-TW\nhw.t.x:1\nhw.t.s='", "=\n:\n\"")
	f.Fuzz(func(t *testing.T, args, file string) {
		b := newBox(t)
		b.file = file
		exit, _, stderr := b.run(strings.Split(args, "\n")...)
		if exit < 0 || exit > 255 {
			t.Errorf("exit status %d", exit)
		}
		if stderr != "" && !strings.HasPrefix(stderr, "sysctl: ") && stderr != usageText {
			t.Errorf("strange message %q", stderr)
		}
	})
}
