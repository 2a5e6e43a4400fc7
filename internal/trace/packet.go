package trace

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// The generator's packet: a chain of two mbufs, Ethernet, IPv4 and UDP headers in the
// first and the payload in a cluster of the second.
const (
	headerLen   = 42
	etherLen    = 14
	ipEnd       = 34
	maxPayload  = mbuf.MClBytes
	defaultSize = headerLen + 1300
)

// packet makes a packet of size bytes, headers included, from c. EINVAL: no packet of
// this shape has that size; ENOBUFS: no mbufs.
func packet(c *mbuf.Cache, size int) (*mbuf.Mbuf, error) {
	if size <= headerLen || size > headerLen+maxPayload {
		return nil, fmt.Errorf("packet of %d bytes, must be %d to %d: %w", size, headerLen+1, headerLen+maxPayload, syscall.EINVAL)
	}
	m := c.GetHdr()
	if m == nil {
		return nil, fmt.Errorf("packet: %w", syscall.ENOBUFS)
	}
	p := c.GetCl(0)
	if p == nil {
		c.Free(m)
		return nil, fmt.Errorf("packet: %w", syscall.ENOBUFS)
	}
	m.SetLen(headerLen)
	putHeaders(m.Bytes(), size)
	p.SetLen(size - headerLen)
	clear(p.Bytes())
	m.Next = p
	m.Pkt.Len = int32(size)
	return m, nil
}

// putHeaders writes a UDP packet between two benchmark addresses (RFC 2544).
func putHeaders(h []byte, size int) {
	clear(h)
	copy(h, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00})
	ip := h[etherLen:ipEnd]
	ip[0] = 0x45
	binary.BigEndian.PutUint16(ip[2:], uint16(size-etherLen))
	copy(ip[8:], []byte{64, syscall.IPPROTO_UDP, 0, 0, 198, 18, 0, 1, 198, 19, 0, 1})
	binary.BigEndian.PutUint16(ip[10:], ipChecksum(ip))
	udp := h[ipEnd:]
	copy(udp, []byte{0x03, 0xe8, 0x07, 0xd0}) // ports 1000 and 2000
	binary.BigEndian.PutUint16(udp[4:], uint16(size-ipEnd))
}

// ipChecksum is the checksum of a header whose checksum field is 0.
func ipChecksum(ip []byte) uint16 {
	const low = 0xffff
	var sum uint32
	for i := 0; i+1 < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	for sum > low {
		sum = sum>>16 + sum&low
	}
	return ^uint16(sum)
}
