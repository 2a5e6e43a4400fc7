package em

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// garbage deals out bytes of a fuzz input, round and round.
type garbage struct {
	data []byte
	at   int
}

func (g *garbage) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[g.at%len(g.data)]
	g.at++
	return b
}

func (g *garbage) word() (v uint64) {
	for range 8 {
		v = v<<8 | uint64(g.byte())
	}
	return v
}

// FuzzDeviceState lets a part answer and write back anything: attach may fail, but
// nothing panics, hangs or leaves its bounds.
func FuzzDeviceState(f *testing.F) {
	f.Add(uint8(0), false, []byte{0})
	f.Add(uint8(6), false, []byte{0xff})
	f.Add(uint8(6), true, []byte{0x03, 0, 0, 0, 0x3c, 0, 0, 0, 1})
	f.Add(uint8(8), true, []byte{0, 0, 2, 0, 0x41, 0}) // I217
	f.Add(uint8(10), false, []byte{1, 2, 0, 4, 0xff})  // I219, whose rings want a flush
	f.Add(uint8(1), true, []byte{0x80, 0, 0, 0x44, 0x12, 0x34})
	f.Fuzz(func(t *testing.T, part uint8, spoilAttach bool, data []byte) {
		g := &garbage{data: data}
		c := newCard(chips[int(part)%len(chips)].device)
		spoil := func(_ uint64, v uint32) uint32 {
			if b := g.byte(); b&1 != 0 {
				return uint32(g.word())
			}
			return v
		}
		if c.rings = uint32(g.byte()) << 8; spoilAttach {
			c.Fuzz = spoil
		}
		b := tryBench(t, c, nil)
		if b.ctx == nil {
			return
		}
		c.Fuzz = spoil
		b.ctx.Ifp().SetFlags(ifnet.FlagUp, 0)
		b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, b.ctx.Ifp().Flags()))
		b.k.RunUntilIdle()
		for i := range b.sc.path.rx {
			r := &b.sc.path.rx[i]
			for k := range r.Desc {
				iflib.StoreRelaxed64(&r.Desc[k], g.word())
			}
			b.ctx.RxIntrDeferred(i)
			b.sc.vectors[i].queueFilter()
		}
		for i := range b.sc.path.tx {
			r := &b.sc.path.tx[i]
			for k := range r.Desc {
				iflib.StoreRelaxed64(&r.Desc[k], g.word())
			}
			b.ctx.TxIntrDeferred(i)
		}
		b.sc.legacyFilter()
		b.sc.linkFilter()
		b.sc.Timer(0)
		b.k.RunUntilIdle()
		b.sc.UpdateAdminStatus()
		b.text("dev.em.0.reg_dump")
		b.text("dev.em.0.fw_version")
		c.Fuzz = nil // detach checks the machine's books, not the part
		b.k.RunUntilIdle()
	})
}

// FuzzWriteback looks at the data path alone: any ring content, any walk.
func FuzzWriteback(f *testing.F) {
	f.Add(uint16(0), []byte{3, 0, 0, 0, 60, 0, 0, 0})
	f.Add(uint16(127), []byte{1, 0, 0, 0, 60, 0, 0, 0, 0xff})
	f.Add(uint16(5), []byte{0xff})
	f.Fuzz(func(t *testing.T, cidx uint16, data []byte) {
		g := &garbage{data: data}
		for _, lem := range []bool{true, false} {
			r := newRings(t, 1)
			var path iflib.TxRx = &r.dataPath
			if lem {
				path = lemTxRx{&r.dataPath}
			}
			for i := range r.rx[0].Desc {
				r.rx[0].Desc[i] = g.word()
			}
			i := cidx % testDescs
			n := path.RxdAvailable(0, i, int(g.byte()))
			if n > testDescs {
				t.Fatalf("%d packets in %d descriptors", n, testDescs)
			}
			for range n {
				var frags [iflib.MaxRxSegs]iflib.RxdFrag
				ri := iflib.RxdInfo{Cidx: i, Frags: &frags}
				if err := path.RxdPktGet(&ri); err != nil {
					if got := r.errs.BadWriteback.Load() + r.errs.Dropped.Load(); got != 1 {
						t.Fatalf("%v is counted %d times", err, got)
					}
					break
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
			creditsStayWithinWhatWasSent(t, r, g)
		}
	})
}

// creditsStayWithinWhatWasSent sends under reports that come, or not, at random.
func creditsStayWithinWhatWasSent(t *testing.T, r *rings, g *garbage) {
	out, pidx := 0, iflib.QIdx(0)
	for range testDescs {
		pi := packet(0, iflib.PktIPv4, segs(0x1000, 60))
		if pi.Pidx = pidx; g.byte()&1 != 0 {
			pi.Flags |= iflib.PktTxIntr
		}
		if out < testDescs-1 {
			if err := r.TxdEncap(&pi); err != nil {
				t.Fatal(err)
			}
			pidx = pi.NewPidx
			out++
		}
		at := int(g.byte()) % testDescs
		iflib.StoreRelaxed64(&r.tx[0].Desc[at*e1000.DescWords+1], g.word())
		if out -= r.TxdCreditsUpdate(0, true); out < 0 {
			t.Fatalf("%d descriptors credited that were not sent", -out)
		}
	}
}
