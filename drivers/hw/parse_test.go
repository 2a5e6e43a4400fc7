package hw

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func TestParseFindsTheHeadersOfEveryFlow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFlow(rt)
		frame := build(t, f)
		l3, l4, payload := f.offsets()
		var h Headers
		h.Parse(frame, len(frame))
		want := Headers{L3: l3, L4: l4, Payload: payload, L3End: len(frame), Proto: ProtoTCP, EtherType: EtherIPv4, Kind: IPv4, TCPFlags: f.flags}
		if f.vlan >= 0 {
			want.Tags = 1
		}
		if f.v6 {
			want.EtherType, want.Kind = EtherIPv6, IPv6
			if f.ipOpts != 0 {
				want.Kind |= IPv6Ext
			}
		} else if f.ipOpts != 0 {
			want.Kind |= IPv4Opts
		}
		if f.udp {
			want.Proto, want.TCPFlags = ProtoUDP, 0
			want.Kind |= UDP
		} else {
			want.Kind |= TCP
		}
		if h != want {
			rt.Fatalf("got  %+v\nwant %+v", h, want)
		}
		ip := CsumGood
		if f.v6 {
			ip = NotChecked
		}
		if got := h.CheckIP(frame); got != ip {
			rt.Fatalf("IP verdict %v, want %v", got, ip)
		}
		if got := h.CheckL4(frame); got != CsumGood {
			rt.Fatalf("L4 verdict %v", got)
		}
		frame[rapid.IntRange(l4+8, len(frame)-1).Draw(rt, "broken byte")] ^= 0x40
		h.Parse(frame, len(frame))
		if f.udp && binary.BigEndian.Uint16(frame[l4+udpCsum:]) != 0 || h.Has(TCP) && h.Payload == payload {
			if got := h.CheckL4(frame); got != CsumBad {
				rt.Fatalf("L4 verdict %v on a broken frame", got)
			}
		}
	})
}

func TestParsePaddedFrame(t *testing.T) {
	frame := build(t, flow{vlan: -1, payload: []byte("x")})
	frame = append(frame, Pad(len(frame))...)
	var h Headers
	h.Parse(frame, len(frame))
	if len(frame) != MinFrame || h.L3End != 55 || h.CheckL4(frame) != CsumGood {
		t.Errorf("%d bytes, L3End %d, L4 %v", len(frame), h.L3End, h.CheckL4(frame))
	}
}

func TestParseReportsNoLayer4OfFragments(t *testing.T) {
	for _, field := range []uint16{0x2000, 0x0001, 0x3fff} {
		frame := build(t, flow{vlan: -1, payload: pattern(40)})
		binary.BigEndian.PutUint16(frame[EtherHdrLen+6:], field)
		var h Headers
		h.Parse(frame, len(frame))
		if h.Kind != IPv4|Fragment || h.L4 != 0 || h.CheckL4(frame) != NotChecked {
			t.Errorf("offset word %#x: %+v", field, h)
		}
	}
	frame := build(t, flow{v6: true, ipOpts: 8, vlan: -1, payload: pattern(40)})
	frame[EtherHdrLen+6] = protoFragment
	clear(frame[EtherHdrLen+IPv6HdrLen+1 : EtherHdrLen+IPv6HdrLen+8])
	var h Headers
	if h.Parse(frame, len(frame)); h.Kind != IPv6|IPv6Ext|TCP {
		t.Errorf("atomic fragment: %+v", h)
	}
	frame[EtherHdrLen+IPv6HdrLen+3] = 1 // more fragments
	if h.Parse(frame, len(frame)); h.Kind != IPv6|IPv6Ext|Fragment || h.L4 != 0 || h.Proto != ProtoTCP {
		t.Errorf("first fragment: %+v", h)
	}
}

func TestParseMarksBadIP(t *testing.T) {
	good := build(t, flow{vlan: -1, payload: pattern(40)})
	for name, change := range map[string]func(ip []byte){
		"version":       func(ip []byte) { ip[0] = 0x65 },
		"header length": func(ip []byte) { ip[0] = 0x44 },
		"total short":   func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 19) },
		"total long":    func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 81) },
		"zero total":    func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 0) },
	} {
		frame := append([]byte(nil), good...)
		change(frame[EtherHdrLen:])
		var h Headers
		h.Parse(frame, len(frame))
		if h.Kind != IPv4|BadIP || h.L4 != 0 || h.CheckIP(frame) != NotChecked || h.CheckL4(frame) != NotChecked {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestParseSkipsTwoTags(t *testing.T) {
	frame := build(t, flow{vlan: 200, payload: pattern(40)})
	buf := append(make([]byte, VLANLen), frame...)
	pushTag(buf, TPID8021AD, 100)
	var h Headers
	h.Parse(buf, len(buf))
	if h.Tags != 2 || h.L3 != 22 || !h.Has(TCP) {
		t.Errorf("%+v", h)
	}
	if tci, ok := Tag(buf, TPID8021AD); !ok || tci != 100 {
		t.Errorf("outer tag %d %v", tci, ok)
	}
}

func TestCheckL4SkipsUDPWithoutChecksum(t *testing.T) {
	frame := build(t, flow{udp: true, vlan: -1, payload: pattern(40), badCsums: true})
	var h Headers
	h.Parse(frame, len(frame))
	if got := h.CheckL4(frame); got != NotChecked {
		t.Errorf("verdict %v, want not checked", got)
	}
}

func TestCheckL4JudgesSCTP(t *testing.T) {
	frame := build(t, flow{udp: true, vlan: -1, payload: pattern(40)})
	frame[EtherHdrLen+9] = ProtoSCTP
	l4 := frame[EtherHdrLen+IPv4HdrLen:]
	var h Headers
	h.Parse(frame, len(frame))
	if got := h.CheckL4(frame); got != CsumBad {
		t.Errorf("verdict %v, want bad", got)
	}
	binary.LittleEndian.PutUint32(l4[sctpCsum:], CRC32cGather([][]byte{l4}, 0, len(l4), sctpCsum))
	if got := h.CheckL4(frame); got != CsumGood {
		t.Errorf("verdict %v, want good", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(build(f, flow{vlan: 5, payload: []byte("hello")}), 0)
	f.Add(build(f, flow{v6: true, ipOpts: 24, vlan: -1, payload: []byte("hello")}), 0)
	f.Add(build(f, flow{udp: true, ipOpts: 8, vlan: -1, payload: []byte("hello")}), 20)
	key := NewToeplitz([]byte("some key"))
	f.Fuzz(func(t *testing.T, frame []byte, more int) {
		var h Headers
		h.Parse(frame, len(frame)+max(more, 0)%4096)
		if h.L4 != 0 && (h.L4 < h.L3 || h.Payload <= h.L4 || h.Payload > h.L3End || h.Payload > len(frame)) {
			t.Fatalf("%+v in %d bytes", h, len(frame))
		}
		if h.Kind&(TCP|UDP|SCTP) != 0 && h.L4 == 0 {
			t.Fatalf("layer 4 without place: %+v", h)
		}
		h.CheckIP(frame)
		h.CheckL4(frame)
		key.Hash(frame, &h, 0xffff)
	})
}

func BenchmarkParse(b *testing.B) {
	frame := build(b, flow{vlan: -1, payload: pattern(1300)})
	var h Headers
	b.ReportAllocs()
	for b.Loop() {
		h.Parse(frame, len(frame))
	}
}
