package inet

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
)

func TestPublishedNeighbourIsAnsweredFor(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC, Publish: true}))
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.9"))
	a := layer[*layers.ARP](t, n.one())
	if a.Operation != 2 || !bytes.Equal(a.SourceHwAddress, gwMAC[:]) || !bytes.Equal(a.SourceProtAddress, []byte{192, 0, 2, 9}) {
		t.Errorf("reply %+v", a)
	}
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC}))
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.9"))
	n.none()
	r.noLeak()
}

func TestTemporaryNeighbourExpires(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC, Temp: true}))
	want := Neighbour{Addr: ip("192.0.2.9"), MAC: gwMAC, If: "em0", IfType: ifnet.TypeEther, State: NeighbourReachable, Complete: true, Expires: 20 * time.Minute}
	if got := ARPTable(r.k)[0]; got != want {
		t.Errorf("%+v", got)
	}
	r.advance(19 * 60)
	if got := ARPTable(r.k)[0].Expires; got != time.Minute {
		t.Errorf("expires in %v", got)
	}
	r.advance(60)
	if got := ARPTable(r.k); len(got) != 1 || !got[0].Own {
		t.Errorf("left %+v", got)
	}
	n.none()
}

// TestNeighbourOfIPv6SaysHowItIs follows an entry from the first question to its end.
func TestNeighbourOfIPv6SaysHowItIs(t *testing.T) {
	r, n := six(t)
	entry := func() Neighbour {
		for _, e := range NDTable(r.k) {
			if !e.Own {
				return e
			}
		}
		return Neighbour{}
	}
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	if e := entry(); e.State != NeighbourIncomplete || e.Complete || e.Probes != 1 || e.Expires != time.Second {
		t.Errorf("asked: %+v", e)
	}
	n.take()
	n.input(nd(t, icmp6NA, ownMAC, peer6, own6, ndHopLimit, naRouter|naSolicited|naOverride, peer6, lladdr(ndOptTarget, peerMAC)...))
	if e := entry(); e.State != NeighbourReachable || !e.Router || e.MAC != peerMAC || e.Probes != 0 || e.Expires != 30*time.Second {
		t.Errorf("answered: %+v", e)
	}
	r.advance(31)
	if e := entry(); e.State != NeighbourStale || e.Expires != 24*time.Hour-time.Second {
		t.Errorf("later: %+v", e)
	}
	r.must(DelNeighbour(r.k, ip(peer6)))
	if e := entry(); e != (Neighbour{}) {
		t.Errorf("deleted: %+v", e)
	}
	n.take()
	r.noLeak()
}
