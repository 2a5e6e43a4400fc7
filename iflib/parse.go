package iflib

import (
	"encoding/binary"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Lengths and types that the header parser knows.
const (
	etherHdrLen     = 14
	etherVLANHdrLen = 18 // with an 802.1Q tag in the frame
	ipMinHdrLen     = 20
	ip6HdrLen       = 40
	tcpMinHdrLen    = 20
	udpHdrLen       = 8

	etherTypeIP   = 0x0800
	etherTypeIPv6 = 0x86dd
	etherTypeVLAN = 0x8100

	protoTCP = 6
	protoUDP = 17
)

// csumL3L4 are the offload requests that need a known network protocol.
const csumL3L4 = mbuf.CsumIP | mbuf.CsumIPUDP | mbuf.CsumIPTCP | mbuf.CsumIPSCTP |
	mbuf.CsumIP6UDP | mbuf.CsumIP6TCP | mbuf.CsumIP6SCTP | mbuf.CsumTSO

// parser walks a packet's headers, pulling them up into the first buffer as
// they are needed (iflib_parse_header and its parts, spec iflib 3.4).
type parser struct {
	c     *mbuf.Cache
	m     *mbuf.Mbuf // nil once the packet is gone
	pi    *PktInfo
	flags SharedFlags
	pulls int
}

// parseHeader fills the header fields of pi. It returns the packet, which may
// have moved, and the pull-ups it took. On error (ENOMEM) the packet has been
// freed.
func parseHeader(ctx *Ctx, c *mbuf.Cache, m *mbuf.Mbuf, pi *PktInfo) (*mbuf.Mbuf, int, error) {
	p := parser{c: c, m: m, pi: pi, flags: ctx.sctx.Flags}
	err := p.run()
	return p.m, p.pulls, err
}

func (p *parser) run() error {
	if p.flags&FlagNeedScratch != 0 && !p.own() {
		return syscall.ENOMEM
	}
	if !p.ether() {
		return syscall.ENOMEM
	}
	ok := true
	switch p.pi.EType {
	case etherTypeIP:
		ok = p.ipv4()
	case etherTypeIPv6:
		ok = p.ipv6()
	default:
		p.pi.CsumFlags &^= csumL3L4
		p.pi.IPHLen = 0
	}
	if !ok {
		return syscall.ENOMEM
	}
	return nil
}

// own makes the packet writable by copying it if it is not.
func (p *parser) own() bool {
	if p.m.Writable() {
		return true
	}
	d := p.c.Dup(p.m)
	p.c.FreeChain(p.m)
	p.m = d
	return d != nil
}

// need makes the first n bytes contiguous and returns them. Pointers into the
// packet are stale afterwards. On failure the packet is gone.
func (p *parser) need(n int) []byte {
	if p.m.Len() < n {
		p.pulls++
		if p.m = p.c.Pullup(p.m, n); p.m == nil {
			return nil
		}
	}
	return p.m.Bytes()
}

// ether reads the link header. A frame too short for a tagged one is read as
// untagged.
func (p *parser) ether() bool {
	want := min(etherVLANHdrLen, int(p.m.Pkt.Len))
	b := p.need(want)
	if len(b) < etherHdrLen {
		return p.drop()
	}
	p.pi.EHdrLen = etherHdrLen
	p.pi.EType = binary.BigEndian.Uint16(b[12:])
	if p.pi.EType == etherTypeVLAN && len(b) >= etherVLANHdrLen {
		p.pi.EHdrLen = etherVLANHdrLen
		p.pi.EType = binary.BigEndian.Uint16(b[16:])
	}
	return true
}

// drop frees a packet that is shorter than its headers say.
func (p *parser) drop() bool {
	if p.m != nil {
		p.c.FreeChain(p.m)
		p.m = nil
	}
	return false
}

// ipv4 reads the IPv4 header and, for offload, the transport header. A short
// last fragment or a truncated datagram that asks for no offload of the part
// it lacks is no error: the need is limited by the packet's length.
func (p *parser) ipv4() bool {
	eh := int(p.pi.EHdrLen)
	b := p.need(eh + ipMinHdrLen)
	if len(b) < eh+ipMinHdrLen {
		return p.drop()
	}
	hl := int(b[eh]&0x0f) * 4
	if hl < ipMinHdrLen {
		return p.drop()
	}
	proto := b[eh+9]
	full := eh + hl
	switch proto {
	case protoTCP:
		full += tcpMinHdrLen
	case protoUDP:
		full += udpHdrLen
	}
	if b = p.need(min(full, int(p.m.Pkt.Len))); len(b) < eh+hl {
		return p.drop()
	}
	pi := p.pi
	pi.IPHLen, pi.IPProto, pi.IPTOS = uint8(hl), proto, b[eh+1]
	pi.Flags |= PktIPv4
	if pi.CsumFlags&(mbuf.CsumIPTCP|mbuf.CsumIPTSO) != 0 {
		if proto == protoTCP {
			if len(b) < full || !p.tcp(b[eh+hl:full]) {
				return p.drop()
			}
		}
		if pi.CsumFlags&mbuf.CsumIPTSO != 0 && !p.tso4(b, eh, hl) {
			return p.drop()
		}
	}
	if p.flags&FlagNeedZeroCsum != 0 && pi.CsumFlags&mbuf.CsumIP != 0 {
		b[eh+10], b[eh+11] = 0, 0
	}
	return true
}

// tcp notes what the TCP header says.
func (p *parser) tcp(th []byte) bool {
	hl := th[12] >> 4 * 4
	if hl < tcpMinHdrLen {
		return false
	}
	p.pi.TCPHLen = hl
	p.pi.TCPHFlags = uint16(th[12]&0x0f)<<8 | uint16(th[13])
	p.pi.TCPSeq = binary.NativeEndian.Uint32(th[4:])
	return true
}

// tso4 prepares the headers for segmentation: the pseudo header sum without
// length in th_sum and, if the hardware wants it, ip_len of one segment.
func (p *parser) tso4(b []byte, eh, hl int) bool {
	pi := p.pi
	if pi.IPProto != protoTCP || p.m.Pkt.TSOSegSz == 0 {
		return false
	}
	pi.CsumFlags |= mbuf.CsumIPTCP | mbuf.CsumIP
	sum := fold(uint32(protoTCP) + sum16(b[eh+12:eh+20]))
	binary.BigEndian.PutUint16(b[eh+hl+16:], sum)
	pi.TSOSegSz = p.m.Pkt.TSOSegSz
	if p.flags&FlagTSOInitIP != 0 {
		b[eh+10], b[eh+11] = 0, 0
		binary.BigEndian.PutUint16(b[eh+2:], uint16(hl)+uint16(pi.TCPHLen)+pi.TSOSegSz)
	}
	return true
}

// ipv6 reads the fixed header; extension headers are not followed.
func (p *parser) ipv6() bool {
	eh := int(p.pi.EHdrLen)
	b := p.need(eh + ip6HdrLen)
	if len(b) < eh+ip6HdrLen {
		return p.drop()
	}
	pi := p.pi
	pi.IPHLen, pi.IPProto = ip6HdrLen, b[eh+6]
	pi.IPTOS = b[eh]<<4 | b[eh+1]>>4
	pi.Flags |= PktIPv6
	if pi.CsumFlags&(mbuf.CsumIP6TCP|mbuf.CsumIP6TSO) == 0 || pi.IPProto != protoTCP {
		return pi.CsumFlags&mbuf.CsumIP6TSO == 0 || p.drop()
	}
	full := eh + ip6HdrLen + tcpMinHdrLen
	if b = p.need(full); len(b) < full || !p.tcp(b[eh+ip6HdrLen:full]) {
		return p.drop()
	}
	if pi.CsumFlags&mbuf.CsumIP6TSO != 0 {
		if p.m.Pkt.TSOSegSz == 0 {
			return p.drop()
		}
		pi.CsumFlags |= mbuf.CsumIP6TCP
		sum := fold(uint32(protoTCP) + sum16(b[eh+8:eh+ip6HdrLen]))
		binary.BigEndian.PutUint16(b[eh+ip6HdrLen+16:], sum)
		pi.TSOSegSz = p.m.Pkt.TSOSegSz
	}
	return true
}

// sum16 adds the 16-bit big-endian words of b, whose length is even.
func sum16(b []byte) (sum uint32) {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	return sum
}

// fold reduces a sum to 16 bits with end-around carry.
func fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	return uint16(sum + sum>>16)
}

// parsePartial is the parse before a queue is owned, for a driver that chooses
// the queue: link and network header only (iflib_parse_header_partial). On
// error the packet has been freed.
func parsePartial(c *mbuf.Cache, m *mbuf.Mbuf, pi *PktInfo) (*mbuf.Mbuf, int, error) {
	p := parser{c: c, m: m, pi: pi}
	if !p.own() || !p.ether() {
		return nil, p.pulls, syscall.ENOMEM
	}
	eh := int(pi.EHdrLen)
	switch pi.EType {
	case etherTypeIP:
		b := p.need(eh + ipMinHdrLen)
		if b == nil {
			return nil, p.pulls, syscall.ENOMEM
		}
		pi.IPHLen, pi.IPProto, pi.IPTOS = b[eh]&0x0f*4, b[eh+9], b[eh+1]
		pi.Flags |= PktIPv4
	case etherTypeIPv6:
		b := p.need(eh + ip6HdrLen)
		if b == nil {
			return nil, p.pulls, syscall.ENOMEM
		}
		pi.IPHLen, pi.IPProto, pi.IPTOS = ip6HdrLen, b[eh+6], b[eh]<<4|b[eh+1]>>4
		pi.Flags |= PktIPv6
	default:
		pi.CsumFlags &^= csumL3L4
	}
	return p.m, p.pulls, nil
}
