package inet

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet"
)

const (
	own6   = "2001:db8::10"
	peer6  = "2001:db8::1"
	ownLL  = "fe80::ff:fe00:1"
	peerLL = "fe80::ff:fe00:99"
)

// six is a machine whose interface has IPv6 addresses that are valid.
func six(t testing.TB) (*rig, *nic) {
	r := newRig(t)
	n := r.nic(0, ownMAC, own6+"/64")
	r.advance(1)
	n.frames, n.mbufs = nil, nil
	return r, n
}

func ipv6(src, dst string, next layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: next, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
}

// group is the link address of an IPv6 group.
func group(a string) macAddr {
	mac, err := ifnet.ResolveMulti(ip(a))
	if err != nil {
		panic(err)
	}
	return mac
}

func echo6(t testing.TB, to macAddr, src, dst string, n int) []byte {
	h := ipv6(src, dst, layers.IPProtocolICMPv6)
	c := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}
	_ = c.SetNetworkLayerForChecksum(h)
	return build(t, eth(peerMAC, to, layers.EthernetTypeIPv6), h, c, &layers.ICMPv6Echo{Identifier: 77, SeqNumber: 5}, pattern(n))
}

// nd builds a solicitation or advertisement.
func nd(t testing.TB, typ uint8, to macAddr, src, dst string, hlim, flags uint8, target string, opts ...byte) []byte {
	h := ipv6(src, dst, layers.IPProtocolICMPv6)
	h.HopLimit = hlim
	c := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(typ, 0)}
	_ = c.SetNetworkLayerForChecksum(h)
	a := ip(target).As16()
	body := slices.Concat([]byte{flags, 0, 0, 0}, a[:], opts)
	return build(t, eth(peerMAC, to, layers.EthernetTypeIPv6), h, c, gopacket.Payload(body))
}

func lladdr(kind byte, mac macAddr) []byte { return append([]byte{kind, 1}, mac[:]...) }

func ns(t testing.TB, src, target string, opts ...byte) []byte {
	dst := solicitedNode(ip(target)).String()
	return nd(t, icmp6NS, group(dst), src, dst, 255, 0, target, opts...)
}

func TestLinkLocalAddress(t *testing.T) {
	if got := LinkLocal(macAddr{2, 0, 0, 0, 0, 1}); got != ip("fe80::ff:fe00:1") {
		t.Errorf("got %s", got)
	}
	if got := LinkLocal(macAddr{0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e}); got != ip("fe80::21b:21ff:fe3c:4d5e") {
		t.Errorf("got %s", got)
	}
}

func TestAddAddr6EnablesJoinsAndDetects(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC)
	if ND6Options(n.Ifnet) != 0x29 {
		t.Errorf("options %#x", ND6Options(n.Ifnet))
	}
	r.must(AddAddr(n.Ifnet, prefix(own6+"/64")))
	if ND6Options(n.Ifnet) != 0x21 {
		t.Errorf("options %#x", ND6Options(n.Ifnet))
	}
	var lines []string
	for _, a := range Addrs(n.Ifnet) {
		lines = append(lines, a.String())
	}
	want := []string{"inet6 fe80::ff:fe00:1%em0 prefixlen 64 tentative scopeid 0x1", "inet6 2001:db8::10 prefixlen 64 tentative"}
	if !slices.Equal(lines, want) {
		t.Errorf("lines %q", lines)
	}
	for _, g := range []macAddr{group("ff02::1"), group("ff02::1:ff00:1"), group("ff02::1:ff00:10")} {
		if !slices.Contains(slices.Collect(n.Multiaddrs), g) {
			t.Errorf("group %v is not joined", g)
		}
	}
	list := n.take()
	if len(list) != 2 {
		t.Fatalf("%d solicitations", len(list))
	}
	for _, p := range list {
		h := layer[*layers.IPv6](t, p)
		if !h.SrcIP.IsUnspecified() || h.HopLimit != 255 || len(layer[*layers.ICMPv6NeighborSolicitation](t, p).Options) != 0 {
			t.Errorf("solicitation %v", p)
		}
	}
	n.input(echo6(t, ownMAC, peer6, own6, 8)) // not yet ours
	n.none()
	r.advance(1)
	if got := Addrs(n.Ifnet)[0].String(); got != "inet6 fe80::ff:fe00:1%em0 prefixlen 64 scopeid 0x1" {
		t.Errorf("line %q", got)
	}
	r.must(DelAddr(n.Ifnet, ip(own6)))
	r.must(DelAddr(n.Ifnet, ip(ownLL)))
	if n.MultiCount() != 0 || len(NDTable(r.k)) != 0 || len(Routes(r.k)) != 0 {
		t.Error("something is left")
	}
	r.noLeak()
}

func TestNoDADFlagAndKnob(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC)
	r.must(SetND6Options(n.Ifnet, ND6NoDAD, ND6AutoLinkLocal))
	r.must(AddAddr(n.Ifnet, prefix(own6+"/64")))
	n.none()
	if got := Addrs(n.Ifnet); len(got) != 1 || got[0].State != AddrValid {
		t.Errorf("addresses %v", got)
	}
	r.set("net.inet6.ip6.dad_count", "3")
	m := r.nic(1, own2MAC, "2001:db8:1::1/64")
	r.advance(2)
	if got := len(m.take()); got != 4 {
		t.Errorf("%d repeated solicitations", got)
	}
	if Addrs(m.Ifnet)[0].State != AddrTentative {
		t.Error("valid after two of three")
	}
	r.advance(1)
	if Addrs(m.Ifnet)[0].State != AddrValid {
		t.Error("not valid after three")
	}
}

func TestDADFindsDuplicates(t *testing.T) {
	for _, tc := range []struct {
		name, log string
		frame     func(t *testing.T) []byte
	}{
		{"advertisement", "NS in/out/loopback=0/1/0, NA in=1", func(t *testing.T) []byte {
			return nd(t, icmp6NA, group("ff02::1"), own6, "ff02::1", 255, naOverride, own6, lladdr(2, peerMAC)...)
		}},
		{"solicitation", "NS in/out/loopback=1/1/0, NA in=0", func(t *testing.T) []byte { return ns(t, "::", own6) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			n := r.nic(0, ownMAC)
			r.must(SetND6Options(n.Ifnet, 0, ND6AutoLinkLocal))
			r.must(AddAddr(n.Ifnet, prefix(own6+"/64")))
			n.take()
			log := r.mark()
			n.input(tc.frame(t))
			r.wantLog(log, "em0: DAD detected duplicate IPv6 address 2001:db8::10: "+tc.log+"\n"+
				"em0: DAD complete for 2001:db8::10 - duplicate found\nem0: manual intervention required\n")
			r.advance(5)
			if got := Addrs(n.Ifnet)[0].String(); got != "inet6 2001:db8::10 prefixlen 64 duplicated" {
				t.Errorf("line %q", got)
			}
			n.input(ns(t, peerLL, own6, lladdr(1, peerMAC)...))
			n.none()
			r.noLeak()
		})
	}
}

func TestSolicitationIsAnswered(t *testing.T) {
	r, n := six(t)
	for _, target := range []string{own6, ownLL} {
		n.input(ns(t, peer6, target, lladdr(1, peerMAC)...), 14, 20, 33)
		p := n.one()
		h, e, na := layer[*layers.IPv6](t, p), layer[*layers.Ethernet](t, p), layer[*layers.ICMPv6NeighborAdvertisement](t, p)
		if h.DstIP.String() != peer6 || h.SrcIP.String() != target || h.HopLimit != 255 || !bytes.Equal(e.DstMAC, peerMAC[:]) ||
			na.Flags != naSolicited|naOverride || na.TargetAddress.String() != target || !bytes.Equal(na.Options[0].Data, ownMAC[:]) {
			t.Errorf("advertisement %v", p)
		}
	}
	n.input(ns(t, "::", own6))
	p := n.one()
	if h := layer[*layers.IPv6](t, p); h.DstIP.String() != "ff02::1" || layer[*layers.ICMPv6NeighborAdvertisement](t, p).Flags != naOverride {
		t.Errorf("advertisement to everybody %v", p)
	}
	n.input(ns(t, peer6, "2001:db8::7:10", lladdr(1, peerMAC)...)) // same group, another's
	n.none()
	r.stat("net.inet6.icmp6.stats.badns", "0")
	r.noLeak()
}

func TestBadNeighbourMessages(t *testing.T) {
	dst := solicitedNode(ip(own6)).String()
	for _, tc := range []struct {
		name, stat string
		frame      func(t *testing.T) []byte
	}{
		{"hop limit", "badns", func(t *testing.T) []byte { return nd(t, icmp6NS, group(dst), peer6, dst, 254, 0, own6) }},
		{"group target", "badns", func(t *testing.T) []byte { return nd(t, icmp6NS, group(dst), peer6, dst, 255, 0, "ff02::1") }},
		{"option of length 0", "badns", func(t *testing.T) []byte { return ns(t, peer6, own6, 1, 0, 0, 0, 0, 0, 0, 0) }},
		{"option beyond", "badns", func(t *testing.T) []byte { return ns(t, peer6, own6, 1, 2, 0, 0, 0, 0, 0, 0) }},
		{"no sender with option", "badns", func(t *testing.T) []byte { return ns(t, "::", own6, lladdr(1, peerMAC)...) }},
		{"no sender to one", "badns", func(t *testing.T) []byte { return nd(t, icmp6NS, ownMAC, "::", own6, 255, 0, own6) }},
		{"solicited to everybody", "badna", func(t *testing.T) []byte {
			return nd(t, icmp6NA, group("ff02::1"), peer6, "ff02::1", 255, naSolicited, peer6, lladdr(2, peerMAC)...)
		}},
		{"advertisement's hop limit", "badna", func(t *testing.T) []byte {
			return nd(t, icmp6NA, ownMAC, peer6, own6, 64, naSolicited, peer6, lladdr(2, peerMAC)...)
		}},
		{"checksum", "checksum", func(t *testing.T) []byte { f := ns(t, peer6, own6); f[len(f)-1] ^= 1; return f }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, n := six(t)
			n.input(tc.frame(t))
			n.none()
			r.stat("net.inet6.icmp6.stats."+tc.stat, "1")
			r.noLeak()
		})
	}
}

func TestEcho6OfManySizesAndShapes(t *testing.T) {
	r, n := six(t)
	n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...))
	n.take()
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 1452).Draw(rt, "size")
		cuts := append([]int{rapid.IntRange(14, 80).Draw(rt, "first")}, rapid.SliceOfN(rapid.IntRange(0, 60), 0, 8).Draw(rt, "cuts")...)
		n.input(echo6(t, ownMAC, peer6, own6, size), cuts...)
		p := n.one()
		h, icmp := layer[*layers.IPv6](t, p), layer[*layers.ICMPv6](t, p)
		if icmp.TypeCode != layers.CreateICMPv6TypeCode(129, 0) || !bytes.Equal(icmp.Payload, slices.Concat([]byte{0, 77, 0, 5}, pattern(size))) {
			rt.Fatalf("reply %v", p)
		}
		if h.SrcIP.String() != own6 || h.DstIP.String() != peer6 || h.HopLimit != 64 {
			rt.Fatalf("header %v", h)
		}
	})
	r.noLeak()
}

func TestEcho6ToAllNodesResolvesTheSender(t *testing.T) {
	r, n := six(t)
	n.input(echo6(t, group("ff02::1"), peerLL, "ff02::1", 33))
	p := n.one()
	h, sol := layer[*layers.IPv6](t, p), layer[*layers.ICMPv6NeighborSolicitation](t, p)
	if h.SrcIP.String() != ownLL || h.DstIP.String() != "ff02::1:ff00:99" || sol.TargetAddress.String() != peerLL || !bytes.Equal(sol.Options[0].Data, ownMAC[:]) {
		t.Errorf("solicitation %v", p)
	}
	n.input(nd(t, icmp6NA, ownMAC, peerLL, ownLL, 255, naSolicited|naOverride, peerLL, lladdr(2, peerMAC)...))
	h = layer[*layers.IPv6](t, n.one())
	if h.SrcIP.String() != ownLL || h.DstIP.String() != peerLL {
		t.Errorf("reply %v", h)
	}
	r.noLeak()
}

func TestUnansweredSolicitationsEnd(t *testing.T) {
	r, n := six(t)
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	r.advance(10)
	if got := len(n.take()); got != 3 {
		t.Errorf("%d solicitations", got)
	}
	r.stat("net.inet6.icmp6.stats.nd_dropped", "1")
	if got := len(NDTable(r.k)); got != 2 {
		t.Errorf("%d entries, want own two", got)
	}
	r.noLeak()
}

func TestNeighbourUnreachabilityDetection(t *testing.T) {
	r, n := six(t)
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	n.input(nd(t, icmp6NA, ownMAC, peer6, own6, 255, naSolicited|naOverride, peer6, lladdr(2, peerMAC)...))
	n.take()
	r.advance(31) // reachable ends
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	n.one()
	r.advance(4)
	n.none()
	r.advance(1)
	p := n.one() // delay ended: probe
	if h := layer[*layers.IPv6](t, p); h.DstIP.String() != peer6 {
		t.Errorf("probe to %v", h.DstIP)
	}
	n.input(nd(t, icmp6NA, ownMAC, peer6, own6, 255, naSolicited, peer6))
	r.advance(20)
	n.none()
	r.advance(11)
	n.input(echo6(t, ownMAC, peer6, own6, 8))
	n.one()
	r.advance(20)
	if got := len(n.take()); got != 3 {
		t.Errorf("%d probes", got)
	}
	if got := len(NDTable(r.k)); got != 2 {
		t.Errorf("%d entries", got)
	}
}

func TestAdvertisementRules(t *testing.T) {
	r, n := six(t)
	n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...))
	n.take()
	at := func() macAddr { return NDTable(r.k)[0].MAC }
	na := func(flags byte, mac macAddr) {
		n.input(nd(t, icmp6NA, ownMAC, peer6, own6, 255, flags, peer6, lladdr(2, mac)...))
	}
	if at() != peerMAC {
		t.Fatalf("table %v", NDTable(r.k))
	}
	na(naSolicited, gwMAC) // no override: not believed
	if at() != peerMAC {
		t.Error("changed without override")
	}
	na(naOverride, gwMAC)
	if at() != gwMAC {
		t.Error("not overridden")
	}
	n.input(nd(t, icmp6NA, ownMAC, peer6, own6, 255, naOverride, "2001:db8::55", lladdr(2, gwMAC)...))
	if got := len(NDTable(r.k)); got != 3 {
		t.Errorf("unasked advertisement made an entry: %d", got)
	}
}

func TestIPv6Refusals(t *testing.T) {
	raw := func(t *testing.T, src, dst string, next layers.IPProtocol, payload ...byte) []byte {
		return build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv6), ipv6(src, dst, next), gopacket.Payload(payload))
	}
	ext := func(b ...byte) []byte { return append(b, make([]byte, 16)...) }
	for _, tc := range []struct {
		name, stat string
		frame      func(t *testing.T) []byte
		typ, code  uint8 // of the error, 0 for none
	}{
		{"short", "net.inet6.ip6.stats.toosmall", func(t *testing.T) []byte { return raw(t, peer6, own6, 59)[:50] }, 0, 0},
		{"version", "net.inet6.ip6.stats.badvers", func(t *testing.T) []byte { f := raw(t, peer6, own6, 59); f[14] = 0x50; return f }, 0, 0},
		{"length", "net.inet6.ip6.stats.tooshort", func(t *testing.T) []byte { f := raw(t, peer6, own6, 59); f[18] = 1; return f }, 0, 0},
		{"group source", "net.inet6.ip6.stats.badscope", func(t *testing.T) []byte { return raw(t, "ff02::1", own6, 59) }, 0, 0},
		{"loopback", "net.inet6.ip6.stats.badscope", func(t *testing.T) []byte { return raw(t, peer6, "::1", 59) }, 0, 0},
		{"not ours", "net.inet6.ip6.stats.cantforward", func(t *testing.T) []byte { return raw(t, peer6, "2001:db8::11", 59) }, 0, 0},
		{"other group", "net.inet6.ip6.stats.notmember", func(t *testing.T) []byte {
			f := raw(t, peer6, "ff02::5", 59)
			g := group("ff02::5")
			copy(f, g[:])
			return f
		}, 0, 0},
		{"fragment", "net.inet6.ip6.stats.fragdropped", func(t *testing.T) []byte { return raw(t, peer6, own6, 44, ext()...) }, 0, 0},
		{"udp", "net.inet6.ip6.stats.noproto", func(t *testing.T) []byte { return raw(t, peer6, own6, 17, ext()...) }, 1, 4},
		{"tcp", "net.inet6.ip6.stats.noproto", func(t *testing.T) []byte { return raw(t, peer6, own6, 6, ext()...) }, 4, 1},
		{"cut extension", "net.inet6.ip6.stats.tooshort", func(t *testing.T) []byte { return raw(t, peer6, own6, 60, 59, 9, 0, 0, 0, 0, 0, 0) }, 0, 0},
		{"routing with segments", "net.inet6.ip6.stats.badoptions", func(t *testing.T) []byte { return raw(t, peer6, own6, 43, ext(59, 0, 0, 1, 0, 0, 0, 0)...) }, 4, 0},
		{"unknown option", "net.inet6.ip6.stats.badoptions", func(t *testing.T) []byte { return raw(t, peer6, own6, 60, ext(59, 0, 0xbe, 0, 1, 0, 0, 0)...) }, 4, 2},
		{"silent option", "net.inet6.ip6.stats.badoptions", func(t *testing.T) []byte { return raw(t, peer6, own6, 60, ext(59, 0, 0x5e, 0, 1, 0, 0, 0)...) }, 0, 0},
		{"option beyond", "net.inet6.ip6.stats.badoptions", func(t *testing.T) []byte { return raw(t, peer6, own6, 60, ext(59, 0, 1, 9, 0, 0, 0, 0)...) }, 0, 0},
		{"late hop-by-hop", "net.inet6.icmp6.stats.error", func(t *testing.T) []byte { return raw(t, peer6, own6, 60, ext(0, 0, 1, 4, 0, 0, 0, 0)...) }, 4, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, n := six(t)
			n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...))
			n.take()
			n.input(tc.frame(t))
			if tc.typ == 0 {
				n.none()
			} else if icmp := layer[*layers.ICMPv6](t, n.one()); icmp.TypeCode != layers.CreateICMPv6TypeCode(tc.typ, tc.code) {
				t.Errorf("message %v", icmp.TypeCode)
			}
			r.stat(tc.stat, "1")
			r.noLeak()
		})
	}
}

func TestEcho6BehindExtensionHeaders(t *testing.T) {
	r, n := six(t)
	n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...))
	n.take()
	f := echo6(t, ownMAC, peer6, own6, 21)
	f = slices.Concat(f[:54], []byte{60, 0, 5, 2, 0, 0, 1, 0, 58, 0, 1, 4, 0, 0, 0, 0}, f[54:])
	f[20] = 0 // hop-by-hop
	f[19] += 16
	n.input(f, 60, 3)
	if h := layer[*layers.IPv6](t, n.one()); h.NextHeader != layers.IPProtocolICMPv6 || h.Length != 29 {
		t.Errorf("reply %v", h)
	}
	r.noLeak()
}

func TestDisabledIPv6DropsEverything(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	n.input(ns(t, peer6, own6, lladdr(1, peerMAC)...))
	n.none()
	r.must(SetND6Options(n.Ifnet, 0, ND6IfDisabled))
	if got := Addrs(n.Ifnet); len(got) != 2 || got[1].Prefix.Addr() != ip(ownLL) {
		t.Errorf("addresses %v", got)
	}
}

func TestRoute6ThroughLinkLocalGateway(t *testing.T) {
	r, n := six(t)
	gw := netip.MustParseAddr(peerLL + "%em0")
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: prefix("::/0"), Gateway: ip(peerLL)}), syscall.ENETUNREACH)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("::/0"), Gateway: gw}))
	n.input(ns(t, peerLL, ownLL, lladdr(1, gwMAC)...))
	n.take()
	n.input(echo6(t, ownMAC, "2001:db8:ffff::1", own6, 8))
	if e := layer[*layers.Ethernet](t, n.one()); !bytes.Equal(e.DstMAC, gwMAC[:]) {
		t.Errorf("went to %v", e.DstMAC)
	}
	r.noLeak()
}
