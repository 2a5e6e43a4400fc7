package pktgen8

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet"
)

// makeFrame makes the frame of parameters without a machine.
func makeFrame(t testing.TB, p Params) *frame {
	t.Helper()
	j := &job{p: settings{p}, ifp: new(ifnet.Ifnet)}
	j.p.fill()
	must(t, j.p.check(9000))
	if p.Src == "" {
		j.p.Src = "02:00:00:00:00:01"
	}
	must(t, j.addresses())
	return newFrame(&j.p, j.wheels, j.src, j.dst, 0)
}

// packet is what is in a frame, whose lengths and checksums must be as gopacket has them.
type packet struct {
	srcMAC, dstMAC string
	src, dst       netip.AddrPort
	size           int
}

func decode(t testing.TB, b []byte) packet {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	eth, _ := p.LinkLayer().(*layers.Ethernet)
	udp, _ := p.TransportLayer().(*layers.UDP)
	net := p.NetworkLayer()
	if eth == nil || net == nil || udp == nil || p.ErrorLayer() != nil {
		t.Fatalf("frame of %d bytes is %v", len(b), p)
	}
	if udp.Checksum == 0 || int(udp.Length) != len(udp.Payload)+8 {
		t.Errorf("frame of %d bytes: UDP checksum %#x, length %d", len(b), udp.Checksum, udp.Length)
	}
	must(t, udp.SetNetworkLayerForChecksum(net))
	out := gopacket.NewSerializeBuffer()
	must(t, gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		eth, net.(gopacket.SerializableLayer), udp, gopacket.Payload(udp.Payload)))
	if !slices.Equal(out.Bytes(), b) {
		t.Fatalf("frame\n%x, should be\n%x", b, out.Bytes())
	}
	src, _ := netip.AddrFromSlice(net.NetworkFlow().Src().Raw())
	dst, _ := netip.AddrFromSlice(net.NetworkFlow().Dst().Raw())
	return packet{eth.SrcMAC.String(), eth.DstMAC.String(), netip.AddrPortFrom(src, uint16(udp.SrcPort)), netip.AddrPortFrom(dst, uint16(udp.DstPort)), len(b)}
}

func (f *frame) now(t testing.TB) packet { return decode(t, f.bytes[:f.size]) }

// Case 37: whatever the length, lengths and checksums are right.
func TestFramesOfEveryLengthAreRight(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		first := (&settings{Params{IPv6: ipv6}}).leastSize()
		for size := first; size <= 1514; size++ {
			f := makeFrame(t, Params{Size: size, IPv6: ipv6})
			if got := f.now(t); got.size != size {
				t.Fatalf("%d bytes: %+v", size, got)
			}
		}
	}
}

func TestTheDefaultsArePktGens(t *testing.T) {
	got := makeFrame(t, Params{Src: "02:00:00:00:00:01"}).now(t)
	want := packet{"02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff", netip.MustParseAddrPort("10.0.0.1:1234"), netip.MustParseAddrPort("10.1.0.1:1234"), 60}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := makeFrame(t, Params{IPv6: true}).now(t); got.size != 62 {
		t.Errorf("%+v", got)
	}
}

// walk is the flows of the first n frames.
func walk(t testing.TB, p Params, n int) []string {
	f := makeFrame(t, p)
	var list []string
	for range n {
		k := f.now(t)
		list = append(list, k.src.String()+">"+k.dst.String())
		f.next()
	}
	return list
}

func TestRangesAreWalkedAsPktGenDoes(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Params
		want []string
	}{
		{"ports, then addresses, of the source, then of the destination",
			Params{SrcIP: "10.0.0.1:7-10.0.0.2:8", DstIP: "10.9.0.1:1-10.9.0.2"}, []string{
				"10.0.0.1:7>10.9.0.1:1", "10.0.0.1:8>10.9.0.1:1", "10.0.0.2:7>10.9.0.1:1", "10.0.0.2:8>10.9.0.1:1",
				"10.0.0.1:7>10.9.0.2:1", "10.0.0.1:8>10.9.0.2:1", "10.0.0.2:7>10.9.0.2:1", "10.0.0.2:8>10.9.0.2:1",
				"10.0.0.1:7>10.9.0.1:1"}},
		{"across the bytes of an address", Params{DstIP: "10.0.0.255-10.0.1.0"}, []string{
			"10.0.0.1:1234>10.0.0.255:1234", "10.0.0.1:1234>10.0.1.0:1234", "10.0.0.1:1234>10.0.0.255:1234"}},
		{"ends the wrong way round", Params{DstIP: "10.0.0.2:9-10.0.0.1:8"}, []string{
			"10.0.0.1:1234>10.0.0.1:8", "10.0.0.1:1234>10.0.0.1:9", "10.0.0.1:1234>10.0.0.2:8", "10.0.0.1:1234>10.0.0.2:9"}},
		{"the last group of IPv6", Params{IPv6: true, SrcIP: "fd00::1", DstIP: "[fd00::fffe]:1-[fd00::ffff]:1"}, []string{
			"[fd00::1]:1234>[fd00::fffe]:1", "[fd00::1]:1234>[fd00::ffff]:1", "[fd00::1]:1234>[fd00::fffe]:1"}},
		{"another group", Params{IPv6: true, SrcIP: "fd00::1", DstIP: "2@fd00:0:1::1-2@fd00:0:2::1"}, []string{
			"[fd00::1]:1234>[fd00:0:1::1]:1234", "[fd00::1]:1234>[fd00:0:2::1]:1234", "[fd00::1]:1234>[fd00:0:1::1]:1234"}},
		{"one flow", Params{}, []string{"10.0.0.1:1234>10.1.0.1:1234", "10.0.0.1:1234>10.1.0.1:1234"}},
	} {
		if d := cmp.Diff(c.want, walk(t, c.p, len(c.want))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestStationsAreWalkedLast(t *testing.T) {
	f := makeFrame(t, Params{SrcIP: "10.0.0.1:1-10.0.0.1:2", Dst: "02:00:00:00:00:fe-02:00:00:00:01:00"})
	var got []string
	for range 8 {
		k := f.now(t)
		got = append(got, k.src.String()+" "+k.dstMAC)
		f.next()
	}
	want := []string{"10.0.0.1:1 02:00:00:00:00:fe", "10.0.0.1:2 02:00:00:00:00:fe", "10.0.0.1:1 02:00:00:00:00:ff", "10.0.0.1:2 02:00:00:00:00:ff",
		"10.0.0.1:1 02:00:00:00:01:00", "10.0.0.1:2 02:00:00:00:01:00", "10.0.0.1:1 02:00:00:00:00:fe", "10.0.0.1:2 02:00:00:00:00:fe"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRandomAddressesLeaveTheOtherEndToItsRange(t *testing.T) {
	f := makeFrame(t, Params{RandomSrc: true, DstIP: "10.0.0.1:1-10.0.0.1:3"})
	sources := map[netip.AddrPort]bool{}
	for i := range 300 {
		f.next()
		k := f.now(t)
		sources[k.src] = true
		if want := uint16((i+1)%3 + 1); k.dst.Port() != want {
			t.Fatalf("step %d: port %d, want %d", i, k.dst.Port(), want)
		}
	}
	if len(sources) < 299 {
		t.Errorf("%d sources", len(sources))
	}
	// What a range of the source has not come round for, is not drawn.
	f = makeFrame(t, Params{RandomDst: true, SrcIP: "10.0.0.1:1-10.0.0.1:4"})
	was, drawn := f.now(t).dst, 0
	for range 40 {
		f.next()
		if k := f.now(t); k.dst != was {
			was = k.dst
			drawn++
		}
	}
	if drawn != 10 {
		t.Errorf("drawn %d times, want 10", drawn)
	}
}

func TestRandomSizesStayInTheirRange(t *testing.T) {
	f := makeFrame(t, Params{Size: 100, MinSize: 64})
	seen := map[int]bool{}
	for range 2000 {
		f.next()
		k := f.now(t)
		seen[k.size] = true
		if k.size < 64 || k.size >= 100 {
			t.Fatalf("%d bytes", k.size)
		}
	}
	if len(seen) != 36 {
		t.Errorf("%d sizes of 36", len(seen))
	}
}

func TestAUDPChecksumOfZeroIsSentAsOnes(t *testing.T) {
	f := makeFrame(t, Params{SrcIP: "10.0.0.1:0-10.0.0.1:65535"})
	ones := 0
	for range 1 << 16 {
		switch binary.BigEndian.Uint16(f.bytes[f.udpAt+udpSumAt:]) {
		case 0:
			t.Fatal("a frame says that it has no checksum")
		case 0xffff:
			ones++
		}
		f.next()
	}
	if ones == 0 {
		t.Error("no checksum was zero")
	}
}

// The hash is one of the flow: equal for equal ones, and its low bits spread others.
func TestFlowsHaveHashes(t *testing.T) {
	const flows, buckets = 4096, 8
	f := makeFrame(t, Params{SrcIP: "10.0.0.1-10.0.15.255"})
	first := f.flow
	var seen [buckets]int
	for range flows - 1 {
		seen[f.flow%buckets]++
		f.next()
	}
	for i, n := range seen {
		if n < flows/buckets*3/4 {
			t.Errorf("bucket %d has %d of %d flows", i, n, flows)
		}
	}
	if f.flow != first { // the range has come round
		t.Errorf("the same flow has hashes %#x and %#x", first, f.flow)
	}
}

func TestWhatIsTurnedTwiceIsAsItWas(t *testing.T) {
	self := [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 9}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 14, 80).Draw(t, "frame")
		b[0], b[6] = b[0]&^1, b[6]&^1 // stations, not groups
		if rapid.Bool().Draw(t, "ip") {
			copy(b[12:], rapid.SampledFrom([]string{"\x08\x00", "\x86\xdd"}).Draw(t, "type"))
		}
		l := letter{frame: slices.Clone(b)}
		l.turn(self)
		if !slices.Equal(l.frame[:6], b[6:12]) || !slices.Equal(l.frame[6:12], b[:6]) {
			t.Fatalf("stations of %x became %x", b[:12], l.frame[:12])
		}
		l.turn(self)
		if !slices.Equal(l.frame, b) {
			t.Fatalf("%x became %x", b, l.frame)
		}
	})
}

func TestWhatIsTurnedHasItsEndsExchanged(t *testing.T) {
	self := [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 9}
	for _, ipv6 := range []bool{false, true} {
		f := makeFrame(t, Params{IPv6: ipv6, Size: 80})
		was := f.now(t)
		l := letter{frame: slices.Clone(f.bytes)}
		l.turn(self)
		// pkt-gen leaves the ports. What went to everybody comes from the interface.
		want := packet{"02:00:00:00:00:09", was.srcMAC, netip.AddrPortFrom(was.dst.Addr(), 1234), netip.AddrPortFrom(was.src.Addr(), 1234), 80}
		if got := decode(t, l.frame); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
