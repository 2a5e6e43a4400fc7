package cqhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// freeList is the device's side of a free list (datasheet 4). The receive work owns it
// but for tail and noted.
type freeList struct {
	words []uint64
	size  uint32
	head  uint32
	tail  atomic.Uint32
	noted atomic.Bool // a NOTE was written since the last tail write
	on    atomic.Uint32
}

func (f *freeList) start(words []uint64) {
	f.words = words
	f.size = uint32(len(words) / cqreg.Words)
	f.head = 0
	f.tail.Store(0)
	f.noted.Store(false)
	f.on.Store(f.size)
}

func (f *freeList) stop() {
	f.on.Store(0)
	f.words, f.size, f.head = nil, 0, 0
	f.tail.Store(0)
}

// setTail is a write to the list's tail register; any goroutine.
func (f *freeList) setTail(n *nic, q int, v uint32) {
	if v >= f.on.Load() {
		n.stats.Refuse("receive queue %d: tail %d", q, v)
		return
	}
	f.tail.Store(v)
	f.noted.Store(false)
}

// filled is the number of buffers in the list.
func (f *freeList) filled() uint32 { return (f.tail.Load() - f.head) & (f.size - 1) }

// buffer is one descriptor of a free list.
type buffer struct {
	addr physmem.Addr
	slot uint64
	size int
}

// at reads descriptor i of those filled.
func (f *freeList) at(i uint32) buffer {
	w := f.words[(f.head+i)&(f.size-1)*cqreg.Words:]
	w0, w1 := atomic.LoadUint64(&w[0]), atomic.LoadUint64(&w[1])
	return buffer{addr: physmem.Addr(w0), slot: w1 & cqreg.FldSlotMask, size: int(w1 >> cqreg.FldSizeShift & cqreg.FldSizeMask)}
}

func (f *freeList) take(n uint32) { f.head = (f.head + n) & (f.size - 1) }

// rxQueue is one receive queue.
type rxQueue struct {
	block
	n  *nic
	id int
	on bool // set with the receive work paused
	cq cq
	fl [2]freeList
}

func (q *rxQueue) init(n *nic, id int) {
	q.n, q.id = n, id
	q.r0 = cqreg.RXCQLO
	q.cq.n, q.cq.cause = n, cqreg.CauseRx0<<id
}

func (q *rxQueue) read(r uint64) uint32 { return q.load(r) }

// write is a write to a plain register of the queue. Called with ctl held.
func (q *rxQueue) write(r uint64, v uint32) {
	switch {
	case r == cqreg.RXCTL:
		q.control(v & cqreg.QCtlEnable)
	case q.load(cqreg.RXCTL) != 0:
		q.n.stats.Refuse("receive queue %d: writing register %#x while enabled", q.id, r)
	default:
		q.at(r).Store(v)
	}
}

// control starts or stops the queue. Called with ctl held.
func (q *rxQueue) control(v uint32) {
	if v == q.load(cqreg.RXCTL) {
		return
	}
	n := q.n
	n.engine.Pause(rxWorkQueue)
	if v == 0 {
		q.halt()
	} else if err := q.start(); err != nil {
		n.stats.Refuse("receive queue %d: enabling: %v:", q.id, err)
	}
	n.engine.Resume(rxWorkQueue)
}

func (q *rxQueue) start() error {
	n := q.n
	cqWords, err := n.ring(&q.block, cqreg.RXCQLO, cqreg.RXCQLEN)
	if err != nil {
		return err
	}
	fl0, err := n.ring(&q.block, cqreg.RXFL0LO, cqreg.RXFL0LEN)
	if err != nil {
		return err
	}
	fl1, err := n.ring(&q.block, cqreg.RXFL1LO, cqreg.RXFL1LEN)
	if err != nil {
		return err
	}
	q.fl[0].start(fl0)
	q.fl[1].start(fl1)
	q.cq.start(cqWords, q.load(cqreg.RXVEC)%cqreg.MSIXVectors)
	q.on = true
	q.at(cqreg.RXCTL).Store(cqreg.QCtlEnable)
	return nil
}

// halt disables the queue; the receive work is paused.
func (q *rxQueue) halt() {
	q.on = false
	q.at(cqreg.RXCTL).Store(0)
	q.cq.stop()
	for i := range q.fl {
		q.fl[i].stop()
	}
}

// stop is what reset does to the queue; the receive work is paused.
func (q *rxQueue) stop() {
	q.halt()
	q.clear()
}

// delivery is a frame on its way into a queue.
type delivery struct {
	info *offload.Info
	data *hw.Gather
	agg  [cqreg.MaxAgg]buffer
	dst  [1 + cqreg.MaxAgg][]byte
}

// deliver gives a frame to the queue that its hash chose.
func (n *nic) deliver(in *offload.Info, data *hw.Gather) bool {
	n.d.info, n.d.data = in, data
	return n.rx[in.Queue%cqreg.MaxQueues].deliver(&n.d)
}

// deliver puts a frame into the buffers of the queue and says so (datasheet 4).
func (q *rxQueue) deliver(d *delivery) (ok bool) {
	if !q.on {
		return q.n.in.Missed()
	}
	total := d.data.Len()
	first, nagg, ok := q.plan(d, total)
	if !ok {
		return q.n.in.Missed()
	}
	if q.cq.room() < 1+uint32(nagg) {
		return q.n.in.Missed()
	}
	if !q.map1(d, 0, q.fl[0].head, first) {
		return false
	}
	for i, b := range d.agg[:nagg] {
		if !q.map1(d, 1+i, (q.fl[1].head+uint32(i))&(q.fl[1].size-1), b) {
			return false
		}
	}
	q.report(d, total, first, nagg)
	q.fl[0].take(1)
	q.fl[1].take(uint32(nagg))
	q.cq.poll()
	return true
}

// plan chooses the buffers for total bytes; a list that cannot give what is wanted is
// noted.
func (q *rxQueue) plan(d *delivery, total int) (first buffer, nagg int, ok bool) {
	if q.fl[0].filled() == 0 {
		q.note(0)
		return first, 0, false
	}
	first = q.fl[0].at(0)
	have := first.size
	filled := q.fl[1].filled()
	for have < total {
		if uint32(nagg) == filled {
			q.note(1)
			return first, 0, false
		}
		if nagg == cqreg.MaxAgg {
			return first, 0, false
		}
		d.agg[nagg] = q.fl[1].at(uint32(nagg))
		have += d.agg[nagg].size
		nagg++
	}
	return first, nagg, true
}

// map1 makes buffer i of the delivery accessible. A descriptor that is refused stays
// at the head of its list.
func (q *rxQueue) map1(d *delivery, i int, desc uint32, b buffer) bool {
	if b.size < cqreg.MinBuf {
		q.n.stats.Refuse("receive queue %d: buffer of %d bytes", q.id, b.size)
		return q.n.in.Failed()
	}
	dst, err := q.n.dma.Slice(b.addr, uint64(b.size), busdma.FromDevice)
	if err != nil {
		q.n.dma.Fault(q.id, desc, err)
		return q.n.in.Failed()
	}
	d.dst[i] = dst
	return true
}

// report copies the frame and writes its completion entries.
func (q *rxQueue) report(d *delivery, total int, first buffer, nagg int) {
	in := d.info
	n0 := d.data.Copy(d.dst[0])
	w0 := uint64(total) | first.slot<<cqreg.RxcSlotShift | uint64(in.Hash)<<cqreg.RxcHashShift
	w1 := uint64(cqreg.CqeTypeRx<<cqreg.CqeTypeShift) | uint64(nagg)<<cqreg.RxcAggShift |
		in.HashType()<<cqreg.RxcHashTyShift | uint64(n0)<<cqreg.RxcFirstShift | in.Flags()<<cqreg.RxcFlagsShift | uint64(in.TCI)<<cqreg.RxcTCIShift
	// All bytes are in memory before the first entry says so.
	var lens [cqreg.MaxAgg]int
	for i := range nagg {
		lens[i] = d.data.Copy(d.dst[1+i])
	}
	q.cq.post(q.n.faults.Writeback(w0), w1)
	for i, b := range d.agg[:nagg] {
		q.cq.post(uint64(lens[i])|b.slot<<cqreg.RxaSlotShift, cqreg.CqeTypeAgg<<cqreg.CqeTypeShift)
	}
}

// note writes a NOTE for a list that ran dry, once until its tail is written.
func (q *rxQueue) note(list int) {
	if q.cq.room() == 0 || q.fl[list].noted.Swap(true) {
		return
	}
	q.cq.post(uint64(list), cqreg.CqeTypeNote<<cqreg.CqeTypeShift)
	q.cq.poll()
}
