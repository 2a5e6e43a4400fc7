package ifconfig8_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
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
	must(t, b.k.Sysctl.SetText("net.inet6.ip6.dad_count", "0"))
	ix0 := ifnet.ByName(b.k, "ix0")
	must(t, inet.AddAddr(ix0, netip.MustParsePrefix("192.0.2.1/24")))
	ix0.SetFlags(0, ifnet.FlagUp)
	for args, want := range map[string]string{
		"-l": "em0 em1 ix0\n", "-l -u": "em0\n", "-ld": "em1 ix0\n", "-l -n -k -L --": "em0 em1 ix0\n",
		"-l ether": "em0 em1 ix0\n", "-l link": "em0 em1 ix0\n", "-l lladdr": "em0 em1 ix0\n", "-l inet": "ix0\n", "-l inet6": "\n", "-lu inet": "\n",
		"-g lab": "em0\n", "-l -glab": "em0\n", "-g all": "em0\nem1\nix0\nhid0\n", "-g none": "", "-C": "vlan\n",
	} {
		stdout, stderr, exit := b.run(strings.Fields(args)...)
		if stdout != want || stderr != "" || exit != 0 {
			t.Errorf("ifconfig %s: %q %q %d, want %q", args, stdout, stderr, exit, want)
		}
	}
	for args, want := range map[string]string{
		"": "em0 em1 ix0", "-a": "em0 em1 ix0", "-d": "em1 ix0", "-au": "em0", "-a -g lab": "em0", "-a -g l*": "em0", "-a -g [!a]*": "em0", "-a -G lab": "em1 ix0",
		"-a -g all -G [k-m]ab": "em1 ix0", "-a -g [": "", "-a inet": "ix0", "-a inet6": "", "em0 inet": "", "ix0 inet": "ix0", "-d em0": "", "-u em0": "em0", "hid0": "",
	} {
		stdout, stderr, exit := b.run(strings.Fields(args)...)
		var shown []string
		for line := range strings.Lines(stdout) {
			if name, _, ok := strings.Cut(line, ": flags="); ok {
				shown = append(shown, name)
			}
		}
		if got := strings.Join(shown, " "); got != want || stderr != "" || exit != 0 {
			t.Errorf("ifconfig %s: shows %s, %q, %d; want %s", args, got, stderr, exit, want)
		}
	}
}

func TestMessagesGoToStderrWithStatusOne(t *testing.T) {
	b := three(t)
	for args, want := range map[string]string{
		"em9":                     "ifconfig: interface em9 does not exist\n",
		"em9 up":                  "ifconfig: interface em9 does not exist\n",
		"em9 inet":                "ifconfig: interface em9 does not exist\n",
		"em0 no":                  "ifconfig: no: bad value\n",
		"em0 hm no":               "ifconfig: one\nifconfig: two\nifconfig: no: bad value\n",
		"em0 create":              "ifconfig: interface em0 already exists\n",
		"em0 plumb":               "ifconfig: interface em0 already exists\n",
		"em0 create no":           "ifconfig: no: bad value\n",
		"vlan7 create":            "ifconfig: SIOCIFCREATE2 (vlan7): Invalid argument\n",
		"-j cell -l":              "ifconfig: jail \"cell\" not found\n",
		"-x":                      "ifconfig: illegal option -- x\nusage: ifconfig ",
		"-l -g":                   "ifconfig: option requires an argument -- g\nusage: ifconfig ",
		"-d -u":                   "usage: ifconfig ",
		"-l -m":                   "usage: ifconfig ",
		"-l -a":                   "usage: ifconfig ",
		"-l -G lab":               "usage: ifconfig ",
		"-a em0":                  "ifconfig: Address family 'em0' unknown.\nusage: ifconfig ",
		"-a inet inet6":           "usage: ifconfig ",
		"-l no address":           "usage: ifconfig ",
		"-d -u -l inet6":          "usage: ifconfig ",
		"--libxo xml":             "ifconfig: --libxo xml: not available\n",
		"-f inet -f x:,ether: -x": "ifconfig: Skipping invalid format specification: inet\n\nifconfig: Skipping invalid format specification: x:\n\nifconfig: Skipping invalid format specification: ether:\n\nifconfig: illegal option -- x\nusage: ifconfig ",
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
	for _, args := range [][]string{
		{"em0", "mtu", "9000", "-tso"}, {"em1", "inet", "192.0.2.1"}, {"ix0", "description", ""}, {"em0", "create", "up"}, {"-u", "em0", "up"}, {"-d", "em0", "up"},
	} {
		if stdout, stderr, exit := b.run(args...); stdout+stderr != "" || exit != 0 {
			t.Errorf("%q: %q %q %d", args, stdout, stderr, exit)
		}
	}
	want := [][]string{{"mtu", "9000", "-tso"}, {"inet", "192.0.2.1"}, {"description", ""}, {"up"}, {"up"}}
	if diff := cmp.Diff(want, b.words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if stdout, stderr, exit := b.run("em0", "hm"); stdout != "" || stderr != "ifconfig: one\nifconfig: two\n" || exit != 0 {
		t.Errorf("warnings: %q %q %d", stdout, stderr, exit)
	}
}

func TestANewNameIsPrintedAtTheEnd(t *testing.T) {
	b := three(t)
	if stdout, stderr, exit := b.run("em0", "name", "wan0"); stdout != "wan0\n" || stderr != "" || exit != 0 {
		t.Errorf("rename: %q %q %d", stdout, stderr, exit)
	}
	if stdout, stderr, exit := b.run("wan0", "name", "lan0", "no"); stdout != "lan0\n" || stderr != "ifconfig: no: bad value\n" || exit != 1 {
		t.Errorf("rename and a failure: %q %q %d", stdout, stderr, exit)
	}
	if stdout, stderr, exit := b.run("vlan", "create", "vlan", "5"); stdout != "vlan0\n" || stderr != "" || exit != 0 {
		t.Errorf("create: %q %q %d", stdout, stderr, exit)
	}
	if stdout, stderr, exit := b.run("-o", "json", "vlan", "plumb"); stdout != `{"__version": "1", "ifconfig": {"created": ["vlan1"]}}`+"\n" || stderr != "" || exit != 0 {
		t.Errorf("create: %q %q %d", stdout, stderr, exit)
	}
	want := [][]string{{"name", "wan0"}, {"name", "lan0", "no"}, {"vlan", "vlan", "5"}, {"vlan"}}
	if diff := cmp.Diff(want, b.words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func FuzzRun(f *testing.F) {
	for _, s := range []string{"", "-m -v em0", "-l -g lab", "-adu", "em0 create", "-G", "em0 inet6", "-- em0", "-", "-f inet:cidr,x", "-o json -av", "-C", "-a -g [!x]"} {
		f.Add(s)
	}
	b := newBox(f)
	b.add("em", 0, nic{})
	f.Fuzz(func(t *testing.T, line string) {
		stdout, stderr, exit := b.run(strings.Fields(line)...)
		named := len(b.words) > 0 && b.words[len(b.words)-1][0] == "name"
		if exit != 0 && exit != 1 || exit == 1 && stderr == "" || exit == 1 && stdout != "" && !named {
			t.Errorf("ifconfig %s: %q %q %d", line, stdout, stderr, exit)
		}
		b.words = nil
	})
}
