package pktgen8

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/ifnet"
)

func TestOptionsArePktGens(t *testing.T) {
	for _, c := range []struct {
		args string
		want Params
	}{
		{"-i em0", Params{Interface: "em0", Mode: "rx", ReportMS: 1000}},
		{"-i em0 -f tx -n 10 -l 100 -b 5 -p 2 -R 1000", Params{Interface: "em0", Mode: "tx", Frames: 10, Size: 100, Burst: 5, Threads: 2, Rate: 1000, ReportMS: 1000}},
		{"-iem0 -fping -l 200 -l 100 -T 50 -w 9 -W", Params{Interface: "em0", Mode: "ping", Size: 200, MinSize: 100, ReportMS: 50, Wait: 9, UntilIdle: true}},
		{"-i em0 -s 1.2.3.4:5 -d 2.3.4.5-2.3.4.9 -S 02:00:00:00:00:01 -D 02:00:00:00:00:02", Params{Interface: "em0", Mode: "rx", SrcIP: "1.2.3.4:5",
			DstIP: "2.3.4.5-2.3.4.9", Src: "02:00:00:00:00:01", Dst: "02:00:00:00:00:02", ReportMS: 1000}},
		{"-6zZq -i em0 -F 3 -u -T 0", Params{Interface: "em0", Mode: "rx", IPv6: true, RandomSrc: true, RandomDst: true, Hash: true, Fragments: 3, OnDrop: client.PktgenDropCount}},
		{"-6 -4 -i em0 -T 0", Params{Interface: "em0", Mode: "rx"}},
		{"-4 -6 -i em0 -T 0", Params{Interface: "em0", Mode: "rx", IPv6: true}},
		{"-i em0 -o 1536 -o 4 -T 0", Params{Interface: "em0", Mode: "rx", RandomSrc: true, RandomDst: true}},
		{"-i em0 -R 1.5k -T 0", Params{Interface: "em0", Mode: "rx", Rate: 1500}},
		{"-i em0 -R 2M -T 0", Params{Interface: "em0", Mode: "rx", Rate: 2e6}},
		{"-i em0 -R 1G -T 0", Params{Interface: "em0", Mode: "rx", Rate: 1e9}},
	} {
		o, err := parse(strings.Fields(c.args))
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
		}
		if d := cmp.Diff(c.want, o.p); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.args, d)
		}
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	usage := string(usageText)
	for args, want := range map[string]string{
		"":                   usage,
		"-f tx":              usage,
		"-i em0 em1":         usage,
		"-i em0 -y":          "pktgen: illegal option -- y\n" + usage,
		"-i":                 "pktgen: option requires an argument -- i\n" + usage,
		"-i em0 -n -1":       "-n -1: not a number it can be",
		"-i em0 -n x":        "-n x: not a number it can be",
		"-i em0 -l 0":        "-l 0: not a number it can be",
		"-i em0 -b 1k":       "-b 1k: not a number it can be",
		"-i em0 -R -5":       "-R -5: not a number it can be",
		"-i em0 -R k":        "-R k: not a number it can be",
		"-i em0 -R NaN":      "-R NaN: not a number it can be",
		"-i em0 -R Inf":      "-R Inf: not a number it can be",
		"-i em0 -o x":        "-o x: not a number it can be",
		"-i em0 -o 32":       "-o 32: these bits are netmap's, and have no meaning here",
		"-i em0 -X":          "-X is netmap's, and has no meaning here",
		"-i em0 -P f":        "-P is netmap's, and has no meaning here",
		"-i em0 --libxo=bad": "unknown libxo option value: 'bad'",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

func FuzzPktgenOptions(f *testing.F) {
	for _, seed := range []string{"-i em0 -f tx", "-l 60 -l 9999999999 -R 1e400M", "-6 -d 7@[::1]:0x10-[::2]:5 -i x", "-D 02:00:00:00:00:01-ff:ff:ff:ff:ff:ff -i e", "-o json -h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, err := parse(strings.Fields(line))
		if err != nil || o.help {
			return
		}
		j := &job{p: settings{o.p}, ifp: new(ifnet.Ifnet)}
		j.p.fill()
		if j.p.check(ifnet.EtherMTU) != nil || j.addresses() != nil || !j.p.sends() {
			return
		}
		fr := newFrame(&j.p, j.wheels, j.src, j.dst, 0)
		for range 5 {
			if fr.size < MinFrame || fr.size > len(fr.bytes) {
				t.Fatalf("%q: a frame of %d bytes", line, fr.size)
			}
			fr.next()
		}
	})
}
