package iflib

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// lroEngine is what receive coalescing looks like from a queue. It belongs to
// the queue's receive task.
type lroEngine interface {
	// Queue takes a packet, or reports false and leaves it to the caller
	// (tcp_lro_queue_mbuf).
	Queue(m *mbuf.Mbuf) bool
	// Flush hands up everything that was queued (tcp_lro_flush_all).
	Flush()
}

// Rxq is a receive queue: a set of hardware rings with its free lists (struct
// iflib_rxq, spec iflib 1.7).
//
// Constants are written at attach. The owner's half is plain memory, touched
// only by the receive task while the interface runs, and by init and stop,
// with the ctx lock, while it does not: stop clears RUNNING and waits for the
// task, and a task that finds RUNNING clear touches nothing. The published half
// is what everybody else reads.
type Rxq struct {
	// Constants after setup.
	ctx      *Ctx
	id       int
	txrx     TxRx
	hasCQ    bool
	cqSize   uint32 // entries of the completion ring
	flOffset int    // ifr_fl_offset: ring of free list 0
	rings    []QueueMem
	task     *kern.Task    // ifr_task
	retry    *kern.Callout // ifr_watchdog: asks again for buffers after a famine
	cache    *mbuf.Cache   // where the owner allocates and frees
	rcvIf    mbuf.RcvIf    // the interface, converted once
	maps     rxMaps

	// lro is nil without receive coalescing; set by attach.
	lro lroEngine

	_ [cacheLine]byte

	// The owner's half.
	own  rxOwner
	fls  []freeList // ifr_fl
	told bool       // the first garbage was logged

	_ [cacheLine]byte

	pub rxPublished

	_ [cacheLine]byte

	// hungry says that init could not fill the free lists: the task asks for
	// the retry timer even while the interface does not run yet.
	hungry atomic.Bool
}

// rxOwner is the owner's half of a queue.
type rxOwner struct {
	cqCidx uint32 // ifr_cq_cidx

	ipackets, ibytes uint64   // totals; published with the rest
	ledger           rxLedger // totals
	stat             rxStats

	ri    RxdInfo
	frags [MaxRxSegs]RxdFrag // ifr_frags
}

// rxPublished is what others may read of a queue. Words are stored relaxed by
// the owner and loaded atomically; each is consistent in itself, none with the
// others.
type rxPublished struct {
	cidx             uint64 // where the next packet will be looked for
	ipackets, ibytes uint64
	ledger           rxLedger
	stat             rxStats
}

// rxStats count what the receive path did. The counts of spec iflib 5.1 that
// FreeBSD keeps for the whole machine are kept by queue.
type rxStats struct {
	tasks        uint64 // passes of the task on a running interface
	intrEnables  uint64 // rx_intr_enables by the task; published a pass later
	unavail      uint64 // rx_unavail
	inactive     uint64 // rx_ctx_inactive
	inputs       uint64 // rx_if_input: lists handed up
	refills      uint64 // fl_refills
	refillsLarge uint64 // fl_refills_large
	allocs       uint64 // rx_allocs: buffers posted
	flushes      uint64 // rxd_flush
	famines      uint64 // refills that ended early for want of an mbuf, a cluster or a DMA mapping
	cqOnly       uint64 // completion-only entries
}

// newRxq makes receive queue id. What depends on the rings comes with setup.
func newRxq(ctx *Ctx, id int) *Rxq {
	q := &Rxq{
		ctx:   ctx,
		id:    id,
		txrx:  ctx.txrx,
		hasCQ: ctx.sctx.Flags&FlagHasRxCQ != 0,
		cache: mbuf.Of(ctx.k).NewCache(),
		rcvIf: ctx.ifp,
	}
	if q.hasCQ {
		q.flOffset = 1
	}
	q.cqSize = uint32(ctx.scctx.NRxd[0])
	q.own.ri = RxdInfo{QSIdx: id, Ifp: ctx.ifp, Frags: &q.own.frags}
	name := fmt.Sprintf("%s:rxq%d", ctx.name, id)
	q.task = ctx.k.NewTask(name, q.taskFn)
	q.retry = ctx.k.NewCallout(name+" retry", nil, func() { q.task.Enqueue() })
	ctx.ifp.AddCounterSource(q.counter)
	return q
}

// setup gives the queue its rings, one QueueMem for each of the set, and makes
// its free lists. The rings stay the caller's and must outlive destroy.
func (q *Rxq) setup(rings []QueueMem) error {
	nfl := max(q.ctx.sctx.NFL, 1)
	if len(rings) < q.flOffset+nfl {
		return fmt.Errorf("receive queue %d: %d rings for %d free lists", q.id, len(rings), nfl)
	}
	q.rings = rings
	q.maps = newRxMaps(q.ctx)
	q.fls = make([]freeList, nfl)
	for i := range q.fls {
		q.fls[i].init(q, i, uint32(q.ctx.scctx.NRxd[q.flOffset+i]))
	}
	q.publish()
	return nil
}

// fillFreeLists gives the hardware its first buffers, all lists of the queue
// (iflib_fl_setup for each, spec iflib 2.8 step 6). The interface is not
// RUNNING; ctx lock. A list that cannot be filled is reported on the console
// and by the error of the first such list, and is tried again until it is.
func (q *Rxq) fillFreeLists() error {
	var first error
	for i := range q.fls {
		if err := q.fls[i].setup(); err != nil {
			q.ctx.printf("setting up free list %d failed - check cluster settings\n", i)
			if first == nil {
				first = err
			}
		}
	}
	q.publish()
	if first != nil {
		q.hungry.Store(true)
		q.armRetry()
	}
	return first
}

// stop takes all buffers back from the hardware and resets the rings (spec
// iflib 2.9 step 3). RUNNING is clear and the hardware has been stopped; ctx
// lock. Packet totals survive.
func (q *Rxq) stop() {
	q.hungry.Store(false)
	q.task.Drain()
	q.retry.Stop() // after the task, which may have armed it (hazard 37)
	if q.lro != nil {
		q.lro.Flush()
	}
	q.own.cqCidx = 0
	for _, r := range q.rings {
		words := r.Words64()
		for i := range words {
			physmem.StoreRelaxed64(&words[i], 0)
		}
	}
	for i := range q.fls {
		q.fls[i].release()
	}
	q.publish()
}

// destroy ends the queue; it has been stopped, or was never filled.
func (q *Rxq) destroy() {
	q.hungry.Store(false)
	q.task.Close()
	q.retry.Drain()
	for i := range q.fls {
		q.fls[i].release()
	}
	q.maps.destroy()
	q.cache.Close()
}

// cidx is where the next packet will be looked for: in the completion ring, or
// without one in free list 0. Owner only.
func (q *Rxq) cidx() QIdx {
	if q.hasCQ {
		return QIdx(q.own.cqCidx)
	}
	return QIdx(q.fls[0].cidx)
}

// counter is what the queue counted of the interface's counters; any goroutine.
// It survives stop.
func (q *Rxq) counter(c ifnet.Counter) uint64 {
	switch c {
	case ifnet.CounterIPackets:
		return atomic.LoadUint64(&q.pub.ipackets)
	case ifnet.CounterIBytes:
		return atomic.LoadUint64(&q.pub.ibytes)
	}
	return 0
}

// peek reports whether a packet is ready; any goroutine, filters too.
func (q *Rxq) peek() bool {
	return q.txrx.RxdAvailable(q.id, QIdx(atomic.LoadUint64(&q.pub.cidx)), 1) > 0
}

// publish stores the owner's half for the others.
func (q *Rxq) publish() {
	o := &q.own
	physmem.StoreRelaxed64(&q.pub.cidx, uint64(q.cidx()))
	physmem.StoreRelaxed64(&q.pub.ipackets, o.ipackets)
	physmem.StoreRelaxed64(&q.pub.ibytes, o.ibytes)
	if d := q.ctx.g.dbg; d != nil {
		q.pub.stat.debug(&o.stat, d)
	}
	q.pub.ledger.publish(&o.ledger)
	q.pub.stat.publish(&o.stat)
	for i := range q.fls {
		q.fls[i].publish()
	}
}

func (s *rxStats) publish(o *rxStats) {
	physmem.StoreRelaxed64(&s.tasks, o.tasks)
	physmem.StoreRelaxed64(&s.intrEnables, o.intrEnables)
	physmem.StoreRelaxed64(&s.unavail, o.unavail)
	physmem.StoreRelaxed64(&s.inactive, o.inactive)
	physmem.StoreRelaxed64(&s.inputs, o.inputs)
	physmem.StoreRelaxed64(&s.refills, o.refills)
	physmem.StoreRelaxed64(&s.refillsLarge, o.refillsLarge)
	physmem.StoreRelaxed64(&s.allocs, o.allocs)
	physmem.StoreRelaxed64(&s.flushes, o.flushes)
	physmem.StoreRelaxed64(&s.famines, o.famines)
	physmem.StoreRelaxed64(&s.cqOnly, o.cqOnly)
}

// debug adds what happened since the last publish to the counters of checking
// mode; the task counts the rest there itself. Owner only.
func (s *rxStats) debug(o *rxStats, d *debugCounters) {
	d.rxUnavail.Add(o.unavail - s.unavail)
	d.rxCtxInactive.Add(o.inactive - s.inactive)
	d.rxIfInput.Add(o.inputs - s.inputs)
	d.flRefills.Add(o.refills - s.refills)
	d.flRefillsLarge.Add(o.refillsLarge - s.refillsLarge)
	d.rxAllocs.Add(o.allocs - s.allocs)
	d.rxdFlush.Add(o.flushes - s.flushes)
}

// RxqState is a receive queue as its owner last published it.
type RxqState struct {
	CQCidx    QIdx // rxq_cq_cidx; without a completion ring the consumer index of list 0
	FreeLists []FreeListState
}

// FreeListState is a free list as its owner last published it (spec iflib 5.4).
type FreeListState struct {
	Pidx, Cidx, Credits, BufSize uint16
}

// State returns the published half of the queue; any goroutine. While traffic
// flows the words may be of different moments.
func (q *Rxq) State() RxqState {
	s := RxqState{CQCidx: QIdx(atomic.LoadUint64(&q.pub.cidx)), FreeLists: make([]FreeListState, len(q.fls))}
	for i := range q.fls {
		s.FreeLists[i] = q.fls[i].state()
	}
	return s
}
