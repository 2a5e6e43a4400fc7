package ifnet

import (
	"sync"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// SendQueue is what an interface queues packets on (struct ifaltq behind if_snd):
// the default FIFO or a discipline of ALTQ. All methods may be called from any
// goroutine.
type SendQueue interface {
	// Enabled reports whether the queue shapes (ALTQ_IS_ENABLED).
	Enabled() bool
	// Enqueue takes m in any case. ENOBUFS: it was dropped.
	Enqueue(m *mbuf.Mbuf) error
	// Dequeue removes the packet that may be sent now, nil if there is none.
	Dequeue() *mbuf.Mbuf
	// Poll is what Dequeue would return; it stays queued.
	Poll() *mbuf.Mbuf
	// Purge frees everything queued into c.
	Purge(c *mbuf.Cache)
	// Len is the number of packets queued.
	Len() int
	// MaxLen is the limit in packets while the queue does not shape (ifq_maxlen).
	MaxLen() int
	// Dropped is how many packets the queue has freed: refused, dropped later, purged.
	Dropped() uint64
}

type sendQueueBox struct{ q SendQueue }

// Snd is the interface's send queue (if_snd), never nil.
func (ifp *Ifnet) Snd() SendQueue { return ifp.snd.Load().q }

// SetSendQueue replaces the send queue; nil brings back a FIFO. What the old one
// holds stays its own: the caller purges it. SndEnabled follows q.Enabled().
func (ifp *Ifnet) SetSendQueue(q SendQueue) {
	if q == nil {
		q = NewFIFO(int(ifp.stack.ifqMaxLen.Load()))
	}
	ifp.snd.Store(&sendQueueBox{q})
	ifp.sndEnabled.Store(q.Enabled())
}

// SndEnabled is Snd().Enabled() as of the last SetSendQueue or SetSndEnabled, in
// one atomic load: what a transmit path asks per packet.
func (ifp *Ifnet) SndEnabled() bool { return ifp.sndEnabled.Load() }

// SetSndEnabled tells the interface that its queue was enabled or disabled
// (altq_enable, altq_disable).
func (ifp *Ifnet) SetSndEnabled(on bool) { ifp.sndEnabled.Store(on) }

// FIFO is the send queue of an interface without ALTQ: packets in order, at most
// maxlen (struct ifqueue). Any goroutine.
type FIFO struct {
	mu   sync.Mutex
	head *mbuf.Mbuf // list through NextPkt
	tail *mbuf.Mbuf
	n    int
	max  int
	lost uint64 // refused or purged
}

var _ SendQueue = (*FIFO)(nil)

// NewFIFO makes a queue of at most maxlen packets (IFQ_SET_MAXLEN).
func NewFIFO(maxlen int) *FIFO { return &FIFO{max: maxlen} }

// Enabled is false: a FIFO does not shape.
func (f *FIFO) Enabled() bool { return false }

// Enqueue appends m. ENOBUFS: the queue is full and m freed.
func (f *FIFO) Enqueue(m *mbuf.Mbuf) error {
	m.NextPkt = nil
	f.mu.Lock()
	if f.n >= f.max {
		f.lost++
		f.mu.Unlock()
		mbuf.FreeChain(m)
		return syscall.ENOBUFS
	}
	if f.tail == nil {
		f.head = m
	} else {
		f.tail.NextPkt = m
	}
	f.tail = m
	f.n++
	f.mu.Unlock()
	return nil
}

// Dequeue removes the first packet.
func (f *FIFO) Dequeue() *mbuf.Mbuf {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.head
	if m == nil {
		return nil
	}
	f.head = m.NextPkt
	if f.head == nil {
		f.tail = nil
	}
	m.NextPkt = nil
	f.n--
	return m
}

// Prepend puts a packet back in front (IFQ_DRV_PREPEND), beyond the limit if need be.
func (f *FIFO) Prepend(m *mbuf.Mbuf) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.NextPkt = f.head
	f.head = m
	if f.tail == nil {
		f.tail = m
	}
	f.n++
}

// Poll is the first packet, which stays.
func (f *FIFO) Poll() *mbuf.Mbuf {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.head
}

// Purge frees all packets into c.
func (f *FIFO) Purge(c *mbuf.Cache) {
	f.mu.Lock()
	m := f.head
	f.lost += uint64(f.n)
	f.head, f.tail, f.n = nil, nil, 0
	f.mu.Unlock()
	dropInput(c, nil, m)
}

// Len is the number of packets queued.
func (f *FIFO) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// Dropped is how many packets were refused or purged.
func (f *FIFO) Dropped() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// MaxLen is the limit in packets.
func (f *FIFO) MaxLen() int { return f.max }

// Holding implements [mbuf.Holder].
func (f *FIFO) Holding(v mbuf.Visit) {
	const place = "send queue"
	if !v.Try(f.mu.TryLock) {
		v.Busy(place)
		return
	}
	defer f.mu.Unlock()
	v.List(place, f.head)
}
