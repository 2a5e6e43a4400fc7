package hw

import (
	"encoding/hex"
	"math/bits"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func verificationKey(t testing.TB) []byte {
	t.Helper()
	key, err := hex.DecodeString(strings.ReplaceAll(
		"6d 5a 56 da 25 5b 0e c2 41 67 25 3d 43 a3 8f b0 d0 ca 2b cb ae 7b 30 b4 77 cb 2d a3 80 30 f2 0c 6a 42 b7 3b be ac 01 fa", " ", ""))
	must(t, err)
	return key
}

// vectors are those of spec ifnet 11.2.
var vectors = []struct {
	src   string
	sport uint16
	dst   string
	dport uint16
	two   uint32
	four  uint32
}{
	{"66.9.149.187", 2794, "161.142.100.80", 1766, 0x323e8fc2, 0x51ccc178},
	{"199.92.111.2", 14230, "65.69.140.83", 4739, 0xd718262a, 0xc626b0ea},
	{"24.19.198.95", 12898, "12.22.207.184", 38024, 0xd2d0a5de, 0x5c2b394a},
	{"38.27.205.30", 48228, "209.142.163.6", 2217, 0x82989176, 0xafc7327f},
	{"153.39.163.191", 44251, "202.188.127.2", 1303, 0x5d1809c5, 0x10e828a2},
	{"3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc18cd5, 0x40207d3d},
	{"3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c461c, 0xdde51bbf},
	{"3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x4b61e985, 0x02d1feef},
	{"10.0.0.1", 1024, "10.0.0.2", 80, 0x02b7c9b1, 0xbec9357b},
}

func TestToeplitzVectors(t *testing.T) {
	tp := NewToeplitz(verificationKey(t))
	for _, v := range vectors {
		in := append(netip.MustParseAddr(v.src).AsSlice(), netip.MustParseAddr(v.dst).AsSlice()...)
		if got := tp.Sum(in); got != v.two {
			t.Errorf("%s -> %s: %#x, want %#x", v.src, v.dst, got, v.two)
		}
		in = append(in, byte(v.sport>>8), byte(v.sport), byte(v.dport>>8), byte(v.dport))
		if got := tp.Sum(in); got != v.four {
			t.Errorf("%s,%d -> %s,%d: %#x, want %#x", v.src, v.sport, v.dst, v.dport, got, v.four)
		}
	}
}

// slowToeplitz is the definition, bit by bit.
func slowToeplitz(key, in []byte) uint32 {
	bit := func(i int) uint32 {
		if i/8 >= len(key) || i/8 >= RSSKeyLen {
			return 0
		}
		return uint32(key[i/8]>>(7-i%8)) & 1
	}
	var h uint32
	for i := range len(in) * 8 {
		if in[i/8]>>(7-i%8)&1 == 0 {
			continue
		}
		var w uint32
		for b := range 32 {
			w = w<<1 | bit(i+b)
		}
		h ^= w
	}
	return h
}

func TestToeplitzAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 52).Draw(t, "key")
		in := rapid.SliceOfN(rapid.Byte(), 0, maxHashInput).Draw(t, "input")
		at := rapid.IntRange(0, len(in)).Draw(t, "split")
		tp := NewToeplitz(key)
		want := slowToeplitz(key, in)
		if got := tp.Sum(in); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
		if got := tp.sumAt(0, in[:at]) ^ tp.sumAt(at, in[at:]); got != want {
			t.Fatalf("in two parts %#x, want %#x", got, want)
		}
	})
}

func TestHashTakesTheMostSpecialEnabledType(t *testing.T) {
	tp := NewToeplitz(verificationKey(t))
	all := RSSTypes(0x3fe)
	for _, c := range []struct {
		f       flow
		enabled RSSTypes
		want    RSSType
	}{
		{flow{}, all, RSSTCPIPv4},
		{flow{}, RSSIPv4.Set() | RSSUDPIPv4.Set(), RSSIPv4},
		{flow{}, RSSIPv6.Set(), RSSNone},
		{flow{udp: true}, all, RSSUDPIPv4},
		{flow{v6: true}, all, RSSTCPIPv6},
		{flow{v6: true, ipOpts: 8}, all, RSSTCPIPv6Ex},
		{flow{v6: true, ipOpts: 8}, all &^ RSSTCPIPv6Ex.Set(), RSSIPv6Ex},
		{flow{v6: true, ipOpts: 8}, RSSIPv6.Set() | RSSTCPIPv6.Set(), RSSNone},
		{flow{v6: true}, RSSTCPIPv6Ex.Set(), RSSTCPIPv6Ex},
		{flow{v6: true, udp: true}, all, RSSUDPIPv6},
		{flow{v6: true, udp: true}, RSSIPv6Ex.Set(), RSSIPv6Ex},
	} {
		c.f.vlan, c.f.payload = -1, pattern(20)
		frame := build(t, c.f)
		var h Headers
		h.Parse(frame, len(frame))
		hash, typ := tp.Hash(frame, &h, c.enabled)
		in := frame[h.L3+12 : h.L3+20]
		if c.f.v6 {
			in = frame[h.L3+8 : h.L3+40]
		}
		want := uint32(0)
		switch typ {
		case RSSNone:
		case RSSIPv4, RSSIPv6, RSSIPv6Ex:
			want = tp.Sum(in)
		default:
			want = tp.Sum(append(append([]byte(nil), in...), frame[h.L4:h.L4+4]...))
		}
		if typ != c.want || hash != want {
			t.Errorf("%+v of %#x: type %d hash %#x, want %d %#x", c.f, c.enabled, typ, hash, c.want, want)
		}
	}
}

func TestMulticastHashes(t *testing.T) {
	// 01:00:5e:00:00:01 has the little-endian CRC that every FreeBSD driver computes.
	mac := [6]byte{0x01, 0x00, 0x5e, 0x00, 0x00, 0x01}
	crc := uint32(0xffffffff)
	for _, b := range mac { // bit by bit, as ether_crc32_le without its table
		for range 8 {
			carry := (crc ^ uint32(b)) & 1
			crc >>= 1
			b >>= 1
			if carry != 0 {
				crc ^= 0xedb88320
			}
		}
	}
	if got := CRC32LE(mac); got != crc {
		t.Errorf("CRC32LE = %#x, want %#x", got, crc)
	}
	if got, want := CRC32BE(mac), bits.Reverse32(crc); got != want {
		t.Errorf("CRC32BE = %#x, want %#x", got, want)
	}
	for mo, k := range []int{0, 1, 2, 4} {
		m := [6]byte{0, 0, 0, 0, 0x34, 0x56}
		if got, want := MTAHash(m, mo), (uint16(m[4])>>(4-k)|uint16(m[5])<<(4+k))&0xfff; got != want {
			t.Errorf("MTAHash mo %d = %#x, want %#x", mo, got, want)
		}
		if got, want := MTAHashICH(m, mo), (uint16(m[4])>>(6-k)|uint16(m[5])<<(2+k))&0x3ff; got != want {
			t.Errorf("MTAHashICH mo %d = %#x, want %#x", mo, got, want)
		}
	}
}

func BenchmarkToeplitz4Tuple(b *testing.B) {
	tp := NewToeplitz(verificationKey(b))
	in := []byte{10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 0, 80}
	b.ReportAllocs()
	for b.Loop() {
		sink = tp.Sum(in)
	}
}
