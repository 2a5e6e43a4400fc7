package fairq

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// Spec altq 6.1, V9.
func TestBucketsAreAPowerOfTwo(t *testing.T) {
	for n, want := range map[int]int{0: 256, 1: 1, 2: 2, 3: 4, 100: 128, 256: 256, 257: 512, 2048: 2048, 5000: 2048} {
		if got := numBuckets(n); got != want {
			t.Errorf("%d buckets become %d, want %d", n, got, want)
		}
	}
}

func TestAddQueueRefuses(t *testing.T) {
	d := newFAIRQ(t, altq.QueueConfig{Bandwidth: mbit})
	for _, v := range []struct {
		name string
		q    altq.QueueConfig
		want error
	}{
		{"no number", altq.QueueConfig{Priority: 5}, altq.ErrConfig},
		{"a priority too high", altq.QueueConfig{QID: 9, Priority: 8}, altq.ErrConfig},
		{"a negative priority", altq.QueueConfig{QID: 9, Priority: -1}, altq.ErrConfig},
		{"the root's priority", altq.QueueConfig{QID: 9}, altq.ErrInUse},
		{"a priority in use", altq.QueueConfig{QID: 9, Priority: 1}, altq.ErrInUse},
		{"a number in use", altq.QueueConfig{QID: low, Priority: 5}, altq.ErrInUse},
		{"nothing", altq.QueueConfig{QID: 9, Priority: 7}, nil},
	} {
		if err := d.AddQueue(v.q); !errors.Is(err, v.want) {
			t.Errorf("%s: %v, want %v", v.name, err, v.want)
		}
	}
}

func TestFlowsTakeTurns(t *testing.T) {
	b := newBench(t, newFAIRQ(t, altq.QueueConfig{Bandwidth: linkRate}))
	for _, hash := range []uint32{7, 7, 7, 8, 9, 9} {
		b.put(low, hash, 100)
	}
	for i, want := range []uint32{7, 8, 9, 7, 9, 7, 0} {
		if got := b.get(); got != want {
			t.Errorf("packet %d of flow %d, want %d", i, got, want)
		}
	}
}

// A packet without a flow joins the bucket whose turn comes last.
func TestPacketWithoutAFlowGoesLast(t *testing.T) {
	b := newBench(t, newFAIRQ(t, altq.QueueConfig{Bandwidth: linkRate, Buckets: 4}))
	b.put(low, 0, 60) // none is in use: bucket 0
	b.put(low, 4, 60) // bucket 0 also
	b.put(low, 1, 60)
	b.put(low, 2, 60)
	b.put(low, 0, 61) // behind flow 2
	for i, want := range []uint32{0, 1, 2, 4, 0} {
		if m := b.Poll(start, b.drops); m == nil {
			t.Fatalf("nothing to send, want packet %d", i)
		}
		if got := b.get(); got != want {
			t.Errorf("packet %d of flow %d, want %d", i, got, want)
		}
	}
}

func TestEachBucketHasTheLimit(t *testing.T) {
	b := newBench(t, newFAIRQ(t, altq.QueueConfig{Bandwidth: linkRate, QLimit: 2}))
	for _, v := range []struct {
		hash uint32
		want bool
	}{{1, true}, {1, true}, {1, false}, {2, true}, {257, false}} {
		if got := b.put(low, v.hash, 100+int(v.hash)); got != v.want {
			t.Errorf("flow %d: %v, want %v", v.hash, got, v.want)
		}
	}
	s, err := b.Stats(low, start)
	if err != nil || s.QLen != 3 || s.QLimit != 2 || s.Drop != (altq.Counter{Packets: 2, Bytes: 101 + 357}) {
		t.Errorf("%+v, %v", s, err)
	}
	b.get()
	b.Purge(b.drops)
	s, _ = b.Stats(low, start)
	if s.QLen != 0 || b.Len() != 0 || s.Drop.Packets != 4 || s.Xmit != (altq.Counter{Packets: 1, Bytes: 101}) {
		t.Errorf("after purge %+v", s)
	}
	if _, err := b.Stats(99, start); !errors.Is(err, altq.ErrNoQueue) {
		t.Errorf("stats of no queue: %v", err)
	}
}

func TestUnknownQueuesAreTheDefaults(t *testing.T) {
	b := newBench(t, newFAIRQ(t, altq.QueueConfig{Bandwidth: linkRate}))
	for _, qid := range []altq.QID{0, 99} {
		b.put(qid, 1, 60)
	}
	if s, _ := b.Stats(low, start); s.QLen != 2 {
		t.Errorf("the default holds %d, want 2", s.QLen)
	}
	none := newBench(t, New(altq.Config{Bandwidth: linkRate}))
	if none.put(0, 1, 60) || none.drops.Total().Packets != 1 {
		t.Error("a packet without a class was taken or is not counted")
	}
}

// Purge between poll and removal: FreeBSD asks the class polled, which is empty, and sends nothing for once.
func TestPurgeForgetsWhatWasPolled(t *testing.T) {
	b := newBench(t, newFAIRQ(t, altq.QueueConfig{Bandwidth: mbit}, altq.QueueConfig{Bandwidth: mbit}))
	b.put(high, 1, 60)
	b.Poll(start, b.drops)
	b.Purge(b.drops)
	b.put(low, 2, 60)
	if got := b.get(); got != 2 {
		t.Errorf("flow %d, want 2", got)
	}
}

func TestQueuesTakeTheirPolicy(t *testing.T) {
	for flags, want := range map[altq.Flags]altq.QType{
		0: altq.QDropTail, altq.FlagRED: altq.QRED, altq.FlagRIO: altq.QRIO,
		altq.FlagRED | altq.FlagRIO: altq.QRIO, altq.FlagRIO | altq.FlagCoDel: altq.QCoDel,
	} {
		d := newFAIRQ(t, altq.QueueConfig{Flags: flags})
		if s, _ := d.Stats(low, start); s.QType != want {
			t.Errorf("flags %#x: policy %d, want %d", flags, s.QType, want)
		}
	}
}

// mixed has classes of each policy, with and without hogs.
func mixed() altq.Discipline {
	d := New(altq.Config{Bandwidth: linkRate})
	for i, q := range []altq.QueueConfig{
		{Bandwidth: linkRate},
		{Bandwidth: 4 * mbit, Flags: altq.FlagDefault, Hogs: mbit},
		{Bandwidth: mbit, Flags: altq.FlagRED | altq.FlagECN, Buckets: 4},
		{Bandwidth: mbit, Flags: altq.FlagRIO, Buckets: 1},
		{Bandwidth: mbit, Flags: altq.FlagCoDel, Hogs: 100 * kbit},
	} {
		q.QID, q.Priority = root+altq.QID(i), i
		_ = d.AddQueue(q)
	}
	return d
}

func TestPacketsAreConserved(t *testing.T) { altqtest.Conservation(t, mixed, 1, 2, 3, 4, 5) }

func TestSendersMayBeMany(t *testing.T) { altqtest.Concurrent(t, mixed, 1, 2, 3, 4, 5) }

func FuzzFAIRQ(f *testing.F) { altqtest.Fuzz(f, mixed, 1, 2, 3, 4, 5) }

// BenchmarkFlows has all buckets of a class busy; there are at most 8 classes.
func BenchmarkFlows(b *testing.B) {
	for _, n := range []int{4, 64, 1024} {
		b.Run(fmt.Sprintf("%dflows", n), func(b *testing.B) {
			d := newFAIRQ(b, altq.QueueConfig{Bandwidth: linkRate, Buckets: n, Hogs: kbit})
			qids := make([]altq.QID, n) // four packets for each
			for i := range qids {
				qids[i] = low
			}
			altqtest.Benchmark(b, d, linkRate, qids...)
		})
	}
}

// BenchmarkClasses has all classes busy and above their bandwidth, so that each is looked at for each packet.
func BenchmarkClasses(b *testing.B) {
	d := newFAIRQ(b, make([]altq.QueueConfig, maxPri-1)...)
	var qids []altq.QID
	for qid := root; qid < root+maxPri; qid++ {
		qids = append(qids, qid)
	}
	altqtest.Benchmark(b, d, linkRate, qids...)
}
