package bench

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/ifnet"
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
	putHeaders(g.hdr[:], packetLen, headers{
		to: [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 2}, src: [4]byte{198, 18, 0, 1}, dst: [4]byte{198, 19, 0, 1}, sport: flow, dport: flowPort,
	})
	return g
}

// headers are what tells a packet of the experiments from another.
type headers struct {
	to           [ifnet.EtherAddrLen]byte
	src, dst     [4]byte
	sport, dport uint16
}

// putHeaders writes the Ethernet, IPv4 and UDP headers of a packet of size bytes, without
// UDP's checksum, to b, which is zero.
func putHeaders(b []byte, size int, h headers) {
	const ether, ipv4 = 14, 20
	be := binary.BigEndian
	copy(b, h.to[:])
	copy(b[6:], []byte{2, 0, 0, 0, 0, 1})
	be.PutUint16(b[12:], 0x0800)
	ip := b[ether : ether+ipv4]
	ip[0] = 0x45
	be.PutUint16(ip[2:], uint16(size-ether))
	ip[8], ip[9] = 64, 17
	copy(ip[12:], h.src[:])
	copy(ip[16:], h.dst[:])
	be.PutUint16(ip[10:], ipChecksum(ip))
	udp := b[ether+ipv4:]
	be.PutUint16(udp, h.sport)
	be.PutUint16(udp[2:], h.dport)
	be.PutUint16(udp[4:], uint16(size-ether-ipv4))
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
