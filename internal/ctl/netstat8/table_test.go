package netstat8

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// sample has the lines of spec ifnet 12.2.
func sample() []row {
	return []row{
		{name: "em0", mtu: 1500, link: true, network: "<Link#1>", address: "02:00:00:00:00:01",
			in: flow{1234567, 98765432}, idrops: 3, out: flow{1200345, 12345678901}, odrops: 7},
		{name: "em0", network: "192.0.2.0/24", address: "192.0.2.10", in: flow{1230000, 96000000}, out: flow{1199000, 95000000}},
		{name: "ix0*", mtu: 1500, link: true, network: "<Link#2>", address: "02:00:00:00:00:02"},
		{name: "lo0", mtu: 16384, link: true, network: "<Link#3>", address: "lo0", in: flow{42, 4200}, out: flow{42, 4200}},
	}
}

const sampleText = `Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll
em0    1500 <Link#1>      02:00:00:00:00:01  1234567     0     3  1200345     0     0
em0       - 192.0.2.0/24  192.0.2.10         1230000     -     -  1199000     -     -
ix0*   1500 <Link#2>      02:00:00:00:00:02        0     0     0        0     0     0
lo0   16384 <Link#3>      lo0                     42     0     0       42     0     0
`

// The last column of -d ends in a blank.
const bytesAndDrops = `Name    Mtu Network       Address              Ipkts Ierrs Idrop       Ibytes    Opkts Oerrs       Obytes  Coll  Drop
em0    1500 <Link#1>      02:00:00:00:00:01  1234567     0     3     98765432  1200345     0  12345678901     0     7 $
em0       - 192.0.2.0/24  192.0.2.10         1230000     -     -     96000000  1199000     -     95000000     -     - $
ix0*   1500 <Link#2>      02:00:00:00:00:02        0     0     0            0        0     0            0     0     0 $
lo0   16384 <Link#3>      lo0                     42     0     0         4200       42     0         4200     0     0 $
`

const human = `Name    Mtu Network       Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll
em0    1500 <Link#1>      02:00:00:00:00:01     1.2M     0     3        94M     1.2M     0        11G     0
em0       - 192.0.2.0/24  192.0.2.10            1.2M     -     -        92M     1.2M     -        91M     -
ix0*   1500 <Link#2>      02:00:00:00:00:02        0     0     0          0        0     0          0     0
lo0   16384 <Link#3>      lo0                     42     0     0       4.1K       42     0       4.1K     0
`

func TestTableIsLaidOutAsFreeBSDDoes(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		o          options
	}{
		{"plain", sampleText, options{}},
		{"bytes and drops", bytesAndDrops, options{bytes: true, drops: true}},
		{"human", human, options{bytes: true, human: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			table := table{o: tc.o, rows: sample()}
			if err := table.write(&b); err != nil {
				t.Fatal(err)
			}
			want := bytes.ReplaceAll([]byte(tc.want), []byte("$\n"), []byte("\n"))
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestColumnsGrowWithTheirNumbersButNotWithOutputErrors(t *testing.T) {
	var b bytes.Buffer
	table := table{rows: []row{{name: "bridge100*", mtu: 9000, link: true, network: "<Link#12345>", address: "bridge100",
		in: flow{packets: 18446744073709551615}, ierrors: 123456, oerrors: 12345678}}}
	if err := table.write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Name         Mtu Network       Address                   Ipkts   Ierrs   Idrop                 Opkts   Oerrs    Coll
bridge100*  9000 <Link#12345>  bridge100  18446744073709551615  123456       0                     0 12345678       0
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWidthIsThatOfTheToolDownToPowersOfTen(t *testing.T) {
	for v, want := range map[uint64]int{0: 2, 9: 2, 10: 2, 11: 3, 99: 3, 100: 3, 101: 3, 110: 4, 1234567: 8, 1000000: 7} {
		if got := width(v); got != want {
			t.Errorf("%d: %d, want %d", v, got, want)
		}
	}
}

func TestHumanNumbersHaveFourCharacters(t *testing.T) {
	for _, tc := range []struct {
		v, unit uint64
		want    string
	}{
		{0, decimal, "0"}, {999, decimal, "999"}, {1000, decimal, "1.0k"}, {1049, decimal, "1.0k"}, {1050, decimal, "1.1k"},
		{9949, decimal, "9.9k"}, {9950, decimal, "10k"}, {10499, decimal, "10k"}, {999499, decimal, "999k"}, {999500, decimal, "1.0M"},
		{1000, binary, "1.0K"}, {1024, binary, "1.0K"}, {10 << 20, binary, "10M"}, {^uint64(0), binary, "16E"}, {^uint64(0), decimal, "18E"},
	} {
		suffixes := "kMGTPE"
		if tc.unit == binary {
			suffixes = "KMGTPE"
		}
		if got := humanize(tc.v, tc.unit, suffixes); got != tc.want {
			t.Errorf("%d: %s, want %s", tc.v, got, tc.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want options
		err  string
	}{
		{args: []string{"-i"}, want: options{interfaces: true}},
		{args: []string{"-bdnhWI", "em0", "-4"}, want: options{interfaces: true, only: "em0", bytes: true, drops: true, human: true, numeric: true, wide: true, family: ifnet.AFInet}},
		{args: []string{"-if", "link", "--"}, want: options{interfaces: true, family: ifnet.AFLink}},
		{args: []string{"-6Iem0"}, want: options{interfaces: true, only: "em0", family: ifnet.AFInet6}},
		{args: []string{"-m"}, want: options{memory: true}},
		{args: []string{"-w", "2", "-dq3"}, want: options{interfaces: true, drops: true, wait: 2 * time.Second, lines: 3}},
		{args: []string{"2"}, want: options{interfaces: true, wait: 2 * time.Second}},
		{args: []string{"-rnW", "-f", "inet6", "-F0"}, want: options{routes: true, numeric: true, wide: true, family: ifnet.AFInet6}},
		{args: []string{"-Q", "-I", "em0"}, want: options{queues: true, only: "em0"}},
		{args: []string{"-ss"}, want: options{stats: 2}},
		{args: []string{"-p", "arp"}, want: options{stats: 1, protocol: "arp"}},
		{args: []string{"-ia", "-o", "json,pretty"}, want: options{interfaces: true, multicast: true, format: tool.Format{JSON: true, Pretty: true}}},
		{args: []string{"-rs"}, err: "-s with -i, -I or -r: not available"},
		{args: []string{"-p", "tcp"}, err: "tcp: unknown or uninstrumented protocol"},
		{args: []string{"-rF1"}, err: "1: invalid fib"},
		{args: []string{"-rN", "kernel"}, err: "-N: not available"},
		{args: []string{"0"}, err: string(usageText)},
		{args: []string{"-r", "--libxo"}, err: "missing libxo option"},
		{args: []string{"-w", "0"}, err: "0: bad wait"},
		{args: []string{"-w1", "-q", "-1"}, err: "-1: bad number of lines"},
		{args: nil, err: string(usageText)},
		{args: []string{"-i", "em0"}, err: string(usageText)},
		{args: []string{"-iz"}, err: "netstat: illegal option -- z\n" + string(usageText)},
		{args: []string{"-I"}, err: "netstat: option requires an argument -- I\n" + string(usageText)},
		{args: []string{"-if", "ipx"}, err: "ipx: unknown address family"},
	} {
		o, err := parse(tc.args)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != tc.err || err == nil && o != tc.want {
			t.Errorf("%q: %+v, %q", tc.args, o, text)
		}
	}
}
