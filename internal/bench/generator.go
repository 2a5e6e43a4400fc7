package bench

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// The generator's packet: a chain of two mbufs, 42 bytes of Ethernet, IPv4 and
// UDP headers and 1300 bytes of payload in a cluster of its own.
const (
	headerLen  = 42
	payloadLen = 1300
	packetLen  = headerLen + payloadLen
)

// generator makes packets from a sender's own mbuf cache.
type generator struct {
	cache *mbuf.Cache
	hdr   [headerLen]byte
}

func newGenerator(z *mbuf.Zones, flow uint16) *generator {
	g := &generator{cache: z.NewCache()}
	h := g.hdr[:]
	copy(h[0:], []byte{2, 0, 0, 0, 0, 2}) // destination
	copy(h[6:], []byte{2, 0, 0, 0, 0, 1}) // source
	binary.BigEndian.PutUint16(h[12:], 0x0800)
	ip := h[14:34]
	ip[0] = 0x45
	binary.BigEndian.PutUint16(ip[2:], packetLen-14)
	ip[8], ip[9] = 64, 17
	copy(ip[12:], []byte{198, 18, 0, 1})
	copy(ip[16:], []byte{198, 19, 0, 1})
	binary.BigEndian.PutUint16(ip[10:], ipChecksum(ip))
	udp := h[34:]
	binary.BigEndian.PutUint16(udp[0:], flow)
	binary.BigEndian.PutUint16(udp[2:], 2000)
	binary.BigEndian.PutUint16(udp[4:], packetLen-34)
	return g
}

// ipChecksum is the checksum of a header whose checksum field is 0.
func ipChecksum(ip []byte) uint16 {
	var sum uint32
	for ; len(ip) > 1; ip = ip[2:] {
		sum += uint32(binary.BigEndian.Uint16(ip))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// packet returns a new packet, or nil if there is no memory. The payload is
// allocated but not written.
func (g *generator) packet() *mbuf.Mbuf {
	m := g.cache.GetHdr()
	if m == nil {
		return nil
	}
	p := g.cache.GetCl(0)
	if p == nil {
		g.cache.Free(m)
		return nil
	}
	m.SetLen(headerLen)
	copy(m.Bytes(), g.hdr[:])
	p.SetLen(payloadLen)
	m.Next = p
	m.Pkt.Len = packetLen
	return m
}
