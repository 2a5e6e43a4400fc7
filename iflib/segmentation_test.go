package iflib_test

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
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
		base := spec{v6: v6, tci: -1, offload: offloadIP | offloadL4, flags: tcpAck | tcpPsh, id: 0xfffe, seq: 0xffffff00}
		l3, l4 := base.headers()
		for mss := first; mss <= stdMTU-l3-l4; mss += step {
			s := base
			s.mss = mss
			s.payload = random(uint64(mss), mss*(1+mss%4)+mss*7%(mss+3))
			w.cross(w.packet(s), []piece{{n: etherHdr + l3 + l4}, {n: min(len(s.payload), fullBuffer)}})
		}
	})
}

func segmentedPacketsOfEveryShape(t *testing.T, w *wire) {
	w.rapid(t, func(rt *rapid.T) {
		s := spec{tci: -1, offload: offloadIP | offloadL4, seq: rapid.Uint32().Draw(rt, "seq"), id: rapid.Uint16().Draw(rt, "id"),
			v6: w.kind.tso6 && rapid.Bool().Draw(rt, "v6"), tcpOpts: 4 * rapid.IntRange(0, 10).Draw(rt, "tcp options"),
			flags: tcpAck | uint8(rapid.SampledFrom([]int{0, tcpPsh, tcpFin, tcpPsh | tcpFin}).Draw(rt, "flags"))}
		if !s.v6 {
			s.ipOpts = 4 * rapid.SampledFrom([]int{0, 1, 10}).Draw(rt, "ip options")
		}
		if rapid.Bool().Draw(rt, "tag") {
			s.tci, s.inline = rapid.IntRange(0, 0xffff).Draw(rt, "tci"), rapid.Bool().Draw(rt, "inline")
		}
		l3, l4 := s.headers()
		s.mss = rapid.IntRange(minMSS, stdMTU-l3-l4).Draw(rt, "mss")
		least := 0
		if w.kind.pads {
			least = minFrame - etherHdr - minIPv4 - minTCP // what is padded would be cut as well
		}
		s.payload = random(uint64(s.seq), rapid.IntRange(least, min(maxTSO-l3-l4, 40*s.mss)).Draw(rt, "payload"))
		p := w.packet(s)
		w.cross(p, drawCut(rt, len(p.data)))
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
			s := spec{v6: v6, tcpOpts: 12, tci: 0x4abc, mss: mss, offload: offloadIP | offloadL4, flags: tcpAck | tcpPsh | tcpFin}
			l3, l4 := s.headers()
			if v6 {
				s.mss -= minIPv6 - minIPv4
			}
			s.payload = random(1, maxTSO-l3-l4)
			cut := pieces(etherHdr + l3 + l4)
			for n := len(s.payload); n > 0; n -= fullBuffer {
				cut = append(cut, piece{n: min(n, fullBuffer)})
			}
			w.cross(w.packet(s), cut)
		})
	}
}

// segmentsOfKnownPacket has the bytes of case 15: 4096 bytes in segments of 1448.
func segmentsOfKnownPacket(t *testing.T, w *wire) {
	const mss, payload, seq = 1448, 4096, 1000
	s := spec{payload: random(2, payload), mss: mss, flags: tcpPsh | tcpAck, id: 7, seq: seq, tci: -1, offload: offloadIP | offloadL4}
	p := w.packet(s)
	w.must(w.ifp[0].Transmit(w.mbuf(p, pieces(etherHdr+minIPv4+minTCP, 2048, 2048))))
	w.settle()
	got := w.take(1)
	want := []struct {
		len, ipLen, id uint16
		flags          byte
	}{{1502, 1488, 7, tcpAck}, {1502, 1488, 8, tcpAck}, {1254, 1240, 9, tcpPsh | tcpAck}}
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i, a := range got {
		b, v := a.data, want[i]
		ip, tcp := b[etherHdr:], b[etherHdr+minIPv4:]
		if len(b) != int(v.len) || binary.BigEndian.Uint16(ip[2:]) != v.ipLen || binary.BigEndian.Uint16(ip[4:]) != v.id ||
			binary.BigEndian.Uint32(tcp[4:]) != seq+uint32(i)*mss || tcp[13] != v.flags {
			t.Errorf("frame %d: %d bytes, %x", i, len(b), b[:54])
		}
		reserialize(t, b)
	}
}
