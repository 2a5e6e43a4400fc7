package iflib_test

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
)

const (
	minMSS     = 64
	maxTSO     = 65535 // bytes of a packet with its headers
	fullBuffer = 4096
)

// tsoWays calls f for each address family that the part segments.
func tsoWays(w *wire, f func(v6 bool)) {
	f(false)
	if w.kind.tso6 {
		f(true)
	}
}

// everySegmentSizeUpToTheMTU cuts packets of up to four segments and a rest. With
// -short each part and path takes its share of the sizes, all of which are tried then
// by one or the other.
func everySegmentSizeUpToTheMTU(t *testing.T, w *wire) {
	first, step := minMSS, 1
	if testing.Short() {
		first, step = minMSS+w.way, len(kinds)*len(paths)
	}
	tsoWays(w, func(v6 bool) {
		base := shapes.Spec{V6: v6, TCI: -1, Offload: shapes.OffloadIP | shapes.OffloadL4, Flags: shapes.TCPAck | shapes.TCPPsh, ID: 0xfffe, Seq: 0xffffff00}
		l3, l4 := base.Headers()
		for mss := first; mss <= stdMTU-l3-l4; mss += step {
			s := base
			s.MSS = mss
			s.Payload = shapes.Random(uint64(mss), mss*(1+mss%4)+mss*7%(mss+3))
			w.cross(w.packet(s), []shapes.Piece{{N: shapes.EtherHdr + l3 + l4}, {N: min(len(s.Payload), fullBuffer)}})
		}
	})
}

func segmentedPacketsOfEveryShape(t *testing.T, w *wire) {
	w.rapid(t, func(rt *rapid.T) {
		s := shapes.Spec{TCI: -1, Offload: shapes.OffloadIP | shapes.OffloadL4, Seq: rapid.Uint32().Draw(rt, "seq"), ID: rapid.Uint16().Draw(rt, "id"),
			V6: w.kind.tso6 && rapid.Bool().Draw(rt, "v6"), TCPOpts: 4 * rapid.IntRange(0, 10).Draw(rt, "tcp options"),
			Flags: shapes.TCPAck | uint8(rapid.SampledFrom([]int{0, shapes.TCPPsh, shapes.TCPFin, shapes.TCPPsh | shapes.TCPFin}).Draw(rt, "flags"))}
		if !s.V6 {
			s.IPOpts = 4 * rapid.SampledFrom([]int{0, 1, 10}).Draw(rt, "ip options")
		}
		if rapid.Bool().Draw(rt, "tag") {
			s.TCI, s.Inline = rapid.IntRange(0, 0xffff).Draw(rt, "tci"), rapid.Bool().Draw(rt, "inline")
		}
		l3, l4 := s.Headers()
		s.MSS = rapid.IntRange(minMSS, stdMTU-l3-l4).Draw(rt, "mss")
		least := 0
		if w.kind.pads {
			least = shapes.MinFrame - shapes.EtherHdr - shapes.MinIPv4 - shapes.MinTCP // what is padded would be cut as well
		}
		s.Payload = shapes.Random(uint64(s.Seq), rapid.IntRange(least, min(maxTSO-l3-l4, 40*s.MSS)).Draw(rt, "payload"))
		p := w.packet(s)
		w.cross(p, drawCut(rt, len(p.Data)))
	})
}

// largestPacketIsSegmented cuts 64 KiB into 103 frames (a receiver that has just come
// up has 128 buffers), and, with a jumbo MTU,
// into eight.
func largestPacketIsSegmented(t *testing.T, w *wire) {
	for _, mss := range []int{640, stdMTU - 52, jumboMTU - 52} {
		if mss > stdMTU {
			w.mtu(jumboMTU)
		}
		tsoWays(w, func(v6 bool) {
			s := shapes.Spec{V6: v6, TCPOpts: 12, TCI: 0x4abc, MSS: mss, Offload: shapes.OffloadIP | shapes.OffloadL4, Flags: shapes.TCPAck | shapes.TCPPsh | shapes.TCPFin}
			l3, l4 := s.Headers()
			if v6 {
				s.MSS -= shapes.MinIPv6 - shapes.MinIPv4
			}
			s.Payload = shapes.Random(1, maxTSO-l3-l4)
			cut := shapes.Pieces(shapes.EtherHdr + l3 + l4)
			for n := len(s.Payload); n > 0; n -= fullBuffer {
				cut = append(cut, shapes.Piece{N: min(n, fullBuffer)})
			}
			w.cross(w.packet(s), cut)
		})
	}
}

// segmentsOfKnownPacket has the bytes of case 15: 4096 bytes in segments of 1448.
func segmentsOfKnownPacket(t *testing.T, w *wire) {
	const mss, payload, seq = 1448, 4096, 1000
	s := shapes.Spec{Payload: shapes.Random(2, payload), MSS: mss, Flags: shapes.TCPPsh | shapes.TCPAck, ID: 7, Seq: seq, TCI: -1, Offload: shapes.OffloadIP | shapes.OffloadL4}
	p := w.packet(s)
	w.must(w.ifp[0].Transmit(w.mbuf(p, shapes.Pieces(shapes.EtherHdr+shapes.MinIPv4+shapes.MinTCP, 2048, 2048))))
	w.settle()
	got := w.take(1)
	want := []struct {
		len, ipLen, id uint16
		flags          byte
	}{{1502, 1488, 7, shapes.TCPAck}, {1502, 1488, 8, shapes.TCPAck}, {1254, 1240, 9, shapes.TCPPsh | shapes.TCPAck}}
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i, a := range got {
		b, v := a.data, want[i]
		ip, tcp := b[shapes.EtherHdr:], b[shapes.EtherHdr+shapes.MinIPv4:]
		if len(b) != int(v.len) || binary.BigEndian.Uint16(ip[2:]) != v.ipLen || binary.BigEndian.Uint16(ip[4:]) != v.id ||
			binary.BigEndian.Uint32(tcp[4:]) != seq+uint32(i)*mss || tcp[13] != v.flags {
			t.Errorf("frame %d: %d bytes, %x", i, len(b), b[:54])
		}
		w.must(shapes.Reserialize(b))
	}
}
