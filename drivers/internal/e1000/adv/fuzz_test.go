package adv

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
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
			counted := func() uint64 { return r.errs.BadWriteback.Load() + r.errs.Dropped.Load() }
			e1000test.ReceiveStaysWithinBounds(t, &r.Path, cidx%testDescs, int(g.Byte()), r.rx[0].BufSize, counted)
			e1000test.CreditsStayWithinWhatWasSent(t, &r.Path, r.tx[0].Desc, g)
		}
	})
}
