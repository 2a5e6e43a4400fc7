package inet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddressesCountWhatComesToThemAndWhatTheySend(t *testing.T) {
	r, n := known(t)
	r.must(AddAddr(n.Ifnet, prefix("192.0.2.11/24")))
	r.set("net.inet6.ip6.dad_count", "0")
	r.must(AddAddr(n.Ifnet, prefix(own6+"/64")))
	n.take()
	for range 3 {
		n.input(echo4(t, "192.0.2.1", "192.0.2.10", 100))
	}
	n.input(echo4(t, "192.0.2.1", "192.0.2.12", 100))  // somebody else's
	n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...)) // to a group; answered
	n.input(echo6(t, ownMAC, peer6, own6, 52))
	const ping4, ping6, advert = 20 + 8 + 100, 40 + 8 + 52, 40 + 24 + 8
	want := map[string][2]Flow{
		"192.0.2.10":      {{3, 3 * ping4}, {3, 3 * ping4}},
		"192.0.2.11":      {},
		"fe80::ff:fe00:1": {},
		own6:              {{1, ping6}, {2, ping6 + advert}},
	}
	got := make(map[string][2]Flow)
	for _, a := range Addrs(n.Ifnet) {
		got[a.Prefix.Addr().String()] = [2]Flow{a.In, a.Out}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	r.noLeak()
}
