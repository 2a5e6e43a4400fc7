package pktgen8

import (
	"math"
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
)

func TestWhatCannotBeIsRefusedWithTheReason(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{Interface: "em9", Frames: 1}, "em9: no such interface"},
		{Params{Interface: "em0", Mode: "blast"}, `em0: mode "blast": tx, rx, ping or pong`},
		{Params{Interface: "em0", OnDrop: "cry"}, `em0: what is refused shall be "cry": retry or count`},
		{Params{Interface: "em0", Frames: math.MaxUint64}, "em0: 18446744073709551615 frames: 1 to 1099511627776, or 0 without end"},
		{Params{Interface: "em0", Frames: 1, Size: 59}, "em0: frames of 59 bytes: 60 to 1514 with an MTU of 1500"},
		{Params{Interface: "em0", Frames: 1, Size: 1515}, "em0: frames of 1515 bytes: 60 to 1514 with an MTU of 1500"},
		{Params{Interface: "em0", Frames: 1, Size: -1}, "em0: frames of -1 bytes: 60 to 1514 with an MTU of 1500"},
		{Params{Interface: "em0", Frames: 1, Size: 61, IPv6: true}, "em0: frames of 61 bytes: 62 to 1514 with an MTU of 1500"},
		{Params{Interface: "em0", Mode: "ping", Size: 77, IPv6: true}, "em0: frames of 77 bytes: 78 to 1514 with an MTU of 1500"},
		{Params{Interface: "em0", Size: 100, MinSize: 100}, "em0: random sizes from 100 bytes: 60 to 99"},
		{Params{Interface: "em0", Size: 100, MinSize: 10}, "em0: random sizes from 10 bytes: 60 to 99"},
		{Params{Interface: "em0", Threads: 65}, "em0: 65 threads: 1 to 64"},
		{Params{Interface: "em0", Threads: -1}, "em0: -1 threads: 1 to 64"},
		{Params{Interface: "em0", Mode: "rx", Threads: 2}, "em0: 2 threads: only tx has more than one"},
		{Params{Interface: "em0", Rate: -1}, "em0: rate -1: not a number of frames a second"},
		{Params{Interface: "em0", Rate: math.NaN()}, "em0: rate NaN: not a number of frames a second"},
		{Params{Interface: "em0", Burst: -1}, "em0: bursts of -1 frames: 1 to 65536"},
		{Params{Interface: "em0", Burst: 1 << 20}, "em0: bursts of 1048576 frames: 1 to 65536"},
		{Params{Interface: "em0", Fragments: 64}, "em0: 64 fragments: 1 to 63"},
		{Params{Interface: "em0", Wait: -1}, "em0: waiting -1 seconds for the link: 0 to 600"},
		{Params{Interface: "em0", ReportMS: 9}, "em0: a report each 9 ms: 10 to 3600000, or 0 for none"},
		{Params{Interface: "em0", Dst: "1:2"}, `em0: destination "1:2": not an Ethernet address`},
		{Params{Interface: "em0", Src: "02:00:00:00:00:01-x"}, `em0: source "02:00:00:00:00:01-x": not an Ethernet address`},
		{Params{Interface: "em0", SrcIP: "fd00::1"}, `em0: source "fd00::1": not an IPv4 address`},
		{Params{Interface: "em0", DstIP: "10.0.0.1-"}, `em0: destination "": not an IPv4 address`},
		{Params{Interface: "em0", DstIP: "10.0.0.1:65536"}, `em0: destination "10.0.0.1:65536": port "65536": 0 to 65535`},
		{Params{Interface: "em0", DstIP: "10.0.0.1", IPv6: true}, `em0: destination "10.0.0.1": not an IPv6 address`},
		{Params{Interface: "em0", DstIP: "8@fd00::1", IPv6: true}, `em0: destination "8@fd00::1": group "8": 0 to 7`},
		{Params{Interface: "em0", DstIP: "[fd00::1", IPv6: true}, `em0: destination "[fd00::1": not [address]:port`},
		{Params{Interface: "em0", DstIP: "[fd00::1]5", IPv6: true}, `em0: destination "[fd00::1]5": not [address]:port`},
	} {
		res, err := r.Do(t.Context(), c.p, nil, nil)
		if err == nil || err.Error() != c.want || res != (Result{}) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
	if len(r.used.nics) != 0 {
		t.Errorf("%d NICs are used", len(r.used.nics))
	}
}

func TestRatesMakeBurstsSmaller(t *testing.T) {
	for _, c := range []struct {
		p    Params
		want int
	}{
		{Params{}, 512}, {Params{Mode: "ping"}, 1}, {Params{Rate: 1e9}, 512}, {Params{Rate: 30_000}, 100}, {Params{Rate: 299}, 1},
		{Params{Rate: 30_000, Burst: 7}, 7}, {Params{Rate: 0.5, Burst: 100}, 1}, {Params{Burst: 100}, 100},
	} {
		s := settings{c.p}
		if s.fill(); s.Burst != c.want {
			t.Errorf("%+v: bursts of %d, want %d", c.p, s.Burst, c.want)
		}
	}
}
