package hfsc

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// BenchmarkEnqueueDequeue sends one packet and queues another of the same class, with all classes backlogged: by
// link-sharing, by guarantees, and by link-sharing through three levels.
func BenchmarkEnqueueDequeue(b *testing.B) {
	const rate = 10 * gbit
	flat := func(i, n int) altq.QueueConfig { return straight(root+1+altq.QID(i), uint64(rate/n)) }
	kinds := []struct {
		name  string
		class func(i, n int) altq.QueueConfig
	}{
		{"linkshare", flat},
		{"realtime", func(i, n int) altq.QueueConfig {
			q := flat(i, n)
			q.RealTime.M2 = q.LinkShare.M2 / 10 * 8
			return q
		}},
		{"nested", func(i, n int) altq.QueueConfig {
			q := flat(i, n)
			const arms = 4
			q.Parent = root + altq.QID((i+arms-1)/arms)
			return q
		}},
	}
	for _, k := range kinds {
		for _, n := range []int{4, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%dclasses", k.name, n), func(b *testing.B) {
				d := New(altq.Config{Bandwidth: rate})
				d.add(b, altq.QueueConfig{QID: root, LinkShare: altq.Curve{M2: rate}})
				for i := range n {
					d.add(b, k.class(i, n))
				}
				var leaves []altq.QID
				for _, c := range d.classes {
					if !c.interior() {
						leaves = append(leaves, c.qid)
					}
				}
				altqtest.Benchmark(b, d, rate, leaves...)
			})
		}
	}
}
