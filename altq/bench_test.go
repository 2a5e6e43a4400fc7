package altq_test

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/priq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// BenchmarkQueue is an enqueue and a dequeue through the lock, the regulator and the
// clock of a real machine.
func BenchmarkQueue(b *testing.B) {
	k := altqtest.Threads(b)
	c := mbuf.Of(k).NewCache()
	defer c.Close()
	q := altq.NewQueue(altq.Env{Kernel: k, Name: "bench0", MaxLen: altq.DefaultQLimit})
	defer q.Close()
	d := priq.New(altq.Config{Bandwidth: 100e9})
	if err := d.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagDefault}); err != nil {
		b.Fatal(err)
	}
	if err := q.Attach(d); err != nil {
		b.Fatal(err)
	}
	if err := q.Enable(); err != nil {
		b.Fatal(err)
	}
	if err := q.SetTBR(altq.Profile{Rate: 400e9, Depth: 1 << 20}); err != nil {
		b.Fatal(err)
	}
	m := c.GetHdr()
	m.Pkt.Len = frame
	b.ReportAllocs()
	for b.Loop() {
		if q.Enqueue(m) != nil {
			b.Fatal("dropped")
		}
		for m = q.Dequeue(); m == nil; m = q.Dequeue() {
		}
	}
	c.FreeChain(m)
}
