package iflib_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// drawCut draws how a packet of n bytes is cut: 1 to 40 buffers with data, and empty
// ones between them.
func drawCut(t *rapid.T, n int) []shapes.Piece {
	count := min(rapid.IntRange(1, 40).Draw(t, "buffers"), n)
	var cut []shapes.Piece
	for left := n; left > 0; count-- {
		size := left
		if count > 1 {
			size = rapid.IntRange(1, min(left-count+1, max(2*left/count, 1))).Draw(t, "bytes")
		}
		size = min(size, jumboMTU) // no buffer holds more than 16 KiB
		p := shapes.Piece{N: size, Cluster: rapid.Bool().Draw(t, "cluster"), Lead: rapid.IntRange(0, 7).Draw(t, "lead")}
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "empty") {
			cut = append(cut, shapes.Piece{Cluster: p.Lead == 1})
		}
		cut = append(cut, p)
		left -= size
	}
	if rapid.Bool().Draw(t, "empty end") {
		cut = append(cut, shapes.Piece{})
	}
	return cut
}

// drawPacket draws a packet without segmentation whose frame fits the MTU.
func drawPacket(t *rapid.T, w *wire, mtu int) *shapes.Packet {
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
		return shapes.Raw(dst, src, shapes.Random(seed, length(mtu)), tci, inline)
	}
	s := shapes.Spec{V6: rapid.Bool().Draw(t, "v6"), UDP: rapid.Bool().Draw(t, "udp"), TCI: tci, Inline: inline,
		Offload: shapes.Offload(rapid.IntRange(0, 3).Draw(t, "offload")), Flags: shapes.TCPAck | shapes.TCPPsh, ID: uint16(seed), Seq: uint32(seed >> 16)}
	if !s.V6 {
		s.IPOpts = 4 * rapid.SampledFrom([]int{0, 0, 1, 2, 9, 10}).Draw(t, "ip options")
	}
	if !s.UDP {
		s.TCPOpts = 4 * rapid.SampledFrom([]int{0, 0, 1, 3, 10}).Draw(t, "tcp options")
	}
	l3, l4 := s.Headers()
	s.Payload = shapes.Random(seed, length(mtu-l3-l4))
	return w.packet(s)
}

func packetsOfEveryShapeCrossUnchanged(t *testing.T, w *wire) {
	for _, mtu := range []int{stdMTU, jumboMTU} {
		if mtu == jumboMTU {
			w.mtu(jumboMTU)
		}
		w.rapid(t, func(rt *rapid.T) {
			p := drawPacket(rt, w, mtu)
			w.cross(p, drawCut(rt, len(p.Data)))
		})
	}
}

// headersSplitAtEveryOffset cuts the headers of each kind of packet in two at every
// byte, and once into single bytes, some of them behind empty buffers.
func headersSplitAtEveryOffset(t *testing.T, w *wire) {
	for _, s := range []shapes.Spec{
		{TCI: -1}, {TCI: -1, UDP: true, IPOpts: 40}, {TCI: 0x2005, IPOpts: 8, TCPOpts: 12}, {TCI: 0xe001, Inline: true, TCPOpts: 40},
		{TCI: -1, V6: true}, {TCI: 7, Inline: true, V6: true, UDP: true}, {TCI: 7, V6: true, TCPOpts: 40},
	} {
		s.Payload, s.Offload, s.Flags = shapes.Random(9, 300), shapes.OffloadIP|shapes.OffloadL4, shapes.TCPAck
		l3, l4 := s.Headers()
		hdr := shapes.EtherHdr + l3 + l4
		if s.Inline {
			hdr += shapes.TagLen
		}
		for at := 1 + w.first(); at <= hdr; at += w.step() {
			w.cross(w.packet(s), shapes.Pieces(at))
		}
		w.cross(w.packet(s), shapes.Pieces(0, 0, shapes.EtherHdr, 0, l3, 0, 0, l4))
		single := make([]int, 0, 2*hdr)
		for range hdr {
			single = append(single, 1, 0)
		}
		w.cross(w.packet(s), shapes.Pieces(single...))
	}
}

func chainsOf1To40Buffers(t *testing.T, w *wire) {
	const size = 1480
	for n := 1 + w.first(); n <= 40; n += w.step() {
		for _, tso := range []int{0, 500} {
			s := shapes.Spec{Payload: shapes.Random(uint64(n), size-40), TCI: -1, Offload: shapes.OffloadIP | shapes.OffloadL4, Flags: shapes.TCPAck | shapes.TCPPsh, MSS: tso}
			lens := make([]int, n)
			for i := range lens {
				lens[i] = (size + shapes.EtherHdr) / n
			}
			w.cross(w.packet(s), shapes.Pieces(lens...))
		}
	}
}

func framesBelowMinimumSizeArrivePaddedWithZeros(t *testing.T, w *wire) {
	dst, src := w.macs()
	for n := w.first(); n < shapes.MinFrame-shapes.EtherHdr+2; n += w.step() {
		b := bytes.Repeat([]byte{0xff}, n)
		w.cross(shapes.Raw(dst, src, b, -1, false), nil)
		w.cross(shapes.Raw(dst, src, b, 0x0123, false), shapes.Pieces(shapes.EtherHdr))
		if n <= shapes.MinFrame-shapes.VLANHdr {
			w.cross(shapes.Raw(dst, src, b, 0x0123, true), nil)
		}
	}
}

// sharedDataIsNotWrittenTo sends copies that share their data with the original:
// headers are prepared in a copy.
func sharedDataIsNotWrittenTo(t *testing.T, w *wire) {
	for _, s := range []shapes.Spec{{TCI: -1}, {TCI: 5}, {TCI: -1, MSS: 200}, {TCI: -1, UDP: true}} {
		if s.MSS != 0 && w.kind.writes {
			continue
		}
		s.Payload, s.Offload, s.Flags = shapes.Random(5, 700), shapes.OffloadIP|shapes.OffloadL4, shapes.TCPAck
		p := w.packet(s)
		m := w.mbuf(p, []shapes.Piece{{N: 100, Cluster: true}, {N: 300, Cluster: true}})
		p.Data = append([]byte(nil), p.Data...)
		n := w.cache.CopyPacket(m)
		w.must(w.ifp[0].Transmit(n))
		w.settle()
		w.check(p)
		after := make([]byte, m.Length())
		m.CopyData(0, after)
		if !bytes.Equal(after, p.Data) {
			t.Errorf("%+v: the original is\n%x, was\n%x", s, after, p.Data)
		}
		w.cache.FreeChain(m)
	}
}

// udpChecksumOfZeroIsSentAsOnes makes the sum of a datagram come out as zero.
func udpChecksumOfZeroIsSentAsOnes(t *testing.T, w *wire) {
	for _, v6 := range []bool{false, true} {
		s := shapes.Spec{V6: v6, UDP: true, TCI: -1, Payload: make([]byte, 20), Offload: shapes.OffloadIP | shapes.OffloadL4}
		l3, l4 := s.Headers()
		// Adding what is missing to a sum of ones.
		sum := binary.BigEndian.Uint16(s.Network(s.Payload, 0, 0, 0)[l3+shapes.UDPCsumAt:])
		binary.BigEndian.PutUint16(s.Payload, sum)
		p := w.packet(s)
		if got := p.Want[0][shapes.EtherHdr+l3+shapes.UDPCsumAt : shapes.EtherHdr+l3+l4]; !bytes.Equal(got, []byte{0xff, 0xff}) {
			t.Fatalf("the packet's checksum is %x", got)
		}
		w.cross(p, nil)
	}
}

// requestsThatDoNotFitThePacketAreIgnored asks for checksums of packets that have
// none: the parser takes the requests back.
func requestsThatDoNotFitThePacketAreIgnored(t *testing.T, w *wire) {
	dst, src := w.macs()
	p := shapes.Raw(dst, src, shapes.Random(1, 100), 9, true)
	p.Csum = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP
	w.cross(p, nil)
}
