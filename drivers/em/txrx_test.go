package em

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// tcp4, udp6 and others are packets that want an offload.
func packet(flags mbuf.CsumFlags, pkt iflib.PktFlags, s []busdma.Seg) iflib.PktInfo {
	pi := iflib.PktInfo{Segs: s, EHdrLen: 14, IPHLen: 20, TCPHLen: 20, CsumFlags: flags, Flags: pkt}
	if pkt&iflib.PktIPv6 != 0 {
		pi.IPHLen = 40
	}
	for _, x := range s {
		pi.Len += int(x.Len)
	}
	return pi
}

// The bit patterns are typed from spec 1g 3.1 and 4.1.
func TestTransmitDescriptors(t *testing.T) {
	const v4, v6, rs = iflib.PktIPv4, iflib.PktIPv6, iflib.PktTxIntr
	tso := packet(mbuf.CsumIPTSO, v4|rs, e1000test.Segs(0x1000, 54, 0x2000, 4096))
	tso.TSOSegSz = 1448
	tso6 := packet(mbuf.CsumIP6TSO, v6, e1000test.Segs(0x1000, 74, 0x2000, 100, 0x3000, 8))
	tso6.TSOSegSz = 1428
	tagged := packet(0, v4, e1000test.Segs(0x1_2345_6780, 60))
	tagged.MFlags, tagged.VTag = mbuf.FlagVLANTag, 0xa064
	for _, tc := range []struct {
		name string
		pi   iflib.PktInfo
		ide  uint32
		want []desc
	}{
		{"legacy", packet(0, v4, e1000test.Segs(0x1000, 60)), 0, []desc{{0x1000, 0, 0x0300_003c, 0}}},
		{"legacy, report and delay", packet(0, v4|rs, e1000test.Segs(0x1000, 60)), 1 << 31, []desc{{0x1000, 0, 0x8b00_003c, 0}}},
		{"two segments", packet(0, v4|rs, e1000test.Segs(0x1000, 14, 0xf_0000_2000, 1500)), 0,
			[]desc{{0x1000, 0, 0x0200_000e, 0}, {0x2000, 0xf, 0x0b00_05dc, 0}}},
		{"tag", tagged, 0, []desc{{0x2345_6780, 1, 0x4300_003c, 0xa064_0000}}},
		{"TCP over IPv4", packet(mbuf.CsumIPTCP, v4|rs, e1000test.Segs(0x1000, 100)), 1 << 31, []desc{
			{0x0000_180e, 0x0000_3222, 0xa300_0000, 0},
			{0x1000, 0, 0xab10_0064, 0x0000_0200}}},
		{"UDP over IPv4", packet(mbuf.CsumIPUDP, v4, e1000test.Segs(0x1000, 100)), 0, []desc{
			{0x0000_180e, 0x0000_2822, 0x2200_0000, 0},
			{0x1000, 0, 0x2310_0064, 0x0000_0200}}},
		{"TCP over IPv6", packet(mbuf.CsumIP6TCP, v6, e1000test.Segs(0x1000, 100)), 0, []desc{
			{0x0000_180e, 0x0000_4636, 0x2300_0000, 0},
			{0x1000, 0, 0x2310_0064, 0x0000_0200}}},
		{"UDP over IPv6", packet(mbuf.CsumIP6UDP, v6, e1000test.Segs(0x1000, 100)), 0, []desc{
			{0x0000_180e, 0x0000_3c36, 0x2200_0000, 0},
			{0x1000, 0, 0x2310_0064, 0x0000_0200}}},
		{"IP header alone leaves legacy data", packet(mbuf.CsumIP, v4, e1000test.Segs(0x1000, 100)), 0, []desc{
			{0x0021_180e, 0, 0x2200_0000, 0},
			{0x1000, 0, 0x0300_0064, 0x0000_0100}}},
		{"IP header and TCP", packet(mbuf.CsumIP|mbuf.CsumIPTCP, v4, e1000test.Segs(0x1000, 100)), 0, []desc{
			{0x0021_180e, 0x0000_3222, 0x2300_0000, 0},
			{0x1000, 0, 0x2310_0064, 0x0000_0300}}},
		{"TSO over IPv4 with sentinel", tso, 0, []desc{
			{0x0021_180e, 0x0000_3222, 0x2700_1000, 0x05a8_3600},
			{0x1000, 0, 0x2610_0036, 0x0000_0300},
			{0x2000, 0, 0x2610_0ffc, 0x0000_0300},
			{0x2ffc, 0, 0x2f10_0004, 0x0000_0300}}},
		{"TSO over IPv6, last segment too short for a sentinel", tso6, 1 << 31, []desc{
			{0x0000_180e, 0x0000_4636, 0xa500_006c, 0x0594_4a00},
			{0x1000, 0, 0xa610_004a, 0x0000_0200},
			{0x2000, 0, 0xa610_0064, 0x0000_0200},
			{0x3000, 0, 0xa710_0008, 0x0000_0200}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRings(t, 1)
			r.cmd.Store(tc.ide)
			pi := tc.pi
			pi.Pidx = testDescs - 1 // the ring wraps
			if err := r.TxdEncap(&pi); err != nil {
				t.Fatal(err)
			}
			if want := iflib.QIdx(len(tc.want) - 1); pi.NewPidx != want {
				t.Errorf("new pidx %d, want %d", pi.NewPidx, want)
			}
			for i, want := range tc.want {
				got := e1000test.DescAt(r.tx[0].Desc, (testDescs-1+i)%testDescs)
				if got != want {
					t.Errorf("descriptor %d = %08x\nwant          %08x", i, got, want)
				}
			}
			// A report is asked of the last data descriptor only.
			last := (testDescs - 1 + len(tc.want) - 1) % testDescs
			r.tx[0].Desc[2*last+1] |= 1 << 32
			want := 0
			if pi.Flags&rs != 0 {
				want = last + 1 // processed began at the last descriptor
			}
			if got := r.TxdCreditsUpdate(0, true); got != want%testDescs {
				t.Errorf("%d credits, want %d", got, want%testDescs)
			}
		})
	}
}

// encap writes packets one after the other and returns how many descriptors each took.
func encap(t *testing.T, r *rings, q int, pkts ...iflib.PktInfo) (counts []int) {
	t.Helper()
	var pidx iflib.QIdx
	for _, pi := range pkts {
		pi.Pidx, pi.QSIdx = pidx, q
		if err := r.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, int(pi.NewPidx-pidx))
		pidx = pi.NewPidx
	}
	return counts
}

func TestContextIsReusedByOneQueueOnly(t *testing.T) {
	tcp := packet(mbuf.CsumIPTCP, iflib.PktIPv4, e1000test.Segs(0x1000, 100))
	udp := packet(mbuf.CsumIPUDP, iflib.PktIPv4, e1000test.Segs(0x1000, 100))
	plain := packet(0, iflib.PktIPv4, e1000test.Segs(0x1000, 100))
	tso := packet(mbuf.CsumIPTSO, iflib.PktIPv4, e1000test.Segs(0x1000, 54, 0x2000, 2000))
	longer := tcp
	longer.IPHLen = 24
	two := longer
	two.Segs = e1000test.Segs(0x1000, 100, 0x2000, 100)
	pkts := []iflib.PktInfo{tcp, tcp, plain, tcp, udp, tcp, longer, longer, tso, longer, longer, tso, two, longer}
	// After TSO the next packet gets a sentinel too, if it has one segment.
	if diff := cmp.Diff([]int{2, 1, 1, 1, 2, 2, 2, 1, 4, 2, 1, 4, 2, 1}, encap(t, newRings(t, 1), 0, pkts...)); diff != "" {
		t.Errorf("one queue: descriptors a packet (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 2, 1, 2, 2, 2, 2, 2, 4, 3, 2, 4, 3, 2}, encap(t, newRings(t, 2), 1, pkts...)); diff != "" {
		t.Errorf("two queues: descriptors a packet (-want +got):\n%s", diff)
	}
	r := newRings(t, 1)
	encap(t, r, 0, tcp)
	r.tx[0].reset()
	if diff := cmp.Diff([]int{2}, encap(t, r, 0, tcp)); diff != "" {
		t.Errorf("after a reset: %s", diff)
	}
}

func TestReusedContextKeepsTheDataCommand(t *testing.T) {
	r := newRings(t, 1)
	tcp := packet(mbuf.CsumIPTCP, iflib.PktIPv4, e1000test.Segs(0x1000, 100))
	encap(t, r, 0, tcp, tcp)
	if got, want := e1000test.DescAt(r.tx[0].Desc, 2), (desc{0x1000, 0, 0x2310_0064, 0x0000_0200}); got != want {
		t.Errorf("data after a reused context = %08x, want %08x", got, want)
	}
}

func TestDoorbells(t *testing.T) {
	r := newRings(t, 2)
	r.TxdFlush(0, 5)
	r.TxdFlush(1, 6)
	r.RxdFlush(0, 0, 7)
	r.RxdFlush(1, 0, 8)
	for off, want := range map[uint64]uint32{0x3818: 5, 0x3918: 6, 0x2818: 7, 0x2918: 8} {
		if got := r.bar.Reg(off); got != want {
			t.Errorf("tail %#x = %d, want %d", off, got, want)
		}
	}
	if n := len(r.bar.Writes()); n != 4 {
		t.Errorf("%d register writes for 4 doorbells", n)
	}
}

func TestPacketWithoutDataIsRefused(t *testing.T) {
	pi := iflib.PktInfo{}
	if err := newRings(t, 1).TxdEncap(&pi); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v, want EINVAL", err)
	}
}

func TestPeekChangesNothing(t *testing.T) {
	r := newRings(t, 1)
	rs := packet(0, iflib.PktIPv4|iflib.PktTxIntr, e1000test.Segs(0x1000, 60))
	encap(t, r, 0, rs, rs)
	if got := r.TxdCreditsUpdate(0, false); got != 0 {
		t.Errorf("peek before any report: %d", got)
	}
	r.tx[0].Desc[1] |= 1 << 32
	for range 2 {
		if got := r.TxdCreditsUpdate(0, false); got != 1 {
			t.Errorf("peek with a report: %d, want 1", got)
		}
	}
	if got := r.TxdCreditsUpdate(0, true); got != 1 {
		t.Errorf("%d credits, want 1", got)
	}
	if got := r.TxdCreditsUpdate(0, false); got != 0 {
		t.Errorf("peek after the credit: %d, want 0", got)
	}
}

func TestDataPathDoesNotAllocate(t *testing.T) {
	r := newRings(t, 1)
	var path iflib.TxRx = &r.dataPath
	pi := packet(mbuf.CsumIPTCP, iflib.PktIPv4|iflib.PktTxIntr, e1000test.Segs(0x1000, 14, 0x2000, 1000))
	var frags [iflib.MaxRxSegs]iflib.RxdFrag
	ri := iflib.RxdInfo{Frags: &frags}
	iru := iflib.RxdUpdate{PAddrs: []iflib.Addr{0x4000}}
	n := testing.AllocsPerRun(1000, func() {
		if err := path.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
		path.TxdFlush(0, uint32(pi.NewPidx))
		r.tx[0].Desc[2*((int(pi.NewPidx)+testDescs-1)%testDescs)+1] |= 1 << 32
		path.TxdCreditsUpdate(0, true)
		pi.Pidx = pi.NewPidx
		r.rx[0].Desc[1] = 0x3c_0000_0003
		path.RxdAvailable(0, 0, 16)
		if err := path.RxdPktGet(&ri); err != nil {
			t.Fatal(err)
		}
		path.RxdRefill(&iru)
		r.bar.Writes()
	})
	// The board's log is the one allocation.
	if n > 1 {
		t.Errorf("%v allocations a packet", n)
	}
}

func BenchmarkEncap(b *testing.B) {
	r := newRings(b, 1)
	var path iflib.TxRx = &r.dataPath
	one := packet(0, iflib.PktIPv4, e1000test.Segs(0x1000, 60))
	two := packet(0, iflib.PktIPv4, e1000test.Segs(0x1000, 60, 0x2000, 1000))
	for name, pi := range map[string]*iflib.PktInfo{"one": &one, "two": &two} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := path.TxdEncap(pi); err != nil {
					b.Fatal(err)
				}
				pi.Pidx = pi.NewPidx
			}
		})
	}
	b.Run("credits", func(b *testing.B) {
		q := &r.tx[0].RSQ
		q.Reset()
		i := uint32(0)
		for b.Loop() {
			q.Push(i)
			r.tx[0].Desc[2*i+1] = 1 << 32
			path.TxdCreditsUpdate(0, true)
			i = (i + 16) % testDescs
		}
	})
}
