package adv

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	v4 = iflib.PktIPv4
	v6 = iflib.PktIPv6
	rs = iflib.PktTxIntr
)

// The bit patterns are typed from spec 1g 3.4 and 4.2.
func TestTransmitDescriptors(t *testing.T) {
	tagged := packet(0, rs, 0, e1000test.Segs(0x1_2345_6780, 60))
	tagged.MFlags, tagged.VTag = mbuf.FlagVLANTag, 0xa064
	taggedTCP := packet(mbuf.CsumIPTCP, v4, 6, e1000test.Segs(0x1000, 100))
	taggedTCP.MFlags, taggedTCP.VTag = mbuf.FlagVLANTag, 5
	tso := packet(mbuf.CsumIPTSO, v4|rs, 6, e1000test.Segs(0x1000, 54, 0x2000, 4096))
	tso.TSOSegSz, tso.TCPHLen = 1448, 20
	tso6 := packet(mbuf.CsumIP6TSO, v6, 6, e1000test.Segs(0x1000, 86, 0x2000, 100, 0x3000, 8))
	tso6.TSOSegSz, tso6.TCPHLen, tso6.MFlags, tso6.VTag = 1428, 32, mbuf.FlagVLANTag, 0xfff
	for _, tc := range []struct {
		name string
		pi   iflib.PktInfo
		want []desc
	}{
		{"plain", packet(0, 0, 0, e1000test.Segs(0x1000, 60)), []desc{{0x1000, 0, 0x2330_003c, 0x000f_0000}}},
		{"report", packet(0, rs, 0, e1000test.Segs(0x1000, 60)), []desc{{0x1000, 0, 0x2b30_003c, 0x000f_0000}}},
		{"two segments", packet(0, rs, 0, e1000test.Segs(0x1000, 14, 0xf_0000_2000, 1500)),
			[]desc{{0x1000, 0, 0x2230_000e, 0x017a_8000}, {0x2000, 0xf, 0x2b30_05dc, 0x017a_8000}}},
		{"tag", tagged, []desc{{0xa064_1c00, 0, 0x2020_0000, 0}, {0x2345_6780, 1, 0x6b30_003c, 0x000f_0000}}},
		{"tag and TCP", taggedTCP, []desc{{0x0005_1c14, 0, 0x2020_0c00, 0}, {0x1000, 0, 0x6330_0064, 0x0019_0200}}},
		{"TCP over IPv4", packet(mbuf.CsumIPTCP, v4|rs, 6, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c14, 0, 0x2020_0c00, 0}, {0x1000, 0, 0x2b30_0064, 0x0019_0200}}},
		{"UDP over IPv4", packet(mbuf.CsumIPUDP, v4, 17, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c14, 0, 0x2020_0400, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0200}}},
		{"SCTP over IPv4", packet(mbuf.CsumIPSCTP, v4, 132, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c14, 0, 0x2020_1400, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0200}}},
		{"TCP over IPv6", packet(mbuf.CsumIP6TCP, v6, 6, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c28, 0, 0x2020_0800, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0200}}},
		{"UDP over IPv6", packet(mbuf.CsumIP6UDP, v6, 17, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c28, 0, 0x2020_0000, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0200}}},
		{"IP header alone: a context, no checksum", packet(mbuf.CsumIP, v4, 6, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c14, 0, 0x2020_0400, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0000}}},
		{"request and protocol differ", packet(mbuf.CsumIPTCP, v4, 17, e1000test.Segs(0x1000, 100)),
			[]desc{{0x0000_1c14, 0, 0x2020_0400, 0}, {0x1000, 0, 0x2330_0064, 0x0019_0000}}},
		{"TSO over IPv4", tso, []desc{
			{0x0000_1c14, 0, 0x2020_0c00, 0x05a8_1400},
			{0x1000, 0, 0xa230_0036, 0x0400_0300},
			{0x2000, 0, 0xab30_1000, 0x0400_0300}}},
		{"TSO over IPv6 with a tag", tso6, []desc{
			{0x0fff_1c28, 0, 0x2020_0800, 0x0594_2000},
			{0x1000, 0, 0xe230_0056, 0x001b_0200},
			{0x2000, 0, 0xe230_0064, 0x001b_0200},
			{0x3000, 0, 0xe330_0008, 0x001b_0200}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRings(t, 1, igbFormat)
			pi := tc.pi
			pi.Pidx = testDescs - 1 // the ring wraps
			if err := r.TxdEncap(&pi); err != nil {
				t.Fatal(err)
			}
			if want := iflib.QIdx(len(tc.want) - 1); pi.NewPidx != want {
				t.Errorf("new pidx %d, want %d", pi.NewPidx, want)
			}
			for i, want := range tc.want {
				if got := e1000test.DescAt(r.tx[0].Desc, (testDescs-1+i)%testDescs); got != want {
					t.Errorf("descriptor %d = %08x\nwant          %08x", i, got, want)
				}
			}
			// A report is asked of the last data descriptor only.
			last := (testDescs - 1 + len(tc.want) - 1) % testDescs
			r.tx[0].Desc[2*last+1] |= 1 << 32
			want := 0
			if pi.Flags&rs != 0 {
				want = (last + 1) % testDescs // processed began at the last descriptor
			}
			if got := r.TxdCreditsUpdate(0, true); got != want {
				t.Errorf("%d credits, want %d", got, want)
			}
		})
	}
}

// 82575 keeps a context a queue.
func TestContextOfTheQueueIsNamedWhereThereIsOne(t *testing.T) {
	r := newRings(t, 3, igbFormat)
	r.tx[2].idx = 2 << 4
	tso := packet(mbuf.CsumIPTSO, v4, 6, e1000test.Segs(0x1000, 54, 0x2000, 4096))
	tso.TSOSegSz, tso.TCPHLen = 1448, 20
	for _, pi := range []iflib.PktInfo{packet(mbuf.CsumIPTCP, v4, 6, e1000test.Segs(0x1000, 100)), tso} {
		pi.QSIdx = 2
		if err := r.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if got := e1000test.DescAt(r.tx[2].Desc, i); got[3]>>4&0xf != 2 {
				t.Errorf("descriptor %d = %08x: context %d, want 2", i, got, got[3]>>4&0xf)
			}
		}
	}
}

func TestEveryPacketBringsItsContext(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	var pidx iflib.QIdx
	for range 3 {
		pi := packet(mbuf.CsumIPTCP, v4, 6, e1000test.Segs(0x1000, 100))
		if pi.Pidx = pidx; r.TxdEncap(&pi) != nil {
			t.Fatal("encap failed")
		}
		if n := pi.NewPidx - pidx; n != 2 {
			t.Errorf("%d descriptors, want 2", n)
		}
		pidx = pi.NewPidx
	}
}

func TestModerationCountsWhatIsOnTheWire(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	tso := packet(mbuf.CsumIPTSO, v4, 6, e1000test.Segs(0x1000, 54, 0x2000, 2900))
	tso.TSOSegSz, tso.TCPHLen = 1448, 20
	plain := packet(0, 0, 0, e1000test.Segs(0x1000, 60))
	for _, pi := range []iflib.PktInfo{tso, plain} {
		if err := r.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
	}
	// 2900 bytes in segments of 1448 are three, each with 54 bytes of headers.
	if l := r.txLoad(0, 1); l.Bytes != 2900+3*54+60 || l.Packets != 4 {
		t.Errorf("load %+v, want %d bytes in 4 packets", l, 2900+3*54+60)
	}
}

func TestDoorbells(t *testing.T) {
	r := newRings(t, 6, igbFormat)
	r.TxdFlush(1, 5)
	r.TxdFlush(5, 6)
	r.RxdFlush(1, 0, 7)
	r.RxdFlush(5, 0, 8)
	for off, want := range map[uint64]uint32{0x3918: 5, 0xe158: 6, 0x2918: 7, 0xc158: 8} {
		if got := r.bar.Reg(off); got != want {
			t.Errorf("tail %#x = %d, want %d", off, got, want)
		}
	}
	if n := len(r.bar.Writes()); n != 4 {
		t.Errorf("%d register writes for 4 doorbells", n)
	}
}

func TestPacketsThatCannotBeSentAreRefused(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	notIP := packet(mbuf.CsumIPTSO, 0, 6, e1000test.Segs(0x1000, 100))
	for name, pi := range map[string]*iflib.PktInfo{"without data": {}, "segmentation of what is not IP": &notIP} {
		if err := r.TxdEncap(pi); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", name, err)
		}
	}
}

func TestDataPathDoesNotAllocate(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	var path iflib.TxRx = &r.Path
	pi := packet(mbuf.CsumIPTCP, v4|rs, 6, e1000test.Segs(0x1000, 14, 0x2000, 1000))
	var frags [iflib.MaxRxSegs]iflib.RxdFrag
	ri := iflib.RxdInfo{Frags: &frags}
	iru := iflib.RxdUpdate{PAddrs: []iflib.Addr{0x4000}}
	n := testing.AllocsPerRun(1000, func() {
		if err := path.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
		r.tx[0].Desc[2*((int(pi.NewPidx)+testDescs-1)%testDescs)+1] |= 1 << 32
		path.TxdCreditsUpdate(0, true)
		pi.Pidx = pi.NewPidx
		r.rx[0].Desc[1] = 0x3c_0000_0003
		path.RxdAvailable(0, 0, 16)
		if err := path.RxdPktGet(&ri); err != nil {
			t.Fatal(err)
		}
		path.RxdRefill(&iru)
	})
	if n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
