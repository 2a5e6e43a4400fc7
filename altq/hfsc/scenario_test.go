package hfsc

import (
	"fmt"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// The harness of spec altq 6: a regulator of 10 Mb/s, frames of 1514 bytes, 30 s of which the first 5 do not count.
const (
	linkRate  = 10 * mbit
	linkDepth = 6000
	frame     = 1514
	warmUp    = 2 * time.Second
	measured  = 25 * time.Second
	greedy    = 20e6
)

// newLink shapes by a hierarchy; the first queue is the root. Bins are as wide as bin, 0 for any width.
func newLink(t testing.TB, bin time.Duration, queues ...altq.QueueConfig) *altqsim.Link {
	t.Helper()
	d := New(altq.Config{Bandwidth: linkRate})
	d.add(t, queues...)
	return altqtest.Link(t, d, altqsim.Config{Rate: linkRate, Depth: linkDepth, Bin: bin})
}

const (
	tight  = 0.005 // the spec's tolerances
	loose  = 0.01
	queueA = altq.QID(2)
	queueB = altq.QID(3)
)

// Spec altq 6.2, H1 to H6.
func TestSharesAreThoseOfTheCurves(t *testing.T) {
	mega := func(m uint64) altq.Curve { return altq.Curve{M2: m * mbit} }
	share := func(qid altq.QID, m uint64) altq.QueueConfig { return straight(qid, m*mbit) }
	below := func(parent, qid altq.QID, m uint64) altq.QueueConfig {
		return altq.QueueConfig{QID: qid, Parent: parent, LinkShare: mega(m)}
	}
	guaranteed := func(q altq.QueueConfig, m uint64) altq.QueueConfig { q.RealTime = mega(m); return q }
	limited := func(q altq.QueueConfig, m uint64) altq.QueueConfig { q.UpperLimit = mega(m); return q }
	const x, y, x1, x2 altq.QID = 2, 3, 4, 5
	nested := []altq.QueueConfig{share(x, 6), share(y, 4), below(x, x1, 4), below(x, x2, 2)}
	for _, v := range []struct {
		name      string
		queues    []altq.QueueConfig
		flows     []altqtest.Flow
		tolerance float64
	}{
		{"H1 shares", []altq.QueueConfig{share(2, 7), share(3, 3)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 7e6}, {QID: 3, Rate: greedy, Want: 3e6}}, tight},
		{"H2 bytes, not packets", []altq.QueueConfig{share(2, 7), share(3, 3)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 7e6}, {QID: 3, Size: 214, Rate: greedy, Want: 3e6}}, tight},
		{"H3 a guarantee above the share", []altq.QueueConfig{guaranteed(share(2, 1), 4), share(3, 9)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 4e6}, {QID: 3, Rate: greedy, Want: 6e6}}, tight},
		{"H4 a guarantee below the share", []altq.QueueConfig{guaranteed(share(2, 5), 2), share(3, 5)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 5e6}, {QID: 3, Rate: greedy, Want: 5e6}}, tight},
		{"H5 an upper limit", []altq.QueueConfig{limited(share(2, 5), 2), share(3, 5)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 2e6}, {QID: 3, Rate: greedy, Want: 8e6}}, loose},
		{"H5 an upper limit, alone", []altq.QueueConfig{limited(share(2, 5), 2), share(3, 5)},
			[]altqtest.Flow{{QID: 2, Rate: greedy, Want: 2e6}}, loose},
		{"H6 nested, all", nested,
			[]altqtest.Flow{{QID: x1, Rate: greedy, Want: 4e6}, {QID: x2, Rate: greedy, Want: 2e6}, {QID: y, Rate: greedy, Want: 4e6}}, tight},
		{"H6 nested, x1 and Y", nested,
			[]altqtest.Flow{{QID: x1, Rate: greedy, Want: 6e6}, {QID: y, Rate: greedy, Want: 4e6}}, tight},
		{"H6 nested, X", nested,
			[]altqtest.Flow{{QID: x1, Rate: greedy, Want: 20e6 / 3}, {QID: x2, Rate: greedy, Want: 10e6 / 3}}, tight},
	} {
		t.Run(v.name, func(t *testing.T) {
			link := newLink(t, 0, append([]altq.QueueConfig{rootQueue}, v.queues...)...)
			flows := altqtest.StartFlows(link, v.flows)
			altqtest.Measure(link, warmUp, measured)
			for i, f := range flows {
				altqtest.Near(t, v.name, f.Rate(), v.flows[i].Want, v.tolerance)
			}
		})
	}
}

// H7: who had the link alone does not pay for it when another comes.
func TestExcessIsNotPunished(t *testing.T) {
	const joins = 10 * time.Second
	link := newLink(t, time.Second,
		rootQueue, straight(queueA, 5*mbit), straight(queueB, 5*mbit))
	a := link.Add(altqsim.Source{QID: queueA, Size: frame, Rate: greedy})
	b := link.Add(altqsim.Source{QID: queueB, Size: frame, Rate: greedy, Start: joins})
	link.Run(2 * joins)
	for second := 1; second < 20; second++ {
		wantA, wantB := 10., 0.
		if second >= 10 {
			wantA, wantB = 5, 5
		}
		altqtest.Near(t, "A", mbits(a, second, time.Second), wantA, loose)
		altqtest.Near(t, "B", mbits(b, second, time.Second), wantB, loose)
	}
}

// mbits is the rate in a bin of a flow.
func mbits(f *altqsim.Flow, bin int, width time.Duration) float64 {
	if bins := f.Bins(); bin < len(bins) {
		return float64(bins[bin]*bitsPerByte) / width.Seconds() / mbit
	}
	return 0
}

// H8: a concave guarantee gives 7 Mb/s for 100 ms and 2 Mb/s from then on.
func TestConcaveGuaranteeGivesABurst(t *testing.T) {
	const bin, t0 = 50 * time.Millisecond, 5 * time.Second
	burst := straight(queueA, 2*mbit)
	burst.RealTime, burst.QLimit = altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit}, 500
	link := newLink(t, bin, rootQueue, burst, straight(queueB, 8*mbit))
	link.Add(altqsim.Source{QID: queueB, Size: frame, Rate: greedy})
	a := link.Add(altqsim.Source{QID: queueA, Size: frame, Rate: greedy, Start: t0})
	link.Run(t0 + 10*bin)
	first := int(t0 / bin)
	for i := range 4 {
		want, tolerance := 7., 0.04
		if i >= 2 {
			want, tolerance = 2, 0.1
		}
		altqtest.Near(t, fmt.Sprintf("%d ms after its start", i*50), mbits(a, first+i, bin), want, tolerance)
	}
}

// H9: delay and rate apart. Voice of 64 kb/s among 16 busy queues, without a guarantee and with one.
func TestGuaranteeDecouplesDelayFromRate(t *testing.T) {
	for _, guaranteed := range []bool{true, false} {
		queues := []altq.QueueConfig{rootQueue}
		const busy, voice = 16, altq.QID(100)
		for i := range altq.QID(busy) {
			q := straight(2+i, 600*kbit)
			q.RealTime.M2 = 380 * kbit
			queues = append(queues, q)
		}
		v := straight(voice, 64*kbit)
		if guaranteed {
			v.RealTime.M2 = 64 * kbit
		}
		link := newLink(t, 0, append(queues, v)...)
		flows := []altqtest.Flow{{QID: voice, Size: 160, Rate: 64 * kbit}}
		for i := range altq.QID(busy) {
			flows = append(flows, altqtest.Flow{QID: 2 + i, Rate: 2 * mbit})
		}
		f := altqtest.StartFlows(link, flows)[0]
		altqtest.Measure(link, warmUp, measured)
		mean, longest := f.MeanDelay(), f.DelayQuantile(1)
		t.Logf("guaranteed %v: mean %v, longest %v", guaranteed, mean, longest)
		if guaranteed && (mean >= time.Millisecond || longest >= 5*time.Millisecond) {
			t.Errorf("with a guarantee: mean %v, longest %v; want below 1 and 5 ms", mean, longest)
		}
		if !guaranteed && mean <= 10*time.Millisecond {
			t.Errorf("without: mean %v, want above 10 ms", mean)
		}
	}
}
