package inet

import (
	"bytes"
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	inside6  = "2001:db8:1::7"
	outside6 = "2001:db8:2::1"
)

// router6 is a machine between two networks whose neighbours are known.
func router6(t testing.TB) (r *rig, in, out *nic) {
	r = newRig(t)
	in, out = r.nic(0, ownMAC, "2001:db8:1::1/64"), r.nic(1, own2MAC, "2001:db8:2::10/64")
	r.advance(1)
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip(inside6), MAC: peerMAC}))
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip(outside6), MAC: gwMAC}))
	r.set("net.inet6.ip6.forwarding", "1")
	in.frames, out.frames = nil, nil
	return r, in, out
}

func udp6(t testing.TB, src, dst string, hlim uint8, n int) []byte {
	h := ipv6(src, dst, layers.IPProtocolUDP)
	h.HopLimit = hlim
	u := &layers.UDP{SrcPort: 1000, DstPort: 2000}
	_ = u.SetNetworkLayerForChecksum(h)
	return build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv6), h, u, pattern(n))
}

func TestStaticNDP(t *testing.T) {
	r, n := six(t)
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip(peer6), MAC: gwMAC}))
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip(peerLL + "%em0"), MAC: badMAC}))
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip(peerLL), MAC: gwMAC}), syscall.ENETUNREACH)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("2001:db8:9::1"), MAC: gwMAC}), syscall.ENETUNREACH)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip(own6), MAC: gwMAC}), syscall.EEXIST)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip(peer6), MAC: ifnet.EtherBroadcast}), syscall.EINVAL)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.1"), MAC: gwMAC}), syscall.ENETUNREACH)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("ff02::1"), MAC: gwMAC}), syscall.EINVAL)
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	n.input(echo6(t, ownMAC, peerLL, ownLL, 8))
	for i, mac := range []macAddr{gwMAC, badMAC} {
		if len(n.frames) != 2 || !bytes.HasPrefix(n.frames[i], mac[:]) {
			t.Fatalf("sent %x", n.frames)
		}
	}
	r.advance(100_000)
	if got := NDTable(r.k); len(got) != 4 {
		t.Errorf("table %v", got)
	}
}

func TestForward6TakesAHopAndNothingElse(t *testing.T) {
	r, in, out := router6(t)
	f := udp6(t, inside6, outside6, 2, 1400)
	in.input(f, 20, 40)
	if len(out.frames) != 1 {
		t.Fatalf("sent %d frames", len(out.frames))
	}
	want := bytes.Clone(f)
	copy(want, gwMAC[:])
	copy(want[6:], own2MAC[:])
	want[14+ip6HlimOff] = 1
	if got := out.frames[0]; !bytes.Equal(got, want) {
		t.Errorf("sent\n%x\nwant\n%x", got, want)
	}
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("2001:db8:8000::/49"), Gateway: ip(outside6)}))
	in.input(udp6(t, inside6, "2001:db8:8000::9", 64, 8))
	if len(out.frames) != 2 || !bytes.HasPrefix(out.frames[1], gwMAC[:]) {
		t.Error("nothing went to the gateway")
	}
	r.stat("net.inet6.ip6.stats.forward", "2")
	in.none()
	r.noLeak()
}

func TestForward6TellsSenders(t *testing.T) {
	for _, tc := range []struct {
		what       string
		frame      func(t testing.TB) []byte
		typ, code  uint8
		word       uint32
		stat, want string
	}{
		{"hop limit", func(t testing.TB) []byte { return udp6(t, inside6, outside6, 1, 8) }, 3, 0, 0, "net.inet6.icmp6.stats.error", "1"},
		{"no route", func(t testing.TB) []byte { return udp6(t, inside6, "2001:db8:3::1", 64, 8) }, 1, 0, 0, "net.inet6.ip6.stats.noroute", "1"},
		{"scope", func(t testing.TB) []byte { return udp6(t, peerLL, outside6, 64, 8) }, 1, 2, 0, "net.inet6.ip6.stats.badscope", "1"},
		{"too big", func(t testing.TB) []byte { return udp6(t, inside6, outside6, 64, 1400) }, 2, 0, 1300, "net.inet6.ip6.stats.forward", "0"},
	} {
		r, in, out := router6(t)
		r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip(peerLL + "%em0"), MAC: peerMAC}))
		out.SetMTU(1300)
		in.input(tc.frame(t))
		p := in.one()
		c := layer[*layers.ICMPv6](t, p)
		if got := uint16(c.TypeCode); got != uint16(tc.typ)<<8|uint16(tc.code) || binary.BigEndian.Uint32(c.Payload) != tc.word {
			t.Errorf("%s: %v, word %x", tc.what, c.TypeCode, c.Payload[:4])
		}
		out.none()
		r.stat(tc.stat, tc.want)
		r.noLeak()
	}
}

func TestForward6RefusesWhatMayNotPass(t *testing.T) {
	r, in, out := router6(t)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("::/0"), Gateway: ip(outside6)}))
	in.input(udp6(t, inside6, "fe80::1234", 64, 8))
	in.input(udp6(t, "::", outside6, 64, 8))
	f := udp6(t, inside6, outside6, 64, 8)
	all := group("ff02::1")
	copy(f, all[:])
	in.input(f)
	r.stat("net.inet6.ip6.stats.cantforward", "3")
	r.set("net.inet6.ip6.forwarding", "0")
	in.input(udp6(t, inside6, outside6, 64, 8))
	r.stat("net.inet6.ip6.stats.cantforward", "4")
	in.none()
	out.none()
	r.noLeak()
}

// filter6 sends packets elsewhere, or drops them.
type filter6 struct {
	to   string
	drop bool
}

func (f *filter6) Hook(c *mbuf.Cache, _ *ifnet.Ifnet, dir ifnet.PfilDir, _ ifnet.AF, m **mbuf.Mbuf) ifnet.PfilResult {
	if dir != ifnet.PfilOut {
		return ifnet.PfilPass
	}
	if f.drop {
		c.FreeChain(*m)
		return ifnet.PfilDropped
	}
	if f.to != "" {
		a := ip(f.to).As16()
		copy((*m).Bytes()[ip6DstOff:], a[:])
	}
	return ifnet.PfilPass
}

func TestForward6ShowsFiltersWhatLeaves(t *testing.T) {
	r, in, out := router6(t)
	f := &filter6{}
	ifnet.InetPfil(r.k, ifnet.AFInet6).Add(f)
	for _, tc := range []struct {
		filter   filter6
		back, on int
	}{{filter6{}, 0, 1}, {filter6{to: inside6}, 1, 0}, {filter6{to: "2001:db8:3::1"}, 0, 0}, {filter6{drop: true}, 0, 0}} {
		*f = tc.filter
		in.input(udp6(t, inside6, outside6, 64, 8))
		if len(in.frames) != tc.back || len(out.frames) != tc.on {
			t.Errorf("%+v: %d frames went back, %d on", tc.filter, len(in.frames), len(out.frames))
		}
		if tc.back == 1 && !bytes.HasPrefix(in.frames[0], peerMAC[:]) {
			t.Errorf("%+v: went to %x", tc.filter, in.frames[0][:6])
		}
		in.frames, out.frames = nil, nil
	}
	r.stat("net.inet6.ip6.stats.noroute", "1")
	f.drop, f.to = false, "2001:db8:1::1"
	before, err := r.k.Sysctl.Text("net.inet6.ip6.stats.noproto")
	r.must(err)
	in.input(udp6(t, inside6, outside6, 64, 8))
	after, err := r.k.Sysctl.Text("net.inet6.ip6.stats.noproto")
	r.must(err)
	if before != "0" || after != "1" {
		t.Errorf("noproto was %s and is %s: the packet was not delivered here", before, after)
	}
	r.noLeak()
}

func TestForward6AllocatesNothing(t *testing.T) {
	r, in, out := router6(t)
	out.quiet = true
	f := udp6(t, inside6, outside6, 64, 18)
	if got := testing.AllocsPerRun(1000, func() { in.InputCache(r.c, r.packet(in, f)) }); got > 0 {
		t.Errorf("%v allocations a packet", got)
	}
}
