package altqtest

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Benchmark measures an enqueue and a dequeue with all classes of qids busy, and
// fails if they allocate. rate, in bits a second, is how fast frames of 1514 bytes
// leave; it should be what the classes sum up to.
func Benchmark(b *testing.B, d altq.Discipline, rate uint64, qids ...altq.QID) {
	const (
		perClass    = 4
		frame       = 1514
		bitsPerByte = 8
	)
	cache := mbuf.Of(Kernel(b, false)).NewCache()
	defer cache.Close()
	drops := altq.NewDrops(cache)
	now := altq.TimeOf(bootTime)
	step := altq.Time(altq.MulDiv(frame*bitsPerByte, altq.MachClkFreq, rate))
	timed, _ := d.(altq.Timed)
	for i := range perClass * len(qids) {
		m := cache.GetHdr()
		m.QID, m.QIDHash, m.Pkt.Len = qids[i%len(qids)], uint32(i), frame
		if !d.Enqueue(m, now, drops) {
			b.Fatalf("packet %d dropped", i)
		}
	}
	idle := 0
	b.ReportAllocs()
	for b.Loop() {
		now += step
		if timed != nil && timed.Waiting() {
			timed.Expire(now)
		}
		m := d.Dequeue(now, drops)
		if m == nil {
			idle++
			continue
		}
		if !d.Enqueue(m, now, drops) {
			b.Fatal("packet dropped")
		}
	}
	b.ReportMetric(float64(idle)/float64(b.N), "idle/op")
	d.Purge(drops)
}
