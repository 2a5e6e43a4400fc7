package altq_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/priq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// bed is a queue on a clock of the test.
type bed struct {
	*altq.Queue
	k        *kern.Kernel
	cache    *mbuf.Cache
	now      time.Duration
	ticks    int // asked for and not given
	starts   int
	switches []bool
}

func newBed(t *testing.T) *bed {
	t.Helper()
	k := altqtest.Kernel(t, true)
	b := &bed{k: k, now: 10 * time.Second, cache: mbuf.Of(k).NewCache()}
	b.Queue = altq.NewQueue(altq.Env{
		Kernel: k, Name: "test0", MaxLen: 3,
		Start:    func() { b.starts++ },
		Switched: func(on bool) { b.switches = append(b.switches, on) },
		Now:      func() altq.Time { return altq.TimeOf(b.now) },
		Arm:      func() { b.ticks++ },
	})
	t.Cleanup(func() {
		b.Close()
		b.cache.Close()
		if u := mbuf.Of(k).Usage(); u.Any() {
			t.Errorf("in use: %+v", u)
		}
	})
	return b
}

// oneQueue is a discipline with one queue, number 1, the default.
func oneQueue(t *testing.T) *priq.PRIQ {
	t.Helper()
	p := priq.New(altq.Config{Bandwidth: 10e6})
	if err := p.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagDefault}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bed) send(n int) error {
	m := b.cache.GetHdr()
	m.Pkt.Len = int32(n)
	return b.Enqueue(m)
}

// take dequeues and frees all that may go, and returns how many.
func (b *bed) take() int {
	n := 0
	for m := b.Dequeue(); m != nil; m = b.Dequeue() {
		b.cache.FreeChain(m)
		n++
	}
	return n
}
