package hwbnic

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
)

// rxq is a receive ring, owned by the receive task of the queue.
type rxq struct {
	mem     iflib.QueueMem
	words   []uint64
	size    uint32
	bufSize uint32
	slots   []iflib.QIdx // iflib's slot of the buffer in each descriptor

	// tail is after the last descriptor given to the device. The owner stores
	// it, peeks load it: behind it lie old write-backs.
	tail atomic.Uint32

	_ [64]byte
}

func (q *rxq) bind(mem iflib.QueueMem) {
	q.mem = mem
	q.words = mem.Words64()
	q.size = uint32(len(q.words) / hwbreg.Words)
	q.slots = make([]iflib.QIdx, q.size)
}

// reset returns to entry 0 with nothing posted.
func (q *rxq) reset() { q.tail.Store(0) }

// written loads word 1 of the descriptor at index i.
func (q *rxq) written(i uint32) (w1 uint64, ok bool) {
	w1 = atomic.LoadUint64(&q.words[i*hwbreg.Words+1])
	return w1, w1&hwbreg.RxdDone != 0
}

// RxdRefill writes buffers into descriptors (datasheet 4.1).
func (sc *softc) RxdRefill(iru *iflib.RxdUpdate) {
	q := &sc.rxqs[iru.QSIdx]
	q.bufSize = uint32(iru.BufSize)
	i := uint32(iru.Pidx)
	for k, slot := range iru.Idxs {
		w := q.words[i*hwbreg.Words:]
		iflib.StoreRelaxed64(&w[1], 0)
		iflib.StoreRelaxed64(&w[0], uint64(iru.PAddrs[k]))
		q.slots[i] = slot
		i = (i + 1) & (q.size - 1)
	}
}

// RxdFlush publishes the tail.
func (sc *softc) RxdFlush(qid, _ int, pidx iflib.QIdx) {
	sc.rxqs[qid].tail.Store(uint32(pidx))
	sc.regs.Write32(qreg(qid, hwbreg.RXTAIL), uint32(pidx))
}

// RxdAvailable counts the packets that are complete. A chain without an end counts
// as one, for RxdPktGet to refuse.
func (sc *softc) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	q := &sc.rxqs[qid]
	tail, mask := q.tail.Load(), q.size-1
	packets, frags := 0, 0
	for i := uint32(cidx) & mask; packets < budget; i = (i + 1) & mask {
		if i == tail {
			if frags != 0 {
				packets++
			}
			break
		}
		w1, ok := q.written(i)
		if !ok {
			break
		}
		frags++
		if w1&hwbreg.RxdEOP != 0 || frags > iflib.MaxRxSegs {
			packets++
			frags = 0
		}
	}
	return packets
}

// RxdPktGet takes one packet.
func (sc *softc) RxdPktGet(ri *iflib.RxdInfo) error {
	q := &sc.rxqs[ri.QSIdx]
	tail, mask := q.tail.Load(), q.size-1
	for i := uint32(ri.Cidx) & mask; ri.NFrags < iflib.MaxRxSegs && i != tail; i = (i + 1) & mask {
		w1, ok := q.written(i)
		length := uint32(w1 & hwbreg.RxdLenMask)
		if !ok || length == 0 || length > q.bufSize {
			break
		}
		ri.Frags[ri.NFrags] = iflib.RxdFrag{Idx: q.slots[i], Len: uint16(length)}
		ri.NFrags++
		ri.Len += int(length)
		if w1&hwbreg.RxdEOP != 0 {
			describe(ri, atomic.LoadUint64(&q.words[i*hwbreg.Words]), w1)
			return nil
		}
	}
	sc.badWriteback.Add(1)
	return fmt.Errorf("receive queue %d: no whole packet at %d: %w", ri.QSIdx, ri.Cidx, syscall.EIO)
}

// describe copies what the last descriptor says about the packet.
func describe(ri *iflib.RxdInfo, w0, w1 uint64) {
	nicdrv.SetOffloads(ri, w1>>hwbreg.RxdFlagsShift, uint16(w0>>hwbreg.RxdTCIShift))
	nicdrv.SetHash(ri, uint32(w0&hwbreg.RxdHashMask), w0>>hwbreg.RxdHashTyShift&hwbreg.RxdHashTyMask)
}
