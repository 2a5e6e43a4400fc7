package cbq

import (
	"math"
	"testing"

	"github.com/ifsim/ifsim/altq"
)

// Vector V8 of spec altq 6.1: the table of 2.2.
func TestEstimatorParameters(t *testing.T) {
	for _, row := range []struct {
		bandwidth uint64
		want      params
	}{
		{10e6, params{800, 1200, -38400, 1, false}},
		{6e6, params{1333, 16829, -63984, 1624, false}},
		{4e6, params{2000, 38000, -96000, 3656, false}},
		{3e6, params{2666, 58985, -127968, 5686, false}},
		{2e6, params{4000, 101500, -192000, 9750, false}},
		{1e6, params{8000, 46000, -384000, 21937, false}},
	} {
		if got := newParams(row.bandwidth, 10e6, 1500); got != row.want {
			t.Errorf("%d of 10,000,000 b/s: %+v, want %+v", row.bandwidth, got, row.want)
		}
	}
}

func TestRoundRobinWeights(t *testing.T) {
	d := New(altq.Config{Bandwidth: 10e6})
	for _, q := range []altq.QueueConfig{
		{QID: 1, Flags: altq.FlagRoot | altq.FlagWRR}, {QID: 2, Parent: 1, Priority: 1, Bandwidth: 6e6, Flags: altq.FlagDefault},
		{QID: 3, Parent: 1, Priority: 1, Bandwidth: 4e6},
	} {
		if err := d.AddQueue(q); err != nil {
			t.Fatal(err)
		}
	}
	if m := d.active[1].alloc / (d.active[1].num * d.maxPkt); m != 416 {
		t.Errorf("M is %d, want 416", m)
	}
	for qid, want := range map[altq.QID]int64{2: 1803, 3: 1201} {
		if s, err := d.Stats(qid, 0); err != nil || s.CBQ.WRRAllot != want {
			t.Errorf("class %d: %d bytes a round, want %d", qid, s.CBQ.WRRAllot, want)
		}
	}
}

func TestSlowClassIsTold(t *testing.T) {
	c := altq.Config{Bandwidth: 10e6}
	for bw, want := range map[uint64]bool{5500: true, 5700: false, 0: true} {
		if got := TooSlow(bw, c); got != want {
			t.Errorf("%d b/s: too slow %v, want %v", bw, got, want)
		}
	}
	if p := newParams(1000, 10e6, 1500); p.nsPerByte != math.MaxInt32/1500 {
		t.Errorf("a slow class has %d ns a byte", p.nsPerByte)
	}
}

// Nothing divides by 0 however fast the link.
func TestFastLinksHaveATimeAByte(t *testing.T) {
	for _, bw := range []uint64{0, 1, 4e9, 400e9, math.MaxUint64} {
		d := New(altq.Config{Bandwidth: bw})
		if err := d.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagRoot}); err != nil {
			t.Fatal(err)
		}
		if err := d.AddQueue(altq.QueueConfig{QID: 2, Parent: 1, Bandwidth: bw / 2, Flags: altq.FlagDefault}); err != nil {
			t.Fatal(err)
		}
		if s, _ := d.Stats(2, 0); s.CBQ.NsPerByte < 1 || s.CBQ.MaxIdle < 1 || s.CBQ.MinIdle > 0 || s.CBQ.OffTime < 1 {
			t.Errorf("%d b/s: %+v", bw, s.CBQ)
		}
	}
}

// The estimator's clock tells apart two seconds (spec altq 2.2).
func TestElapsedSaturates(t *testing.T) {
	for _, row := range []struct{ a, b, want int64 }{
		{10_000_500, 10_000_000, 500}, {10_000_000, 9_999_999, 1}, {12_999_999, 10_000_000, 2_999_999},
		{13_000_000, 12_999_999, 1}, {13_000_000, 10_999_999, 2_000_000}, {9_999_999, 10_000_000, 2_000_000},
		{86_400_000_000, 10_000_000, 2_000_000},
	} {
		if got := elapsed(row.a, row.b); got != row.want {
			t.Errorf("%d - %d: %d, want %d", row.a, row.b, got, row.want)
		}
	}
}
