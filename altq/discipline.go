package altq

import "github.com/ifsim/ifsim/ifnet/mbuf"

// Discipline decides which packet an interface sends next (the altq_* methods of
// struct ifaltq, spec altq 1.3). All methods are called with the queue's lock held;
// now never goes back.
type Discipline interface {
	// Type is the discipline's code.
	Type() Type
	// Enqueue takes m, which has a packet header, in any case. False: a packet was
	// dropped, m or one in its place, and Len has not grown.
	Enqueue(m *mbuf.Mbuf, now Time, d *Drops) bool
	// Dequeue removes the packet to send now. nil does not mean empty: a class may
	// have to wait.
	Dequeue(now Time, d *Drops) *mbuf.Mbuf
	// Poll is the packet that the next Dequeue returns, which stays queued.
	Poll(now Time, d *Drops) *mbuf.Mbuf
	// Purge drops everything (ALTRQ_PURGE).
	Purge(d *Drops)
	// Len is the number of packets held (ifq_len).
	Len() int
	// Stats is the state of one queue. ErrNoQueue: there is none of that number. A
	// discipline without classes answers for any.
	Stats(qid QID, now Time) (ClassStats, error)
}

// Walker is a discipline that shows its packets; all here do.
type Walker interface {
	// Walk shows each packet held, with the number of its class, 0 without classes. The
	// packets stay. The queue's lock is held.
	Walk(show func(qid QID, m *mbuf.Mbuf))
}

// Timed is a discipline with timers of its own, which fall due at ticks (the
// callouts of CBQ's suspended classes).
type Timed interface {
	// Waiting reports whether a timer is armed.
	Waiting() bool
	// Expire runs what is due and reports whether there was any.
	Expire(now Time) bool
}

// QueueAdder is a discipline with classes; all but CoDel are.
type QueueAdder interface {
	Discipline
	// AddQueue adds a class, a parent before its children (<disc>_add_queue).
	// ErrConfig, ErrInUse, ErrTooMany.
	AddQueue(c QueueConfig) error
}

// Drops is where a discipline frees packets, and their count. It belongs to the
// holder of the queue's lock.
type Drops struct {
	cache *mbuf.Cache
	total Counter
}

// NewDrops counts what is freed into c.
func NewDrops(c *mbuf.Cache) *Drops { return &Drops{cache: c} }

// Free counts and frees one packet.
func (d *Drops) Free(m *mbuf.Mbuf) {
	d.total.Add(m)
	d.cache.FreeChain(m)
}

// Total is what was freed so far.
func (d *Drops) Total() Counter { return d.total }

// Counter counts packets and their bytes (struct pktcntr).
type Counter struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Add counts a packet.
func (c *Counter) Add(m *mbuf.Mbuf) { c.AddLen(int(m.Pkt.Len)) }

// AddLen counts a packet of n bytes.
func (c *Counter) AddLen(n int) {
	c.Packets++
	c.Bytes += uint64(n)
}
