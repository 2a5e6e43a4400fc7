package e1000

import (
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

	_    [64]byte
	peek uint64 // descriptor of the next report, or noReport; stored relaxed, loaded atomically
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
	return int(n)
}
