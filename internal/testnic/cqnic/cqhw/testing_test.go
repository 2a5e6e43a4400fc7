package cqhw_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a ring in memory.
type ring struct {
	addr  physmem.Addr
	words []uint64
	size  int
}

func newRing(r *rig.Rig, size int) ring {
	a := r.Alloc(size * cqreg.EntrySize)
	return ring{addr: a, words: r.Words(a, size*cqreg.Words), size: size}
}

func (g ring) set(i int, w0, w1 uint64) {
	g.words[i%g.size*cqreg.Words], g.words[i%g.size*cqreg.Words+1] = w0, w1
}

func (g ring) get(i int) (w0, w1 uint64) {
	return g.words[i%g.size*cqreg.Words], g.words[i%g.size*cqreg.Words+1]
}

// valid reports whether entry n (counted since enable) has been written.
func (g ring) valid(n int) bool {
	_, w1 := g.get(n)
	return w1&cqreg.CqePhase == uint64(n/g.size+1)&cqreg.CqePhase
}

func reg(q int, r uint64) uint64 { return cqreg.QueueBase + uint64(q)*cqreg.QueueStride + r }

// txq drives transmit queue 0 by hand.
type txq struct {
	*rig.Rig
	ring, cq ring
	at       int // next descriptor
}

// newTx enables transmit queue 0 on a new bench.
func newTx(t testing.TB, size, cqSize int) *txq {
	q := &txq{Rig: rig.New(t, cqhw.New, cqreg.BARRegs)}
	q.ring, q.cq = newRing(q.Rig, size), newRing(q.Rig, cqSize)
	q.enable()
	return q
}

func (q *txq) enable() {
	q.Write64(reg(0, cqreg.TXBASELO), q.ring.addr)
	q.BAR.Write32(reg(0, cqreg.TXLEN), uint32(q.ring.size))
	q.Write64(reg(0, cqreg.TXCQLO), q.cq.addr)
	q.BAR.Write32(reg(0, cqreg.TXCQLEN), uint32(q.cq.size))
	q.BAR.Write32(reg(0, cqreg.TXVEC), 3)
	q.BAR.Write32(reg(0, cqreg.TXCTL), cqreg.QCtlEnable)
	q.BAR.Write32(cqreg.CTRL, cqreg.CtrlTxEnable|cqreg.CtrlMSIX)
}

// put writes one descriptor.
func (q *txq) put(w0 physmem.Addr, w1 uint64) {
	q.ring.set(q.at, uint64(w0), w1)
	q.at++
}

// packet writes descriptors for pieces, with an extension if x0 is not 0, and asks for
// a report.
func (q *txq) packet(x0, x1 uint64, pieces ...[]byte) {
	count := len(pieces)
	flags := uint64(cqreg.TxdFirst | cqreg.TxdReport)
	if x0 != 0 {
		count++
		flags |= cqreg.TxdExt
	}
	flags |= uint64(count) << cqreg.TxdCountShift
	last := func(i int) uint64 {
		if i == count-1 {
			return cqreg.TxdLast
		}
		return 0
	}
	i := 0
	for k, p := range pieces {
		q.put(q.Buffer(p), uint64(len(p))|flags|last(i))
		flags = 0
		i++
		if k == 0 && x0 != 0 {
			q.put(physmem.Addr(x0), x1|last(i))
			i++
		}
	}
}

func (q *txq) ringBell(packets int) { q.BAR.Write32(reg(0, cqreg.TXDB), uint32(packets)) }

// rxq drives receive queue 0 by hand.
type rxq struct {
	*rig.Rig
	cq    ring
	fl    [2]ring
	bufs  [2]map[int]physmem.Addr // by slot
	tails [2]int
}

const rxBufs = 512 // bytes of a buffer in these tests

// newRx enables receive queue 0 on a new bench, without buffers.
func newRx(t testing.TB, ctrl uint32, cqSize, fl0, fl1 int) *rxq {
	q := &rxq{Rig: rig.New(t, cqhw.New, cqreg.BARRegs)}
	q.cq = newRing(q.Rig, cqSize)
	for i, n := range []int{fl0, fl1} {
		q.fl[i] = newRing(q.Rig, n)
		q.bufs[i] = make(map[int]physmem.Addr)
	}
	q.Write64(reg(0, cqreg.RXCQLO), q.cq.addr)
	q.BAR.Write32(reg(0, cqreg.RXCQLEN), uint32(cqSize))
	q.Write64(reg(0, cqreg.RXFL0LO), q.fl[0].addr)
	q.BAR.Write32(reg(0, cqreg.RXFL0LEN), uint32(fl0))
	q.Write64(reg(0, cqreg.RXFL1LO), q.fl[1].addr)
	q.BAR.Write32(reg(0, cqreg.RXFL1LEN), uint32(fl1))
	q.BAR.Write32(reg(0, cqreg.RXVEC), 5)
	q.BAR.Write32(reg(0, cqreg.RXCTL), cqreg.QCtlEnable)
	q.BAR.Write32(cqreg.MAXFRM, 9216)
	q.BAR.Write32(cqreg.CTRL, ctrl|cqreg.CtrlRxEnable|cqreg.CtrlMSIX)
	return q
}

// fill gives list n buffers; their slot tags are 100*list plus a running number.
func (q *rxq) fill(list, n int) {
	for range n {
		slot := 100*list + q.tails[list]
		a := q.Alloc(rxBufs)
		q.bufs[list][slot] = a
		q.fl[list].set(q.tails[list], uint64(a), uint64(slot)|rxBufs<<cqreg.FldSizeShift)
		q.tails[list]++
	}
	q.BAR.Write32(reg(0, cqreg.RXFL0TAIL+4*uint64(list)), uint32(q.tails[list]%q.fl[list].size))
}

func (q *rxq) stat(off uint64) uint64 { return q.BAR.Read64(off) }
