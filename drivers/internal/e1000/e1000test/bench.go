package e1000test

import (
	"testing"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/quiet/quietbench"
)

// Transmit measures what a driver's data path costs a packet: writing its descriptors and
// taking the credits, with a report every 16 packets. desc are the words of queue 0's
// ring. It is the same for each driver, so that they can be compared.
func Transmit(b *testing.B, path iflib.TxRx, desc []uint64) {
	seg := func(lens ...uint64) (s []busdma.Seg) {
		for i, n := range lens {
			s = append(s, busdma.Seg{Addr: iflib.Addr(0x10000 * (i + 1)), Len: n})
		}
		return s
	}
	const ipv4, tcp = 0x0800, 6
	next := iflib.QIdx(0) // the ring goes on from case to case
	base := iflib.PktInfo{Flags: iflib.PktIPv4, EType: ipv4, IPProto: tcp, EHdrLen: 14, IPHLen: 20, TCPHLen: 20}
	for _, c := range []struct {
		name string
		csum mbuf.CsumFlags
		mss  uint16
		segs []busdma.Seg
	}{
		{"plain", 0, 0, seg(60)},
		{"two", 0, 0, seg(54, 1300)},
		{"checksum", mbuf.CsumIPTCP, 0, seg(54, 1300)},
		{"segmented", mbuf.CsumIPTSO, 1448, seg(54, 4096, 4096)},
	} {
		b.Run(c.name, func(b *testing.B) {
			pi := base
			pi.CsumFlags, pi.TSOSegSz, pi.Segs = c.csum, c.mss, c.segs
			for _, s := range c.segs {
				pi.Len += int(s.Len)
			}
			pi.Pidx = next
			transmit(b, path, desc, &pi)
			next = pi.Pidx
		})
	}
}

// reportEvery is how many packets go out between two reports.
const reportEvery = 16

func transmit(b *testing.B, path iflib.TxRx, desc []uint64, pi *iflib.PktInfo) {
	size := iflib.QIdx(len(desc) / 2)
	segs := append([]busdma.Seg(nil), pi.Segs...)
	lens := pi.Segs
	n := 0
	quietbench.Measure(b, func(ops int) {
		for range ops {
			if n++; n%reportEvery == 0 {
				pi.Flags |= iflib.PktTxIntr
			}
			copy(lens, segs) // a path may shorten the last one
			if err := path.TxdEncap(pi); err != nil {
				b.Fatal(err)
			}
			pi.Pidx = pi.NewPidx
			if pi.Flags&iflib.PktTxIntr == 0 {
				continue
			}
			pi.Flags &^= iflib.PktTxIntr
			last := (pi.NewPidx + size - 1) % size
			iflib.StoreRelaxed64(&desc[2*last+1], desc[2*last+1]|1<<32)
			if path.TxdCreditsUpdate(0, true) == 0 {
				b.Fatal("no credits")
			}
		}
	})
}
