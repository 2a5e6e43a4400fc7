package hwbnic

import (
	"errors"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

// txq is a transmit ring with the head word behind it. The plain fields belong to
// whoever owns iflib's queue.
type txq struct {
	mem   iflib.QueueMem
	words []uint64 // the ring
	head  *uint64  // written by the device
	size  uint32

	pidx       uint32 // after the last descriptor written
	ctx0, ctx1 uint64 // context in force; ctx1 is 0 before the first

	// done is the head up to which descriptors were credited. The owner stores
	// it, peeks load it.
	done atomic.Uint32

	_ [64]byte
}

func (q *txq) bind(mem iflib.QueueMem, size uint32) {
	w := mem.Words64()
	q.mem, q.size = mem, size
	q.words = w[:size*hwbreg.Words]
	q.head = &w[size*hwbreg.Words]
}

// reset returns to entry 0; iflib has zeroed the memory, head word included.
func (q *txq) reset() {
	q.pidx, q.ctx0, q.ctx1 = 0, 0, 0
	q.done.Store(0)
}

// put writes the descriptor at index i and returns the index after it.
func (q *txq) put(i uint32, w0, w1 uint64) uint32 {
	w := q.words[i*hwbreg.Words:]
	iflib.StoreRelaxed64(&w[0], w0)
	iflib.StoreRelaxed64(&w[1], w1)
	return (i + 1) & (q.size - 1)
}

// TxdEncap writes the packet, with a context in front if the one in force differs
// (datasheet 3.1).
func (sc *softc) TxdEncap(pi *iflib.PktInfo) error {
	q := &sc.txqs[pi.QSIdx]
	n := len(pi.Segs)
	if n > hwbreg.TxMaxDescs {
		return syscall.EFBIG
	}
	i := uint32(pi.Pidx)
	flags := offloads(pi)
	if flags != 0 {
		c0, c1 := packetContext(pi)
		if c0 != q.ctx0 || c1 != q.ctx1 {
			i = q.put(i, c0, c1)
			q.ctx0, q.ctx1 = c0, c1
		}
	}
	w1 := hwbreg.TxdTypeData<<hwbreg.TxdTypeShift | flags
	for k := range pi.Segs {
		seg := &pi.Segs[k]
		if k == n-1 {
			w1 |= hwbreg.TxdEOP
			if pi.Flags&iflib.PktTxIntr != 0 {
				w1 |= hwbreg.TxdRS
			}
		}
		i = q.put(i, uint64(seg.Addr), w1|seg.Len)
		w1 = hwbreg.TxdTypeData << hwbreg.TxdTypeShift
	}
	q.pidx = i
	pi.NewPidx = iflib.QIdx(i)
	return nil
}

// offloads are the bits of the first data descriptor.
func offloads(pi *iflib.PktInfo) uint64 {
	var w uint64
	f := pi.CsumFlags
	if f&(mbuf.CsumIP|mbuf.CsumIPTSO) != 0 {
		w |= hwbreg.TxdIPCsum
	}
	if f&(mbuf.CsumDelayData|mbuf.CsumDelayDataIPv6|mbuf.CsumTSO) != 0 {
		w |= hwbreg.TxdL4Csum
	}
	if f&mbuf.CsumTSO != 0 {
		w |= hwbreg.TxdTSO
	}
	if pi.MFlags&mbuf.FlagVLANTag != 0 {
		w |= hwbreg.TxdVLAN
	}
	return w
}

// packetContext is the context descriptor that the packet needs.
func packetContext(pi *iflib.PktInfo) (w0, w1 uint64) {
	w0 = uint64(pi.EHdrLen)<<hwbreg.TxcL2Shift | uint64(pi.IPHLen)<<hwbreg.TxcL3Shift | uint64(pi.TCPHLen)<<hwbreg.TxcL4Shift |
		uint64(pi.TSOSegSz)<<hwbreg.TxcMSSShift | uint64(pi.VTag)<<hwbreg.TxcTCIShift
	w1 = hwbreg.TxdTypeCtx << hwbreg.TxdTypeShift
	if pi.CsumFlags&(mbuf.CsumIPUDP|mbuf.CsumIP6UDP) != 0 {
		w1 |= hwbreg.TxdUDP
	}
	if pi.Flags&iflib.PktIPv6 != 0 {
		w1 |= hwbreg.TxdIPv6
	}
	return w0, w1
}

// TxdFlush moves the tail. This part counts no doorbell units, so value is the
// producer index.
func (sc *softc) TxdFlush(qid int, value uint32) {
	sc.regs.Write32(qreg(qid, hwbreg.TXTAIL), value)
}

// errHead says that the head word names a descriptor that was not handed over.
var errHead = errors.New("head beyond what was handed over")

// TxdCreditsUpdate reads the head word. A peek only tells whether it has moved.
func (sc *softc) TxdCreditsUpdate(qid int, clear bool) int {
	q := &sc.txqs[qid]
	head := uint32(atomic.LoadUint64(q.head) & hwbreg.HeadMask)
	done := q.done.Load()
	if head == done {
		return 0
	}
	if !clear {
		return 1
	}
	mask := q.size - 1
	credits := (head - done) & mask
	if head >= q.size || credits > (q.pidx-done)&mask {
		sc.badWriteback.Add(1)
		sc.ctx.TxGarbage(qid, errHead)
		return 0
	}
	q.done.Store(head)
	return int(credits)
}
