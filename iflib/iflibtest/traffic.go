package iflibtest

import (
	"bytes"
	"fmt"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	stdMTU   = 1500
	jumboMTU = 9000
)

// arrival is a packet as an interface was given it.
type arrival struct {
	data  []byte
	said  int // bytes, by its header
	flags mbuf.Flags
	vtag  uint16
	csum  mbuf.CsumFlags
	flow  uint32
	hash  mbuf.HashType
}

// frame is the frame on the wire: with the tag that the receiver took out.
func (a *arrival) frame() []byte {
	if a.flags&mbuf.FlagVLANTag == 0 {
		return a.data
	}
	return shapes.Tagged(a.data, a.vtag)
}

// arrive notes what an interface receives.
func (n *nic) arrive(p *mbuf.Mbuf) {
	if p.Pkt.RcvIf == nil {
		return // on its way out
	}
	a := arrival{data: make([]byte, p.Length()), said: int(p.Pkt.Len), flags: p.Flags, vtag: p.Pkt.EtherVtag, csum: p.Pkt.CsumFlags,
		flow: p.Pkt.FlowID, hash: p.Pkt.RSSType}
	p.CopyData(0, a.data)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got = append(n.got, a)
}

// take returns what the interface has received since the last call.
func (n *nic) take() []arrival {
	n.mu.Lock()
	defer n.mu.Unlock()
	got := n.got
	n.got = nil
	return got
}

// macs are the addresses of a frame from device 0 to device 1.
func (b *bed) macs() (dst, src [6]byte) { return b.nics[1].ifp.MAC(), b.nics[0].ifp.MAC() }

// packet makes a packet from device 0 to device 1 that leaves to the hardware what the
// interface offers of what s asks for.
func (b *bed) packet(s shapes.Spec) *shapes.Packet {
	assist := b.nics[0].ifp.HWAssist()
	if assist&mbuf.CsumIP == 0 {
		s.Offload &^= shapes.OffloadIP
	}
	l4 := mbuf.CsumIPTCP
	switch {
	case s.V6 && s.UDP:
		l4 = mbuf.CsumIP6UDP
	case s.V6:
		l4 = mbuf.CsumIP6TCP
	case s.UDP:
		l4 = mbuf.CsumIPUDP
	}
	if assist&l4 == 0 {
		s.Offload &^= shapes.OffloadL4
	}
	dst, src := b.macs()
	if b.nics[0].ifp.Capenable()&ifnet.CapVLANHWTag == 0 {
		s.Inline = true
	}
	return s.Packet(dst, src)
}

// raw makes a packet of no known protocol from device 0 to device 1.
func (b *bed) raw(payload []byte, tci int, inline bool) *shapes.Packet {
	dst, src := b.macs()
	return shapes.Raw(dst, src, payload, tci, inline || b.nics[0].ifp.Capenable()&ifnet.CapVLANHWTag == 0)
}

// transmit hands a packet to device 0.
func (b *bed) transmit(p *shapes.Packet, cut []shapes.Piece) error {
	m := p.Mbuf(b.cache, cut)
	if m == nil {
		b.failf("no mbufs for a packet of %d bytes\n%s", len(p.Data), b.console.tail())
	}
	return b.nics[0].ifp.Transmit(m)
}

// send is transmit of a packet that must be taken.
func (b *bed) send(p *shapes.Packet, cut []shapes.Piece) {
	if err := b.transmit(p, cut); err != nil {
		b.failf("%s: Transmit of %s: %v", b.nics[0].name, describe(p, cut), err)
	}
}

// cross sends a packet and checks the frames that arrive.
func (b *bed) cross(p *shapes.Packet, cut []shapes.Piece) {
	b.nics[1].take()
	b.send(p, cut)
	b.settle()
	b.stopIfFailed()
	b.check1(p, cut, b.nics[1].take())
}

// check1 compares what device 1 has received with what the packet shall become.
func (b *bed) check1(p *shapes.Packet, cut []shapes.Piece, got []arrival) {
	if len(got) != len(p.Want) {
		b.failf("%s: of %s came %d frames, want %d%s", b.where(), describe(p, cut), len(got), len(p.Want), b.rings())
	}
	for i := range got {
		b.checkFrame(p, cut, i, &got[i])
	}
}

// checkFrame compares frame i of a packet with what arrived.
func (b *bed) checkFrame(p *shapes.Packet, cut []shapes.Piece, i int, a *arrival) {
	frame, want := a.frame(), p.Want[i]
	if short := shapes.MinFrame - len(p.Data); p.VTag >= 0 && short > 0 && b.nics[0].ctx.Shared().Flags&iflib.FlagNeedEtherPad != 0 {
		want = append(want[:len(want):len(want)], make([]byte, min(short, shapes.TagLen))...) // padded before the tag
	}
	if a.said != len(a.data) {
		b.failf("%s: of %s: frame %d has %d bytes and says it has %d", b.where(), describe(p, cut), i, len(a.data), a.said)
	}
	if !bytes.Equal(frame, want) {
		b.failf("%s: of %s: frame %d of %d:\ngot  %d bytes %x\nwant %d bytes %x%s",
			b.where(), describe(p, cut), i, len(p.Want), len(frame), frame, len(want), want, b.rings())
	}
	if p.IP {
		b.must(shapes.Reserialize(frame))
	}
}

// where names the way of a packet.
func (b *bed) where() string { return b.nics[0].name + " to " + b.nics[1].name }

// rings shows where the last packets went and came.
func (b *bed) rings() string {
	s := ""
	if b.cfg.threads {
		return s
	}
	for _, q := range b.nics[0].spy.path.tx {
		if q.next > 0 || q.out > 0 {
			s += fmt.Sprintf("\n%s, %v, next index %d, %d not completed:%s", b.nics[0].name, &q.ringWatch, q.next, q.out, q.dump(q.distance(1, q.next)))
		}
	}
	return s + "\n" + b.console.tail()
}

// describe is a packet in a few words.
func describe(p *shapes.Packet, cut []shapes.Piece) string {
	s := fmt.Sprintf("a packet of %d bytes in %d buffers", len(p.Data), max(len(cut), 1))
	if p.Csum != 0 {
		s += fmt.Sprintf(", csum_flags %#x", p.Csum)
	}
	if p.MSS != 0 {
		s += fmt.Sprintf(", MSS %d", p.MSS)
	}
	if p.VTag >= 0 {
		s += fmt.Sprintf(", tag %#x", p.VTag)
	}
	return s
}

// count sends n packets of a size without looking at each, and returns how many arrived.
func (b *bed) count(n, size int) (arrived int) {
	b.nics[1].take()
	for i := range n {
		b.send(b.raw(shapes.Random(uint64(i), size), -1, false), nil)
		b.settle()
	}
	return len(b.nics[1].take())
}

// alive ends the scenario unless both directions carry packets.
func (b *bed) alive(when string) {
	const packets = 8
	b.stopIfFailed()
	for range packets {
		b.stopIfFailed()
		b.nics[1].take()
		b.send(b.raw(shapes.Random(1, shapes.MinFrame), -1, false), nil)
		b.settle()
		if got := len(b.nics[1].take()); got != 1 {
			b.stopIfFailed()
			b.failf("%s: %s: of a packet came %d%s", b.where(), when, got, b.rings())
		}
	}
}
