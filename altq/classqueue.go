package altq

import "github.com/ifsim/ifsim/ifnet/mbuf"

// ClassQueue holds the packets of a class, or of a bucket of it, in order
// (class_queue_t). The zero value with a Limit drops at the tail. Not safe for
// concurrent use: the queue's lock guards it.
type ClassQueue struct {
	head, tail *mbuf.Mbuf // through NextPkt
	n          int
	bytes      int
	// Limit is the most packets that Add takes.
	Limit int
}

// Len is the number of packets.
func (q *ClassQueue) Len() int { return q.n }

// Bytes is their length.
func (q *ClassQueue) Bytes() int { return q.bytes }

// Head is the first packet, which stays; nil if there is none.
func (q *ClassQueue) Head() *mbuf.Mbuf { return q.head }

// Walk shows each packet, the first one first, as one of class qid; they stay.
func (q *ClassQueue) Walk(qid QID, show func(qid QID, m *mbuf.Mbuf)) {
	for m := q.head; m != nil; m = m.NextPkt {
		show(qid, m)
	}
}

// Append adds a packet without looking at the limit (_addq).
func (q *ClassQueue) Append(m *mbuf.Mbuf) {
	m.NextPkt = nil
	if q.tail == nil {
		q.head = m
	} else {
		q.tail.NextPkt = m
	}
	q.tail = m
	q.n++
	q.bytes += int(m.Pkt.Len)
}

// Take removes the first packet, nil if there is none (_getq).
func (q *ClassQueue) Take() *mbuf.Mbuf {
	m := q.head
	if m == nil {
		return nil
	}
	q.head = m.NextPkt
	if q.head == nil {
		q.tail = nil
	}
	m.NextPkt = nil
	q.n--
	q.bytes -= int(m.Pkt.Len)
	return m
}

// Policy decides which packets of a queue to drop (RED, RIO, CoDel). One policy may
// serve several queues of a class, as FAIRQ's buckets do. A nil Policy is
// drop-tail: use Add and Get of this package, which know that. Calls are made with
// the queue's lock held.
type Policy interface {
	// Kind is the policy's code.
	Kind() QType
	// Add takes m in any case. False: it was dropped.
	Add(q *ClassQueue, m *mbuf.Mbuf, now Time, d *Drops) bool
	// Get removes the next packet, nil if q is empty. It may drop others, which Len of
	// q then shows, and never empties a queue without returning a packet.
	Get(q *ClassQueue, now Time, d *Drops) *mbuf.Mbuf
	// Purged tells that n packets went another way than through Get.
	Purged(n int)
	// Stats adds the policy's state to that of its class, and its drops in Get.
	Stats(s *ClassStats)
}

// Add puts m into q by policy p, nil for drop-tail. False: it was dropped.
func Add(p Policy, q *ClassQueue, m *mbuf.Mbuf, now Time, d *Drops) bool {
	if p != nil {
		return p.Add(q, m, now, d)
	}
	if q.n >= q.Limit {
		d.Free(m)
		return false
	}
	q.Append(m)
	return true
}

// Get removes the next packet of q by policy p, nil for drop-tail.
func Get(p Policy, q *ClassQueue, now Time, d *Drops) *mbuf.Mbuf {
	if p != nil {
		return p.Get(q, now, d)
	}
	return q.Take()
}

// Purge drops all of q, whose policy is p, and counts it in c, which may be nil
// (_flushq; FreeBSD's leaves RIO with packets that are gone).
func Purge(p Policy, q *ClassQueue, c *Counter, d *Drops) {
	if p != nil {
		p.Purged(q.n)
	}
	for m := q.Take(); m != nil; m = q.Take() {
		if c != nil {
			c.Add(m)
		}
		d.Free(m)
	}
}

// KindOf is the code of policy p, nil for drop-tail.
func KindOf(p Policy) QType {
	if p != nil {
		return p.Kind()
	}
	return QDropTail
}
