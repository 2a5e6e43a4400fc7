package iflibtest

import (
	"fmt"
	"slices"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

func vlanTags(c *check) {
	b := c.wire(bedConfig{})
	for _, off := range []ifnet.Caps{0, ifnet.CapVLANHWTag} {
		b.caps(0, off)
		takes := b.nics[1].ifp.Capenable()&ifnet.CapVLANHWTag != 0
		for _, tci := range []int{0, 1, 0x0abc, 0xe000, 0xffff} {
			for _, inline := range []bool{false, true} {
				p := b.raw(shapes.Random(uint64(tci), 100), tci, inline)
				b.nics[1].take()
				b.send(p, nil)
				b.settle()
				b.stopIfFailed()
				got := b.nics[1].take()
				b.check1(p, nil, got)
				if took := got[0].flags&mbuf.FlagVLANTag != 0; took != takes {
					c.failf("%s: tag %#x: taken out %v, with CapVLANHWTag %v", b.where(), tci, took, takes)
				}
				if inFrame := len(got[0].data) == shapes.VLANHdr+100; inFrame == takes {
					c.failf("%s: tag %#x: in the frame %v, with CapVLANHWTag %v", b.where(), tci, inFrame, takes)
				}
			}
		}
	}
	b.caps(ifnet.CapVLANHWTag, 0)
	for i := range c.rounds(40) {
		b.cross(b.packet(shapes.Spec{TCI: i * 97, Payload: shapes.Random(uint64(i), 1+i*13), Offload: offloadAll, Flags: shapes.TCPAck}), nil)
	}
}

func vlanFilter(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	n := b.nics[1]
	if n.ifp.Capabilities()&ifnet.CapVLANHWFilter == 0 {
		c.none("the driver has no VLAN filter")
	}
	b.caps(ifnet.CapVLANHWFilter, 0)
	const mine, other = 0x123, 0x456
	passes := func(vid int) bool {
		n.take()
		b.send(b.raw(make([]byte, 100), vid, false), nil)
		b.settle()
		b.stopIfFailed()
		return len(n.take()) == 1
	}
	if !passes(-1) {
		c.failf("%s: a frame without tag did not pass", n.name)
	}
	n.ifp.VLANConfig(mine)
	b.advance(linkTime)
	for _, v := range []struct {
		vid  int
		pass bool
	}{{mine, true}, {other, false}, {mine | 0xe000, true}, {-1, true}} {
		if got := passes(v.vid); got != v.pass {
			c.failf("%s: with VLAN %d registered a frame with tag %#x passes: %v", n.name, mine, v.vid, got)
		}
	}
	c.must(n.setUp(false))
	c.must(n.setUp(true))
	b.advance(linkTime)
	if !passes(mine) || passes(other) {
		c.failf("%s: the filter is not the same after stop and init", n.name)
	}
	n.ifp.VLANUnconfig(mine)
	b.advance(linkTime)
	n.ifp.VLANConfig(other)
	b.advance(linkTime)
	if passes(mine) || !passes(other) {
		c.failf("%s: VLAN %d was taken back and %d registered, and the filter is not so", n.name, mine, other)
	}
	n.ifp.VLANUnconfig(other)
	b.advance(linkTime)
}

// switches are the capabilities that are combined.
var switches = []ifnet.Caps{
	ifnet.CapTxCsum | ifnet.CapTxCsumIPv6, ifnet.CapRxCsum | ifnet.CapRxCsumIPv6, ifnet.CapTSO, ifnet.CapVLANHWTag, ifnet.CapVLANHWCsum, ifnet.CapVLANHWTSO,
}

func offloadCombinations(c *check) {
	b := c.wire(bedConfig{})
	r := c.rng()
	all := 1 << len(switches)
	step := 1
	if c.short {
		step = 11
	}
	for combination := 0; combination < all; combination += step {
		var on, off ifnet.Caps
		for i, s := range switches {
			if combination>>i&1 != 0 {
				on |= s
			} else {
				off |= s
			}
		}
		b.caps(on, off)
		const packets = 6
		for range packets {
			p := b.draw(r, stdMTU)
			b.cross(p, cut(r, len(p.Data)))
		}
		if b.nics[0].ifp.HWAssist()&mbuf.CsumIPTSO != 0 {
			s := shapes.Spec{TCI: 7, Payload: shapes.Random(1, 5000), MSS: 1000, Offload: offloadAll, Flags: shapes.TCPAck}
			s.Inline = b.nics[0].ifp.Capenable()&ifnet.CapVLANHWTSO == 0
			b.cross(b.packet(s), nil)
		}
	}
}

func addressFilter(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	n := b.nics[1]
	_, src := b.macs()
	group := [6]byte{1, 0, 0x5e, 1, 2, 3}
	passes := func(dst [6]byte) bool {
		n.take()
		b.send(shapes.Raw(dst, src, make([]byte, 100), -1, false), nil)
		b.settle()
		b.stopIfFailed()
		return len(n.take()) == 1
	}
	want := func(when string, dst [6]byte, pass bool) {
		if got := passes(dst); got != pass {
			c.failf("%s: %s a frame for %x passes: %v", n.name, when, dst, got)
		}
	}
	const local = 2
	foreign := [6]byte{local, 0, 0, 0, 0, 0x99}
	want("as it came up", foreign, false)
	want("as it came up", ifnet.EtherBroadcast, true)
	want("as it came up", n.ifp.MAC(), true)
	for range 2 {
		c.must(n.ifp.Promisc(true))
		b.settle()
		want("promiscuous", foreign, true)
		c.must(n.ifp.Promisc(false))
		b.settle()
		want("promiscuous no more", foreign, false)
	}
	c.must(n.ifp.AddMulti(group))
	b.settle()
	want("in the group", group, true)
	c.must(n.setUp(false))
	c.must(n.setUp(true))
	b.advance(linkTime)
	want("in the group, after stop and init", group, true)
	c.must(n.ifp.DelMulti(group))
	b.settle()
	c.must(n.ifp.AllMulti(true))
	b.settle()
	want("with all groups", [6]byte{1, 0, 0x5e, 9, 9, 9}, true)
	want("with all groups", foreign, false)
	c.must(n.ifp.AllMulti(false))
	b.settle()
}

// hashTypes are those that fit a packet: none, a hash of unknown kind, one over the
// addresses, and one over addresses and ports.
func hashTypes(s shapes.Spec) []mbuf.HashType {
	types := []mbuf.HashType{mbuf.HashNone, mbuf.HashOpaque, mbuf.HashOpaqueHash}
	switch {
	case s.V6 && s.UDP:
		return append(types, mbuf.HashRSSIPv6, mbuf.HashRSSIPv6Ex, mbuf.HashRSSUDPIPv6, mbuf.HashRSSUDPIPv6Ex)
	case s.V6:
		return append(types, mbuf.HashRSSIPv6, mbuf.HashRSSIPv6Ex, mbuf.HashRSSTCPIPv6, mbuf.HashRSSTCPIPv6Ex)
	case s.UDP:
		return append(types, mbuf.HashRSSIPv4, mbuf.HashRSSUDPIPv4)
	}
	return append(types, mbuf.HashRSSIPv4, mbuf.HashRSSTCPIPv4)
}

func flowHash(c *check) {
	b := c.wire(bedConfig{})
	for _, s := range families {
		s.TCI, s.Flags = -1, shapes.TCPAck
		flows := make(map[string]bool)
		for flow := range 16 {
			var first arrival
			for round := range 3 {
				a := b.ofFlow(s, flow, round)
				if !slices.Contains(hashTypes(s), a.hash) {
					c.failf("%s: a packet with IPv6 %v, UDP %v has hash type %#x", b.where(), s.V6, s.UDP, a.hash)
				}
				if round == 0 {
					first = a
				}
				if a.hash != first.hash || a.hash != mbuf.HashNone && a.flow != first.flow {
					c.failf("%s: packets of one flow have hash %#x of type %#x, and %#x of type %#x", b.where(), first.flow, first.hash, a.flow, a.hash)
				}
			}
			flows[fmt.Sprint(first.hash, first.flow)] = true
			if first.hash == mbuf.HashNone || first.hash == mbuf.HashOpaque {
				flows = nil
				break
			}
		}
		if flows != nil && len(flows) < 8 {
			c.failf("%s: 16 flows, with IPv6 %v, UDP %v, have %d hashes", b.where(), s.V6, s.UDP, len(flows))
		}
	}
}

// ofFlow sends a packet of a flow and returns it as it arrived.
func (b *bed) ofFlow(s shapes.Spec, flow, round int) arrival {
	s.Payload = shapes.Random(uint64(round), 50+100*round)
	p := b.packet(s)
	source := shapes.EtherHdr + 15 // the last byte of the source address
	if s.V6 {
		source = shapes.EtherHdr + 23
	}
	p.Data[source] = byte(flow)
	b.nics[1].take()
	b.send(p, nil)
	b.settle()
	b.stopIfFailed()
	got := b.nics[1].take()
	if len(got) != 1 {
		b.failf("%s: a packet of a flow arrived %d times", b.where(), len(got))
	}
	return got[0]
}
