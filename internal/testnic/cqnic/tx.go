package cqnic

import (
	"errors"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// txq is a transmit set. The plain fields belong to whoever owns iflib's queue.
type txq struct {
	mem   iflib.QueueMem
	words []uint64
	size  uint32
	cq    cq

	pidx   uint32 // after the last descriptor written
	next   uint32 // after the last descriptor known to be done
	unrung uint32 // packets written since the last doorbell

	seen atomic.Uint32 // completions that were there when the event was last armed

	_ [64]byte
}

func (q *txq) bind(cqMem, ringMem iflib.QueueMem) {
	q.cq.bind(cqMem)
	q.mem = ringMem
	q.words = ringMem.Words64()
	q.size = uint32(len(q.words) / cqreg.Words)
}

// reset returns to entry 0; iflib has zeroed the memory.
func (q *txq) reset() {
	q.pidx, q.next, q.unrung = 0, 0, 0
	q.cq.done.Store(0)
	q.seen.Store(0)
}

// put writes the descriptor at index i and returns the index after it.
func (q *txq) put(i uint32, w0, w1 uint64) uint32 {
	w := q.words[i*cqreg.Words:]
	iflib.StoreRelaxed64(&w[0], w0)
	iflib.StoreRelaxed64(&w[1], w1)
	return (i + 1) & (q.size - 1)
}

// TxdEncap writes the packet (datasheet 3.1, 3.2). A doorbell unit is a packet.
func (sc *softc) TxdEncap(pi *iflib.PktInfo) error {
	q := &sc.txqs[pi.QSIdx]
	n := len(pi.Segs)
	x0, x1 := extension(pi)
	count := n
	if x0 != 0 {
		count++
	}
	if count > cqreg.TxMaxDescs {
		return syscall.EFBIG
	}
	first := uint64(cqreg.TxdFirst) | uint64(count)<<cqreg.TxdCountShift
	if pi.Flags&iflib.PktTxIntr != 0 {
		first |= cqreg.TxdReport
	}
	if x0 != 0 {
		first |= cqreg.TxdExt
	}
	i := uint32(pi.Pidx)
	for k := range pi.Segs {
		seg := &pi.Segs[k]
		w1 := seg.Len
		if k == n-1 && (x0 == 0 || n > 1) {
			w1 |= cqreg.TxdLast
		}
		i = q.put(i, uint64(seg.Addr), w1|first)
		if first = 0; k == 0 && x0 != 0 {
			if n == 1 {
				x1 |= cqreg.TxdLast
			}
			i = q.put(i, x0, x1)
		}
	}
	q.pidx = i
	q.unrung++
	pi.NewPidx = iflib.QIdx(i)
	pi.NDescs = 1
	return nil
}

// extension is the extension descriptor; word 0 is 0 if the packet needs none.
func extension(pi *iflib.PktInfo) (w0, w1 uint64) {
	f := pi.CsumFlags
	if f&mbuf.CsumTSO != 0 {
		w0 = cqreg.TxxTSO | cqreg.TxxL4Csum | uint64(pi.TSOSegSz)<<cqreg.TxxMSSShift
		if f&mbuf.CsumIPTSO != 0 {
			w0 |= cqreg.TxxIPCsum
		}
	}
	if f&mbuf.CsumIP != 0 {
		w0 |= cqreg.TxxIPCsum
	}
	if f&(mbuf.CsumDelayData|mbuf.CsumDelayDataIPv6) != 0 {
		w0 |= cqreg.TxxL4Csum
		if f&(mbuf.CsumIPUDP|mbuf.CsumIP6UDP) != 0 {
			w0 |= cqreg.TxxUDP
		}
	}
	if w0 != 0 && pi.Flags&iflib.PktIPv6 != 0 {
		w0 |= cqreg.TxxIPv6
	}
	if w0 != 0 {
		w1 = uint64(pi.EHdrLen)<<cqreg.TxxL2Shift | uint64(pi.IPHLen)<<cqreg.TxxL3Shift | uint64(pi.TCPHLen)<<cqreg.TxxL4Shift
	}
	if pi.MFlags&mbuf.FlagVLANTag != 0 {
		w0 |= cqreg.TxxVLAN | uint64(pi.VTag)<<cqreg.TxxTCIShift
	}
	return w0, w1
}

// TxdFlush rings for the packets written. iflib's rings with nothing pending pass
// the producer index (spec iflib 3.6), which would be a wrong count: they ring
// nothing here.
func (sc *softc) TxdFlush(qid int, value uint32) {
	q := &sc.txqs[qid]
	if q.unrung == 0 {
		return
	}
	if value != q.unrung {
		sc.doorbellFaults.Add(1)
	}
	sc.regs.Write32(qreg(qid, cqreg.TXDB), q.unrung)
	q.unrung = 0
}

// TxdCreditsUpdate consumes completions. A peek only tells whether there is one.
func (sc *softc) TxdCreditsUpdate(qid int, clear bool) int {
	q := &sc.txqs[qid]
	n := q.cq.done.Load()
	if !clear {
		if _, _, ok := q.cq.entry(n); ok {
			return 1
		}
		return 0
	}
	credits, start := uint32(0), n
	for n-start < q.cq.size {
		w0, w1, ok := q.cq.entry(n)
		if !ok {
			break
		}
		n++
		credits += sc.txCompletion(qid, w0, w1)
	}
	if n != start {
		q.cq.done.Store(n)
		sc.regs.Write32(qreg(qid, cqreg.TXCQCONS), n)
	}
	return int(credits)
}

// What is wrong with a completion.
var (
	errCompletion = errors.New("completion of descriptors that were not handed over")
	errHalted     = errors.New("queue halted")
)

// txCompletion returns the descriptors that one completion entry covers.
func (sc *softc) txCompletion(qid int, w0, w1 uint64) uint32 {
	q := &sc.txqs[qid]
	next := uint32(w0 & cqreg.TxcNextMask)
	mask := q.size - 1
	credits := (next - q.next) & mask
	if entryType(w1) != cqreg.CqeTypeTx || next >= q.size || credits > (q.pidx-q.next)&mask {
		sc.bad(qid, errCompletion)
		return 0
	}
	q.next = next
	sc.txRefused.Add(w0 >> cqreg.TxcErrorsShift & cqreg.TxcErrorsMask)
	if w0&cqreg.TxcHalted != 0 {
		sc.bad(qid, errHalted)
	}
	return credits
}
