package iflib

import (
	"runtime"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/quiet/quietbench"
)

// benchRx is a device that always has as many packets of one length as it is
// told, in the buffers that were posted.
type benchRx struct {
	TxRx
	lists [1]benchList
	len   int
	ready int
	frame []byte // copied into each buffer by a copying port
	mem   []byte
}

type benchList struct {
	bufs [1024]fakeBuf
	head int
}

func (hw *benchRx) RxdAvailable(_ int, _ QIdx, budget int) int { return min(hw.ready, budget) }

func (hw *benchRx) RxdPktGet(ri *RxdInfo) error {
	l := &hw.lists[0]
	b := l.bufs[l.head&1023]
	l.head++
	hw.ready--
	ri.Frags[0] = RxdFrag{Idx: b.idx, Len: uint16(hw.len)}
	ri.NFrags, ri.Len = 1, hw.len
	ri.FlowID, ri.RSSType = 1, mbuf.HashOpaque
	return nil
}

func (hw *benchRx) RxdRefill(iru *RxdUpdate) {
	l := &hw.lists[0]
	for i, a := range iru.PAddrs {
		l.bufs[(int(iru.Pidx)+i)&1023] = fakeBuf{iru.Idxs[i], a}
	}
}

func (hw *benchRx) RxdFlush(_, _ int, _ QIdx) {}

// inject lets n packets arrive, written by the device if it copies.
func (hw *benchRx) inject(n int, write bool) {
	if write {
		l := &hw.lists[0]
		for i := range n {
			b := l.bufs[(l.head+i)&1023]
			copy(hw.mem[b.addr:int(b.addr)+hw.len], hw.frame)
		}
	}
	hw.ready = n
}

func benchmarkReceive(b *testing.B, size, batch int, write bool) {
	r := newRxRig(b, rxConfig{size: 1024, nolimit: true})
	hw := &benchRx{len: size, mem: r.k.Mem.Bytes(0, r.k.Mem.Size())}
	hw.frame = r.hw.frame(size)
	r.q.txrx = hw
	r.ctx.scctx.MaxFrameSize = 1522
	cancel := ifnet.RegisterProtocol(r.k, rxTestEtype, func(c *mbuf.Cache, _ *ifnet.Ifnet, m *mbuf.Mbuf) { c.FreeChain(m) })
	defer cancel()
	r.ctx.rxMbufSize = mbuf.MClBytes
	if err := r.q.fillFreeLists(); err != nil {
		b.Fatal(err)
	}
	r.ctx.admit.Store(admitRunning)
	for range 200 { // fill the list, and every buffer with a frame
		hw.inject(16, true)
		r.q.rxeof(16)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	done := 0
	quietbench.Measure(b, func(n int) {
		for end := done + n; done < end; done += batch {
			hw.inject(batch, write)
			r.q.rxeof(batch)
		}
	})
	if l := r.ctx.RxLedger(); l.Handed != uint64(done)+200*16 || l.Famines != 0 {
		b.Fatalf("ledger %s, %d packets", l, done)
	}
	if got := r.ctx.ifp.GetCounter(ifnet.CounterIErrors); got != 0 {
		b.Fatalf("%d input errors", got)
	}
	r.hw.reset()
	r.finish()
}

func BenchmarkReceive64Batch1(b *testing.B)          { benchmarkReceive(b, 64, 1, false) }
func BenchmarkReceive64Batch16(b *testing.B)         { benchmarkReceive(b, 64, 16, false) }
func BenchmarkReceive64Batch64(b *testing.B)         { benchmarkReceive(b, 64, 64, false) }
func BenchmarkReceive1342Batch1(b *testing.B)        { benchmarkReceive(b, 1342, 1, false) }
func BenchmarkReceive1342Batch16(b *testing.B)       { benchmarkReceive(b, 1342, 16, false) }
func BenchmarkReceive1342Batch64(b *testing.B)       { benchmarkReceive(b, 1342, 64, false) }
func BenchmarkReceive64CopyInBatch16(b *testing.B)   { benchmarkReceive(b, 64, 16, true) }
func BenchmarkReceive1342CopyInBatch16(b *testing.B) { benchmarkReceive(b, 1342, 16, true) }
