package adv

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
)

// FuzzWriteback looks at the data path alone: any ring content, any walk.
func FuzzWriteback(f *testing.F) {
	f.Add(uint16(0), []byte{3, 0, 0, 0, 60, 0, 0, 0})
	f.Add(uint16(127), []byte{1, 0, 0, 0, 60, 0, 0, 0, 0xff})
	f.Add(uint16(5), []byte{0xff})
	f.Fuzz(func(t *testing.T, cidx uint16, data []byte) {
		g := &e1000test.Garbage{Data: data}
		for _, format := range []Format{igbFormat, igcFormat} {
			r := newRings(t, 1, format)
			for i := range r.rx[0].Desc {
				r.rx[0].Desc[i] = g.Word()
			}
			receiveStaysWithinBounds(t, r, cidx%testDescs, int(g.Byte()))
			creditsStayWithinWhatWasSent(t, r, g)
		}
	})
}

func receiveStaysWithinBounds(t *testing.T, r *rings, i uint16, budget int) {
	n := r.RxdAvailable(0, i, budget)
	if n > testDescs {
		t.Fatalf("%d packets in %d descriptors", n, testDescs)
	}
	for range n {
		var frags [iflib.MaxRxSegs]iflib.RxdFrag
		ri := iflib.RxdInfo{Cidx: i, Frags: &frags}
		if err := r.RxdPktGet(&ri); err != nil {
			if got := r.errs.BadWriteback.Load() + r.errs.Dropped.Load(); got != 1 {
				t.Fatalf("%v is counted %d times", err, got)
			}
			return
		}
		sum := 0
		for k, fr := range frags[:ri.NFrags] {
			if want := (i + uint16(k)) % testDescs; fr.Idx != want || int(fr.Len) > r.rx[0].BufSize {
				t.Fatalf("fragment %d = %+v at %d", k, fr, want)
			}
			sum += int(fr.Len)
		}
		if sum != ri.Len {
			t.Fatalf("fragments of %d bytes, packet of %d", sum, ri.Len)
		}
		i = (i + uint16(ri.NFrags)) % testDescs
	}
}

// creditsStayWithinWhatWasSent sends under reports that come, or not, at random.
func creditsStayWithinWhatWasSent(t *testing.T, r *rings, g *e1000test.Garbage) {
	out, pidx := 0, iflib.QIdx(0)
	for range testDescs {
		pi := packet(0, 0, 0, segs(0x1000, 60))
		if pi.Pidx = pidx; g.Byte()&1 != 0 {
			pi.Flags |= iflib.PktTxIntr
		}
		if out < testDescs-1 {
			if err := r.TxdEncap(&pi); err != nil {
				t.Fatal(err)
			}
			pidx = pi.NewPidx
			out++
		}
		at := int(g.Byte()) % testDescs
		iflib.StoreRelaxed64(&r.tx[0].Desc[at*e1000.DescWords+1], g.Word())
		if out -= r.TxdCreditsUpdate(0, true); out < 0 {
			t.Fatalf("%d descriptors credited that were not sent", -out)
		}
	}
}
