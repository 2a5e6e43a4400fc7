package iflibtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	offloadAll = shapes.OffloadIP | shapes.OffloadL4
	maxBuffers = 40
	maxTSO     = 65535 // bytes of a packet with its headers
	minMSS     = 64
	fullBuffer = 4096
)

var trafficRules = []Rule{
	{Name: "vlan-tags", Sentence: "Tags in the frame and beside it go out once; the receiver takes them out as its capabilities say.", ways: everyWay, check: vlanTags},
	{Name: "short-frames", Sentence: "Frames below the least size arrive padded with zeros.", ways: everyWay, check: shortFrames},
	{Name: "checksum-offload", Sentence: "Checksums that the interface offers to compute are right on the wire; a UDP checksum of zero is sent as ones.", ways: everyWay, check: checksumOffload},
	{Name: "checksum-verdicts", Sentence: "Right checksums of received packets are vouched for, wrong ones never.", ways: everyPath, check: checksumVerdicts},
	{Name: "packet-shapes", Sentence: "A packet of any length up to the MTU, in 1 to 40 buffers, some of them empty, crosses unchanged.", ways: everyWay, check: packetShapes},
	{Name: "split-headers", Sentence: "Headers may be cut at every byte, also with IPv4 options.", ways: everyWay, check: splitHeaders},
	{Name: "jumbo-frames", Sentence: "With an MTU of 9000 frames of all lengths cross, on as many receive buffers as they need.", ways: everyWay, check: jumboFrames},
	{Name: "shared-data", Sentence: "Data that others share is not written to.", ways: everyPath, check: sharedData},
	{Name: "tso", Sentence: "Segmentation offload makes the frames that the stack would have made, for every segment size.", ways: everyWay, check: tso},
	{Name: "vlan-filter", Sentence: "The VLAN filter passes frames of registered VLANs and frames without tag.", ways: oneWay, check: vlanFilter},
	{Name: "offload-combinations", Sentence: "Packets cross unchanged with every combination of capabilities.", ways: everyPath, check: offloadCombinations},
	{Name: "address-filter", Sentence: "Frames for others are dropped unless the interface is promiscuous; groups that were joined are received.", ways: oneWay, check: addressFilter},
	{Name: "flow-hash", Sentence: "A packet's hash type fits the packet, and packets of one flow have one hash.", ways: oneWay, check: flowHash},
}

// rng makes the choices of a scenario; the same in each run.
func (c *check) rng() *rand.Rand {
	return rand.New(rand.NewPCG(uint64(len(c.rule)), uint64(len(c.way.String()))))
}

// rounds is n, or a share of it in a sample.
func (c *check) rounds(n int) int {
	const share = 8
	if c.short {
		return max(n/share, 1)
	}
	return n
}

// step is how far loops over all lengths go at once.
func (c *check) step() int {
	if c.short {
		return 7 // no power of two, so that alignments differ
	}
	return 1
}

// wire is a bed that is up, without VLAN filters: the tags are the scenario's.
func (c *check) wire(cfg bedConfig) *bed {
	b := c.bed(cfg)
	b.up()
	b.caps(0, ifnet.CapVLANHWFilter)
	return b
}

// doorbells sends one packet at a time, and then several.
func doorbells(c *check) {
	b := c.wire(bedConfig{})
	for n := range 20 {
		before := b.nics[0].gate.frames()
		for range n {
			b.send(b.raw(shapes.Random(uint64(n), 100), -1, false), nil)
		}
		b.settle()
		b.advance(linkTime / 3) // the queue's timer rings for what waits
		if sent := int(b.nics[0].gate.frames() - before); sent != n {
			b.stopIfFailed()
			c.failf("%s: %d packets were handed over and %d sent%s", b.nics[0].name, n, sent, b.rings())
		}
	}
}

// indexWrap sends packets until one has begun at each index.
func indexWrap(c *check) {
	b := c.wire(bedConfig{env: smallRings(c.newDevice())})
	q := b.nics[0].spy.path.tx[0]
	most := 4 * q.size
	r := c.rng()
	for i := 0; i < most && (len(q.starts) < q.size || q.wraps < 3); i++ {
		n := 1 + r.IntN(5)
		size := 400
		p := b.raw(shapes.Random(uint64(i), size), -1, false)
		p.Flow = 0 // always the same queue
		lens := make([]int, n)
		for k := range lens {
			lens[k] = size / n
		}
		b.cross(p, shapes.Pieces(lens...))
	}
	if len(q.starts) < q.size/2 || q.wraps == 0 {
		c.failf("%s: packets began at %d of %d indices, and %d went round the end", b.nics[0].name, len(q.starts), q.size, q.wraps)
	}
}

// cut cuts n bytes into 1 to 40 buffers with data, and some without.
func cut(r *rand.Rand, n int) (ps []shapes.Piece) {
	const most = 9000 // no buffer holds more than 16 KiB
	count := min(1+r.IntN(maxBuffers), n)
	for left := n; left > 0; count-- {
		size := left
		if count > 1 {
			size = 1 + r.IntN(min(left-count+1, max(2*left/count, 1)))
		}
		size = min(size, most)
		if r.IntN(8) == 0 {
			ps = append(ps, shapes.Piece{Cluster: r.IntN(2) == 0})
		}
		ps = append(ps, shapes.Piece{N: size, Cluster: r.IntN(2) == 0, Lead: r.IntN(8)})
		left -= size
	}
	if r.IntN(2) == 0 {
		ps = append(ps, shapes.Piece{})
	}
	return ps
}

// pick is one of choices.
func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// draw makes a packet without segmentation whose frame fits the MTU.
func (b *bed) draw(r *rand.Rand, mtu int) *shapes.Packet {
	tci, inline := -1, false
	switch r.IntN(4) {
	case 1:
		tci = r.IntN(0x10000)
	case 2:
		tci, inline = r.IntN(0x10000), true
	}
	length := func(room int) int { return pick(r, r.IntN(65), r.IntN(room+1), room) }
	if r.IntN(5) == 0 {
		return b.raw(shapes.Random(r.Uint64(), min(length(mtu), mtu)), tci, inline)
	}
	s := shapes.Spec{V6: r.IntN(2) == 0, UDP: r.IntN(2) == 0, TCI: tci, Inline: inline, Offload: shapes.Offload(r.IntN(4)),
		Flags: shapes.TCPAck | shapes.TCPPsh, ID: uint16(r.Uint32()), Seq: r.Uint32()}
	if !s.V6 {
		s.IPOpts = 4 * pick(r, 0, 0, 1, 2, 9, 10)
	}
	if !s.UDP {
		s.TCPOpts = 4 * pick(r, 0, 0, 1, 3, 10)
	}
	l3, l4 := s.Headers()
	s.Payload = shapes.Random(r.Uint64(), min(length(mtu-l3-l4), mtu-l3-l4))
	return b.packet(s)
}

func packetShapes(c *check) {
	b := c.wire(bedConfig{})
	r := c.rng()
	for range c.rounds(400) {
		p := b.draw(r, stdMTU)
		b.cross(p, cut(r, len(p.Data)))
	}
	const size = 1480
	for n := 1; n <= maxBuffers; n += c.step() {
		s := shapes.Spec{Payload: shapes.Random(uint64(n), size-shapes.MinIPv4-shapes.MinTCP), TCI: -1, Offload: offloadAll, Flags: shapes.TCPAck}
		lens := make([]int, n)
		for i := range lens {
			lens[i] = (size + shapes.EtherHdr) / n
		}
		b.cross(b.packet(s), shapes.Pieces(lens...))
	}
}

// splitHeaders cuts the headers of each kind of packet in two at every byte, and once into
// single bytes, some of them behind empty buffers.
func splitHeaders(c *check) {
	b := c.wire(bedConfig{})
	for _, s := range []shapes.Spec{
		{TCI: -1}, {TCI: -1, UDP: true, IPOpts: 40}, {TCI: 0x2005, IPOpts: 8, TCPOpts: 12}, {TCI: 0xe001, Inline: true, TCPOpts: 40},
		{TCI: -1, V6: true}, {TCI: 7, Inline: true, V6: true, UDP: true}, {TCI: 7, V6: true, TCPOpts: 40},
	} {
		s.Payload, s.Offload, s.Flags = shapes.Random(9, 300), offloadAll, shapes.TCPAck
		l3, l4 := s.Headers()
		hdr := shapes.EtherHdr + l3 + l4
		if s.Inline {
			hdr += shapes.TagLen
		}
		plain := s
		plain.Offload = 0
		for at := 1; at <= hdr; at += c.step() {
			b.cross(b.packet(s), shapes.Pieces(at))
			b.cross(b.packet(plain), shapes.Pieces(at))
		}
		b.cross(b.packet(s), shapes.Pieces(0, 0, shapes.EtherHdr, 0, l3, 0, 0, l4))
		single := make([]int, 0, 2*hdr)
		for range hdr {
			single = append(single, 1, 0)
		}
		b.cross(b.packet(s), shapes.Pieces(single...))
	}
}

func shortFrames(c *check) {
	b := c.wire(bedConfig{})
	for n := 0; n < shapes.MinFrame-shapes.EtherHdr+2; n += c.step() {
		ones := bytes.Repeat([]byte{0xff}, n)
		b.cross(b.raw(ones, -1, false), nil)
		b.cross(b.raw(ones, 0x0123, false), shapes.Pieces(shapes.EtherHdr))
		if n <= shapes.MinFrame-shapes.VLANHdr {
			b.cross(b.raw(ones, 0x0123, true), nil)
		}
	}
}

func jumboFrames(c *check) {
	b := c.wire(bedConfig{jumbo: true})
	if !b.mtu(jumboMTU) {
		c.none("the driver takes no MTU of 9000")
	}
	r := c.rng()
	for range c.rounds(160) {
		p := b.draw(r, jumboMTU)
		b.cross(p, cut(r, len(p.Data)))
	}
	for n := 2000; n <= jumboMTU; n += 97 * c.step() {
		b.cross(b.raw(shapes.Random(uint64(n), n), -1, false), nil)
	}
	b.cross(b.raw(shapes.Random(1, jumboMTU), 9, false), nil)
}

// sharedData sends copies that share their data with the original.
func sharedData(c *check) {
	b := c.wire(bedConfig{})
	for _, s := range []shapes.Spec{{TCI: -1}, {TCI: 5}, {TCI: -1, UDP: true}} {
		s.Payload, s.Offload, s.Flags = shapes.Random(5, 700), offloadAll, shapes.TCPAck
		p := b.packet(s)
		pieces := []shapes.Piece{{N: 100, Cluster: true}, {N: 300, Cluster: true}}
		m := p.Mbuf(b.cache, pieces)
		was := append([]byte(nil), p.Data...)
		b.nics[1].take()
		c.must(b.nics[0].ifp.Transmit(b.cache.CopyPacket(m)))
		b.settle()
		b.stopIfFailed()
		b.check1(p, pieces, b.nics[1].take())
		after := make([]byte, m.Length())
		m.CopyData(0, after)
		b.cache.FreeChain(m)
		if !bytes.Equal(after, was) {
			c.failf("%s: %s: the original is\n%x, was\n%x", b.nics[0].name, describe(p, pieces), after, was)
		}
	}
}

// families are the kinds of packets that checksums differ for.
var families = []shapes.Spec{{}, {UDP: true}, {V6: true}, {V6: true, UDP: true}}

func checksumOffload(c *check) {
	b := c.wire(bedConfig{})
	for _, s := range families {
		s.TCI, s.Flags = -1, shapes.TCPAck
		for n := 0; n < 70; n += c.step() {
			s.Payload, s.Offload = shapes.Random(uint64(n), n), offloadAll
			b.cross(b.packet(s), shapes.Pieces(shapes.EtherHdr))
			s.Offload = shapes.OffloadL4
			b.cross(b.packet(s), nil)
			s.Offload = shapes.OffloadIP
			b.cross(b.packet(s), nil)
		}
		if s.UDP {
			b.zeroChecksum(s)
		}
	}
	// What does not fit the packet is ignored.
	p := b.raw(shapes.Random(1, 100), 9, true)
	p.Csum = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP
	b.cross(p, nil)
}

// zeroChecksum makes the sum of a datagram come out as zero.
func (b *bed) zeroChecksum(s shapes.Spec) {
	s.Payload, s.Offload = make([]byte, 20), offloadAll
	l3, l4 := s.Headers()
	whole := s.Network(s.Payload, 0, 0, 0)
	copy(s.Payload, whole[l3+shapes.UDPCsumAt:l3+l4]) // what is missing to a sum of ones
	b.cross(b.packet(s), nil)
}

// checksumVerdicts sends right and wrong checksums.
func checksumVerdicts(c *check) {
	b := c.wire(bedConfig{})
	caps := b.nics[1].ifp.Capenable()
	if caps&(ifnet.CapRxCsum|ifnet.CapRxCsumIPv6) == 0 {
		c.none("the driver checks no checksums")
	}
	for _, s := range families {
		s.TCI, s.Payload, s.Flags = -1, shapes.Random(3, 200), shapes.TCPAck
		if s.V6 && caps&ifnet.CapRxCsumIPv6 == 0 || !s.V6 && caps&ifnet.CapRxCsum == 0 {
			continue
		}
		l3, l4 := s.Headers()
		for at := range 2 {
			b.verdict(s, -1, true, true)
			if !s.V6 {
				b.verdict(s, shapes.EtherHdr+shapes.IPCsumAt+at, false, true)
			}
			b.verdict(s, shapes.EtherHdr+l3+l4-2+at*9, true, false)
		}
	}
}

// verdict sends a packet with the byte at an offset wrong, and compares what is vouched for.
func (b *bed) verdict(s shapes.Spec, wrong int, l3, l4 bool) {
	p := b.packet(s)
	if wrong >= 0 {
		p.Data[wrong] ^= 0x10
	}
	b.nics[1].take()
	b.send(p, nil)
	b.settle()
	b.stopIfFailed()
	got := b.nics[1].take()
	if len(got) != 1 {
		b.failf("%s: with byte %d wrong came %d frames", b.where(), wrong, len(got))
	}
	valid := func(f mbuf.CsumFlags) bool { return got[0].csum&f != 0 }
	text := fmt.Sprintf("%s: IPv6 %v, UDP %v, byte %d wrong: csum_flags %#x", b.where(), s.V6, s.UDP, wrong, got[0].csum)
	if valid(mbuf.CsumL3Valid) && !l3 || valid(mbuf.CsumL4Valid) && !l4 {
		b.failf("%s vouch for a wrong checksum", text)
	}
	if l3 && l4 && (!valid(mbuf.CsumL4Valid) || !s.V6 && !valid(mbuf.CsumL3Valid)) {
		b.failf("%s vouch for nothing, and the packet is right", text)
	}
}

// tso cuts packets of up to four segments and a rest for every segment size.
func tso(c *check) {
	b := c.wire(bedConfig{})
	b.caps(ifnet.CapTSO, 0)
	any := false
	for _, v6 := range []bool{false, true} {
		want := mbuf.CsumIPTSO
		if v6 {
			want = mbuf.CsumIP6TSO
		}
		if b.nics[0].ifp.HWAssist()&want == 0 {
			continue
		}
		any = true
		b.everySegmentSize(v6)
		b.tsoShapes(v6)
		b.largest(v6)
	}
	if !any {
		c.none("the driver has no segmentation offload")
	}
}

func (b *bed) everySegmentSize(v6 bool) {
	base := shapes.Spec{V6: v6, TCI: -1, Offload: offloadAll, Flags: shapes.TCPAck | shapes.TCPPsh, ID: 0xfffe, Seq: 0xffffff00}
	l3, l4 := base.Headers()
	step := 3
	if b.short {
		step = 37
	}
	for mss := minMSS; mss <= stdMTU-l3-l4; mss += step {
		s := base
		s.MSS = mss
		s.Payload = shapes.Random(uint64(mss), mss*(1+mss%4)+mss*7%(mss+3))
		b.cross(b.packet(s), []shapes.Piece{{N: shapes.EtherHdr + l3 + l4}, {N: min(len(s.Payload), fullBuffer)}})
	}
}

func (b *bed) tsoShapes(v6 bool) {
	r := b.rng()
	least := shapes.MinFrame - shapes.EtherHdr - shapes.MinIPv4 - shapes.MinTCP // what is padded would be cut as well
	for range b.rounds(120) {
		s := shapes.Spec{V6: v6, TCI: -1, Offload: offloadAll, Seq: r.Uint32(), ID: uint16(r.Uint32()), TCPOpts: 4 * r.IntN(11),
			Flags: shapes.TCPAck | pick(r, uint8(0), shapes.TCPPsh, shapes.TCPFin, shapes.TCPPsh|shapes.TCPFin)}
		if !v6 {
			s.IPOpts = 4 * pick(r, 0, 1, 10)
		}
		if r.IntN(2) == 0 {
			s.TCI, s.Inline = r.IntN(0x10000), r.IntN(2) == 0
		}
		l3, l4 := s.Headers()
		s.MSS = minMSS + r.IntN(stdMTU-l3-l4-minMSS+1)
		s.Payload = shapes.Random(uint64(s.Seq), least+r.IntN(min(maxTSO-l3-l4, maxBuffers*s.MSS)-least))
		p := b.packet(s)
		b.cross(p, cut(r, len(p.Data)))
	}
}

// largest cuts the largest packet that the interface takes.
func (b *bed) largest(v6 bool) {
	s := shapes.Spec{V6: v6, TCPOpts: 12, TCI: 0x4abc, MSS: 1400, Offload: offloadAll, Flags: shapes.TCPAck | shapes.TCPPsh | shapes.TCPFin}
	l3, l4 := s.Headers()
	s.Payload = shapes.Random(1, min(maxTSO, b.nics[0].ifp.TSO().Max)-l3-l4)
	pieces := shapes.Pieces(shapes.EtherHdr + l3 + l4)
	for n := len(s.Payload); n > 0; n -= fullBuffer {
		pieces = append(pieces, shapes.Piece{N: min(n, fullBuffer)})
	}
	b.cross(b.packet(s), pieces)
}
