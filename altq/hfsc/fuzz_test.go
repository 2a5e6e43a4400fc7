package hfsc

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
)

// script reads what to do from bytes; 0 when they end.
type script []byte

func (s *script) next() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

func (s *script) pick(of []uint64) uint64 { return of[int(s.next())%len(of)] }

// curve is straight, concave, convex or none.
func (s *script) curve() altq.Curve {
	m := []uint64{1, 100, 8 * kbit, 64 * kbit, mbit, 10 * mbit, gbit, 400 * gbit}
	d := []uint64{0, 1, 10, 1000, 1<<31 - 1}
	c := altq.Curve{M2: s.pick(m), D: uint32(s.pick(d))}
	switch s.next() % 4 {
	case 0:
		return altq.Curve{}
	case 1:
		c.M1 = c.M2
	case 2:
		c.M1 = c.M2 + s.pick(m)
	}
	return c
}

// FuzzDiscipline runs a hierarchy from bytes under packets of any size and a clock that jumps. Nothing is lost, what
// link-sharing may send is sent at once, and in the end everything leaves.
func FuzzDiscipline(f *testing.F) {
	f.Add([]byte("\x05\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13"))
	f.Add([]byte("\x03aaaaaaaaaaaabbbbbbbbbbbbbcccccccccccccdddddddddddeeeeeeeeeeffffffffgggggg"))
	f.Add([]byte("\x04\x07\x04\x02\x07\x07\x03\x01\x00\x00\xff\xff\xfe\x06\x05\xff\xff\x03\xff\x01\xff\xff"))
	cache := packets(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := script(data)
		b := newBench(cache, altq.Config{Bandwidth: s.pick([]uint64{0, 8 * kbit, 10 * mbit, 400 * gbit})})
		b.add(t, rootQueue)
		free := map[altq.QID]bool{} // sharing without a limit up to the root
		leaves := altq.QID(s.next()%8) + 2
		for qid := root + 1; qid <= root+leaves; qid++ {
			q := altq.QueueConfig{QID: qid, Parent: root + altq.QID(s.next())%(qid-root),
				RealTime: s.curve(), LinkShare: s.curve(), UpperLimit: s.curve()}
			if b.AddQueue(q) == nil {
				free[qid] = !q.LinkShare.IsZero() && q.UpperLimit.IsZero() && (q.Parent == root || free[q.Parent])
			}
		}
		now := altq.TimeOf(10 * time.Second)
		put, got := 0, 0
		jumps := []uint64{0, 0, 1, 1000, 1_000_000, 1_000_000_000, uint64(day / time.Microsecond)}
		sizes := []uint64{0, 1, 60, 1514, 65535}
		for len(s) > 0 {
			now += altq.Time(s.pick(jumps)) << altq.MachClkShift
			if b.put(root+altq.QID(s.next())%(leaves+1), int(s.pick(sizes)), now) {
				put++
			}
			if s.next()%2 == 0 {
				got += b.serve(t, free, now)
			}
		}
		if put != got+b.Len() {
			t.Fatalf("%d queued, %d sent, %d left", put, got, b.Len())
		}
		b.drain(t, free, now)
		b.Purge(b.drops)
		if b.Len() != 0 || b.eligible.root != nil || b.root.active.root != nil {
			t.Fatal("purged and not empty")
		}
	})
}

// serve dequeues once and returns the packets sent.
func (b *bench) serve(t *testing.T, free map[altq.QID]bool, now altq.Time) int {
	waiting := false
	for _, c := range b.classes {
		waiting = waiting || c.queue.Len() > 0 && !c.interior() && free[c.qid]
	}
	before := b.Len()
	b.get(now)
	if sent := before - b.Len(); sent == 0 && waiting {
		t.Fatal("nothing sent, though link-sharing may")
	}
	return before - b.Len()
}

// drain empties all classes whose packets link-sharing may send at any time: none may starve behind another.
func (b *bench) drain(t *testing.T, free map[altq.QID]bool, now altq.Time) {
	left := func() (n int) {
		for _, c := range b.classes {
			if free[c.qid] && !c.interior() {
				n += c.queue.Len()
			}
		}
		return n
	}
	for tries := 4 * b.Len(); left() > 0 && tries > 0; tries-- {
		now += altq.Time(time.Millisecond/time.Microsecond) << altq.MachClkShift
		b.serve(t, free, now)
	}
	if n := left(); n > 0 {
		t.Fatalf("%d packets starve", n)
	}
}
