package iflib

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/iflib/bufring"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/mpring"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
)

// cacheLine is the distance at which two words do not share a line.
const cacheLine = 64

// txSlot is what the framework remembers of a packet at the slot of its first
// descriptor (the ift_sds arrays).
type txSlot struct {
	m *mbuf.Mbuf

	// mp is nil unless the load left something to undo: bounce pages, or
	// entries of the checking mode. The packet's TSO flag tells whose map it is.
	mp *busdma.Map
}

// Txq is a transmit queue (struct iflib_txq, spec iflib 1.6).
//
// Its fields are in four groups. Constants are written at attach. The owner's
// half is plain memory, touched only by the goroutine that holds the queue: the
// one that moved the mp_ring to BUSY, or, with simple_tx, the holder of mtx.
// The published half is what everybody else reads; the owner stores it when it
// lets go. Counters of rare events are atomics.
type Txq struct {
	// Constants after setup.
	ctx      *Ctx
	id       int
	txrx     TxRx
	size     uint32 // ift_size: descriptors
	pad      uint32 // ift_pad
	notify   uint32 // size / ift_update_freq - 1: most descriptors that wait for a doorbell
	padTo    int    // isc_min_frame_size of a device that needs padding, else 0
	g        *globals
	dbg      *debugCounters // g.dbg
	probes   *probe.Set
	stepped  bool // the kernel has the stepped executor
	ifp      *ifnet.Ifnet
	maxDesc  uint32 // MAX_TX_DESC: descriptors one packet may need
	reserve  uint32 // isc_tx_nsegments: completed descriptors kept back
	mem      ringMem
	br       *mpring.Ring
	sbr      *bufring.Ring // simple_tx
	task     *kern.Task    // ift_task
	timer    *kern.Callout // ift_timer
	timerCPU int           // where the timer runs
	cache    *mbuf.Cache   // where the owner frees and allocates
	slots    []txSlot      // ift_sds
	maps     [2]txMaps     // mapsNormal, mapsTSO
	keepMaps bool          // checking mode: every load stays bound to its slot

	_ [cacheLine]byte

	// The owner's half.
	own txOwner

	_ [cacheLine]byte

	// mtx is ift_mtx: it guards the timer and, with simple_tx, the owner's half.
	mtx kern.Mtx

	_ [cacheLine]byte

	pub txPublished

	_ [cacheLine]byte

	stat   txStats
	ledger txLedger

	// Reclaim knobs of the queue, copied from the device's sysctls.
	reclaimThresh atomic.Uint32 // ift_reclaim_thresh
	reclaimTicks  atomic.Uint32 // ift_reclaim_ticks
	deferMfree    atomic.Bool   // ift_defer_mfree

	// mDefer is the array that a sender claims to free mbufs after it let the
	// lock go (m_defer); nil while one is using it.
	mDefer atomic.Pointer[[]*mbuf.Mbuf]

	producers atomic.Int32 // senders on their way into sbr

	sentinel mbuf.Mbuf   // the item that stands for "ring the doorbell" in the mp_ring
	kick     atomic.Bool // the timer wants waiting descriptors rung (hazard 2)
	told     atomic.Bool // TxGarbage has written its line
	wdog     txWatchdog  // mtx
}

// txOwner is the owner's half of a queue.
type txOwner struct {
	pidx, cidx    uint32 // ift_pidx, ift_cidx
	cidxProcessed uint32 // ift_cidx_processed
	gen           uint32 // ift_gen: pidx wrapped and cidx has not
	inUse         uint32 // ift_in_use
	npending      uint32 // ift_npending: doorbell units since the last doorbell
	dbPending     uint32 // ift_db_pending: descriptors since the last doorbell
	rsPending     uint32 // ift_rs_pending
	processed     uint64 // ift_processed
	cleaned       uint64 // ift_cleaned
	lastReclaim   int64  // ift_last_reclaim, ticks; kept only with a reclaim threshold

	opackets, obytes, omcasts uint64 // totals; published with the rest
	in, handed                uint64 // ledger: packets that came with the lock, packets handed to the hardware
	emptyDoorbells            uint64 // doorbells with nothing new behind them (spec iflib 3.6)
	deferred                  uint64 // simple_tx: packets sent for others, who found the lock taken
	trace                     bool   // trace points fired when the owner took the queue
	remap                     int    // how far the recovery from EFBIG came for the packet at hand

	pi   PktInfo
	segs [MaxTxSegs]busdma.Seg
}

// txPublished is what others may read of a queue: the filter, can_drain, the
// watchdog, sysctl. Words are stored relaxed by the owner and loaded
// atomically; each is consistent in itself, none with the others.
type txPublished struct {
	indices   uint64 // pidx, cidx, cidx_processed: 16 bits each, then gen
	pending   uint64 // in_use, rs_pending, db_pending: 16 bits each
	processed uint64
	cleaned   uint64
	opackets  uint64
	obytes    uint64
	omcasts   uint64
	in        uint64
	handed    uint64
	empty     uint64
	deferred  uint64
}

// watch notes whether trace points fire: the owner asks once when it takes the
// queue, and not at each of the many points on a packet's way.
func (q *Txq) watch() { q.own.trace = q.probes.On() }

// publish stores the owner's half for the others.
func (q *Txq) publish() {
	o := &q.own
	physmem.StoreRelaxed64(&q.pub.indices, uint64(o.pidx)|uint64(o.cidx)<<16|uint64(o.cidxProcessed)<<32|uint64(o.gen)<<48)
	physmem.StoreRelaxed64(&q.pub.pending, uint64(o.inUse&0xffff)|uint64(o.rsPending&0xffff)<<16|uint64(o.dbPending&0xffff)<<32)
	physmem.StoreRelaxed64(&q.pub.processed, o.processed)
	physmem.StoreRelaxed64(&q.pub.cleaned, o.cleaned)
	physmem.StoreRelaxed64(&q.pub.opackets, o.opackets)
	physmem.StoreRelaxed64(&q.pub.obytes, o.obytes)
	physmem.StoreRelaxed64(&q.pub.omcasts, o.omcasts)
	physmem.StoreRelaxed64(&q.pub.in, o.in)
	physmem.StoreRelaxed64(&q.pub.handed, o.handed)
	physmem.StoreRelaxed64(&q.pub.empty, o.emptyDoorbells)
	physmem.StoreRelaxed64(&q.pub.deferred, o.deferred)
}

// TxqState is a queue as its owner last published it.
type TxqState struct {
	Pidx, Cidx, CidxProcessed   QIdx
	Gen                         uint8
	InUse, RSPending, DBPending uint16
	Processed, Cleaned          uint64
}

// State returns the published half of the queue; any goroutine. While traffic
// flows the words may be of different moments.
func (q *Txq) State() TxqState {
	idx := atomic.LoadUint64(&q.pub.indices)
	pend := atomic.LoadUint64(&q.pub.pending)
	return TxqState{
		Pidx:          QIdx(idx),
		Cidx:          QIdx(idx >> 16),
		CidxProcessed: QIdx(idx >> 32),
		Gen:           uint8(idx >> 48),
		InUse:         uint16(pend),
		RSPending:     uint16(pend >> 16),
		DBPending:     uint16(pend >> 32),
		Processed:     atomic.LoadUint64(&q.pub.processed),
		Cleaned:       atomic.LoadUint64(&q.pub.cleaned),
	}
}

// txStats count rare events of a queue (spec iflib 5.3); stop zeroes them.
type txStats struct {
	noTxDMASetup     atomic.Uint64 // ift_no_tx_dma_setup
	noDescAvail      atomic.Uint64 // ift_no_desc_avail
	mbufDefrag       atomic.Uint64 // ift_mbuf_defrag
	mbufDefragFailed atomic.Uint64 // ift_mbuf_defrag_failed
	mapFailed        atomic.Uint64 // ift_map_failed
	encapEFBIG       atomic.Uint64 // ift_txd_encap_efbig
	pullups          atomic.Uint64 // ift_pullups
}

// txWatchdog is the queue timer's memory (spec iflib 2.15), guarded by mtx.
type txWatchdog struct {
	lastTick        int64  // ift_last_timer_tick
	processedPrev   uint64 // ift_processed_prev
	outstandingPrev uint16 // ift_outstanding_prev
	armed           uint16 // ift_wdog_armed, saturating
}
