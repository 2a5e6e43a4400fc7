package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// framesForOthersAreDropped is case 48.
func framesForOthersAreDropped(t *testing.T, w *wire) {
	_, src := w.macs()
	foreign := shapes.Raw([6]byte{2, 0, 0, 0, 0, 0x99}, src, shapes.Random(1, 100), -1, false)
	ipkts := func() uint64 { return w.ifp[1].GetCounter(ifnet.CounterIPackets) }
	send := func(p *shapes.Packet) {
		w.must(w.ifp[0].Transmit(w.mbuf(p, nil)))
		w.settle()
	}
	before := ipkts()
	send(foreign)
	if got := w.take(1); len(got) != 0 || ipkts() != before {
		t.Errorf("%d frames, Ipkts %d, was %d", len(got), ipkts(), before)
	}
	w.must(w.ifp[1].Promisc(true))
	w.settle()
	send(foreign)
	w.check(foreign)
	if ipkts() != before+1 {
		t.Errorf("promiscuous: Ipkts %d, was %d", ipkts(), before)
	}
	w.must(w.ifp[1].Promisc(false))
	w.settle()
	send(foreign)
	if got := w.take(1); len(got) != 0 || ipkts() != before+1 {
		t.Errorf("promiscuous no more: %d frames, Ipkts %d, was %d", len(got), ipkts(), before)
	}
	w.filtered += 2
	everybody := shapes.Raw(ifnet.EtherBroadcast, src, shapes.Random(1, 100), -1, false)
	send(everybody)
	w.check(everybody)
}

// verdictsOnChecksums sends right and wrong checksums: only right ones are vouched
// for.
func verdictsOnChecksums(t *testing.T, w *wire) {
	for _, s := range []shapes.Spec{{}, {UDP: true}, {V6: true}, {V6: true, UDP: true}} {
		s.TCI, s.Payload, s.Flags = -1, shapes.Random(3, 200), shapes.TCPAck
		if s.V6 && w.ifp[1].Capenable()&ifnet.CapRxCsumIPv6 == 0 {
			continue
		}
		l3, _ := s.Headers()
		for _, bad := range []int{0, shapes.EtherHdr + shapes.IPCsumAt, shapes.EtherHdr + l3 + shapes.TCPCsumAt, len(s.Payload)} {
			if s.V6 && bad == shapes.EtherHdr+shapes.IPCsumAt {
				continue
			}
			p := w.packet(s)
			if bad != 0 {
				p.Data[bad] ^= 0x10
			}
			w.must(w.ifp[0].Transmit(w.mbuf(p, nil)))
			w.settle()
			got := w.take(1)
			if len(got) != 1 {
				t.Fatalf("%+v with byte %d wrong: %d frames", s, bad, len(got))
			}
			l4good := got[0].csum&mbuf.CsumL4Valid != 0
			if want := bad == 0; l4good != want && (want || bad != shapes.EtherHdr+shapes.IPCsumAt) {
				t.Errorf("v6 %v udp %v, byte %d wrong: flags %#x", s.V6, s.UDP, bad, got[0].csum)
			}
			if l3good := got[0].csum&mbuf.CsumL3Valid != 0; bad == shapes.EtherHdr+shapes.IPCsumAt && l3good || bad == 0 && !s.V6 && !l3good {
				t.Errorf("udp %v, byte %d wrong: flags %#x", s.UDP, bad, got[0].csum)
			}
		}
	}
}
