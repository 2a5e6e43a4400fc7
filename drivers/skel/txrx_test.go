package skel

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const testSize = skelreg.MinRing

// bank is registers that remember what was written to them.
type bank map[uint64]uint32

func (b bank) Read32(off uint64) uint32     { return b[off] }
func (b bank) Write32(off uint64, v uint32) { b[off] = v }

// newRings is one pair of rings on plain memory, without a part that looks at them.
func newRings() (*softc, bank) {
	b := bank{}
	plain := func() ring { return ring{words: make([]uint64, testSize*skelreg.DescWords), size: testSize} }
	sc := &softc{regs: pci.Regs32{Registers32: b}, txqs: make([]txq, 1), rxqs: make([]rxq, 1)}
	sc.txqs[0].ring, sc.rxqs[0].ring = plain(), plain()
	sc.rxqs[0].slots, sc.rxqs[0].bufSize = make([]iflib.QIdx, testSize), mbuf.MClBytes
	return sc, b
}

func segs(addrLen ...uint64) (s []busdma.Seg) {
	for i := 0; i < len(addrLen); i += 2 {
		s = append(s, busdma.Seg{Addr: iflib.Addr(addrLen[i]), Len: addrLen[i+1]})
	}
	return s
}

// The descriptors are typed from the datasheet, bit by bit, and not with the names that
// the driver uses.
func TestTransmitDescriptors(t *testing.T) {
	tests := []struct {
		name string
		pi   iflib.PktInfo
		want []uint64 // from the last index of the ring on, around its end
	}{
		{"plain", iflib.PktInfo{Segs: segs(0x1000, 60)}, []uint64{0x1000, 0x8000_0001_0000_003c}},
		{"notify", iflib.PktInfo{Segs: segs(0x1000, 60), Flags: iflib.PktTxIntr}, []uint64{0x1000, 0x8000_0003_0000_003c}},
		{"three pieces", iflib.PktInfo{Segs: segs(0x1000, 14, 0xf_0000_2000, 1500, 0x3000, 1), Flags: iflib.PktTxIntr},
			[]uint64{0x1000, 0x8000_0000_0000_000e, 0xf_0000_2000, 0x8000_0000_0000_05dc, 0x3000, 0x8000_0003_0000_0001}},
		{"tag", iflib.PktInfo{Segs: segs(0x1000, 60), MFlags: mbuf.FlagVLANTag, VTag: 0xa064},
			[]uint64{0x1000, 0x8000_0005_a064_003c}},
		{"IP", iflib.PktInfo{Segs: segs(0x1000, 60), CsumFlags: mbuf.CsumIP}, []uint64{0x1000, 0x8000_0009_0000_003c}},
		{"TCP", iflib.PktInfo{Segs: segs(0x1000, 60), CsumFlags: mbuf.CsumIPTCP}, []uint64{0x1000, 0x8000_0011_0000_003c}},
		{"UDP", iflib.PktInfo{Segs: segs(0x1000, 60), CsumFlags: mbuf.CsumIPUDP}, []uint64{0x1000, 0x8000_0011_0000_003c}},
		{"TCP over IPv6", iflib.PktInfo{Segs: segs(0x1000, 60), CsumFlags: mbuf.CsumIP6TCP}, []uint64{0x1000, 0x8000_0011_0000_003c}},
		{"UDP over IPv6", iflib.PktInfo{Segs: segs(0x1000, 60), CsumFlags: mbuf.CsumIP6UDP}, []uint64{0x1000, 0x8000_0011_0000_003c}},
		{"all in the first", iflib.PktInfo{Segs: segs(0x1000, 60, 0x2000, 5), MFlags: mbuf.FlagVLANTag, VTag: 1,
			CsumFlags: mbuf.CsumIP | mbuf.CsumIPTCP}, []uint64{0x1000, 0x8000_001c_0001_003c, 0x2000, 0x8000_0001_0000_0005}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			sc, _ := newRings()
			tc.pi.Pidx = testSize - 1
			if err := sc.TxdEncap(&tc.pi); err != nil {
				t.Fatal(err)
			}
			if want := iflib.QIdx(len(tc.want)/2 - 1); tc.pi.NewPidx != want {
				t.Errorf("NewPidx is %d, want %d", tc.pi.NewPidx, want)
			}
			words := sc.txqs[0].words
			got := append(slices.Clone(words[len(words)-2:]), words[:len(tc.want)-2]...)
			if !slices.Equal(got, tc.want) {
				t.Errorf("descriptors %#x, want %#x", got, tc.want)
			}
		})
	}
}

func TestPacketsThatCannotBeDescribed(t *testing.T) {
	sc, _ := newRings()
	if err := sc.TxdEncap(&iflib.PktInfo{Segs: make([]busdma.Seg, skelreg.MaxChain+1)}); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("one segment too many: %v, want EFBIG", err)
	}
	if err := sc.TxdEncap(&iflib.PktInfo{}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no segments: %v, want EINVAL", err)
	}
}

func TestCreditsAreWhatCameBack(t *testing.T) {
	sc, regs := newRings()
	for _, at := range []iflib.QIdx{0, 2} {
		if err := sc.TxdEncap(&iflib.PktInfo{Segs: segs(0x1000, 60, 0x2000, 60), Pidx: at}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, clear bool, want int) {
		t.Helper()
		if got := sc.TxdCreditsUpdate(0, clear); got != want {
			t.Errorf("%s: credits %d, want %d", when, got, want)
		}
	}
	w := sc.txqs[0].words
	sc.TxdFlush(0, 4)
	if regs[0x010c] != 1 {
		t.Error("the bell was not rung")
	}
	check("nothing is back", true, 0)
	w[3] = 0
	check("the second without the first", true, 0)
	w[1] = 0
	check("a peek", false, 1)
	check("another peek", false, 1)
	check("one packet", true, 2)
	check("the same packet", true, 0)
	w[5], w[7] = 0, 0
	check("the other", true, 2)
	check("behind the last", true, 0)
}

// back writes receive descriptor i as the part would.
func (sc *softc) back(i int, word0, state uint64) {
	w := sc.rxqs[0].words[i*skelreg.DescWords:]
	w[0], w[1] = word0, state
}

// refill gives the part four buffers, with names that are not in order.
func refill(sc *softc) {
	sc.RxdRefill(&iflib.RxdUpdate{PAddrs: []iflib.Addr{0x1000, 0x2000, 0x3000, 0x4000}, Idxs: []iflib.QIdx{9, 3, 7, 5}})
	sc.RxdFlush(0, 0, 4)
}

func TestRefill(t *testing.T) {
	sc, regs := newRings()
	refill(sc)
	want := []uint64{0x1000, 1 << 63, 0x2000, 1 << 63, 0x3000, 1 << 63, 0x4000, 1 << 63, 0, 0}
	if got := sc.rxqs[0].words[:10]; !slices.Equal(got, want) {
		t.Errorf("ring %#x, want %#x", got, want)
	}
	if regs[0x0120] != 1 {
		t.Error("the bell was not rung")
	}
}

func TestReceivedPackets(t *testing.T) {
	sc, _ := newRings()
	refill(sc)
	available := func(cidx iflib.QIdx, budget, want int) {
		t.Helper()
		if got := sc.RxdAvailable(0, cidx, budget); got != want {
			t.Errorf("%d packets from %d on, want %d", got, cidx, want)
		}
	}
	available(0, 16, 0)
	sc.back(0, 0, 2048)
	available(0, 16, 0) // its end is not there yet
	sc.back(1, 0xdead_beef, 0x3d_e123_0010)
	sc.back(2, 0, 0x1_0000_003c)
	available(0, 16, 2)
	available(0, 1, 1)
	available(2, 16, 1)
	available(4, 16, 0)

	var frags [iflib.MaxRxSegs]iflib.RxdFrag
	ri := iflib.RxdInfo{Frags: &frags}
	if err := sc.RxdPktGet(&ri); err != nil {
		t.Fatal(err)
	}
	want := iflib.RxdInfo{Frags: &frags, NFrags: 2, Len: 2064, VTag: 0xe123, FlowID: 0xdead_beef, Flags: mbuf.FlagVLANTag,
		CsumFlags: mbuf.CsumL3Calc | mbuf.CsumL3Valid | mbuf.CsumL4Calc | mbuf.CsumL4Valid, CsumData: 0xffff, RSSType: mbuf.HashOpaqueHash}
	if ri != want {
		t.Errorf("packet is %+v\nwant %+v", ri, want)
	}
	if frags[0] != (iflib.RxdFrag{Idx: 9, Len: 2048}) || frags[1] != (iflib.RxdFrag{Idx: 3, Len: 16}) {
		t.Errorf("fragments %+v", frags[:2])
	}
	ri = iflib.RxdInfo{Frags: &frags, Cidx: 2}
	if err := sc.RxdPktGet(&ri); err != nil || ri.NFrags != 1 || ri.Len != 60 || ri.CsumFlags != 0 || frags[0].Idx != 7 {
		t.Errorf("second packet is %+v, %v", ri, err)
	}
}

// FuzzWriteback has the part write anything: whatever it is, it is a packet inside its
// buffers or an error.
func FuzzWriteback(f *testing.F) {
	f.Add(uint64(2048), uint64(0x1_0000_0010), uint64(0), uint64(0))
	f.Add(uint64(2049), uint64(1<<32), uint64(1<<32|1), uint64(1<<63))
	f.Add(^uint64(1<<63), ^uint64(1<<63), ^uint64(1<<63), ^uint64(1<<63))
	f.Fuzz(func(t *testing.T, s0, s1, s2, s3 uint64) {
		sc, _ := newRings()
		refill(sc)
		for i, s := range []uint64{s0, s1, s2, s3} {
			sc.back(i, s, s)
		}
		var frags [iflib.MaxRxSegs]iflib.RxdFrag
		for cidx, n := 0, sc.RxdAvailable(0, 0, 16); n > 0; n-- {
			ri := iflib.RxdInfo{Frags: &frags, Cidx: iflib.QIdx(cidx)}
			if err := sc.RxdPktGet(&ri); err != nil {
				return
			}
			cidx += ri.NFrags
			sum := 0
			for _, fr := range frags[:ri.NFrags] {
				if fr.Len == 0 || fr.Len > mbuf.MClBytes {
					t.Fatalf("a fragment of %d bytes in a buffer of %d", fr.Len, mbuf.MClBytes)
				}
				sum += int(fr.Len)
			}
			if cidx > 4 || sum != ri.Len {
				t.Fatalf("packet ends at %d of 4 and has %d bytes of %d", cidx, ri.Len, sum)
			}
		}
	})
}
