package netdissect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/netdissect"
)

// styles are the files in testdata: what tcpdump 4.99.3 writes of the packets, with -n and
// these flags, in UTC.
var styles = map[string]netdissect.Options{
	"n":  {},
	"v":  {Verbose: 1},
	"vv": {Verbose: 2},
	"ev": {Link: true, Verbose: 1},
	"q":  {Quiet: true},
	"S":  {Absolute: true, Time: netdissect.TimeNone},
	"xx": {Hex: 2},
	"XX": {HexASCII: 2, Time: netdissect.TimeSinceFirst},
	"A":  {ASCII: 1, Time: netdissect.TimeDate},
}

func TestPacketsLookAsTcpdumpWritesThem(t *testing.T) {
	list := packets(t)
	for name, o := range styles {
		o.Location = time.UTC
		p := netdissect.New(o)
		var got bytes.Buffer
		for _, c := range list {
			got.Write(p.Packet(c.at, c.data, c.length))
		}
		want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "A" { // which dumps headers that were cut off in two ways
			want, got = first(want), *bytes.NewBuffer(first(got.Bytes()))
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("-%s: tcpdump - ours +\n%s", name, diff)
		}
	}
}

// first is what is before the packets that were cut off.
func first(text []byte) []byte {
	before, _, _ := bytes.Cut(text, []byte("2023-11-14 22:15:09"))
	return before
}

func TestTimes(t *testing.T) {
	frame := packets(t)[0].data
	at := time.Date(2026, 3, 4, 5, 6, 7, 89_012_999, time.UTC)
	for style, want := range map[netdissect.TimeStyle][3]string{
		netdissect.TimeOfDay:      {"05:06:07.089012 ", "05:06:08.589012 ", "05:06:06.089012 "},
		netdissect.TimeNone:       {"", "", ""},
		netdissect.TimeUnix:       {"1772600767.089012 ", "1772600768.589012 ", "1772600766.089012 "},
		netdissect.TimeSinceLast:  {" 00:00:00.000000 ", " 00:00:01.500000 ", "-00:00:02.500000 "},
		netdissect.TimeDate:       {"2026-03-04 05:06:07.089012 ", "2026-03-04 05:06:08.589012 ", "2026-03-04 05:06:06.089012 "},
		netdissect.TimeSinceFirst: {" 00:00:00.000000 ", " 00:00:01.500000 ", "-00:00:01.000000 "},
	} {
		p := netdissect.New(netdissect.Options{Time: style, Location: time.UTC})
		for i, d := range []time.Duration{0, 1500 * time.Millisecond, -time.Second} {
			got := string(p.Packet(at.Add(d), frame, len(frame)))
			if line := want[i] + "ARP, Request who-has 10.0.0.2 tell 10.0.0.1, length 46\n"; got != line {
				t.Errorf("style %d: %q, want %q", style, got, line)
			}
		}
	}
}

func TestNumbersAndLengthsThatCannotBe(t *testing.T) {
	p := netdissect.New(netdissect.Options{Numbered: true, Time: netdissect.TimeNone})
	for _, tt := range []struct {
		data   string
		length int
		want   string
	}{
		{"", 0, "    1  [Invalid header: caplen==0, len==0]\n"},
		{"", 60, "    2  [Invalid header: caplen==0]\n"},
		{"abc", 2, "    3  [Invalid header: len(2) < caplen(3)]\n"},
		{"abc", 60, "    4   [|ether]\n"},
	} {
		if got := string(p.Packet(time.Time{}, []byte(tt.data), tt.length)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.data, got, tt.want)
		}
	}
	frame := []byte(strings.Repeat("\x02", 12) + "\x00\x03\x42\x42\x03" + strings.Repeat("\x00", 43))
	p = netdissect.New(netdissect.Options{Link: true, Time: netdissect.TimeNone})
	want := "02:02:02:02:02:02 > 02:02:02:02:02:02, 802.3, length 3: LLC, dsap 0x42 Individual, ssap 0x42 Command, ctrl 0x03, length 3\n"
	if got := string(p.Packet(time.Time{}, frame, len(frame))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzPacket(f *testing.F) {
	for _, c := range packets(f) {
		f.Add(c.data, uint8(0), uint8(3))
		f.Add(c.data, uint8(9), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, more, flags uint8) {
		p := netdissect.New(netdissect.Options{Verbose: int(flags & 3), Link: flags&4 != 0, HexASCII: int(flags >> 3 & 1), Quiet: flags&16 != 0})
		for range 2 {
			text := p.Packet(time.Unix(0, 0), data, len(data)+int(more))
			if len(text) == 0 || text[len(text)-1] != '\n' {
				t.Fatalf("%q does not end in a newline", text)
			}
			if most := 200*len(data) + 1000; len(text) > most {
				t.Fatalf("%d bytes make %d of text", len(data), len(text))
			}
		}
	})
}
