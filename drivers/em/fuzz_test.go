package em

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

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
		g := &e1000test.Garbage{Data: data}
		c := newCard(chips[int(part)%len(chips)].device)
		if c.rings = uint32(g.Byte()) << 8; spoilAttach {
			c.Fuzz = g.Spoil
		}
		b := tryBench(t, c, nil)
		if b.ctx == nil {
			return
		}
		c.Fuzz = g.Spoil
		b.ctx.Ifp().SetFlags(ifnet.FlagUp, 0)
		b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, b.ctx.Ifp().Flags()))
		b.k.RunUntilIdle()
		for i := range b.sc.path.rx {
			r := &b.sc.path.rx[i]
			for k := range r.Desc {
				iflib.StoreRelaxed64(&r.Desc[k], g.Word())
			}
			b.ctx.RxIntrDeferred(i)
			b.sc.vectors[i].queueFilter()
		}
		for i := range b.sc.path.tx {
			r := &b.sc.path.tx[i]
			for k := range r.Desc {
				iflib.StoreRelaxed64(&r.Desc[k], g.Word())
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
		g := &e1000test.Garbage{Data: data}
		for _, lem := range []bool{true, false} {
			r := newRings(t, 1)
			var path iflib.TxRx = &r.dataPath
			if lem {
				path = lemTxRx{&r.dataPath}
			}
			for i := range r.rx[0].Desc {
				r.rx[0].Desc[i] = g.Word()
			}
			counted := func() uint64 { return r.errs.BadWriteback.Load() + r.errs.Dropped.Load() }
			e1000test.ReceiveStaysWithinBounds(t, path, cidx%testDescs, int(g.Byte()), r.rx[0].BufSize, counted)
			e1000test.CreditsStayWithinWhatWasSent(t, path, r.tx[0].Desc, g)
		}
	})
}
