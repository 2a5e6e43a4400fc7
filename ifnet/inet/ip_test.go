package inet

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket/layers"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// known is a machine with one interface that knows its peer.
func known(t testing.TB) (*rig, *nic) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.1"), MAC: peerMAC}))
	r.set("net.inet.icmp.icmplim", "0")
	return r, n
}

func TestEchoOfManySizesAndShapes(t *testing.T) {
	r, n := known(t)
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 1472).Draw(rt, "size")
		frame := echo4(t, "192.0.2.1", "192.0.2.10", size)
		cuts := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 8).Draw(rt, "cuts")
		cuts = append([]int{rapid.IntRange(14, 80).Draw(rt, "first")}, cuts...)
		n.input(frame, cuts...)
		p := n.one()
		icmp, h := layer[*layers.ICMPv4](t, p), layer[*layers.IPv4](t, p)
		if icmp.TypeCode != 0 || icmp.Id != 77 || icmp.Seq != 5 || !bytes.Equal(icmp.Payload, pattern(size)) && int(h.Length) != 28+size {
			rt.Fatalf("reply %v", p)
		}
		if !bytes.Equal(icmp.Payload[:size], pattern(size)) {
			rt.Fatal("payload differs")
		}
		if h.SrcIP.String() != "192.0.2.10" || h.DstIP.String() != "192.0.2.1" || h.TTL != 64 || h.Id == 0 {
			rt.Fatalf("header %v", h)
		}
	})
	r.noLeak()
}

func TestLongEchoReplyIsCutUnlessDF(t *testing.T) {
	r, n := known(t)
	n.SetMTU(576)
	n.input(echo4(t, "192.0.2.1", "192.0.2.10", 1000))
	var payload []byte
	for _, p := range n.take() {
		h := layer[*layers.IPv4](t, p)
		if h.Length > 576 || int(h.FragOffset)*8 != len(payload) {
			t.Errorf("fragment %+v", h)
		}
		payload = append(payload, h.Payload...)
	}
	if len(payload) != 1008 || !bytes.Equal(payload[8:], pattern(1000)) || fold(sumBytes(payload)) != 0xffff {
		t.Errorf("%d bytes of reply", len(payload))
	}
	f := echo4(t, "192.0.2.1", "192.0.2.10", 1000)
	f[20] = 0x40
	n.input(fixSum(f))
	n.none()
	r.stat("net.inet.ip.stats.cantfrag", "1")
	r.noLeak()
}

func TestEchoKeepsSharedStorage(t *testing.T) {
	r, n := known(t)
	m := r.packet(n, echo4(t, "192.0.2.1", "192.0.2.10", 100))
	keep := r.c.CopyPacket(m)
	before := make([]byte, keep.Length())
	keep.CopyData(0, before)
	n.InputCache(r.c, m)
	n.one()
	after := make([]byte, len(before))
	keep.CopyData(0, after)
	if !bytes.Equal(before, after) {
		t.Error("a read-only copy changed")
	}
	r.c.FreeChain(keep)
	r.noLeak()
}

func TestEchoStripsOptionsAndKeepsDF(t *testing.T) {
	r, n := known(t)
	h := ipv4("192.0.2.1", "192.0.2.10", layers.IPProtocolICMPv4)
	h.Flags = layers.IPv4DontFragment
	h.Options = []layers.IPv4Option{{OptionType: 7, OptionLength: 7, OptionData: []byte{4, 0, 0, 0, 0}}, {OptionType: 0}}
	n.input(build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv4), h, &layers.ICMPv4{TypeCode: 0x800, Id: 1}, pattern(33)), 20, 7)
	got := layer[*layers.IPv4](t, n.one())
	if got.IHL != 5 || got.Flags != layers.IPv4DontFragment || got.Id != 0 || got.Length != 20+8+33 {
		t.Errorf("header %+v", got)
	}
	r.noLeak()
}

func TestTransmitChecksumIsLeftToHardwareThatHasIt(t *testing.T) {
	_, n := known(t)
	n.SetHWAssist(mbuf.CsumIP)
	n.input(echo4(t, "192.0.2.1", "192.0.2.10", 8))
	if len(n.frames) != 1 || n.mbufs[0].csum != mbuf.CsumIP || !bytes.Equal(n.frames[0][24:26], []byte{0, 0}) {
		t.Errorf("request %#x, field %x", n.mbufs[0].csum, n.frames[0][24:26])
	}
}

func TestHeaderChecksumIsTrustedOrVerified(t *testing.T) {
	for _, tc := range []struct {
		flags  mbuf.CsumFlags
		broken bool
		want   int
	}{
		{0, false, 1}, {0, true, 0},
		{mbuf.CsumL3Calc | mbuf.CsumL3Valid, true, 1},
		{mbuf.CsumL3Calc, false, 0},
	} {
		r, n := known(t)
		f := echo4(t, "192.0.2.1", "192.0.2.10", 8)
		if tc.broken {
			f[24] ^= 1
		}
		m := r.packet(n, f)
		m.Pkt.CsumFlags = tc.flags
		n.InputCache(r.c, m)
		if got := len(n.take()); got != tc.want {
			t.Errorf("%+v: %d replies", tc, got)
		}
		if tc.want == 0 {
			r.stat("net.inet.ip.stats.badsum", "1")
		}
	}
}

func TestBadIPv4IsCounted(t *testing.T) {
	for _, tc := range []struct {
		name, stat string
		change     func(f []byte) []byte
	}{
		{"short", "net.inet.ip.stats.tooshort", func(f []byte) []byte { return f[:14+19] }},
		{"version", "net.inet.ip.stats.badvers", func(f []byte) []byte { f[14] = 0x55; return f }},
		{"header length", "net.inet.ip.stats.badhlen", func(f []byte) []byte { f[14] = 0x44; return f }},
		{"header longer than packet", "net.inet.ip.stats.badhlen", func(f []byte) []byte { f[14] = 0x4f; return f[:14+40] }},
		{"length below header", "net.inet.ip.stats.badlen", func(f []byte) []byte { f[17] = 19; return fixSum(f) }},
		{"length beyond packet", "net.inet.ip.stats.tooshort", func(f []byte) []byte { f[16] = 9; return fixSum(f) }},
		{"loopback", "net.inet.ip.stats.badaddr", func(f []byte) []byte { f[26] = 127; return fixSum(f) }},
		{"fragment", "net.inet.ip.stats.fragdropped", func(f []byte) []byte { f[20] = 0x20; return fixSum(f) }},
		{"icmp sum", "net.inet.icmp.stats.checksum", func(f []byte) []byte { f[len(f)-1] ^= 4; return f }},
		{"icmp short", "net.inet.icmp.stats.tooshort", func(f []byte) []byte { f[16], f[17] = 0, 27; return fixSum(f) }},
		{"echo reply", "net.inet.icmp.stats.ignored", func(f []byte) []byte {
			f[34] = 0
			f[36] += 8
			return f
		}},
		{"not ours", "net.inet.ip.stats.cantforward", func(f []byte) []byte { f[33] = 11; return fixSum(f) }},
		{"group", "net.inet.ip.stats.notmember", func(f []byte) []byte {
			copy(f[30:], []byte{224, 0, 0, 9})
			copy(f, []byte{1, 0, 0x5e, 0, 0, 9})
			return fixSum(f)
		}},
		{"echo to all hosts", "net.inet.icmp.stats.bmcastecho", func(f []byte) []byte {
			copy(f[30:], []byte{224, 0, 0, 1})
			copy(f, []byte{1, 0, 0x5e, 0, 0, 1})
			return fixSum(f)
		}},
		{"echo to broadcast", "net.inet.icmp.stats.bmcastecho", func(f []byte) []byte {
			f[33] = 255
			copy(f, ifnet.EtherBroadcast[:])
			return fixSum(f)
		}},
		{"source is a group", "net.inet.icmp.stats.badaddr", func(f []byte) []byte { f[26] = 230; return fixSum(f) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, n := known(t)
			n.input(tc.change(echo4(t, "192.0.2.1", "192.0.2.10", 20)))
			n.none()
			r.stat(tc.stat, "1")
			r.noLeak()
		})
	}
}

// fixSum corrects the checksum of a header without options.
func fixSum(f []byte) []byte {
	h := f[14:34]
	binary.BigEndian.PutUint16(h[10:], 0)
	binary.BigEndian.PutUint16(h[10:], headerSum(h))
	return f
}

func TestBroadcastEchoWhenAllowed(t *testing.T) {
	r, n := known(t)
	r.set("net.inet.icmp.bmcastecho", "1")
	f := echo4(t, "192.0.2.1", "192.0.2.255", 8)
	copy(f, ifnet.EtherBroadcast[:])
	n.input(f)
	if h := layer[*layers.IPv4](t, n.one()); h.SrcIP.String() != "192.0.2.10" {
		t.Errorf("from %v", h.SrcIP)
	}
}

func TestNobodyListens(t *testing.T) {
	for _, tc := range []struct {
		proto layers.IPProtocol
		code  uint8
	}{{layers.IPProtocolUDP, 3}, {layers.IPProtocolTCP, 2}} {
		r, n := known(t)
		n.input(build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv4), ipv4("192.0.2.1", "192.0.2.10", tc.proto), pattern(800)))
		p := n.one()
		icmp := layer[*layers.ICMPv4](t, p)
		if icmp.TypeCode != layers.CreateICMPv4TypeCode(3, tc.code) || len(icmp.Payload) != 20+548 {
			t.Errorf("%v: %v, quoted %d", tc.proto, icmp.TypeCode, len(icmp.Payload))
		}
		// a fragment behind the first and an error get none
		f := build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv4), ipv4("192.0.2.1", "192.0.2.10", tc.proto), pattern(64))
		f[21] = 1
		n.input(fixSum(f))
		n.none()
		r.noLeak()
	}
}

func TestICMPRateLimit(t *testing.T) {
	r, n := known(t)
	r.set("net.inet.icmp.icmplim", "3")
	log := r.mark()
	for range 5 {
		n.input(echo4(t, "192.0.2.1", "192.0.2.10", 8))
	}
	if got := len(n.take()); got != 3 {
		t.Errorf("%d replies", got)
	}
	r.stat("net.inet.icmp.stats.limited", "2")
	r.advance(1)
	n.input(echo4(t, "192.0.2.1", "192.0.2.10", 8))
	n.one()
	r.wantLog(log, "Limiting icmp ping response from 5 to 3 packets/sec\n")
}

// router is a machine between 198.51.100.0/24 on em0 and 192.0.2.0/24 on em1, with
// static neighbours on both sides.
func router(t testing.TB) (r *rig, in, out *nic) {
	r = newRig(t)
	in, out = routerOn(r)
	return r, in, out
}

func routerOn(r *rig) (in, out *nic) {
	in, out = r.nic(0, ownMAC, "198.51.100.1/24"), r.nic(1, own2MAC, "192.0.2.10/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("198.51.100.7"), MAC: peerMAC}))
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.1"), MAC: gwMAC}))
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.2"), MAC: badMAC}))
	r.set("net.inet.ip.forwarding", "1")
	return in, out
}

func TestForwardOfRandomPackets(t *testing.T) {
	r, in, out := router(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP)
		h.TTL = rapid.Uint8Range(2, 255).Draw(rt, "ttl")
		h.Id, h.TOS = rapid.Uint16().Draw(rt, "id"), rapid.Byte().Draw(rt, "tos")
		h.SrcIP = net.IPv4(198, 51, rapid.Byte().Draw(rt, "src2"), rapid.Byte().Draw(rt, "src3")).To4()
		size := rapid.IntRange(0, 1472).Draw(rt, "size")
		frame := udp4(t, h, size)
		m := r.packet(in, frame, append([]int{rapid.IntRange(14, 60).Draw(rt, "cut")}, rapid.SliceOfN(rapid.IntRange(0, 40), 0, 5).Draw(rt, "cuts")...)...)
		m.Pkt.FlowID, m.Pkt.RSSType = 0xabcd, mbuf.HashRSSUDPIPv4
		m.Pkt.CsumFlags = rapid.SampledFrom([]mbuf.CsumFlags{0, mbuf.CsumL3Calc | mbuf.CsumL3Valid}).Draw(rt, "csum")
		in.InputCache(r.c, m)
		if len(out.mbufs) != 1 || out.mbufs[0] != (mbufInfo{flow: 0xabcd, rss: mbuf.HashRSSUDPIPv4}) {
			rt.Fatalf("sent %+v", out.mbufs)
		}
		got := out.frames[0]
		p := out.one()
		e, ih := layer[*layers.Ethernet](t, p), layer[*layers.IPv4](t, p)
		if !bytes.Equal(e.DstMAC, gwMAC[:]) || !bytes.Equal(e.SrcMAC, own2MAC[:]) || ih.TTL != h.TTL-1 {
			rt.Fatalf("frame %v", p)
		}
		if !bytes.Equal(got[34:34+8+size], frame[34:34+8+size]) {
			rt.Fatal("payload differs")
		}
	})
	in.none()
	r.noLeak()
}

func TestDecTTLMatchesFullChecksum(t *testing.T) {
	h := make([]byte, ipHdrLen)
	h[0] = 0x45
	for word := range 1 << 16 {
		binary.BigEndian.PutUint16(h[ipIDOff:], uint16(word))
		h[ipTTLOff] = byte(2 + word%250)
		binary.BigEndian.PutUint16(h[ipSumOff:], 0)
		binary.BigEndian.PutUint16(h[ipSumOff:], headerSum(h))
		decTTL(h)
		got := binary.BigEndian.Uint16(h[ipSumOff:])
		binary.BigEndian.PutUint16(h[ipSumOff:], 0)
		if want := headerSum(h); got != want {
			t.Fatalf("id %#x: %#x, want %#x", word, got, want)
		}
	}
}

func TestForwardingIsOffByDefault(t *testing.T) {
	r, in, out := router(t)
	r.set("net.inet.ip.forwarding", "0")
	in.input(udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 8))
	in.none()
	out.none()
	r.stat("net.inet.ip.stats.cantforward", "1")
	r.noLeak()
}

func TestTTLExceeded(t *testing.T) {
	for _, ttl := range []uint8{0, 1} {
		r, in, out := router(t)
		h := ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP)
		h.TTL = ttl
		in.input(udp4(t, h, 8))
		out.none()
		p := in.one()
		icmp, ih := layer[*layers.ICMPv4](t, p), layer[*layers.IPv4](t, p)
		if icmp.TypeCode != layers.CreateICMPv4TypeCode(11, 0) || ih.SrcIP.String() != "198.51.100.1" || ih.DstIP.String() != "198.51.100.7" || len(icmp.Payload) != 36 {
			t.Errorf("message %v", p)
		}
		r.noLeak()
	}
}

func TestRoutesLongestPrefixWins(t *testing.T) {
	r, in, out := router(t)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("0.0.0.0/0"), Gateway: ip("192.0.2.1")}))
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("203.0.113.0/24"), Gateway: ip("192.0.2.2")}))
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("203.0.113.128/25"), Gateway: ip("192.0.2.1")}))
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: prefix("203.0.113.5/24"), Gateway: ip("192.0.2.1")}), syscall.EEXIST)
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: prefix("10.0.0.0/8"), Gateway: ip("172.16.0.1")}), syscall.ENETUNREACH)
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: prefix("10.0.0.0/8"), Gateway: ip("192.0.2.10")}), syscall.ENETUNREACH)
	wantErr(t, AddRoute(r.k, RouteReq{Prefix: prefix("10.0.0.0/8"), Gateway: ip("2001:db8::1")}), syscall.EINVAL)
	to := func(dst string, want macAddr) {
		t.Helper()
		in.input(udp4(t, ipv4("198.51.100.7", dst, layers.IPProtocolUDP), 8))
		if e := layer[*layers.Ethernet](t, out.one()); !bytes.Equal(e.DstMAC, want[:]) {
			t.Errorf("%s went to %v", dst, e.DstMAC)
		}
	}
	to("203.0.113.1", badMAC)
	to("203.0.113.127", badMAC)
	to("203.0.113.128", gwMAC)
	to("8.8.8.8", gwMAC)
	to("192.0.2.2", badMAC)
	r.must(DelRoute(r.k, prefix("203.0.113.128/25"), netip.Addr{}))
	wantErr(t, DelRoute(r.k, prefix("203.0.113.128/25"), netip.Addr{}), syscall.ESRCH)
	to("203.0.113.128", badMAC)
	r.must(DelAddr(out.Ifnet, ip("192.0.2.10"))) // its routes go
	in.input(udp4(t, ipv4("198.51.100.7", "8.8.8.8", layers.IPProtocolUDP), 8))
	out.none()
	if tc := layer[*layers.ICMPv4](t, in.one()).TypeCode; tc != layers.CreateICMPv4TypeCode(3, 1) {
		t.Errorf("without route: %v", tc)
	}
	r.stat("net.inet.ip.stats.noroute", "1")
	r.noLeak()
}

func TestFibMatchesLinearSearch(t *testing.T) {
	r := newRig(t)
	ifp := r.nic(0, ownMAC).Ifnet
	rapid.Check(t, func(rt *rapid.T) {
		gen := rapid.Custom(func(rt *rapid.T) netip.Addr {
			return netip.AddrFrom4([4]byte{10, rapid.SampledFrom([]byte{0, 1, 128, 255}).Draw(rt, "b"), rapid.Byte().Draw(rt, "c"), 7})
		})
		var routes []*route
		for range rapid.IntRange(0, 20).Draw(rt, "n") {
			p := netip.PrefixFrom(gen.Draw(rt, "prefix"), rapid.IntRange(0, 32).Draw(rt, "bits")).Masked()
			routes = append(routes, &route{prefix: p, ifp: ifp})
		}
		f, a := newFib(routes), gen.Draw(rt, "addr")
		var want *route
		for _, x := range routes {
			if x.prefix.Contains(a) && (want == nil || x.prefix.Bits() > want.prefix.Bits()) {
				want = x
			}
		}
		if got := f.lookup(keyOf(a, 1)); got != want {
			rt.Fatalf("%v: got %v want %v", a, got, want)
		}
	})
}

func TestForwardRefusesWhatMayNotPass(t *testing.T) {
	r, in, out := router(t)
	r.must(AddRoute(r.k, RouteReq{Prefix: prefix("0.0.0.0/0"), Gateway: ip("192.0.2.1")}))
	for _, tc := range [][2]string{{"0.0.0.0", "192.0.2.1"}, {"198.51.100.7", "0.1.2.3"}, {"198.51.100.7", "192.0.2.255"}, {"240.0.0.1", "192.0.2.1"}} {
		in.input(udp4(t, ipv4(tc[0], tc[1], layers.IPProtocolUDP), 8))
	}
	f := udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 8)
	copy(f, ifnet.EtherBroadcast[:])
	in.input(f)
	in.none()
	out.none()
	r.stat("net.inet.ip.stats.cantforward", "5")
	r.noLeak()
}

func TestForwardFragmentsAndTellsAboutDF(t *testing.T) {
	r, in, out := router(t)
	out.SetMTU(600)
	h := ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP)
	h.Options = []layers.IPv4Option{{OptionType: 0x94, OptionLength: 4, OptionData: []byte{0, 0}}, {OptionType: 7, OptionLength: 7, OptionData: []byte{4, 0, 0, 0, 0}}, {OptionType: 0}}
	frame := udp4(t, h, 1400)
	in.input(frame, 40, 500, 300)
	var payload []byte
	list := out.take()
	for i, p := range list {
		ih := layer[*layers.IPv4](t, p)
		if int(ih.FragOffset)*8 != len(payload) || (ih.Flags&layers.IPv4MoreFragments != 0) != (i < len(list)-1) || int(ih.Length) > 600 || ih.Id != h.Id {
			t.Fatalf("fragment %d: %+v", i, ih)
		}
		if want := uint8(8 - 2*min(i, 1)); ih.IHL != want {
			t.Errorf("fragment %d: header of %d words, want %d", i, ih.IHL, want)
		}
		payload = append(payload, ih.Payload...)
	}
	if len(list) != 3 || !bytes.Equal(payload, frame[14+32:]) {
		t.Errorf("%d fragments; payload equal: %v", len(list), bytes.Equal(payload, frame[14+32:]))
	}
	h = ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP)
	h.Flags = layers.IPv4DontFragment
	in.input(udp4(t, h, 1000))
	out.none()
	icmp := layer[*layers.ICMPv4](t, in.one())
	if icmp.TypeCode != layers.CreateICMPv4TypeCode(3, 4) || icmp.Seq != 600 {
		t.Errorf("message %v mtu %d", icmp.TypeCode, icmp.Seq)
	}
	r.noLeak()
}

func TestIPOptionsAreChecked(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []byte
		want string // "in" error, "out" forwarded, "" dropped
	}{
		{"record route", []byte{7, 7, 4, 0, 0, 0, 0, 0}, "out"},
		{"no-ops", []byte{1, 1, 1, 1}, "out"},
		{"length 0", []byte{7, 0, 0, 0}, "in"},
		{"length beyond", []byte{7, 9, 0, 0}, "in"},
		{"no length", []byte{1, 1, 1, 7}, "in"},
		{"source route", []byte{131, 3, 4, 0}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, in, out := router(t)
			f := udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 8)
			f = bytes.Join([][]byte{f[:34], tc.opts, f[34 : 34+16]}, nil)
			f[14] = 0x45 + byte(len(tc.opts)/4)
			f[17] += byte(len(tc.opts))
			h := f[14 : 34+len(tc.opts)]
			h[10], h[11] = 0, 0
			binary.BigEndian.PutUint16(h[10:], headerSum(h))
			in.input(f)
			sent := ""
			if n := len(out.frames); n == 1 {
				sent = "out"
			}
			if n := len(in.frames); n == 1 {
				sent += "in"
			}
			if sent != tc.want {
				t.Errorf("sent %q, want %q", sent, tc.want)
			}
			if sent == "in" {
				if icmp := layer[*layers.ICMPv4](t, in.one()); icmp.TypeCode.Type() != 12 {
					t.Errorf("message %v", icmp)
				}
			}
			r.noLeak()
		})
	}
}

// hook is a packet filter.
type hook struct {
	seen []string
	fn   func(c *mbuf.Cache, dir ifnet.PfilDir, m **mbuf.Mbuf) ifnet.PfilResult
}

func (h *hook) Hook(c *mbuf.Cache, ifp *ifnet.Ifnet, dir ifnet.PfilDir, _ ifnet.AF, m **mbuf.Mbuf) ifnet.PfilResult {
	h.seen = append(h.seen, strings.Join([]string{ifp.Name(), map[ifnet.PfilDir]string{ifnet.PfilIn: "in", ifnet.PfilOut: "out"}[dir]}, " "))
	return h.fn(c, dir, m)
}

func TestPfilSeesBothSidesAndMayRedirect(t *testing.T) {
	r, in, out := router(t)
	h := &hook{fn: func(*mbuf.Cache, ifnet.PfilDir, **mbuf.Mbuf) ifnet.PfilResult { return ifnet.PfilPass }}
	ifnet.InetPfil(r.k, ifnet.AFInet).Add(h)
	send := func() { in.input(udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 8)) }
	send()
	out.one()
	if d := cmp.Diff([]string{"em0 in", "em1 out"}, h.seen); d != "" {
		t.Error(d)
	}
	h.fn = func(c *mbuf.Cache, dir ifnet.PfilDir, m **mbuf.Mbuf) ifnet.PfilResult {
		if dir == ifnet.PfilOut {
			c.FreeChain(*m)
			return ifnet.PfilDropped
		}
		return ifnet.PfilPass
	}
	send()
	out.none()
	h.fn = func(_ *mbuf.Cache, dir ifnet.PfilDir, m **mbuf.Mbuf) ifnet.PfilResult {
		if dir == ifnet.PfilOut {
			b := (*m).Bytes()
			b[ipDstOff+3] = 2
			binary.BigEndian.PutUint16(b[ipSumOff:], 0)
			binary.BigEndian.PutUint16(b[ipSumOff:], headerSum(b[:ipHdrLen]))
		}
		return ifnet.PfilPass
	}
	send()
	if e := layer[*layers.Ethernet](t, out.one()); !bytes.Equal(e.DstMAC, badMAC[:]) {
		t.Errorf("went to %v", e.DstMAC)
	}
	r.noLeak()
}

func TestForwardAllocatesNothing(t *testing.T) {
	r, in, out := router(t)
	out.quiet = true
	f := udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 18)
	step := func() {
		in.InputCache(r.c, r.packet(in, f))
	}
	if got := testing.AllocsPerRun(1000, step); got > 0 {
		t.Errorf("%v allocations a packet", got)
	}
}

func BenchmarkForward64(b *testing.B) {
	r := newRigWith(b, kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock})
	in, out := routerOn(r)
	out.quiet = true
	f := udp4(b, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 18)
	b.ReportAllocs()
	for b.Loop() {
		m := r.c.GetCl(mbuf.FlagPktHdr)
		m.SetLen(copy(m.Room(), f))
		m.Pkt.Len, m.Pkt.RcvIf = int32(len(f)), in.Ifnet
		in.InputCache(r.c, m)
	}
}
