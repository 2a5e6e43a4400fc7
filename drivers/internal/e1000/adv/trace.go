package adv

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/probe"
)

// probeWrite is a transmit descriptor as the driver wrote it.
var probeWrite = probe.Define("igb", "txd-write", "index", "word0", "word1")

// traceDescs shows the descriptors of the packet that TxdEncap has written, in the words
// of the datasheet.
func (p *Path) traceDescs(s *probe.Set, pi *iflib.PktInfo) {
	r := &p.tx[pi.QSIdx]
	for i := uint32(pi.Pidx); i != uint32(pi.NewPidx); i = (i + 1) & r.Mask {
		at := i * e1000.DescWords
		w := [e1000.DescWords]uint64{atomic.LoadUint64(&r.Desc[at]), atomic.LoadUint64(&r.Desc[at+1])}
		s.FireNote(probeWrite, p.name, pi.QSIdx, e1000reg.DecodeTxDesc(w), uint64(i), w[0], w[1])
	}
}
