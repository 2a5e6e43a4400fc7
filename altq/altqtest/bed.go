package altqtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

const memSize = 32 << 20

// Kernel is a stepped machine with memory for packets, which ends with the test.
func Kernel(tb testing.TB, invariants bool) *kern.Kernel {
	tb.Helper()
	return boot(tb, kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: invariants})
}

// Threads is a machine of goroutines on the real clock, which ends with the test.
func Threads(tb testing.TB) *kern.Kernel {
	tb.Helper()
	return boot(tb, kern.Config{NCPU: 2})
}

func boot(tb testing.TB, cfg kern.Config) *kern.Kernel {
	tb.Helper()
	cfg.Mem = physmem.Config{Size: memSize}
	k, err := kern.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := k.Close(); err != nil {
			tb.Error(err)
		}
	})
	if _, err := mbuf.Init(k, mbuf.Config{}); err != nil {
		tb.Fatal(err)
	}
	return k
}

// bed is a queue with a discipline on a clock of its own, and the account of its
// packets.
type bed struct {
	z     *mbuf.Zones
	cache *mbuf.Cache
	queue *altq.Queue
	now   time.Duration
	armed bool
	qids  []altq.QID

	in, out uint64
}

// bootTime is the uptime at which beds begin.
const bootTime = 10 * time.Second

func newBed(k *kern.Kernel, d altq.Discipline, qids []altq.QID) (*bed, error) {
	b := &bed{z: mbuf.Of(k), now: bootTime, qids: qids}
	b.cache = b.z.NewCache()
	b.queue = altq.NewQueue(altq.Env{
		Kernel: k, Name: "test0", MaxLen: altq.DefaultQLimit,
		Now: func() altq.Time { return altq.TimeOf(b.now) },
		Arm: func() { b.armed = true },
	})
	if err := b.queue.Attach(d); err != nil {
		return nil, err
	}
	return b, b.queue.Enable()
}

// close ends the bed and says what is left over.
func (b *bed) close() error {
	b.queue.Close()
	b.cache.Close()
	if u := b.z.Usage(); u.Any() {
		return fmt.Errorf("in use at the end: %+v", u)
	}
	return nil
}

// advance moves the clock; a tick that was due in the meantime happens at its end.
func (b *bed) advance(d time.Duration) {
	b.now += d
	if b.armed && d >= time.Millisecond {
		b.armed = false
		b.queue.Tick()
	}
}

func (b *bed) enqueue(qid altq.QID, hash uint32, size int) {
	m := b.cache.GetHdr()
	if m == nil {
		return
	}
	m.QID, m.QIDHash, m.Pkt.Len = qid, hash, int32(size)
	b.in++
	_ = b.queue.Enqueue(m) // the account has it either way
}

func (b *bed) dequeue() bool {
	m := b.queue.Dequeue()
	if m == nil {
		return false
	}
	b.out++
	b.cache.FreeChain(m)
	return true
}

// pollAndDequeue looks whether a dequeue gives what was polled. With CoDel it may give
// a later packet.
func (b *bed) pollAndDequeue() error {
	polled := b.queue.Poll()
	m := b.queue.Dequeue()
	if m == nil {
		if polled != nil {
			return fmt.Errorf("a packet of queue %d was polled, none dequeued", polled.QID)
		}
		return nil
	}
	b.out++
	defer b.cache.FreeChain(m)
	if polled == m || b.drops() {
		return nil
	}
	return fmt.Errorf("polled %p, dequeued %p of queue %d", polled, m, m.QID)
}

// drops reports whether a class may drop at a dequeue.
func (b *bed) drops() bool {
	for _, qid := range b.qids {
		if s, err := b.queue.Stats(b.queue.Discipline().Type(), qid); err == nil && s.QType == altq.QCoDel {
			return true
		}
	}
	return false
}

// check compares the account with what the queue holds and says it dropped.
func (b *bed) check() error {
	n, dropped := uint64(b.queue.Len()), b.queue.Dropped()
	if b.in != b.out+dropped+n {
		return fmt.Errorf("%d packets in, %d out, %d dropped, %d queued", b.in, b.out, dropped, n)
	}
	if u := b.z.Usage(); uint64(u.Mbufs) != n {
		return fmt.Errorf("%d packets queued, %d mbufs in use", n, u.Mbufs)
	}
	var held mbuf.Account
	b.queue.Holding(mbuf.Visit{Chain: func(_ string, _ int, m *mbuf.Mbuf) { held.Add(m) }, Busy: func(string) {}})
	if held.Held() != b.z.Usage() {
		return fmt.Errorf("%+v in use, the queue shows %+v", b.z.Usage(), held.Held())
	}
	d := b.queue.Discipline()
	if !b.queue.Enabled() {
		return nil
	}
	sum := 0
	for _, qid := range b.qids {
		s, err := b.queue.Stats(d.Type(), qid)
		if err != nil {
			return err
		}
		sum += s.QLen
	}
	if sum != d.Len() {
		return fmt.Errorf("the queues hold %d packets, the discipline says %d", sum, d.Len())
	}
	return nil
}

// drain dequeues everything, an hour of the clock a step: more than any packet may
// have to wait.
func (b *bed) drain() error {
	const patience = 3 // steps a packet may take
	for steps := b.queue.Len()*patience + patience; b.queue.Len() > 0; steps-- {
		if steps == 0 {
			return fmt.Errorf("%d packets starve", b.queue.Len())
		}
		for b.dequeue() {
		}
		b.advance(time.Hour)
	}
	return nil
}
