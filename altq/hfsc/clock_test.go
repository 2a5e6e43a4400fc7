package hfsc

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

const day = 24 * time.Hour

// backlogged always has packets; other sources would send a day's worth after a jump.
func backlogged(link *altqsim.Link, qid altq.QID) *altqsim.Flow {
	return link.Add(altqsim.Source{QID: qid, Size: frame, Backlog: altq.DefaultQLimit})
}

func measure10s(link *altqsim.Link) {
	link.Mark()
	link.Run(10 * time.Second)
}

// After a day in which the host slept, a guarantee of 4 Mb/s would claim the whole link for ten hours.
func TestGuaranteeDoesNotClaimAStall(t *testing.T) {
	a, b := straight(queueA, mbit), straight(queueB, 9*mbit)
	a.RealTime.M2 = 4 * mbit
	link := newLink(t, 0, rootQueue, a, b)
	fa, fb := backlogged(link, queueA), backlogged(link, queueB)
	link.Run(warmUp)
	link.Jump(day)
	// 1.05 s at 4 Mb/s, claimed from the 6 Mb/s that are not A's own.
	const claim = 1.05 * 4 / 6
	measure10s(link)
	altqtest.Near(t, "B in 10 s", fb.Rate()/mbit, 6*(10-claim)/10, loose)
	measure10s(link)
	altqtest.Near(t, "A then", fa.Rate()/mbit, 4, loose)
}

// A stall is one also if packets keep coming, as when the peer's pause frames stop the wire.
func TestStallIsSeenThoughPacketsCome(t *testing.T) {
	w := &wire{bench: newBench(packets(t), altq.Config{Bandwidth: wireRate}), now: start}
	a := straight(queueA, mbit)
	a.RealTime.M2 = 4 * mbit
	w.add(t, rootQueue, a, straight(queueB, 9*mbit))
	defer w.Purge(w.drops)
	const minute, tick = 60 * altq.MachClkFreq, altq.MachClkPerTick
	for end := w.now + minute; w.now < end; w.now += tick {
		w.put(queueA, frame, w.now)
		w.put(queueB, frame, w.now)
		_, _ = w.Stats(queueA, w.now)
	}
	begin, sent := w.now, 0
	for w.now < begin+10*altq.MachClkFreq {
		w.put(queueA, frame, w.now)
		w.put(queueB, frame, w.now)
		if qid, n := w.send(); qid == queueB {
			sent += n
		}
	}
	const claim = 1.05 * 4 / 6 // s, as above
	altqtest.Near(t, "B in 10 s", float64(sent)*bitsPerByte/10/mbit, 6*(10-claim)/10, loose)
}

// An upper limit does not let a class make up for a stall either, and does not stop it.
func TestUpperLimitHoldsAfterAStall(t *testing.T) {
	a := straight(queueA, 5*mbit)
	a.UpperLimit.M2 = 2 * mbit
	link := newLink(t, 0, rootQueue, a, straight(queueB, 5*mbit))
	fa, fb := backlogged(link, queueA), backlogged(link, queueB)
	link.Run(warmUp)
	link.Jump(day)
	measure10s(link)
	altqtest.Near(t, "A", fa.Rate()/mbit, 2, loose)
	altqtest.Near(t, "B", fb.Rate()/mbit, 8, loose)
}

// A pause without packets is no stall: the burst of a concave curve is there again.
func TestIdleTimeCounts(t *testing.T) {
	const bin = 50 * time.Millisecond
	burst := straight(queueA, 2*mbit)
	burst.RealTime, burst.QLimit = altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit}, 500
	link := newLink(t, bin, rootQueue, burst, straight(queueB, 8*mbit))
	for _, at := range []time.Duration{0, 60 * time.Second} {
		a := link.Add(altqsim.Source{QID: queueA, Size: frame, Rate: greedy, Start: at, Stop: at + time.Second})
		link.Add(altqsim.Source{QID: queueB, Size: frame, Rate: greedy, Start: at, Stop: at + time.Second})
		link.Run(60 * time.Second)
		altqtest.Near(t, "A at first", mbits(a, int(at/bin)+1, bin), 7, 0.05)
		altqtest.Near(t, "A then", mbits(a, int(at/bin)+4, bin), 2, 0.15)
	}
}

// Time that goes back stands still.
func TestClockThatGoesBack(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	limited := straight(2, mbit)
	limited.UpperLimit.M2 = mbit
	b.add(t, rootQueue, limited)
	b.put(2, 1250, start) // 10 ms
	b.put(2, 1250, start)
	b.put(2, 1250, start)
	now := start
	b.get(now)
	now -= altq.TimeOf(5 * time.Second)
	if _, n := b.get(now); n != 0 {
		t.Error("the limit is gone")
	}
	if _, n := b.get(now + altq.TimeOf(11*time.Millisecond)); n == 0 {
		t.Error("the class waits for the old time to come again")
	}
	b.Purge(b.drops)
}

// With a curve of 1 b/s, a packet of 64 KB is 2^47 units of virtual time: 30,000 of them reach 2^62. Siblings, also
// those that were passive meanwhile, share on as their curves say.
func TestVirtualTimesAreSetBackBeforeTheyWrap(t *testing.T) {
	const size, alone, n = 65535, 80_000, 3000
	b := newBench(packets(t), altq.Config{Bandwidth: 400 * gbit})
	slow := func(qid, parent altq.QID, m uint64) altq.QueueConfig {
		return altq.QueueConfig{QID: qid, Parent: parent, LinkShare: altq.Curve{M2: m}}
	}
	concave := slow(6, root, 1)
	concave.LinkShare = altq.Curve{M1: 2, D: 1000, M2: 1}
	b.add(t, slow(root, 0, 1), slow(2, root, 1), slow(3, root, 2), slow(4, 3, 1), slow(5, 3, 1), concave)
	defer b.Purge(b.drops)
	now, highest := start, uint64(0)
	serve := func(count int, qids ...altq.QID) map[altq.QID]int {
		got := map[altq.QID]int{}
		for _, qid := range qids {
			for b.table.Find(qid).queue.Len() < 2 {
				b.put(qid, size, now)
			}
		}
		for range count {
			now += altq.MachClkFreq / altq.Time(400*gbit/(size*bitsPerByte))
			qid, _ := b.get(now)
			got[qid]++
			b.put(qid, size, now)
			highest = max(highest, b.table.Find(2).vt)
		}
		return got
	}
	if got := serve(alone, 2); got[2] != alone {
		t.Fatalf("alone: %v", got)
	}
	if highest >= 3*vtShift || highest < 2*vtShift-1<<48 {
		t.Errorf("virtual times rise to %#x, want about %#x", highest, uint64(2*vtShift))
	}
	got := serve(n, 2, 4)
	if d := got[4] - 2*got[2]; d < -6 || d > 6 {
		t.Errorf("of 1 to 2 shares: %v", got)
	}
	got = serve(alone, 2, 4, 5, 6)
	for qid, want := range map[altq.QID]int{2: alone / 4, 4: alone / 4, 5: alone / 4, 6: alone / 4} {
		if d := got[qid] - want; d < -10 || d > 10 {
			t.Errorf("queue %d sent %d of %d, want %d", qid, got[qid], alone, want)
		}
	}
}

// Shares at the fastest rate that the project names, where inverse slopes have two digits left.
func TestSharesAt400Gigabits(t *testing.T) {
	const size, n = 9014, 100_000
	b := newBench(packets(t), altq.Config{Bandwidth: 400 * gbit})
	b.add(t, altq.QueueConfig{QID: root, LinkShare: altq.Curve{M2: 400 * gbit}}, straight(2, 300*gbit), straight(3, 100*gbit))
	defer b.Purge(b.drops)
	for range 4 {
		b.put(2, size, start)
		b.put(3, size, start)
	}
	got := map[altq.QID]float64{}
	for i := range n {
		now := start + altq.TimeOf(time.Duration(i*size*bitsPerByte/400))
		qid, _ := b.get(now)
		got[qid]++
		b.put(qid, size, now)
	}
	altqtest.Near(t, "3 of 4", got[2]/n, 0.75, loose)
}
