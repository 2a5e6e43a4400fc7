package em

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
	l4Good = mbuf.CsumDataValid | mbuf.CsumPseudoHdr
	ipGood = mbuf.CsumIPChecked | mbuf.CsumIPValid
)

// received is what a packet's descriptors are to give.
type received = e1000test.Received

// get takes the packet at cidx.
func get(path iflib.TxRx, p *dataPath, cidx iflib.QIdx) (received, []iflib.RxdFrag) {
	return e1000test.Get(path, cidx, func() (bad, dropped uint64) {
		return p.errs.BadWriteback.Load(), p.errs.Dropped.Load()
	})
}

// The bit patterns are typed from spec 1g 3.3 and 4.6.
func TestExtendedReceive(t *testing.T) {
	const opaque = mbuf.HashOpaque
	for _, tc := range []struct {
		name  string
		descs []desc
		want  received
	}{
		{"plain", []desc{{0, 0, 0x03, 60}}, received{NFrags: 1, Len: 60, RSSType: opaque}},
		{"two buffers", []desc{{0, 0, 0x01, 2048}, {0, 0, 0x03, 100}}, received{NFrags: 2, Len: 2148, RSSType: opaque}},
		{"IP and TCP good", []desc{{0, 0, 0x63, 60}},
			received{NFrags: 1, Len: 60, CsumFlags: ipGood | l4Good, CsumData: 0xffff, RSSType: opaque}},
		{"UDP bit alone", []desc{{0, 0, 0x13, 60}},
			received{NFrags: 1, Len: 60, CsumFlags: l4Good, CsumData: 0xffff, RSSType: opaque}},
		{"IP alone", []desc{{0, 0, 0x43, 60}}, received{NFrags: 1, Len: 60, CsumFlags: ipGood, RSSType: opaque}},
		{"TCP bad", []desc{{0, 0, 0x2000_0063, 60}}, received{NFrags: 1, Len: 60, RSSType: opaque}},
		{"IP bad", []desc{{0, 0, 0x4000_0063, 60}}, received{NFrags: 1, Len: 60, RSSType: opaque}},
		{"ignore sums", []desc{{0, 0, 0x67, 60}}, received{NFrags: 1, Len: 60, RSSType: opaque}},
		{"tag", []desc{{0, 0, 0x0b, 0xa064_003c}},
			received{NFrags: 1, Len: 60, VTag: 0xa064, Flags: mbuf.FlagVLANTag, RSSType: opaque}},
		{"priority tag 0", []desc{{0, 0, 0x0b, 60}}, received{NFrags: 1, Len: 60, Flags: mbuf.FlagVLANTag, RSSType: opaque}},
		{"tag field without VP", []desc{{0, 0, 0x03, 0xa064_003c}}, received{NFrags: 1, Len: 60, RSSType: opaque}},
		{"hash of TCP over IPv4", []desc{{0x101, 0x51ccc178, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x51ccc178, RSSType: mbuf.HashRSSTCPIPv4}},
		{"hash of UDP has no name", []desc{{7, 0x1234, 0x03, 60}},
			received{NFrags: 1, Len: 60, FlowID: 0x1234, RSSType: opaque}},
		{"status of the last counts", []desc{{0, 0, 0x69, 0x1111_0800}, {1, 9, 0x03, 0x2222_0001}},
			received{NFrags: 2, Len: 2049, FlowID: 9, RSSType: mbuf.HashRSSTCPIPv4}},
		{"FCS error", []desc{{0, 0, 0x0100_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"symbol error in the first buffer", []desc{{0, 0, 0x0200_0001, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"sequence error", []desc{{0, 0, 0x0400_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"carrier extension error", []desc{{0, 0, 0x1000_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"data error", []desc{{0, 0, 0x8000_0003, 60}}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"longer than the buffer", []desc{{0, 0, 0x03, 2049}}, received{Err: syscall.EBADMSG, BadWB: 1}},
		{"not done", []desc{{0, 0, 0x02, 60}}, received{Err: syscall.EBADMSG, BadWB: 1}},
		{"second not done", []desc{{0, 0, 0x01, 60}, {0, 0, 0, 0}}, received{Err: syscall.EBADMSG, BadWB: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRings(t, 1)
			const at = testDescs - 1 // the ring wraps
			for i, d := range tc.descs {
				d.Put(r.rx[0].Desc, (at+i)%testDescs)
			}
			got, frags := get(&r.dataPath, &r.dataPath, at)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			for i, f := range frags {
				idx := (at + i) % testDescs
				if want := (iflib.RxdFrag{Idx: iflib.QIdx(idx), Len: uint16(tc.descs[i][3])}); f != want {
					t.Errorf("fragment %d = %+v, want %+v", i, f, want)
				}
				if d := e1000test.DescAt(r.rx[0].Desc, idx); d[2]&0xff != 0 {
					t.Errorf("status of descriptor %d is left %#x", idx, d[2])
				}
			}
		})
	}
}

// The bit patterns are typed from spec 1g 3.2 and 4.6.
func TestLegacyReceive(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    desc
		want received
	}{
		{"plain", desc{0, 0, 0x5555_003c, 0x03}, received{NFrags: 1, Len: 60}},
		{"IP and TCP good", desc{0, 0, 60, 0x63}, received{NFrags: 1, Len: 60, CsumFlags: ipGood | l4Good, CsumData: 0xffff}},
		{"TCP bad", desc{0, 0, 60, 0x2063}, received{NFrags: 1, Len: 60}},
		{"IP bad", desc{0, 0, 60, 0x4063}, received{NFrags: 1, Len: 60}},
		{"ignore sums", desc{0, 0, 60, 0x67}, received{NFrags: 1, Len: 60}},
		{"tag", desc{0, 0, 60, 0xa064_000b}, received{NFrags: 1, Len: 60, VTag: 0xa064, Flags: mbuf.FlagVLANTag}},
		{"FCS error", desc{0, 0, 60, 0x0103}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"data error", desc{0, 0, 60, 0x8003}, received{Err: syscall.EBADMSG, Drop: 1}},
		{"longer than the buffer", desc{0, 0, 0x0801, 0x03}, received{Err: syscall.EBADMSG, BadWB: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRings(t, 1)
			tc.d.Put(r.rx[0].Desc, 0)
			got, frags := get(lemTxRx{&r.dataPath}, &r.dataPath, 0)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if d := e1000test.DescAt(r.rx[0].Desc, 0); len(frags) > 0 && d[3]&0xff != 0 {
				t.Errorf("status is left %#x", d[3])
			}
		})
	}
}

func TestReceiveObeysDisabledCapabilities(t *testing.T) {
	r := newRings(t, 1)
	r.rx[0].Csum, r.rx[0].tags = false, false
	desc{0, 0, 0x6b, 0xa064_003c}.Put(r.rx[0].Desc, 0)
	got, _ := get(&r.dataPath, &r.dataPath, 0)
	if diff := cmp.Diff(received{NFrags: 1, Len: 60, RSSType: mbuf.HashOpaque}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A part that never ends a packet makes available report one, so that the receive task
// comes, counts it and has the interface reset.
func TestRingWithoutEndIsFoundAndCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		done desc
		path func(*dataPath) iflib.TxRx
	}{
		"em":  {desc{0, 0, 1, 60}, func(p *dataPath) iflib.TxRx { return p }},
		"lem": {desc{0, 0, 60, 1}, func(p *dataPath) iflib.TxRx { return lemTxRx{p} }},
	} {
		r := newRings(t, 1)
		path := tc.path(&r.dataPath)
		for i := range testDescs {
			tc.done.Put(r.rx[0].Desc, i)
		}
		if n := path.RxdAvailable(0, 3, 16); n != 1 {
			t.Errorf("%s: %d packets available, want 1", name, n)
		}
		got, _ := get(path, &r.dataPath, 3)
		if !errors.Is(got.Err, syscall.EBADMSG) || got.BadWB != 1 {
			t.Errorf("%s: %+v, want EBADMSG and one bad write-back", name, got)
		}
	}
}

func TestRefillWritesAddressAndClearsStatus(t *testing.T) {
	r := newRings(t, 1)
	for i := range r.rx[0].Desc {
		r.rx[0].Desc[i] = ^uint64(0)
	}
	r.RxdRefill(&iflib.RxdUpdate{PAddrs: []iflib.Addr{0x1_0000_1000, 0x2000}, Pidx: testDescs - 1})
	for i, want := range map[int]desc{testDescs - 1: {0x1000, 1, 0, 0}, 0: {0x2000, 0, 0, 0},
		1: {^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}} {
		if got := e1000test.DescAt(r.rx[0].Desc, i); got != want {
			t.Errorf("descriptor %d = %08x, want %08x", i, got, want)
		}
	}
}
