package fairq

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	kbit     = 1_000
	mbit     = 1_000_000
	linkRate = 10 * mbit
	frame    = 1514
	greedy   = 20e6
)

// Queues of the tests. pfctl makes the root, which is a class like the others.
const (
	root altq.QID = iota + 1
	low
	high
)

// newFAIRQ has the root and queues of priorities from 1 up, the first of them the default.
func newFAIRQ(t testing.TB, queues ...altq.QueueConfig) *FAIRQ {
	t.Helper()
	d := New(altq.Config{Bandwidth: linkRate})
	all := append([]altq.QueueConfig{{Bandwidth: linkRate}}, queues...)
	for i, q := range all {
		q.QID, q.Priority = root+altq.QID(i), i
		if i == 1 {
			q.Flags |= altq.FlagDefault
		}
		if err := d.AddQueue(q); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// newLink is the harness of spec altq 6: 10 Mb/s.
func newLink(t testing.TB, queues ...altq.QueueConfig) *altqsim.Link {
	t.Helper()
	return altqtest.Link(t, newFAIRQ(t, queues...), altqsim.Config{Rate: linkRate, Depth: 6000})
}

// bench is a discipline without regulator and clock.
type bench struct {
	*FAIRQ
	cache *mbuf.Cache
	drops *altq.Drops
}

func newBench(t testing.TB, d *FAIRQ) *bench {
	t.Helper()
	c := mbuf.Of(altqtest.Kernel(t, true)).NewCache()
	b := &bench{d, c, altq.NewDrops(c)}
	t.Cleanup(func() {
		d.Purge(b.drops)
		c.Close()
	})
	return b
}

// start is when benches begin.
const start = altq.Time(10 * altq.MachClkFreq)

// put enqueues n bytes of a flow; false: dropped.
func (b *bench) put(qid altq.QID, hash uint32, n int) bool {
	m := b.cache.GetHdr()
	m.QID, m.QIDHash, m.Pkt.Len = qid, hash, int32(n)
	return b.Enqueue(m, start, b.drops)
}

// get dequeues and returns the flow, 0 for none.
func (b *bench) get() uint32 {
	m := b.Dequeue(start, b.drops)
	if m == nil {
		return 0
	}
	defer b.cache.FreeChain(m)
	return m.QIDHash
}
