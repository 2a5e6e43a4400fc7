package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// framesForOthersAreDropped is case 48.
func framesForOthersAreDropped(t *testing.T, w *wire) {
	_, src := w.macs()
	foreign := rawPacket([6]byte{2, 0, 0, 0, 0, 0x99}, src, random(1, 100), -1, false)
	ipkts := func() uint64 { return w.ifp[1].GetCounter(ifnet.CounterIPackets) }
	send := func(p *packet) {
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
	everybody := rawPacket(ifnet.EtherBroadcast, src, random(1, 100), -1, false)
	send(everybody)
	w.check(everybody)
}

// verdictsOnChecksums sends right and wrong checksums: only right ones are vouched
// for.
func verdictsOnChecksums(t *testing.T, w *wire) {
	for _, s := range []spec{{}, {udp: true}, {v6: true}, {v6: true, udp: true}} {
		s.tci, s.payload, s.flags = -1, random(3, 200), tcpAck
		if s.v6 && w.ifp[1].Capenable()&ifnet.CapRxCsumIPv6 == 0 {
			continue
		}
		l3, _ := s.headers()
		for _, bad := range []int{0, etherHdr + ipCsumAt, etherHdr + l3 + tcpCsumAt, len(s.payload)} {
			if s.v6 && bad == etherHdr+ipCsumAt {
				continue
			}
			p := w.packet(s)
			if bad != 0 {
				p.data[bad] ^= 0x10
			}
			w.must(w.ifp[0].Transmit(w.mbuf(p, nil)))
			w.settle()
			got := w.take(1)
			if len(got) != 1 {
				t.Fatalf("%+v with byte %d wrong: %d frames", s, bad, len(got))
			}
			l4good := got[0].csum&mbuf.CsumL4Valid != 0
			if want := bad == 0; l4good != want && (want || bad != etherHdr+ipCsumAt) {
				t.Errorf("v6 %v udp %v, byte %d wrong: flags %#x", s.v6, s.udp, bad, got[0].csum)
			}
			if l3good := got[0].csum&mbuf.CsumL3Valid != 0; bad == etherHdr+ipCsumAt && l3good || bad == 0 && !s.v6 && !l3good {
				t.Errorf("udp %v, byte %d wrong: flags %#x", s.udp, bad, got[0].csum)
			}
		}
	}
}
