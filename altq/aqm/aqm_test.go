package aqm_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/aqm"
	"github.com/ifsim/ifsim/altq/cbq"
	"github.com/ifsim/ifsim/altq/priq"
)

// Which policy wins (spec altq 2.0).
func TestPolicyOfFlags(t *testing.T) {
	const red, ecn, rio, codel = altq.FlagRED, altq.FlagECN, altq.FlagRIO, altq.FlagCoDel
	for _, row := range []struct {
		flags              altq.Flags
		rioFirst, redFirst altq.QType
	}{
		{0, altq.QDropTail, altq.QDropTail}, {red, altq.QRED, altq.QRED}, {ecn, altq.QRED, altq.QRED}, {rio, altq.QRIO, altq.QRIO},
		{red | rio, altq.QRIO, altq.QRED}, {red | rio | codel, altq.QCoDel, altq.QCoDel}, {altq.FlagDefault | altq.FlagBorrow, altq.QDropTail, altq.QDropTail},
	} {
		q := altq.QueueConfig{QID: 1, Flags: row.flags}
		for _, o := range []struct {
			order aqm.Order
			want  altq.QType
		}{{aqm.RIOFirst, row.rioFirst}, {aqm.REDFirst, row.redFirst}} {
			if got := altq.KindOf(aqm.New(q, o.order, 0, 0)); got != o.want {
				t.Errorf("flags %#x order %v: %d, want %d", row.flags, o.order, got, o.want)
			}
		}
	}
}

// Vector V6 of spec altq 6.1.
func TestPacketTimes(t *testing.T) {
	for bw, want := range map[uint64]int64{0: 1e9, 7: 1e9, 599e6: 20033, 601e6: 19966, 3601e6: 3332, 1000: 1<<31 - 1} {
		if got := aqm.PktTime(1500, bw); got != want {
			t.Errorf("%d b/s: %d, want %d", bw, got, want)
		}
	}
}

const (
	frame    = 1514
	linkRate = 10e6
)

// withRED are disciplines with one RED queue, number 2: PRIQ's has a weight of 1/64 and
// CBQ's one of 1/512 (quirk Q2).
func withRED(t *testing.T, seed uint64) map[string]altq.QueueAdder {
	t.Helper()
	cfg := altq.Config{Bandwidth: linkRate, Seed: seed}
	p, c := priq.New(cfg), cbq.New(cfg)
	q := altq.QueueConfig{QID: 2, Bandwidth: linkRate, Flags: altq.FlagRED | altq.FlagDefault | altq.FlagBorrow}
	child := q
	child.Parent, child.Priority = 1, 1
	for _, err := range []error{p.AddQueue(q), c.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagRoot | altq.FlagWRR}), c.AddQueue(child)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]altq.QueueAdder{"weight 64": p, "weight 512": c}
}

// Scenarios R2 to R4 of spec altq 6.2: RED drops what is too much, and its average
// settles where it drops that.
func TestREDSettlesWhereItDropsTheExcess(t *testing.T) {
	const settle = 4 * time.Second
	measure := altqtest.Time(40 * time.Second)
	for _, row := range []struct {
		rate   float64
		drops  float64
		within float64
		lo, hi float64 // of the mean average
		forced bool
	}{
		{10.5e6, 0.0476, 0.002, 9.76 * 0.97, 9.76 * 1.03, false},
		{10.2e6, 0.0196, 0.002, 6.96 * 0.97, 6.96 * 1.03, false},
		{10.8e6, 0.0741, 0.002, 12.41 * 0.97, 12.41 * 1.03, false},
		{12e6, 0.1667, 0.003, 14.5, 15, true},
	} {
		for name, d := range withRED(t, 1) {
			t.Run(name, func(t *testing.T) {
				l := altqtest.Link(t, d, altqsim.Config{Rate: linkRate, Depth: 6000})
				f := l.Add(altqsim.Source{QID: 2, Size: frame, Rate: row.rate})
				stats := func() altq.REDStats {
					s, err := l.Queue.Stats(d.Type(), 2)
					if err != nil || len(s.RED) != 1 {
						t.Fatal(err, s.RED)
					}
					return s.RED[0]
				}
				l.Run(settle)
				l.Mark()
				before := stats()
				var sum float64
				n := 0
				for l.Elapsed() < settle+measure {
					l.Run(5 * time.Millisecond)
					sum += float64(stats().QAvg) / 4096
					n++
				}
				after := stats()
				altqtest.Within(t, "share dropped", f.DropShare(), row.drops, row.within)
				altqtest.Within(t, "average queue", sum/float64(n), (row.lo+row.hi)/2, (row.hi-row.lo)/2)
				if forced := after.DropForced != before.DropForced; forced != row.forced {
					t.Errorf("%d forced drops", after.DropForced-before.DropForced)
				}
			})
		}
	}
}
