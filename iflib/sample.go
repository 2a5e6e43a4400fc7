package iflib

import "sync/atomic"

// TxqSample is what a transmit queue has counted and how full it is, as last published.
type TxqSample struct {
	State          TxqState
	Size           int    // descriptors
	CPU            int    // that the queue is bound to
	Packets, Bytes uint64 // handed to the hardware, as frames
	Drops          uint64 // packets that the queue lost, for whatever reason
	Enqueues       uint64 // packets that went into the mp_ring
	SoftLen        int    // packets in it
	SoftSize       int    // its slots
	Soft           string // its state: IDLE, BUSY, STALLED or ABDICATED
	Deferred       int    // packets in the ring of simple_tx
	DeferredSize   int    // its slots, 0 without simple_tx
}

// RxqSample is the same for a receive queue.
type RxqSample struct {
	State          RxqState
	Size           int // buffers that the hardware can have, in all lists
	CPU            int
	Packets, Bytes uint64
	Drops          uint64
	Tasks          uint64 // passes of the queue's task
}

// TxqSample is transmit queue i as it is; any goroutine, without a lock. While traffic
// flows the numbers may be of different moments.
func (ctx *Ctx) TxqSample(i int) TxqSample {
	q := ctx.txqs[i]
	l := &q.ledger
	s := TxqSample{
		State: q.State(), Size: int(q.size), CPU: q.task.CPU(),
		Packets: atomic.LoadUint64(&q.pub.opackets), Bytes: atomic.LoadUint64(&q.pub.obytes),
		Drops:    l.ringFull.Load() + l.down.Load() + l.noDesc.Load() + l.encap.Load() + l.flushed.Load() + l.stopped.Load(),
		Enqueues: q.br.Enqueues(), SoftLen: q.br.Len(), SoftSize: q.br.Size(), Soft: q.br.Flag(),
	}
	if q.sbr != nil {
		s.Deferred, s.DeferredSize = q.sbr.Len(), q.sbr.Cap()+1
	}
	return s
}

// RxReady reports whether receive queue i has a packet that its task has not taken; any
// goroutine, while the device is attached.
func (ctx *Ctx) RxReady(i int) bool { return ctx.rxqs[i].peek() }

// RxqSample is receive queue i as it is; any goroutine, without a lock.
func (ctx *Ctx) RxqSample(i int) RxqSample {
	q := ctx.rxqs[i]
	l := &q.pub.ledger
	s := RxqSample{
		State: q.State(), CPU: q.task.CPU(),
		Packets: atomic.LoadUint64(&q.pub.ipackets), Bytes: atomic.LoadUint64(&q.pub.ibytes),
		Tasks: atomic.LoadUint64(&q.pub.stat.tasks),
		Drops: atomic.LoadUint64(&l.noMbuf) + atomic.LoadUint64(&l.badWriteback) + atomic.LoadUint64(&l.zeroFrag) +
			atomic.LoadUint64(&l.pfil) + atomic.LoadUint64(&l.reset),
	}
	for i := range q.fls {
		s.Size += int(q.fls[i].size) - 1
	}
	return s
}
