package cbq_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

const frame = 1514

// flow is a source into a class and what it should get, in Mb/s.
type flow struct {
	qid    altq.QID
	rate   float64 // 0: greedy
	want   float64
	within float64 // Mb/s
}

// expectation of counters of a class.
type counters func(t *testing.T, s altq.ClassStats)

func suspended(t *testing.T, s altq.ClassStats) {
	if s.CBQ.Delays == 0 || s.CBQ.Borrows != 0 {
		t.Errorf("queue %d: %d suspensions, %d borrows", s.QID, s.CBQ.Delays, s.CBQ.Borrows)
	}
}

func borrowing(t *testing.T, s altq.ClassStats) {
	if s.CBQ.Delays != 0 || s.CBQ.Borrows < s.Xmit.Packets*9/10 {
		t.Errorf("queue %d: %d suspensions, %d borrows for %d packets", s.QID, s.CBQ.Delays, s.CBQ.Borrows, s.Xmit.Packets)
	}
}

func noDrops(t *testing.T, s altq.ClassStats) {
	if s.Drop.Packets != 0 {
		t.Errorf("queue %d: %d drops", s.QID, s.Drop.Packets)
	}
}

// Scenarios C1 to C9 of spec altq 6.2.
func TestShares(t *testing.T) {
	const greedy = 20
	class := func(qid altq.QID, mbps float64, f altq.Flags) altq.QueueConfig {
		return altq.QueueConfig{QID: qid, Bandwidth: uint64(mbps * 1e6), Flags: f}
	}
	under := func(parent altq.QID, q altq.QueueConfig) altq.QueueConfig {
		q.Parent = parent
		return q
	}
	nested := []altq.QueueConfig{class(2, 6, borrow), under(2, class(3, 3, borrow)), under(2, class(4, 3, borrow)), class(5, 4, borrow|altq.FlagDefault)}
	const def = altq.FlagDefault
	for _, row := range []struct {
		name    string
		classes []altq.QueueConfig
		flows   []flow
		check   map[altq.QID]counters
	}{
		{"C1", []altq.QueueConfig{class(2, 6, borrow|def), class(3, 4, borrow)}, []flow{{2, 0, 6, 0.2}, {3, 0, 4, 0.2}}, nil},
		{"C2", []altq.QueueConfig{class(2, 6, def), class(3, 4, 0)}, []flow{{2, 0, 6, 0.2}, {3, 0, 4, 0.2}}, nil},
		{"C3 A", []altq.QueueConfig{class(2, 6, def), class(3, 4, 0)}, []flow{{2, 0, 6, 0.18}}, map[altq.QID]counters{2: suspended}},
		{"C3 B", []altq.QueueConfig{class(2, 6, def), class(3, 4, 0)}, []flow{{3, 0, 4, 0.12}}, map[altq.QID]counters{3: suspended}},
		{"C4 A", []altq.QueueConfig{class(2, 6, borrow|def), class(3, 4, borrow)}, []flow{{2, 0, 10, 0.1}}, map[altq.QID]counters{2: borrowing}},
		{"C4 B", []altq.QueueConfig{class(2, 6, borrow|def), class(3, 4, borrow)}, []flow{{3, 0, 10, 0.1}}, map[altq.QID]counters{3: borrowing}},
		{"C5", []altq.QueueConfig{class(2, 6, borrow|def), class(3, 4, borrow)}, []flow{{2, 0, 9, 0.09}, {3, 1, 1, 0.01}}, map[altq.QID]counters{3: noDrops}},
		{"C6", []altq.QueueConfig{class(2, 3, def), class(3, 3, 0)}, []flow{{2, 0, 3, 0.09}, {3, 0, 3, 0.09}}, nil},
		{"C7", []altq.QueueConfig{class(2, 3, borrow|def), class(3, 3, borrow)}, []flow{{2, 0, 5, 0.1}, {3, 0, 5, 0.1}}, nil},
		{"C8 20%", []altq.QueueConfig{class(2, 2, def)}, []flow{{2, 0, 2, 0.06}}, nil},
		{"C8 10%", []altq.QueueConfig{class(2, 1, def)}, []flow{{2, 0, 1, 0.03}}, nil},
		{"C9 all", nested, []flow{{3, 0, 3, 0.2}, {4, 0, 3, 0.2}, {5, 0, 4, 0.2}}, nil},
		{"C9 x1 and Y", nested, []flow{{3, 0, 6, 0.2}, {5, 0, 4, 0.2}}, nil},
		{"C9 x1 and x2", nested, []flow{{3, 0, 5, 0.2}, {4, 0, 5, 0.2}}, nil},
		{"C9 x1", nested, []flow{{3, 0, 10, 0.2}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := altqtest.Link(t, tree(t, linkRate, row.classes...), altqsim.Config{Rate: linkRate, Depth: 6000})
			var flows []*altqsim.Flow
			for i, f := range row.flows {
				rate := f.rate
				if rate == 0 {
					rate = greedy
				}
				flows = append(flows, l.Add(altqsim.Source{QID: f.qid, Size: frame, Rate: rate * 1e6, Start: time.Duration(300*i) * time.Microsecond}))
			}
			altqtest.Measure(l, 2*time.Second, 20*time.Second)
			for i, f := range row.flows {
				altqtest.Within(t, "Mb/s", flows[i].Rate()/1e6, f.want, f.within)
			}
			for qid, check := range row.check {
				s, err := l.Queue.Stats(altq.TypeCBQ, qid)
				if err != nil {
					t.Fatal(err)
				}
				check(t, s)
			}
		})
	}
}
