package hfsc

import (
	"errors"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

var start = altq.TimeOf(10e9)

// straight is a class of one slope below the root.
func straight(qid altq.QID, m2 uint64) altq.QueueConfig {
	return altq.QueueConfig{QID: qid, Parent: root, LinkShare: altq.Curve{M2: m2}}
}

var rootQueue = altq.QueueConfig{QID: root, LinkShare: altq.Curve{M2: 10 * mbit}}

func TestAddQueueRefuses(t *testing.T) {
	c := packets(t)
	curve := altq.Curve{M2: mbit}
	for _, v := range []struct {
		name string
		q    altq.QueueConfig
		want error
	}{
		{"no number", altq.QueueConfig{Parent: root, LinkShare: curve}, altq.ErrConfig},
		{"a second root", altq.QueueConfig{QID: 9, LinkShare: curve}, altq.ErrConfig},
		{"an unknown parent", altq.QueueConfig{QID: 9, Parent: 77, LinkShare: curve}, altq.ErrConfig},
		{"a number in use", altq.QueueConfig{QID: 2, Parent: root, LinkShare: curve}, altq.ErrInUse},
		{"a child of the default", altq.QueueConfig{QID: 9, Parent: 2, LinkShare: curve}, altq.ErrConfig},
		{"no curve", altq.QueueConfig{QID: 9, Parent: root, UpperLimit: curve}, altq.ErrConfig},
		{"m2 zero", altq.QueueConfig{QID: 9, Parent: root, LinkShare: altq.Curve{M1: mbit, D: 10}}, altq.ErrConfig},
		{"convex from m1", altq.QueueConfig{QID: 9, Parent: root, LinkShare: curve,
			UpperLimit: altq.Curve{M1: 1, D: 10, M2: mbit}}, altq.ErrConfig},
		{"a share of a parent without", altq.QueueConfig{QID: 9, Parent: 3, LinkShare: curve}, altq.ErrConfig},
		{"nothing", altq.QueueConfig{QID: 9, Parent: 3, RealTime: altq.Curve{D: 10, M2: mbit}}, nil},
	} {
		b := newBench(c, altq.Config{Bandwidth: 10 * mbit})
		def := straight(2, mbit)
		def.Flags = altq.FlagDefault
		b.add(t, rootQueue, def, altq.QueueConfig{QID: 3, Parent: root, RealTime: curve})
		if err := b.AddQueue(v.q); !errors.Is(err, v.want) {
			t.Errorf("%s: %v, want %v", v.name, err, v.want)
		}
	}
}

func TestClassesAreLimited(t *testing.T) {
	b := newBench(packets(t), altq.Config{})
	b.add(t, rootQueue)
	for qid := altq.QID(2); qid <= maxClasses; qid++ {
		b.add(t, straight(qid, mbit))
	}
	if err := b.AddQueue(straight(maxClasses+1, mbit)); !errors.Is(err, altq.ErrTooMany) {
		t.Errorf("class %d: %v, want %v", maxClasses+1, err, altq.ErrTooMany)
	}
}

// Untagged packets, unknown numbers and interior classes: the default. Without one the packet is lost, and counted.
func TestPacketsWithoutALeafGoToTheDefault(t *testing.T) {
	c := packets(t)
	b := newBench(c, altq.Config{Bandwidth: 10 * mbit})
	b.add(t, rootQueue, straight(2, mbit), altq.QueueConfig{QID: 3, Parent: 2, LinkShare: altq.Curve{M2: mbit}})
	if b.put(2, 100, start) {
		t.Error("a packet for an interior class without a default was taken")
	}
	if got := b.drops.Total(); got != (altq.Counter{Packets: 1, Bytes: 100}) {
		t.Errorf("dropped %+v", got)
	}
	def := straight(4, mbit)
	def.Flags = altq.FlagDefault
	b.add(t, def)
	for _, qid := range []altq.QID{0, root, 2, 99} {
		b.put(qid, 100, start)
	}
	if s, _ := b.Stats(4, start); s.QLen != 4 {
		t.Errorf("the default holds %d packets, want 4", s.QLen)
	}
	b.Purge(b.drops)
}

func TestFullQueueDropsAtTheTail(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	q := straight(2, mbit)
	q.QLimit = 2
	b.add(t, rootQueue, q)
	for n, want := range []bool{true, true, false} {
		if got := b.put(2, 100+n, start); got != want {
			t.Errorf("packet %d: %v, want %v", n, got, want)
		}
	}
	s, err := b.Stats(2, start)
	if err != nil || s.QLen != 2 || s.QLimit != 2 || s.Drop != (altq.Counter{Packets: 1, Bytes: 102}) || s.Period != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, n := b.get(start); n != 100 {
		t.Errorf("sent %d bytes, want the first packet", n)
	}
	b.Purge(b.drops)
	s, _ = b.Stats(2, start)
	if s.QLen != 0 || s.Drop != (altq.Counter{Packets: 2, Bytes: 203}) || s.Xmit != (altq.Counter{Packets: 1, Bytes: 100}) {
		t.Errorf("after purge %+v", s)
	}
	if _, err := b.Stats(7, start); !errors.Is(err, altq.ErrNoQueue) {
		t.Errorf("stats of no queue: %v", err)
	}
}

// FreeBSD would panic: the next removal asks the class for a packet that is gone.
func TestPurgeForgetsWhatWasPolled(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	b.add(t, rootQueue, straight(2, mbit), straight(3, mbit))
	b.put(2, 100, start)
	if m := b.Poll(start, b.drops); m == nil || m.QID != 2 {
		t.Fatalf("polled %v", m)
	}
	b.Purge(b.drops)
	b.put(3, 100, start)
	if qid, _ := b.get(start); qid != 3 {
		t.Errorf("sent of queue %d, want 3", qid)
	}
}

// A leaf with a guarantee alone becomes empty beside one that shares: FreeBSD counts it off the parent, and the other
// waits forever.
func TestGuaranteeAloneDoesNotCountInSharing(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	b.add(t, rootQueue, straight(2, mbit),
		altq.QueueConfig{QID: 3, Parent: 2, LinkShare: altq.Curve{M2: mbit}},
		altq.QueueConfig{QID: 4, Parent: 2, RealTime: altq.Curve{M2: mbit}})
	b.put(3, 1000, start)
	b.put(3, 1000, start)
	b.put(4, 100, start)
	for i, want := range []altq.QID{4, 3, 3, 0} {
		if got, _ := b.get(start); got != want {
			t.Errorf("packet %d of queue %d, want %d", i, got, want)
		}
	}
}

// An unlimited child makes its parent fit at once, whatever keeps its sibling from being served.
func TestUnlimitedChildIsServedBesideALimitedOne(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	limited := altq.QueueConfig{QID: 3, Parent: 2, LinkShare: altq.Curve{M2: mbit}, UpperLimit: altq.Curve{M2: 8 * kbit}}
	b.add(t, rootQueue, straight(2, mbit), limited, altq.QueueConfig{QID: 4, Parent: 2, LinkShare: altq.Curve{M2: mbit}})
	b.put(3, 1000, start)
	b.put(3, 1000, start)
	b.get(start)
	if qid, _ := b.get(start); qid != 0 {
		t.Fatalf("queue %d sends above its limit", qid)
	}
	b.put(4, 1000, start)
	if qid, _ := b.get(start); qid != 4 {
		t.Errorf("sent of queue %d, want 4", qid)
	}
	if qid, _ := b.get(start + altq.MachClkFreq); qid != 3 {
		t.Errorf("after its second: queue %d, want 3", qid)
	}
}

// threeLevels has a policy of each kind and a curve of each kind.
func threeLevels() altq.Discipline {
	d := New(altq.Config{Bandwidth: linkRate})
	share := altq.Curve{M2: 2 * mbit}
	for _, q := range []altq.QueueConfig{
		rootQueue,
		straight(2, 6*mbit),
		{QID: 3, Parent: 2, LinkShare: share, RealTime: altq.Curve{M1: 2 * mbit, D: 20, M2: mbit}, Flags: altq.FlagCoDel},
		{QID: 4, Parent: 2, LinkShare: share, UpperLimit: altq.Curve{M2: 3 * mbit}},
		{QID: 5, Parent: 4, LinkShare: share, Flags: altq.FlagRED | altq.FlagECN},
		{QID: 6, Parent: 4, LinkShare: altq.Curve{D: 50, M2: mbit}, Flags: altq.FlagRIO},
		{QID: 7, Parent: root, RealTime: altq.Curve{D: 10, M2: mbit}, Flags: altq.FlagDefault},
	} {
		_ = d.AddQueue(q)
	}
	return d
}

func TestPacketsAreConserved(t *testing.T) {
	altqtest.Conservation(t, threeLevels, 1, 2, 3, 4, 5, 6, 7)
}

func TestSendersMayBeMany(t *testing.T) { altqtest.Concurrent(t, threeLevels, 1, 2, 3, 4, 5, 6, 7) }

func FuzzHFSC(f *testing.F) { altqtest.Fuzz(f, threeLevels, 3, 5, 6, 7) }

// The statistics are those of struct hfsc_classstats_v1.
func TestStatsShowTheCurvesAsRounded(t *testing.T) {
	b := newBench(packets(t), altq.Config{Bandwidth: 10 * mbit})
	q := straight(2, 64*kbit)
	q.RealTime = altq.Curve{M1: 7 * mbit, D: 100, M2: 2 * mbit}
	b.add(t, rootQueue, q)
	b.put(2, 1514, start)
	s, _ := b.Stats(2, start+256)
	h := s.HFSC
	if h.RealTime != q.RealTime || h.LinkShare != (altq.Curve{M2: 63_964}) || !h.UpperLimit.IsZero() {
		t.Errorf("curves %+v %+v %+v", h.RealTime, h.LinkShare, h.UpperLimit)
	}
	// 1514 bytes at 7 Mb/s.
	wantD := uint64(start) + 1514*4_793_490>>ismShift
	if h.E != uint64(start) || h.D != wantD || h.CurTime != uint64(start)+256 || h.NActive != 1 || s.QType != altq.QDropTail {
		t.Errorf("e %d, d %d, now %d, nactive %d, qtype %d; want e %d, d %d", h.E, h.D, h.CurTime, h.NActive, s.QType, start, wantD)
	}
	b.Purge(b.drops)
}

func TestQueuesTakeTheirPolicy(t *testing.T) {
	c := packets(t)
	for flags, want := range map[altq.Flags]altq.QType{
		0:                             altq.QDropTail,
		altq.FlagRED:                  altq.QRED,
		altq.FlagECN:                  altq.QRED,
		altq.FlagRIO:                  altq.QRIO,
		altq.FlagRED | altq.FlagRIO:   altq.QRED,
		altq.FlagRED | altq.FlagCoDel: altq.QCoDel,
	} {
		b := newBench(c, altq.Config{Bandwidth: 10 * mbit})
		q := straight(2, mbit)
		q.Flags = flags
		b.add(t, rootQueue, q)
		if s, _ := b.Stats(2, start); s.QType != want {
			t.Errorf("flags %#x: policy %d, want %d", flags, s.QType, want)
		}
	}
}
