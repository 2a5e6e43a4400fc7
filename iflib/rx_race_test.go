package iflib

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// floodRx is a device with a packet for every posted buffer; peeks may come
// from any goroutine. The rest runs in the receive task or in init.
type floodRx struct {
	TxRx
	have atomic.Int64
	bufs []fakeBuf
}

func (hw *floodRx) RxdAvailable(_ int, _ QIdx, budget int) int {
	return min(int(hw.have.Load()), budget)
}

func (hw *floodRx) RxdPktGet(ri *RxdInfo) error {
	b := hw.bufs[0]
	hw.bufs = hw.bufs[1:]
	hw.have.Add(-1)
	n := 60
	if b.idx%2 == 0 {
		n = 1000
	}
	ri.Frags[0] = RxdFrag{Idx: b.idx, Len: uint16(n)}
	ri.NFrags, ri.Len = 1, n
	return nil
}

func (hw *floodRx) RxdRefill(iru *RxdUpdate) {
	for i, a := range iru.PAddrs {
		hw.bufs = append(hw.bufs, fakeBuf{iru.Idxs[i], a})
	}
}

func (hw *floodRx) RxdFlush(_, _ int, _ QIdx) { hw.have.Store(int64(len(hw.bufs))) }

// idleDev has interrupts that nobody needs.
type idleDev struct{ Device }

func (idleDev) IntrEnable()                 {}
func (idleDev) RxQueueIntrEnable(int) error { return nil }

// TestStopAndInitWhileReceiving restarts a queue on real CPUs while interrupts
// keep coming and readers look at what it publishes.
func TestStopAndInitWhileReceiving(t *testing.T) {
	const restarts = 20
	k, err := kern.New(kern.Config{NCPU: 2, Invariants: true, Mem: physmem.Config{Size: rxTestMemory}})
	if err != nil {
		t.Fatal(err)
	}
	zones, err := mbuf.Init(k, mbuf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := busdma.Init(k); err != nil {
		t.Fatal(err)
	}
	r := &rxRig{tb: t, k: k, zones: zones}
	r.makeCtx(rxConfig{size: 128})
	r.makeQueue(rxConfig{size: 128})
	hw := &floodRx{}
	q := r.q
	q.txrx = hw
	r.ctx.dev, r.ctx.rxIntr, r.ctx.rxMbufSize = idleDev{}, idleDev{}, mbuf.MClBytes
	var quit atomic.Bool
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		for !quit.Load() {
			if q.peek() {
				q.task.Enqueue()
			}
		}
	}()
	go func() {
		defer wg.Done()
		for !quit.Load() {
			_ = q.State()
			_ = r.ctx.RxLedger()
			_ = atomic.LoadUint64(&q.pub.ipackets)
		}
	}()
	for i := range restarts {
		if err := q.fillFreeLists(); err != nil {
			t.Error(err)
		}
		r.ctx.admit.Store(admitRunning)
		for n := uint64(i+1) * 200; atomic.LoadUint64(&q.pub.ipackets) < n; {
			kern.SpinWait()
			q.task.Enqueue()
		}
		r.ctx.admit.Store(0)
		hw.have.Store(0)
		q.stop()
		hw.bufs = nil
		hw.have.Store(0)
	}
	quit.Store(true)
	wg.Wait()
	q.destroy()
	if got := zones.Usage(); got != r.base {
		t.Errorf("leaked: %+v, was %+v", got, r.base)
	}
	if l := r.ctx.RxLedger(); !l.Balanced() || l.Taken < restarts*200 {
		t.Errorf("ledger %s", l)
	}
	ifnet.EtherDetach(r.ctx.ifp)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
