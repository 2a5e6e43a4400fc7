package hfsc

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

// bench is a discipline by itself, without regulator or wire.
type bench struct {
	*HFSC
	cache *mbuf.Cache
	drops *altq.Drops
}

// packets is a stock of mbufs.
func packets(t testing.TB) *mbuf.Cache {
	t.Helper()
	c := mbuf.Of(altqtest.Kernel(t, false)).NewCache()
	t.Cleanup(c.Close)
	return c
}

func newBench(c *mbuf.Cache, cfg altq.Config) *bench {
	return &bench{HFSC: New(cfg), cache: c, drops: altq.NewDrops(c)}
}

// add adds classes that must be accepted.
func (d *HFSC) add(t interface{ Fatal(...any) }, queues ...altq.QueueConfig) {
	for _, q := range queues {
		if err := d.AddQueue(q); err != nil {
			t.Fatal(err)
		}
	}
}

// packet is an empty mbuf that says it is n bytes long.
func (b *bench) packet(qid altq.QID, n int) *mbuf.Mbuf {
	m := b.cache.GetHdr()
	m.QID, m.Pkt.Len = qid, int32(n)
	return m
}

// put enqueues n bytes; false: dropped.
func (b *bench) put(qid altq.QID, n int, now altq.Time) bool {
	return b.Enqueue(b.packet(qid, n), now, b.drops)
}

// get dequeues, and frees; 0, 0: nothing may be sent.
func (b *bench) get(now altq.Time) (altq.QID, int) {
	m := b.Dequeue(now, b.drops)
	if m == nil {
		return 0, 0
	}
	qid, n := m.QID, int(m.Pkt.Len)
	b.cache.FreeChain(m)
	return qid, n
}

const root altq.QID = 1

// rates of pf.conf's range, with few digits so that classes tie.
var rates = rapid.Custom(func(t *rapid.T) uint64 {
	return rapid.Uint64Range(1, 20).Draw(t, "digits") * rapid.SampledFrom([]uint64{8 * kbit, 100 * kbit, mbit}).Draw(t, "unit")
})

// curves are none, straight, concave or convex.
var curves = rapid.Custom(func(t *rapid.T) altq.Curve {
	d := rapid.Uint32Range(1, 300)
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return altq.Curve{}
	case 1:
		return altq.Curve{M2: rates.Draw(t, "m2")}
	case 2:
		m2 := rates.Draw(t, "m2")
		return altq.Curve{M1: m2 + rates.Draw(t, "more"), D: d.Draw(t, "d"), M2: m2}
	}
	return altq.Curve{D: d.Draw(t, "d"), M2: rates.Draw(t, "m2")}
})

// hierarchies have up to three levels below the root; queue 2 is the default.
var hierarchies = rapid.Custom(func(t *rapid.T) []altq.QueueConfig {
	all := []altq.QueueConfig{
		{QID: root, LinkShare: altq.Curve{M2: 10 * mbit}},
		{QID: root + 1, Parent: root, LinkShare: altq.Curve{M2: mbit}, Flags: altq.FlagDefault},
	}
	depth := map[altq.QID]int{root: 0}
	const maxDepth = 3
	more := rapid.IntRange(1, 12).Draw(t, "classes")
	for qid := root + 2; qid < root+2+altq.QID(more); qid++ {
		parents := []altq.QID{root}
		for _, q := range all[2:] {
			if depth[q.QID] < maxDepth && !q.LinkShare.IsZero() {
				parents = append(parents, q.QID)
			}
		}
		q := altq.QueueConfig{QID: qid, Parent: rapid.SampledFrom(parents).Draw(t, "parent"),
			RealTime: curves.Draw(t, "rt"), LinkShare: curves.Draw(t, "ls"), UpperLimit: curves.Draw(t, "ul"), QLimit: 10}
		if q.RealTime.IsZero() && q.LinkShare.IsZero() {
			q.LinkShare.M2 = mbit
		}
		depth[qid] = depth[q.Parent] + 1
		all = append(all, q)
	}
	return all
})
