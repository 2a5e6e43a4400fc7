package iflib_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// drawCut draws how a packet of n bytes is cut: 1 to 40 buffers with data, and empty
// ones between them.
func drawCut(t *rapid.T, n int) []piece {
	count := min(rapid.IntRange(1, 40).Draw(t, "buffers"), n)
	var cut []piece
	for left := n; left > 0; count-- {
		size := left
		if count > 1 {
			size = rapid.IntRange(1, min(left-count+1, max(2*left/count, 1))).Draw(t, "bytes")
		}
		size = min(size, jumboMTU) // no buffer holds more than 16 KiB
		p := piece{n: size, cluster: rapid.Bool().Draw(t, "cluster"), lead: rapid.IntRange(0, 7).Draw(t, "lead")}
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "empty") {
			cut = append(cut, piece{cluster: p.lead == 1})
		}
		cut = append(cut, p)
		left -= size
	}
	if rapid.Bool().Draw(t, "empty end") {
		cut = append(cut, piece{})
	}
	return cut
}

// drawPacket draws a packet without segmentation whose frame fits the MTU.
func drawPacket(t *rapid.T, w *wire, mtu int) *packet {
	dst, src := w.macs()
	tci, inline := -1, false
	switch rapid.IntRange(0, 3).Draw(t, "tag") {
	case 1:
		tci = rapid.IntRange(0, 0xffff).Draw(t, "tci")
	case 2:
		tci, inline = rapid.IntRange(0, 0xffff).Draw(t, "tci"), true
	}
	seed := rapid.Uint64().Draw(t, "seed")
	length := func(room int) int {
		return rapid.OneOf(rapid.IntRange(0, 64), rapid.IntRange(0, room), rapid.Just(room)).Draw(t, "payload")
	}
	if rapid.IntRange(0, 4).Draw(t, "raw") == 0 {
		return rawPacket(dst, src, random(seed, length(mtu)), tci, inline)
	}
	s := spec{v6: rapid.Bool().Draw(t, "v6"), udp: rapid.Bool().Draw(t, "udp"), tci: tci, inline: inline,
		offload: offload(rapid.IntRange(0, 3).Draw(t, "offload")), flags: tcpAck | tcpPsh, id: uint16(seed), seq: uint32(seed >> 16)}
	if !s.v6 {
		s.ipOpts = 4 * rapid.SampledFrom([]int{0, 0, 1, 2, 9, 10}).Draw(t, "ip options")
	}
	if !s.udp {
		s.tcpOpts = 4 * rapid.SampledFrom([]int{0, 0, 1, 3, 10}).Draw(t, "tcp options")
	}
	l3, l4 := s.headers()
	s.payload = random(seed, length(mtu-l3-l4))
	return w.packet(s)
}

func packetsOfEveryShapeCrossUnchanged(t *testing.T, w *wire) {
	for _, mtu := range []int{stdMTU, jumboMTU} {
		if mtu == jumboMTU {
			w.mtu(jumboMTU)
		}
		w.rapid(t, func(rt *rapid.T) {
			p := drawPacket(rt, w, mtu)
			w.cross(p, drawCut(rt, len(p.data)))
		})
	}
}

// headersSplitAtEveryOffset cuts the headers of each kind of packet in two at every
// byte, and once into single bytes, some of them behind empty buffers.
func headersSplitAtEveryOffset(t *testing.T, w *wire) {
	for _, s := range []spec{
		{tci: -1}, {tci: -1, udp: true, ipOpts: 40}, {tci: 0x2005, ipOpts: 8, tcpOpts: 12}, {tci: 0xe001, inline: true, tcpOpts: 40},
		{tci: -1, v6: true}, {tci: 7, inline: true, v6: true, udp: true}, {tci: 7, v6: true, tcpOpts: 40},
	} {
		s.payload, s.offload, s.flags = random(9, 300), offloadIP|offloadL4, tcpAck
		l3, l4 := s.headers()
		hdr := etherHdr + l3 + l4
		if s.inline {
			hdr += tagLen
		}
		for at := 1 + w.first(); at <= hdr; at += w.step() {
			w.cross(w.packet(s), pieces(at))
		}
		w.cross(w.packet(s), pieces(0, 0, etherHdr, 0, l3, 0, 0, l4))
		single := make([]int, 0, 2*hdr)
		for range hdr {
			single = append(single, 1, 0)
		}
		w.cross(w.packet(s), pieces(single...))
	}
}

func chainsOf1To40Buffers(t *testing.T, w *wire) {
	const size = 1480
	for n := 1 + w.first(); n <= 40; n += w.step() {
		for _, tso := range []int{0, 500} {
			s := spec{payload: random(uint64(n), size-40), tci: -1, offload: offloadIP | offloadL4, flags: tcpAck | tcpPsh, mss: tso}
			lens := make([]int, n)
			for i := range lens {
				lens[i] = (size + etherHdr) / n
			}
			w.cross(w.packet(s), pieces(lens...))
		}
	}
}

func framesBelowMinimumSizeArrivePaddedWithZeros(t *testing.T, w *wire) {
	dst, src := w.macs()
	for n := w.first(); n < minFrame-etherHdr+2; n += w.step() {
		b := bytes.Repeat([]byte{0xff}, n)
		w.cross(rawPacket(dst, src, b, -1, false), nil)
		w.cross(rawPacket(dst, src, b, 0x0123, false), pieces(etherHdr))
		if n <= minFrame-vlanHdr {
			w.cross(rawPacket(dst, src, b, 0x0123, true), nil)
		}
	}
}

// sharedDataIsNotWrittenTo sends copies that share their data with the original:
// headers are prepared in a copy.
func sharedDataIsNotWrittenTo(t *testing.T, w *wire) {
	for _, s := range []spec{{tci: -1}, {tci: 5}, {tci: -1, mss: 200}, {tci: -1, udp: true}} {
		if s.mss != 0 && w.kind.writes {
			continue
		}
		s.payload, s.offload, s.flags = random(5, 700), offloadIP|offloadL4, tcpAck
		p := w.packet(s)
		m := w.mbuf(p, []piece{{n: 100, cluster: true}, {n: 300, cluster: true}})
		p.data = append([]byte(nil), p.data...)
		n := w.cache.CopyPacket(m)
		w.must(w.ifp[0].Transmit(n))
		w.settle()
		w.check(p)
		after := make([]byte, m.Length())
		m.CopyData(0, after)
		if !bytes.Equal(after, p.data) {
			t.Errorf("%+v: the original is\n%x, was\n%x", s, after, p.data)
		}
		w.cache.FreeChain(m)
	}
}

// udpChecksumOfZeroIsSentAsOnes makes the sum of a datagram come out as zero.
func udpChecksumOfZeroIsSentAsOnes(t *testing.T, w *wire) {
	for _, v6 := range []bool{false, true} {
		s := spec{v6: v6, udp: true, tci: -1, payload: make([]byte, 20), offload: offloadIP | offloadL4}
		l3, l4 := s.headers()
		// Adding what is missing to a sum of ones.
		sum := binary.BigEndian.Uint16(s.network(s.payload, 0, 0, 0)[l3+udpCsumAt:])
		binary.BigEndian.PutUint16(s.payload, sum)
		p := w.packet(s)
		if got := p.want[0][etherHdr+l3+udpCsumAt : etherHdr+l3+l4]; !bytes.Equal(got, []byte{0xff, 0xff}) {
			t.Fatalf("the packet's checksum is %x", got)
		}
		w.cross(p, nil)
	}
}

// requestsThatDoNotFitThePacketAreIgnored asks for checksums of packets that have
// none: the parser takes the requests back.
func requestsThatDoNotFitThePacketAreIgnored(t *testing.T, w *wire) {
	dst, src := w.macs()
	p := rawPacket(dst, src, random(1, 100), 9, true)
	p.csum = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP
	w.cross(p, nil)
}
