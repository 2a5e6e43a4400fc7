package e1000

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/iflib"
)

// Words of a 16-byte descriptor, and the done bit of a transmit one, which is bit 0 of
// dword 3 in every format (spec 1g 3.1, 3.4).
const (
	DescWords = 2

	txDone = 1 << 32 // DD, in the second word
)

// noReport in ReportQueue.peek: no report is awaited.
const noReport = ^uint64(0)

// ReportQueue remembers which descriptors asked for a report (RS), in order: the
// tx_rsq of FreeBSD's rings (spec 1g 4). A completion counts all descriptors up to its
// own. The owner of the transmit queue calls all methods but Done.
type ReportQueue struct {
	desc      []uint64 // of the ring
	idx       []uint16 // tx_rsq
	mask      uint32
	pidx      uint32 // tx_rs_pidx
	cidx      uint32 // tx_rs_cidx
	processed uint32 // tx_cidx_processed: the last descriptor credited

	// What rs_dump shows of the indices; stored relaxed, loaded atomically. Nobody looks
	// but when asked to, so it is among what the owner writes anyway.
	shown uint64

	_    [64]byte
	peek uint64 // descriptor of the next report, or noReport; stored relaxed, loaded atomically
}

// Fields of ReportQueue.shown: indices of 16 bits, and whether a report has ever come.
const (
	shownPidx      = 0
	shownCidx      = 16
	shownProcessed = 32
	shownAny       = 1 << 48
	shownMask      = 0xffff
)

// noDescriptor is what tx_rsq holds where nothing was asked for yet (QIDX_INVALID).
const noDescriptor = 0xffff

// show publishes the indices.
func (q *ReportQueue) show(anyCame bool) {
	v := uint64(q.pidx)<<shownPidx | uint64(q.cidx)<<shownCidx | uint64(q.processed)<<shownProcessed
	if anyCame {
		v |= shownAny
	}
	iflib.StoreRelaxed64(&q.shown, v)
}

// Init sets the queue up for a ring of len(desc)/DescWords descriptors, a power of two.
func (q *ReportQueue) Init(desc []uint64) {
	n := len(desc) / DescWords
	*q = ReportQueue{desc: desc, idx: make([]uint16, n), mask: uint32(n - 1)}
	q.Reset()
}

// Reset empties the queue; the ring begins again at 0 (em_initialize_transmit_unit's
// part of em_if_init).
func (q *ReportQueue) Reset() {
	q.pidx, q.cidx = 0, 0
	q.processed = q.mask
	iflib.StoreRelaxed64(&q.peek, noReport)
	q.show(false)
}

// Push notes that descriptor i, of the last data of a packet, asks for a report.
func (q *ReportQueue) Push(i uint32) {
	if q.pidx == q.cidx {
		iflib.StoreRelaxed64(&q.peek, uint64(i))
	}
	q.idx[q.pidx&q.mask] = uint16(i)
	q.pidx = (q.pidx + 1) & q.mask
	if q.pidx == q.cidx {
		panic("rs_pidx == rs_cidx: more reports asked for than the ring has descriptors")
	}
	q.show(q.shown&shownAny != 0)
}

// Done reports whether the next report has come. Any goroutine.
func (q *ReportQueue) Done() bool {
	i := atomic.LoadUint64(&q.peek)
	return i != noReport && q.done(uint32(i))
}

func (q *ReportQueue) done(i uint32) bool {
	return atomic.LoadUint64(&q.desc[(i&q.mask)*DescWords+1])&txDone != 0
}

// Credits takes the reports that have come and returns how many descriptors they
// complete. The walk ends at the last report asked for, whatever the part wrote.
func (q *ReportQueue) Credits() int {
	if q.cidx == q.pidx {
		return 0
	}
	n := uint32(0)
	for q.cidx != q.pidx {
		cur := uint32(q.idx[q.cidx&q.mask])
		if !q.done(cur) {
			break
		}
		n += (cur - q.processed) & q.mask
		q.processed = cur
		q.cidx = (q.cidx + 1) & q.mask
	}
	next := noReport
	if q.cidx != q.pidx {
		next = uint64(q.idx[q.cidx&q.mask])
	}
	iflib.StoreRelaxed64(&q.peek, next)
	q.show(q.shown&shownAny != 0 || n > 0)
	return int(n)
}

// Dump is a line about the queue of ring id: the report that is awaited, or the last one,
// the indices, and the descriptors that the part has done (em_dump_rs). Any goroutine; a
// busy owner may change some of it meanwhile.
func (q *ReportQueue) Dump(id int) string {
	var b strings.Builder
	v := atomic.LoadUint64(&q.shown)
	field := func(shift int) uint32 { return uint32(v>>shift) & shownMask }
	cidx, processed := field(shownCidx), field(shownProcessed)
	if next := atomic.LoadUint64(&q.peek); next != noReport {
		if !q.done(uint32(next)) {
			fmt.Fprintf(&b, "qid[%d]->tx_rsq[%d]: %d clear ", id, cidx, next)
		}
	} else {
		last := processed
		if v&shownAny == 0 {
			last = noDescriptor
		}
		fmt.Fprintf(&b, "qid[%d]->tx_rsq[rs_cidx-1=%d]: %d  ", id, (cidx-1)&q.mask, last)
	}
	fmt.Fprintf(&b, "cidx_prev=%d rs_pidx=%d ", processed, field(shownPidx))
	for i := range q.mask + 1 {
		if q.done(i) {
			fmt.Fprintf(&b, "%d set ", i)
		}
	}
	return b.String()
}

// PrintReports prints the report queues of rings (em_get_rs).
func PrintReports(print func(format string, a ...any), rings []*TxRing) {
	print("\n")
	for i, r := range rings {
		print("%s\n", r.RSQ.Dump(i))
	}
}
