package hw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cut runs a segmenter and returns its frames.
func cut(t testing.TB, s *Segmenter, tso *TSO, segs [][]byte) [][]byte {
	t.Helper()
	must(t, s.Begin(tso, segs))
	total := s.Segments()
	var out [][]byte
	for s.More() {
		hdr := make([]byte, s.HdrLen())
		out = append(out, append(hdr, join(s.Next(hdr, nil))...))
	}
	if total != len(out) || s.Segments() != len(out) {
		t.Fatalf("Segments said %d, then %d; there were %d", total, s.Segments(), len(out))
	}
	return out
}

func diffFrames(t testing.TB, what string, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d frames, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s: frame %d (-want +got)\n%s", what, i, cmp.Diff(fmt.Sprintf("% x", want[i]), fmt.Sprintf("% x", got[i])))
		}
	}
}

func TestSegmentsEqualGopacketsForEveryMSS(t *testing.T) {
	var s Segmenter
	for _, v6 := range []bool{false, true} {
		for mss := 64; mss <= 1460; mss++ {
			f := flow{v6: v6, vlan: -1, id: 0xfffe, seq: 0xfffffff0, flags: 0xff, payload: pattern(2*mss + mss/2 + 1)}
			packet := build(t, f)
			got := cut(t, &s, f.tso(mss), split(packet, len(packet)/3, len(packet)/2))
			diffFrames(t, fmt.Sprintf("v6 %v mss %d", v6, mss), got, f.want(t, mss))
		}
	}
}

func TestSegmentsDoNotDependOnWhereTheListIsCut(t *testing.T) {
	var s Segmenter
	for _, f := range []flow{
		{vlan: -1, tcpOpts: 12, flags: 0x19, payload: pattern(1001)},
		{vlan: 100, ipOpts: 8, flags: 0x98, payload: pattern(501)},
		{v6: true, vlan: -1, flags: 0x10, payload: pattern(701)},
		{v6: true, vlan: 0xe000, ipOpts: 16, tcpOpts: 4, flags: 0x18, payload: pattern(301)},
		{udp: true, vlan: -1, payload: pattern(450)},
	} {
		packet, want := build(t, f), f.want(t, 201)
		for at := range packet {
			got := cut(t, &s, f.tso(201), split(packet, at, min(at+1+at%5, len(packet))))
			diffFrames(t, fmt.Sprintf("%v cut at %d", f.v6, at), got, want)
		}
	}
}

func TestSegmentsEqualGopacketsForRandomPackets(t *testing.T) {
	var s Segmenter
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFlow(rt)
		mss := rapid.IntRange(1, 1500).Draw(rt, "mss")
		f.payload = f.payload[:min(len(f.payload), 20*mss)]
		got := cut(t, &s, f.tso(mss), drawSplit(rt, build(t, f)))
		diffFrames(t, "random", got, f.want(t, mss))
	})
}

// What iflib hands over with IFLIB_TSO_INIT_IP: case 15.
func TestSegmentsOfASeededPacketAreWhole(t *testing.T) {
	f := flow{vlan: -1, id: 7, seq: 1000, flags: 0x18, payload: pattern(4096)}
	packet := build(t, f)
	l3, l4, p := f.offsets()
	binary.BigEndian.PutUint16(packet[l3+ipCsum:], 0)
	binary.BigEndian.PutUint16(packet[l3+ipTotalLen:], 20+20+1448)
	binary.BigEndian.PutUint16(packet[l4+tcpCsum:], PseudoIPv4(packet[l3:], ProtoTCP, 0))
	tso := f.tso(1448)
	tso.Seeded = true
	var s Segmenter
	got := cut(t, &s, tso, split(packet, p))
	diffFrames(t, "case 15", got, f.want(t, 1448))
	for i, want := range []int{1502, 1502, 1254} {
		ip := got[i][l3:]
		if len(got[i]) != want || int(binary.BigEndian.Uint16(ip[ipTotalLen:])) != want-14 || binary.BigEndian.Uint16(ip[ipID:]) != uint16(7+i) {
			t.Errorf("segment %d: %d bytes, IP length %d, id %d", i, len(got[i]), binary.BigEndian.Uint16(ip[ipTotalLen:]), binary.BigEndian.Uint16(ip[ipID:]))
		}
	}
}

func TestSegmentsKeepWrongSeedWrong(t *testing.T) {
	f := flow{vlan: -1, flags: 0x10, payload: pattern(300)}
	packet := build(t, f)
	_, l4, _ := f.offsets()
	binary.BigEndian.PutUint16(packet[l4+tcpCsum:], 0) // a driver that forgot the seed
	tso := f.tso(100)
	tso.Seeded = true
	var s Segmenter
	var h Headers
	for _, frame := range cut(t, &s, tso, [][]byte{packet}) {
		h.Parse(frame, len(frame))
		if got := h.CheckL4(frame); got != CsumBad {
			t.Errorf("verdict %v on a frame without pseudo header sum, want bad", got)
		}
	}
}

func TestSegmentsHonourIDMaskAndFlagMasks(t *testing.T) {
	f := flow{vlan: -1, id: 0xffff, flags: 0xff, payload: pattern(300)}
	tso := f.tso(100)
	tso.IDMask = 0x7fff
	tso.FirstFlags, tso.MiddleFlags, tso.LastFlags = 0xff1, 0xff2, 0xff4
	var s Segmenter
	frames := cut(t, &s, tso, [][]byte{build(t, f)})
	l3, l4, _ := f.offsets()
	for i, want := range []struct {
		id    uint16
		flags uint8
	}{{0xffff, 0xf1}, {0x8000, 0xf2}, {0x8001, 0xf4}} {
		id, flags := binary.BigEndian.Uint16(frames[i][l3+ipID:]), frames[i][l4+13]
		if id != want.id || flags != want.flags {
			t.Errorf("segment %d: id %#x flags %#x, want %#x %#x", i, id, flags, want.id, want.flags)
		}
	}
}

func TestSegmentRefusesWhatMakesNoSense(t *testing.T) {
	f := flow{vlan: -1, payload: pattern(100)}
	packet := build(t, f)
	for name, change := range map[string]func(*TSO){
		"no MSS":              func(t *TSO) { t.MSS = 0 },
		"negative MSS":        func(t *TSO) { t.MSS = -1 },
		"headers too long":    func(t *TSO) { t.HdrLen = MaxHeader + 1 },
		"longer than packet":  func(t *TSO) { t.HdrLen = len(packet) + 1 },
		"IP in the addresses": func(t *TSO) { t.L3 = 13 },
		"IP overlaps TCP":     func(t *TSO) { t.L4 = t.L3 + 19 },
		"v6 needs 40":         func(t *TSO) { t.IPv6 = true },
		"TCP cut":             func(t *TSO) { t.HdrLen = t.L4 + 19 },
	} {
		var s Segmenter
		tso := f.tso(50)
		change(tso)
		if err := s.Begin(tso, [][]byte{packet}); !errors.Is(err, ErrSegment) || s.More() {
			t.Errorf("%s: error %v, more %v", name, err, s.More())
		}
	}
	var s Segmenter
	huge := append(packet[:54:54], make([]byte, 70000)...)
	if err := s.Begin(f.tso(65500), [][]byte{huge}); !errors.Is(err, ErrSegment) {
		t.Errorf("a segment beyond 65535 bytes: %v", err)
	}
	if err := s.Begin(f.tso(50), nil); !errors.Is(err, ErrSegment) {
		t.Errorf("no packet: %v", err)
	}
}

func FuzzSegment(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00\x45rest of a packet that is long enough for headers"), 54, 14, 34, 100, uint8(0), 20)
	f.Add(make([]byte, 200), 78, 18, 58, 7, uint8(7), 60)
	f.Fuzz(func(t *testing.T, packet []byte, hdrLen, l3, l4, mss int, bits uint8, at int) {
		tso := &TSO{HdrLen: hdrLen, L3: l3, L4: l4, MSS: mss, IPv6: bits&1 != 0, UDP: bits&2 != 0,
			IPCsum: bits&4 != 0, L4Csum: bits&8 != 0, Seeded: bits&16 != 0}
		var s Segmenter
		at = max(0, min(at, len(packet)))
		if s.Begin(tso, split(packet, at)) != nil {
			return
		}
		want := s.Segments()
		var data []byte
		frames := 0
		for s.More() {
			hdr := make([]byte, s.HdrLen())
			p := join(s.Next(hdr, nil))
			if len(p) > mss {
				t.Fatalf("payload of %d bytes, MSS %d", len(p), mss)
			}
			data = append(data, p...)
			if frames++; frames > len(packet)+1 {
				t.Fatal("more frames than bytes")
			}
		}
		if frames != want || !bytes.Equal(data, packet[hdrLen:]) {
			t.Fatalf("%d frames with %d bytes, announced %d with %d", frames, len(data), want, len(packet)-hdrLen)
		}
	})
}

func BenchmarkSegmentPerFrame(b *testing.B) {
	const mss, frames = 1448, 44
	f := flow{vlan: -1, tcpOpts: 12, flags: 0x18, payload: pattern(frames * mss)}
	packet := build(b, flow{vlan: -1, tcpOpts: 12, flags: 0x18})
	segs := append([][]byte{packet}, split(f.payload, 4096, 16384)...)
	var s Segmenter
	tso := f.tso(mss)
	var hdr [MaxHeader]byte
	list := make([][]byte, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		if !s.More() {
			if err := s.Begin(tso, segs); err != nil {
				b.Fatal(err)
			}
		}
		list = s.Next(hdr[:], list[:0])
	}
}
