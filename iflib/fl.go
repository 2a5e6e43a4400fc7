package iflib

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Constants of the free lists (spec iflib 1.1, 4.1, 4.2).
const (
	rxInitialFill = 128 // buffers that init gives to the hardware
	rxLargeRefill = 8   // more than this counts as a large refill
)

// rxSlot is one buffer of a free list (the ifl_sds arrays): an mbuf with its
// cluster, as long as the hardware may write. FreeBSD keeps header and cluster
// apart; together they are one item of the packet zone, and a packet that is
// copied out takes a header of its own. The buffer, with its bus address
// (hazard 16), then stays in the slot, which is not posted until the next
// refill.
type rxSlot struct {
	m    *mbuf.Mbuf
	addr Addr // what the hardware is told

	// mp is nil unless the load left something to undo: bounce pages, or
	// entries of the checking mode.
	mp *busdma.Map
}

// freeList is a ring of receive buffers (struct iflib_fl, spec iflib 1.7). One
// descriptor always stays empty, so that producer and consumer meet only when
// the hardware has none (hazard 18). The number of set bits is credits.
type freeList struct {
	q       *Rxq
	id      int
	size    uint32 // ifl_size, power of two
	bufSize int    // ifl_buf_size
	ready   bool   // setup has chosen a buffer size for what the hardware was told

	cidx, pidx uint32   // ifl_cidx, ifl_pidx
	credits    uint32   // ifl_credits: buffers that the hardware has
	fragidx    uint32   // ifl_fragidx: where the next search for a free slot starts
	posted     []uint64 // ifl_rx_bitmap; bits beyond size are set
	slots      []rxSlot

	iru   RxdUpdate
	addrs [MaxRxRefresh]Addr // ifl_bus_addrs
	idxs  [MaxRxRefresh]QIdx // ifl_rxd_idxs

	pub uint64 // pidx, cidx, credits, buf_size: 16 bits each
}

const bitsPerWord = 64

func (fl *freeList) init(q *Rxq, id int, size uint32) {
	fl.q, fl.id, fl.size = q, id, size
	fl.slots = make([]rxSlot, size)
	fl.posted = make([]uint64, (size+bitsPerWord-1)/bitsPerWord)
	fl.iru = RxdUpdate{QSIdx: q.id, FLIdx: id}
	fl.clearBitmap()
}

// clearBitmap marks every slot as not posted.
func (fl *freeList) clearBitmap() {
	clear(fl.posted)
	if used := fl.size % bitsPerWord; used != 0 {
		fl.posted[len(fl.posted)-1] = ^uint64(0) << used
	}
}

// setup is iflib_fl_setup (spec iflib 4.2): it chooses the buffer size and
// posts the first buffers. The error wraps ENOBUFS when not all could be had.
func (fl *freeList) setup() error {
	ctx := fl.q.ctx
	fl.release()
	size := ctx.scctx.RxdBufSize[fl.q.flOffset+fl.id]
	if size == 0 {
		size = ctx.rxMbufSize
	}
	fl.bufSize = mbuf.MClBytes
	if size > mbuf.MClBytes {
		fl.bufSize = mbuf.MJumPageSize
	}
	fl.iru.BufSize = fl.bufSize
	fl.ready = true
	ctx.maxFLBuf = max(ctx.maxFLBuf, fl.bufSize)
	if want := min(rxInitialFill, fl.size-1); !fl.refill(want) {
		return fmt.Errorf("receive queue %d, free list %d: %d buffers of %d: %w",
			fl.q.id, fl.id, fl.credits, want, syscall.ENOBUFS)
	}
	return nil
}

// refillAll posts buffers in all slots but one, and reports whether it could.
func (fl *freeList) refillAll() bool {
	if n := fl.size - fl.credits - 1; n != 0 && fl.ready {
		return fl.refill(n)
	}
	return true
}

// refill posts count buffers, at most size-credits-1, and reports whether it
// could (iflib_fl_refill, spec iflib 4.1). The hardware hears of all of them
// at once.
func (fl *freeList) refill(count uint32) bool {
	stat := &fl.q.own.stat
	stat.refills++
	if count > rxLargeRefill {
		stat.refillsLarge++
	}
	frag, n, left := fl.fragidx, 0, count
	for ; left != 0; left-- {
		frag = fl.nextFree(frag)
		s := &fl.slots[frag]
		if !fl.equip(s) {
			stat.famines++
			break
		}
		fl.posted[frag/bitsPerWord] |= 1 << (frag % bitsPerWord)
		fl.addrs[n] = s.addr
		fl.idxs[n] = QIdx(frag)
		if n++; n == MaxRxRefresh {
			fl.post(n)
			n = 0
		}
		frag = (frag + 1) & (fl.size - 1)
	}
	fl.fragidx = frag
	if left == count {
		return false
	}
	if n != 0 {
		fl.post(n)
	}
	stat.allocs += uint64(count - left)
	stat.flushes++
	fl.q.txrx.RxdFlush(fl.q.id, fl.id, QIdx(fl.pidx))
	return left == 0
}

// post hands the first n collected buffers to the driver.
func (fl *freeList) post(n int) {
	iru := &fl.iru
	iru.PAddrs, iru.Idxs = fl.addrs[:n], fl.idxs[:n]
	iru.Pidx = QIdx(fl.pidx)
	if p := fl.q.ctx.k.Probes; p.On() {
		p.Fire3(probeRxdRefill, fl.q.ctx.name, fl.q.id, uint64(fl.id), uint64(fl.pidx), uint64(n))
	}
	fl.q.txrx.RxdRefill(iru)
	fl.pidx = (fl.pidx + uint32(n)) & (fl.size - 1)
	fl.credits += uint32(n)
}

// nextFree is the first slot that is not posted, from slot from on and around.
// There is one: refill never posts the last.
func (fl *freeList) nextFree(from uint32) uint32 {
	w := from / bitsPerWord
	free := ^fl.posted[w] &^ (1<<(from%bitsPerWord) - 1)
	for free == 0 {
		if w++; w == uint32(len(fl.posted)) {
			w = 0
		}
		free = ^fl.posted[w]
	}
	return w*bitsPerWord + uint32(bits.TrailingZeros64(free))
}

// equip gives a slot a buffer if it has none; false in a famine.
func (fl *freeList) equip(s *rxSlot) bool {
	if s.m != nil {
		return true
	}
	q := fl.q
	m := q.cache.GetJcl(mbuf.FlagPktHdr, fl.bufSize)
	if m == nil {
		return false
	}
	m.SetLen(fl.bufSize)
	if !q.maps.load(s, m) {
		q.cache.Free(m)
		return false
	}
	s.m = m
	return true
}

// isPosted reports whether the hardware has the buffer of slot idx, for any
// idx.
func (fl *freeList) isPosted(idx QIdx) bool {
	i := uint32(idx)
	return i < fl.size && fl.posted[i/bitsPerWord]&(1<<(i%bitsPerWord)) != 0
}

// take takes the posted slot idx back from the hardware. The consumer index
// counts buffers: the hardware may use the slots in another order.
func (fl *freeList) take(idx QIdx) *rxSlot {
	i := uint32(idx)
	fl.posted[i/bitsPerWord] &^= 1 << (i % bitsPerWord)
	fl.credits--
	fl.cidx = (fl.cidx + 1) & (fl.size - 1)
	return &fl.slots[i]
}

// release frees all buffers and resets the ring (iflib_fl_bufs_free). The
// hardware has been stopped.
func (fl *freeList) release() {
	c := fl.q.cache
	for i := range fl.slots {
		s := &fl.slots[i]
		if s.m != nil {
			fl.q.maps.unload(s)
			c.Free(s.m)
			*s = rxSlot{}
		}
	}
	fl.ready = false
	fl.clearBitmap()
	fl.cidx, fl.pidx, fl.credits, fl.fragidx = 0, 0, 0, 0
}

func (fl *freeList) publish() { physmem.StoreRelaxed64(&fl.pub, fl.pack()) }

// pack is what others may know, in a word. Owner only.
func (fl *freeList) pack() uint64 {
	return uint64(fl.pidx) | uint64(fl.cidx)<<16 | uint64(fl.credits)<<32 | uint64(fl.bufSize)<<48
}

// state is the free list as last published; any goroutine.
func (fl *freeList) state() FreeListState { return unpackFreeList(atomic.LoadUint64(&fl.pub)) }

func unpackFreeList(w uint64) FreeListState {
	return FreeListState{Pidx: uint16(w), Cidx: uint16(w >> 16), Credits: uint16(w >> 32), BufSize: uint16(w >> 48)}
}
