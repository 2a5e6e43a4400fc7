package adv

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	l4Good   = mbuf.CsumDataValid | mbuf.CsumPseudoHdr
	sctpGood = mbuf.CsumDataValid
	ipGood   = mbuf.CsumIPChecked | mbuf.CsumIPValid
)

// received is what a packet's descriptors are to give.
type received = e1000test.Received

// get takes the packet at cidx.
func (r *rings) get(cidx iflib.QIdx) (received, []iflib.RxdFrag) {
	return e1000test.Get(&r.Path, cidx, func() (bad, dropped uint64) {
		return r.errs.BadWriteback.Load(), r.errs.Dropped.Load()
	})
}

// The bit patterns are typed from spec 1g 3.5, 3.6 and 4.6.
func TestReceiveDescriptors(t *testing.T) {
	swap := igbFormat
	swap.SwapLB = true
	for _, tc := range []struct {
		name   string
		format Format
		descs  []desc
		want   received
	}{
		{"plain", igbFormat, []desc{{0, 0, 0x03, 60}}, received{NFrags: 1, Len: 60}},
		{"two buffers", igbFormat, []desc{{0, 0, 0x01, 2048}, {0, 0, 0x03, 100}}, received{NFrags: 2, Len: 2148}},
		{"IP and TCP good", igbFormat, []desc{{0x0110, 0, 0x63, 60}},
			received{NFrags: 1, Len: 60, CsumFlags: ipGood | l4Good, CsumData: 0xffff}},
		{"UDP bit alone", igbFormat, []desc{{0x0210, 0, 0x13, 60}},
			received{NFrags: 1, Len: 60, CsumFlags: l4Good, CsumData: 0xffff}},
		{"IP alone", igbFormat, []desc{{0x10, 0, 0x43, 60}}, received{NFrags: 1, Len: 60, CsumFlags: ipGood}},
		{"SCTP", igbFormat, []desc{{0x0410, 0, 0x63, 60}}, received{NFrags: 1, Len: 60, CsumFlags: ipGood | sctpGood}},
		{"the bit of SCTP in a filter's number", igbFormat, []desc{{0x8400, 0, 0x23, 60}},
			received{NFrags: 1, Len: 60, CsumFlags: l4Good, CsumData: 0xffff}},
		{"TCP bad", igbFormat, []desc{{0x0110, 0, 0x2000_0063, 60}}, received{NFrags: 1, Len: 60}},
		{"IP bad", igbFormat, []desc{{0x0110, 0, 0x4000_0063, 60}}, received{NFrags: 1, Len: 60}},
		{"ignore sums", igbFormat, []desc{{0x0110, 0, 0x67, 60}}, received{NFrags: 1, Len: 60}},
		{"tag", igbFormat, []desc{{0, 0, 0x0b, 0xa064_003c}}, received{NFrags: 1, Len: 60, VTag: 0xa064, Flags: mbuf.FlagVLANTag}},
		{"tag from a virtual function", swap, []desc{{0, 0, 0x4_000b, 0x64a0_003c}},
			received{NFrags: 1, Len: 60, VTag: 0xa064, Flags: mbuf.FlagVLANTag}},
		{"tag from the wire of such a part", swap, []desc{{0, 0, 0x0b, 0xa064_003c}},
			received{NFrags: 1, Len: 60, VTag: 0xa064, Flags: mbuf.FlagVLANTag}},
		{"hash of TCP over IPv4", igbFormat, []desc{{0x111, 0x51ccc178, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x51ccc178, RSSType: mbuf.HashRSSTCPIPv4}},
		{"hash of UDP over IPv4", igbFormat, []desc{{0x217, 0x1234, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: mbuf.HashRSSUDPIPv4}},
		{"hash of UDP over IPv6", igbFormat, []desc{{0x248, 0x1234, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: mbuf.HashRSSUDPIPv6}},
		{"hash of UDP over IPv6 with extensions", igbFormat, []desc{{0x2c9, 0x1234, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: mbuf.HashRSSUDPIPv6Ex}},
		{"hash of UDP for igc", igcFormat, []desc{{0x217, 0x1234, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: mbuf.HashOpaque}},
		{"status of the last counts", igbFormat, []desc{{0, 0, 0x69, 0x1111_0800}, {1, 9, 0x03, 0x2222_0001}},
			received{NFrags: 2, Len: 2049, FlowID: 9, RSSType: mbuf.HashRSSTCPIPv4}},
		{"FCS error", igbFormat, []desc{{0, 0, 0x0100_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"FCS error for igc", igcFormat, []desc{{0, 0, 0x0100_0003, 60}}, received{NFrags: 1, Len: 60, RSSType: mbuf.HashOpaque}},
		{"data error for igc", igcFormat, []desc{{0, 0, 0x8000_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"error in the first of two counts for nobody", igbFormat, []desc{{0, 0, 0x0200_0001, 60}, {0, 0, 0x03, 1}},
			received{NFrags: 2, Len: 61}},
		{"longer than the buffer", igbFormat, []desc{{0, 0, 0x03, 2049}}, received{Err: syscall.EBADMSG, BadWB: 1}},
		{"not done", igbFormat, []desc{{0, 0, 0x02, 60}}, received{Err: syscall.EBADMSG, BadWB: 1}},
		{"second not done", igbFormat, []desc{{0, 0, 0x01, 60}, {0, 0, 0, 0}}, received{Err: syscall.EBADMSG, BadWB: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRings(t, 1, tc.format)
			const at = testDescs - 1 // the ring wraps
			for i, d := range tc.descs {
				d.Put(r.rx[0].Desc, (at+i)%testDescs)
			}
			got, frags := r.get(at)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			for i, f := range frags {
				idx := (at + i) % testDescs
				if want := (iflib.RxdFrag{Idx: iflib.QIdx(idx), Len: uint16(tc.descs[i][3])}); f != want {
					t.Errorf("fragment %d = %+v, want %+v", i, f, want)
				}
				if d := e1000test.DescAt(r.rx[0].Desc, idx); d[2] != 0 {
					t.Errorf("status of descriptor %d is left %#x", idx, d[2])
				}
			}
		})
	}
}

func TestUDPWithoutItsHashTypeIsWhatItWas(t *testing.T) {
	legacy := igbFormat
	legacy.UDPHash = false
	for rss := range uint32(3) {
		r := newRings(t, 1, legacy)
		desc{0x210 | (7 + rss), 0x1234, 0x03, 60}.Put(r.rx[0].Desc, 0)
		got, _ := r.get(0)
		if diff := cmp.Diff(received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: mbuf.HashNone}, got); diff != "" {
			t.Errorf("RSS type %d (-want +got):\n%s", 7+rss, diff)
		}
	}
}

func TestChecksumsAreNotToldWithoutTheCapability(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	r.rx[0].Csum = false
	desc{0x0410, 0, 0x63, 60}.Put(r.rx[0].Desc, 0)
	got, _ := r.get(0)
	if diff := cmp.Diff(received{NFrags: 1, Len: 60}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A part that never ends a packet makes available report one, so that the receive task
// comes, counts it and has the interface reset.
func TestRingWithoutEndIsFoundAndCounted(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	for i := range testDescs {
		desc{0, 0, 1, 60}.Put(r.rx[0].Desc, i)
	}
	if n := r.RxdAvailable(0, 3, 16); n != 1 {
		t.Errorf("%d packets available, want 1", n)
	}
	if got, _ := r.get(3); !errors.Is(got.Err, syscall.EBADMSG) || got.BadWB != 1 {
		t.Errorf("%+v, want EBADMSG and one bad write-back", got)
	}
}

func TestRefillWritesAddressAndNothingDone(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	for i := range r.rx[0].Desc {
		r.rx[0].Desc[i] = ^uint64(0)
	}
	r.RxdRefill(&iflib.RxdUpdate{PAddrs: []iflib.Addr{0x1_0000_1000, 0x2000}, Pidx: testDescs - 1})
	const untouched = ^uint32(0)
	for i, want := range map[int]desc{testDescs - 1: {0x1000, 1, 0, 0}, 0: {0x2000, 0, 0, 0},
		1: {untouched, untouched, untouched, untouched}} {
		if got := e1000test.DescAt(r.rx[0].Desc, i); got != want {
			t.Errorf("descriptor %d = %08x, want %08x", i, got, want)
		}
	}
}

func TestPeeksRunBesideTheOwner(t *testing.T) {
	r := newRings(t, 1, igbFormat)
	e1000test.PeeksRunBesideTheOwner(t, &r.Path, r.tx[0].Desc, r.rx[0].Desc, func() {
		r.txLoad(0, 1)
		r.rxLoad(0)
	})
}
