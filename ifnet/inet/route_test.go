package inet

import (
	"bytes"
	"net/netip"
	"syscall"
	"testing"

	"github.com/google/gopacket/layers"
)

// forwarded is where a packet for dst that comes in at in leaves out.
func forwarded(t testing.TB, in, out *nic, dst string, want macAddr) {
	t.Helper()
	in.input(udp4(t, ipv4("198.51.100.7", dst, layers.IPProtocolUDP), 8))
	if e := layer[*layers.Ethernet](t, out.one()); !bytes.Equal(e.DstMAC, want[:]) {
		t.Errorf("%s went to %v", dst, e.DstMAC)
	}
}

// unreachable wants the sender of a packet for dst to be told that it goes nowhere.
func unreachable(t testing.TB, in, out *nic, dst string) {
	t.Helper()
	in.input(udp4(t, ipv4("198.51.100.7", dst, layers.IPProtocolUDP), 8))
	out.none()
	if icmp := layer[*layers.ICMPv4](t, in.one()); icmp.TypeCode != layers.CreateICMPv4TypeCode(icmpUnreach, icmpUnreachHost) {
		t.Errorf("told %v", icmp.TypeCode)
	}
}

func TestChangedRouteLeadsElsewhere(t *testing.T) {
	r, in, out := router(t)
	req := RouteReq{Prefix: prefix("203.0.113.0/24"), Gateway: ip("192.0.2.1")}
	wantErr(t, ChangeRoute(r.k, req), syscall.ESRCH)
	r.must(AddRoute(r.k, req))
	forwarded(t, in, out, "203.0.113.1", gwMAC)
	req.Gateway = ip("192.0.2.2")
	r.must(ChangeRoute(r.k, req))
	forwarded(t, in, out, "203.0.113.1", badMAC)
	req.Gateway = ip("172.16.0.1")
	wantErr(t, ChangeRoute(r.k, req), syscall.ENETUNREACH)
	wantErr(t, DelRoute(r.k, req.Prefix, ip("192.0.2.1")), syscall.ESRCH)
	r.must(DelRoute(r.k, req.Prefix, ip("192.0.2.2")))
	unreachable(t, in, out, "203.0.113.1")
}

func TestRoutesToNowhere(t *testing.T) {
	r, in, out := router(t)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("203.0.113.0/24"), Flags: RouteReject}))
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("203.0.112.0/24"), Flags: RouteBlackhole | RouteProto1}))
	unreachable(t, in, out, "203.0.113.1")
	in.input(udp4(t, ipv4("198.51.100.7", "203.0.112.1", layers.IPProtocolUDP), 8))
	in.none()
	out.none()
	for dst, want := range map[string]RouteFlags{"203.0.113.9": RouteUp | RouteStatic | RouteReject, "203.0.112.9": RouteUp | RouteStatic | RouteBlackhole | RouteProto1} {
		got, err := RouteTo(r.k, ip(dst))
		if err != nil || got.Flags != want || got.If != "lo0" || got.Index != 0 {
			t.Errorf("%s: %+v, %v", dst, got, err)
		}
	}
	r.must(DelRoute(r.k, prefix("203.0.113.0/24"), netip.Addr{}))
	unreachable(t, in, out, "203.0.113.1")
	r.noLeak()
}

func TestRouteToAnInterfaceMakesNeighboursOfItsDestinations(t *testing.T) {
	r, in, out := router(t)
	req := RouteReq{Prefix: prefix("203.0.113.9/32"), If: out.Name()}
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: req.Prefix, If: "em9"}), syscall.ENXIO)
	r.must(AddRoute(r.k, req))
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("203.0.113.9"), MAC: peerMAC}))
	forwarded(t, in, out, "203.0.113.9", peerMAC)
	// It can be a gateway, which goes with it.
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("0.0.0.0/0"), Gateway: ip("203.0.113.9")}))
	forwarded(t, in, out, "8.8.8.8", peerMAC)
	r.must(DelRoute(r.k, req.Prefix, netip.Addr{}))
	unreachable(t, in, out, "8.8.8.8")
	for _, route := range Routes(r.k) {
		if route.Static {
			t.Errorf("left %+v", route)
		}
	}
}

func TestDeletedNetworkComesBackWithItsAddress(t *testing.T) {
	r, in, out := router(t)
	network := prefix("192.0.2.0/24")
	forwarded(t, in, out, "192.0.2.1", gwMAC)
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: network, Gateway: ip("198.51.100.7")}), syscall.EEXIST)
	r.must(DelRoute(r.k, network, netip.Addr{}))
	unreachable(t, in, out, "192.0.2.1")
	wantErr(t, DelRoute(r.k, network, netip.Addr{}), syscall.ESRCH)
	wantErr(t, DelRoute(r.k, prefix("192.0.2.10/32"), netip.Addr{}), syscall.EPERM)
	r.must(AddAddr(out.Ifnet, prefix("192.0.2.10/24")))
	out.frames, out.mbufs = nil, nil
	forwarded(t, in, out, "192.0.2.1", gwMAC)
}

func TestRouteOfAnAddress(t *testing.T) {
	r, _, out := router(t)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("0.0.0.0/0"), Gateway: ip("192.0.2.1")}))
	r.must(AddAddr(out.Ifnet, prefix("fe80::1/64")))
	r.advance(2)
	for dst, want := range map[string]Route{
		"192.0.2.255":  {Prefix: prefix("192.0.2.0/24"), If: "em1", Index: 2, MTU: 1500, Flags: RouteUp | RoutePinned},
		"192.0.2.10":   {Prefix: prefix("192.0.2.10/32"), If: "em1", Index: 2, MTU: 1500, Local: true, Flags: RouteUp | RouteHost | RouteStatic | RoutePinned},
		"8.8.8.8":      {Prefix: prefix("0.0.0.0/0"), Gateway: ip("192.0.2.1"), If: "em1", Index: 2, MTU: 1500, Static: true, Flags: RouteUp | RouteGateway | RouteStatic},
		"fe80::2%em1":  {Prefix: prefix("fe80::/64"), If: "em1", Index: 2, MTU: 1500, Flags: RouteUp | RoutePinned},
		"fe80::2%em0":  {},
		"2001:db8::99": {},
	} {
		got, err := RouteTo(r.k, ip(dst))
		if got != want {
			t.Errorf("%s: %+v, want %+v", dst, got, want)
		}
		if want == (Route{}) {
			wantErr(t, err, syscall.ESRCH)
		}
	}
}
