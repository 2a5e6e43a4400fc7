package fairq

import (
	"math/bits"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Numbers of buckets in a class (FAIRQ_MAX_BUCKETS; spec altq 2.4).
const (
	defaultBuckets = 256
	maxBuckets     = 2048
)

const bitsPerByte = 8

// bucket holds the packets of some flows (struct fairq_bucket).
type bucket struct {
	next, prev *bucket // the ring of buckets in use
	queue      altq.ClassQueue
	meter      meter
	inUse      bool
}

// class is a queue of pf.conf (struct fairq_class).
type class struct {
	qid       altq.QID
	policy    altq.Policy // of all buckets; nil: drop-tail
	buckets   []bucket    // a power of two
	head      *bucket     // whose turn it is; nil: none is in use
	polled    *bucket     // chosen by the last poll
	limit     int         // of a bucket, packets
	packets   int         // in all buckets
	busy      bool        // may have packets (FARF_HAS_PACKETS)
	bandwidth uint64      // bytes/s
	hogs      uint64      // bytes/s, 0 for none
	meter     meter
	xmit      altq.Counter
	drop      altq.Counter
}

// newClass is fairq_class_create.
func newClass(q altq.QueueConfig, policy altq.Policy) *class {
	c := &class{
		qid: q.QID, policy: policy, limit: altq.QLimitOrDefault(q.QLimit),
		buckets:   make([]bucket, numBuckets(q.Buckets)),
		bandwidth: q.Bandwidth / bitsPerByte, hogs: q.Hogs / bitsPerByte,
	}
	for i := range c.buckets {
		c.buckets[i].queue.Limit = c.limit
	}
	return c
}

// numBuckets is the number of buckets for what is configured: the next power of two.
func numBuckets(n int) int {
	switch {
	case n <= 0:
		return defaultBuckets
	case n >= maxBuckets:
		return maxBuckets
	}
	return 1 << bits.Len(uint(n-1))
}

// enqueue is fairq_addq: hash names the flow, 0 for none. False: dropped.
func (c *class) enqueue(m *mbuf.Mbuf, hash uint32, now altq.Time, drops *altq.Drops) bool {
	n := int(m.Pkt.Len)
	c.busy = true
	b := c.bucket(hash)
	if !b.inUse {
		c.link(b)
	}
	if !altq.Add(c.policy, &b.queue, m, now, drops) {
		c.drop.AddLen(n)
		return false
	}
	c.packets++
	return true
}

// bucket is where a flow's packets go. Those of no flow join the bucket whose turn comes last.
func (c *class) bucket(hash uint32) *bucket {
	switch {
	case hash != 0:
		return &c.buckets[hash&uint32(len(c.buckets)-1)]
	case c.head != nil:
		return c.head.prev
	}
	return &c.buckets[0]
}

// link puts a bucket in use: its turn comes last, or at once if it is known to be no hog.
func (c *class) link(b *bucket) {
	b.inUse = true
	if c.head == nil {
		c.head, b.next, b.prev = b, b, b
		return
	}
	b.next, b.prev = c.head, c.head.prev
	b.prev.next, b.next.prev = b, b
	if rate, known := b.meter.rate(); known && rate < c.hogs {
		c.head = b
	}
}

// unlink takes the bucket whose turn it is out of use.
func (c *class) unlink() {
	b := c.head
	b.inUse = false
	c.head = b.next
	if c.head == b {
		c.head = nil
	} else {
		b.next.prev, b.prev.next = b.prev, b.next
	}
	b.next, b.prev = nil, nil
}

// turn is the bucket to serve, nil if all are empty; it passes the turn on unless the bucket is no hog (fairq_selectq).
func (c *class) turn() *bucket {
	for c.head != nil && c.head.queue.Len() == 0 {
		c.unlink()
	}
	b := c.head
	if b == nil {
		return nil
	}
	if rate, known := b.meter.rate(); c.hogs == 0 || known && rate >= c.hogs {
		c.head = b.next
	}
	return b
}

// poll chooses a bucket and tells whether the class is above its bandwidth; nil if the class is empty (fairq_pollq).
func (c *class) poll(now altq.Time) (m *mbuf.Mbuf, over bool) {
	if c.polled = c.turn(); c.polled == nil {
		return nil, false
	}
	c.meter.pass(now)
	rate, _ := c.meter.rate()
	return c.polled.queue.Head(), rate > c.bandwidth
}

// take removes a packet from the bucket that poll chose (fairq_getq).
func (c *class) take(now altq.Time, drops *altq.Drops) *mbuf.Mbuf {
	b := c.polled
	c.polled = nil
	held := b.queue.Len()
	m := altq.Get(c.policy, &b.queue, now, drops)
	c.packets -= held - b.queue.Len()
	n := int(m.Pkt.Len)
	c.xmit.AddLen(n)
	c.meter.count(n, now)
	b.meter.count(n, now)
	return m
}

// purge is fairq_purgeq.
func (c *class) purge(drops *altq.Drops) {
	for c.head != nil {
		altq.Purge(c.policy, &c.head.queue, &c.drop, drops)
		c.unlink()
	}
	c.packets, c.polled, c.busy = 0, nil, false
}

// stats is get_class_stats.
func (c *class) stats() altq.ClassStats {
	s := altq.ClassStats{
		QID: c.qid, QLen: c.packets, QLimit: c.limit, QType: altq.KindOf(c.policy), Xmit: c.xmit, Drop: c.drop,
	}
	if c.policy != nil {
		c.policy.Stats(&s)
	}
	return s
}
