package netdissect

import (
	"encoding/binary"
	"net"

	"github.com/google/gopacket/layers"
)

const udpHeader = 8

// ports writes the addresses and ports of a packet.
func (p *Printer) ports(d *datagram, src, dst uint16) {
	if d.direct {
		p.printf("%v.%d > %v.%d: ", d.src, src, d.dst, dst)
		return
	}
	p.printf("%d > %d: ", src, dst)
}

// udp writes a UDP packet (udp_print).
func (p *Printer) udp(d *datagram) {
	if len(d.data) < wordLen {
		p.printf("%v > %v: ", d.src, d.dst)
		p.truncated("udp")
		return
	}
	p.ports(d, binary.BigEndian.Uint16(d.data), binary.BigEndian.Uint16(d.data[2:]))
	var u layers.UDP
	_ = decode(&u, d.data) // a length that is too small is looked at here
	switch {
	case d.length < udpHeader:
		p.printf("truncated-udp %d", d.length)
		return
	case len(d.data) < udpHeader:
		p.truncated("udp")
		return
	case u.Length < udpHeader:
		p.printf("truncated-udplength %d", u.Length)
		return
	}
	length, have := int(u.Length)-udpHeader, d.length-udpHeader
	if p.o.Verbose > 0 && !p.o.Trusting && !d.fragmented && d.whole() {
		p.udpSum(d, &u)
	}
	if length > have && !d.fragmented {
		p.printf("UDP, bad length %d > %d", length, have)
		return
	}
	p.printf("UDP, length %d", length)
}

// udpSum writes whether the checksum is right: in IPv4, where it may be left out, only if
// asked twice.
func (p *Printer) udpSum(d *datagram, u *layers.UDP) {
	v4 := len(d.src) == net.IPv4len
	if v4 && p.o.Verbose < 2 {
		return
	}
	if v4 && u.Checksum == 0 {
		p.printf("[no cksum] ")
		return
	}
	data := d.data[:min(len(d.data), int(u.Length))]
	sum := cksum(pseudo(d.src, d.dst, byte(layers.IPProtocolUDP), len(data)), data)
	if sum == 0 {
		p.printf("[udp sum ok] ")
		return
	}
	p.printf("[bad udp cksum 0x%04x -> 0x%04x!] ", u.Checksum, shouldBe(u.Checksum, sum))
}
