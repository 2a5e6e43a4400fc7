package hfsc

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

// guaranteed hierarchies give each leaf a real-time curve; together they stay below 80% of the link, as pfctl demands.
var guaranteed = rapid.Custom(func(t *rapid.T) []altq.QueueConfig {
	const admissible = 10 * mbit / 100 * 80
	queues := hierarchies.Draw(t, "queues")
	parents := map[altq.QID]bool{}
	for _, q := range queues {
		parents[q.Parent] = true
	}
	left, leaves := uint64(admissible), 0
	for i := range queues {
		q := &queues[i]
		q.UpperLimit, q.RealTime, q.QLimit = altq.Curve{}, altq.Curve{}, 1<<20
		if parents[q.QID] {
			if q.LinkShare.IsZero() {
				q.LinkShare.M2 = mbit
			}
			continue
		}
		leaves++
		share := max(left/uint64(rapid.IntRange(2, 4).Draw(t, "part")), 8*kbit)
		if share > left {
			continue
		}
		left -= share
		low := rapid.Uint64Range(8*kbit, share).Draw(t, "low")
		d := rapid.Uint32Range(1, 200).Draw(t, "d")
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			q.RealTime = altq.Curve{M2: share}
		case 1:
			q.RealTime = altq.Curve{M1: share, D: d, M2: low}
		default:
			q.RealTime = altq.Curve{D: d, M2: share}
		}
		if rapid.Bool().Draw(t, "only") && q.Flags == 0 {
			q.LinkShare = altq.Curve{}
		}
	}
	return queues
})

// wire is a link of 10 Mb/s that sends one packet after the other.
type wire struct {
	*bench
	now altq.Time
}

const (
	wireRate = 10 * mbit
	steps    = 300
)

// newWire has a hierarchy with guarantees.
func newWire(t *rapid.T, c *mbuf.Cache) (*wire, []altq.QueueConfig) {
	queues := guaranteed.Draw(t, "queues")
	w := &wire{bench: newBench(c, altq.Config{Bandwidth: wireRate}), now: start}
	w.add(t, queues...)
	return w, queues
}

// send sends one packet, or lets 50 us pass; the number is that of its class.
func (w *wire) send() (altq.QID, int) {
	const pause = 50 << altq.MachClkShift
	m := w.Dequeue(w.now, w.drops)
	if m == nil {
		w.now += pause
		return 0, 0
	}
	qid, n := m.QID, int(m.Pkt.Len)
	w.cache.FreeChain(m)
	us := (n*bitsPerByte*1_000_000 + wireRate - 1) / wireRate
	w.now += altq.Time(us) << altq.MachClkShift
	return qid, n
}

// A class that always has packets gets its real-time curve from when it began, but for one packet of its own and one
// that was on the wire, whatever the others do.
func TestBackloggedClassGetsItsCurve(t *testing.T) {
	c := packets(t)
	rapid.Check(t, func(t *rapid.T) {
		w, queues := newWire(t, c)
		defer w.Purge(w.drops)
		const longest = 1514
		lens := rapid.SampledFrom([]int{60, 214, longest})

		type promise struct {
			curve  runtimeCurve
			served uint64
		}
		promises := map[altq.QID]*promise{}
		var leaves []altq.QID
		for _, q := range queues {
			if w.table.Find(q.QID).interior() {
				continue
			}
			leaves = append(leaves, q.QID)
			if q.RealTime.IsZero() || rapid.IntRange(0, 2).Draw(t, "greedy") == 0 {
				continue
			}
			s := newServiceCurve(q.RealTime)
			promises[q.QID] = &promise{curve: newRuntimeCurve(&s, uint64(w.now), 0)}
			for range 2 {
				w.put(q.QID, lens.Draw(t, "len"), w.now)
			}
		}
		for range steps {
			for range rapid.IntRange(0, 2).Draw(t, "arrivals") {
				w.put(rapid.SampledFrom(leaves).Draw(t, "qid"), lens.Draw(t, "len"), w.now)
			}
			qid, n := w.send()
			if p := promises[qid]; p != nil {
				p.served += uint64(n)
				w.put(qid, lens.Draw(t, "len"), w.now)
			}
			for qid, p := range promises {
				if due := p.curve.x2y(uint64(w.now)); p.served+2*longest < due {
					t.Fatalf("queue %d has got %d bytes, its curve gives %d", qid, p.served, due)
				}
			}
		}
	})
}

// No packet of an admissible class leaves later than its deadline and the time of one packet of another class.
func TestDeadlinesAreKept(t *testing.T) {
	c := packets(t)
	rapid.Check(t, func(t *rapid.T) {
		w, queues := newWire(t, c)
		defer w.Purge(w.drops)
		lens := rapid.SampledFrom([]int{60, 214, 1514})
		const slack = (1514*bitsPerByte/10 + 100) << altq.MachClkShift // one packet, and the microseconds rounded up
		for range steps {
			for range rapid.IntRange(0, 3).Draw(t, "arrivals") {
				qid := altq.QID(rapid.IntRange(2, len(queues)).Draw(t, "qid"))
				w.put(qid, lens.Draw(t, "len"), w.now)
			}
			chosen, realtime := (*class)(nil), false
			if w.Len() > 0 {
				chosen, realtime = w.choose(uint64(w.now))
			}
			var deadline uint64
			if realtime {
				deadline = chosen.d
			}
			w.send()
			if realtime && uint64(w.now) > deadline+slack {
				t.Fatalf("queue %d: sent at %d, due %d: %d us late", chosen.qid, w.now, deadline,
					(uint64(w.now)-deadline)>>altq.MachClkShift)
			}
		}
	})
}
