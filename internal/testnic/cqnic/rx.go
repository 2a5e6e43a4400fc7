package cqnic

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
)

// rxq is a receive set, owned by the receive task of the queue.
type rxq struct {
	cq  cq
	fls [numFreeLists]freeList

	_ [64]byte
}

// freeList is one list of buffers. posted has a bit for each slot that the device
// may use, so that it cannot return a buffer twice.
type freeList struct {
	mem     iflib.QueueMem
	words   []uint64
	size    uint32
	bufSize uint32 // as iflib last posted them
	posted  []uint64
}

const (
	bitsPerWord  = 64
	wordBitsMask = bitsPerWord - 1
)

func (f *freeList) bind(mem iflib.QueueMem) {
	f.mem = mem
	f.words = mem.Words64()
	f.size = uint32(len(f.words) / cqreg.Words)
	f.posted = make([]uint64, (f.size+wordBitsMask)/bitsPerWord)
}

// take takes slot back from the device; false if the device did not have it.
func (f *freeList) take(slot uint32) bool {
	if slot >= f.size {
		return false
	}
	w, bit := &f.posted[slot/bitsPerWord], uint64(1)<<(slot&wordBitsMask)
	if *w&bit == 0 {
		return false
	}
	*w &^= bit
	return true
}

// reset returns to entry 0 with nothing posted.
func (q *rxq) reset() {
	q.cq.done.Store(0)
	for i := range q.fls {
		clear(q.fls[i].posted)
	}
}

// RxdRefill writes free list descriptors (datasheet 4.1). The slot number is the
// tag that the completion returns.
func (sc *softc) RxdRefill(iru *iflib.RxdUpdate) {
	f := &sc.rxqs[iru.QSIdx].fls[iru.FLIdx]
	f.bufSize = uint32(iru.BufSize)
	size := uint64(f.bufSize) << cqreg.FldSizeShift
	i := uint32(iru.Pidx)
	for k, slot := range iru.Idxs {
		w := f.words[i*cqreg.Words:]
		iflib.StoreRelaxed64(&w[0], uint64(iru.PAddrs[k]))
		iflib.StoreRelaxed64(&w[1], uint64(slot)|size)
		f.posted[slot/bitsPerWord] |= 1 << (slot & wordBitsMask)
		i = (i + 1) & (f.size - 1)
	}
}

// RxdFlush publishes a free list's tail and, with list 0, what was consumed of the
// completion queue.
func (sc *softc) RxdFlush(qid, flid int, pidx iflib.QIdx) {
	if flid != 0 {
		sc.regs.Write32(qreg(qid, cqreg.RXFL1TAIL), uint32(pidx))
		return
	}
	sc.regs.Write32(qreg(qid, cqreg.RXCQCONS), sc.rxqs[qid].cq.done.Load())
	sc.regs.Write32(qreg(qid, cqreg.RXFL0TAIL), uint32(pidx))
}

// RxdAvailable counts the packets that are complete, aggregation entries
// included. Notes are skipped; RxdPktGet consumes them before the next packet. An
// entry that makes no sense counts as a packet, for RxdPktGet to refuse.
func (sc *softc) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	cq := &sc.rxqs[qid].cq
	n := cq.countAt(uint32(cidx))
	packets := 0
	for end := n + cq.size; packets < budget && int32(end-n) > 0; {
		_, w1, ok := cq.entry(n)
		if !ok {
			break
		}
		n++
		switch entryType(w1) {
		case cqreg.CqeTypeNote:
			continue
		case cqreg.CqeTypeRx:
			if agg := aggEntries(w1); agg != 0 {
				if _, _, ok := cq.entry(n + agg - 1); !ok {
					return packets
				}
				n += agg
			}
		}
		packets++
	}
	return packets
}

func aggEntries(w1 uint64) uint32 { return uint32(w1 >> cqreg.RxcAggShift & cqreg.RxcAggMask) }

// RxdPktGet takes one packet, or one note, from the completion queue.
func (sc *softc) RxdPktGet(ri *iflib.RxdInfo) error {
	q := &sc.rxqs[ri.QSIdx]
	n := q.cq.done.Load()
	w0, w1, ok := q.cq.entry(n)
	if !ok {
		return sc.rxBad(ri.QSIdx, "no entry")
	}
	n++
	switch entryType(w1) {
	case cqreg.CqeTypeNote:
		sc.notes.Add(1)
		q.consume(ri, n)
		return nil
	case cqreg.CqeTypeRx:
	default:
		return sc.rxBad(ri.QSIdx, "entry of another type")
	}
	total := uint32(w0 & cqreg.RxcLenMask)
	sum, ok := q.fragment(ri, 0, uint32(w0>>cqreg.RxcSlotShift&cqreg.RxcSlotMask), uint32(w1>>cqreg.RxcFirstShift&cqreg.RxcFirstMask))
	for end := n + aggEntries(w1); ok && n != end; n++ {
		a0, a1, valid := q.cq.entry(n)
		if !valid || entryType(a1) != cqreg.CqeTypeAgg {
			return sc.rxBad(ri.QSIdx, "aggregation entry missing")
		}
		var l uint32
		l, ok = q.fragment(ri, 1, uint32(a0>>cqreg.RxaSlotShift&cqreg.RxaSlotMask), uint32(a0&cqreg.RxaLenMask))
		sum += l
	}
	if !ok || sum != total {
		return sc.rxBad(ri.QSIdx, "buffers do not fit")
	}
	ri.Len = int(total)
	describe(ri, w0, w1)
	q.consume(ri, n)
	return nil
}

// consume tells iflib and the peeks how far the queue was read.
func (q *rxq) consume(ri *iflib.RxdInfo, n uint32) {
	q.cq.done.Store(n)
	ri.Cidx = iflib.QIdx(n & (q.cq.size - 1))
}

// fragment appends one buffer to the packet. ok is false if the device did not
// have it, or says that it holds nothing or too much.
func (q *rxq) fragment(ri *iflib.RxdInfo, fl int, slot, length uint32) (n uint32, ok bool) {
	f := &q.fls[fl]
	if length == 0 || length > f.bufSize || ri.NFrags >= iflib.MaxRxSegs || !f.take(slot) {
		return 0, false
	}
	ri.Frags[ri.NFrags] = iflib.RxdFrag{FLID: uint8(fl), Idx: iflib.QIdx(slot), Len: uint16(length)}
	ri.NFrags++
	return length, true
}

// describe copies what the completion says about the packet.
func describe(ri *iflib.RxdInfo, w0, w1 uint64) {
	nicdrv.SetOffloads(ri, w1>>cqreg.RxcFlagsShift, uint16(w1>>cqreg.RxcTCIShift))
	nicdrv.SetHash(ri, uint32(w0>>cqreg.RxcHashShift), w1>>cqreg.RxcHashTyShift&cqreg.RxcHashTyMask)
}

// rxBad counts output of the device that is out of bounds; the error makes iflib
// reset the interface. It names the queue, since the entry is lost by then.
func (sc *softc) rxBad(qid int, what string) error {
	sc.badWriteback.Add(1)
	return fmt.Errorf("receive queue %d: %s: %w", qid, what, syscall.EIO)
}
