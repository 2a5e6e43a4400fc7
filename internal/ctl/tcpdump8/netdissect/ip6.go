package netdissect

import (
	"encoding/binary"

	"github.com/google/gopacket/layers"
)

// ip6 writes an IPv6 packet (ip6_print).
func (p *Printer) ip6(data []byte, length int) {
	if !p.o.Link && len(data) >= ip6Header {
		p.printf("IP6 ")
	}
	var ip layers.IPv6
	_ = decode(&ip, data) // of extension headers, which are looked at below
	switch {
	case len(data) < ip6Header:
		p.truncated("ip6")
		return
	case ip.Version != 6:
		p.printf("version error: %d != 6 (invalid)", ip.Version)
		return
	}
	total := int(ip.Length) + ip6Header
	if total > length {
		p.printf("truncated-ip6 - %d bytes missing!", total-length)
	}
	if p.o.Verbose > 0 {
		p.printf("(")
		if ip.TrafficClass != 0 {
			p.printf("class 0x%02x, ", ip.TrafficClass)
		}
		if ip.FlowLabel != 0 {
			p.printf("flowlabel 0x%05x, ", ip.FlowLabel)
		}
		p.printf("hlim %d, next-header %s (%d) payload length: %d) ", ip.HopLimit, protoName(ip.NextHeader), uint8(ip.NextHeader), ip.Length)
	}
	data = data[ip6Header:min(len(data), total)]
	p.extensions(&datagram{src: ip.SrcIP, dst: ip.DstIP, proto: ip.NextHeader, data: data, length: min(length, total) - ip6Header, direct: true})
}

// extensions writes extension headers, and what is behind them.
func (p *Printer) extensions(d *datagram) {
	for {
		switch d.proto {
		case layers.IPProtocolIPv6HopByHop, layers.IPProtocolIPv6Destination, layers.IPProtocolIPv6Routing, layers.IPProtocolIPv6Fragment:
		default:
			p.upper(d)
			return
		}
		if d.direct {
			p.printf("%v > %v: ", d.src, d.dst)
		}
		n := fragHeader
		if len(d.data) >= 2 && d.proto != layers.IPProtocolIPv6Fragment {
			n = (int(d.data[1]) + 1) * fragUnit
		}
		if len(d.data) < n || d.length < n {
			p.truncated("ip6")
			return
		}
		header := d.data[:n]
		d.direct, d.data, d.length = false, d.data[n:], d.length-n
		switch d.proto {
		case layers.IPProtocolIPv6HopByHop:
			p.printf("HBH ")
			p.ip6Options(header[2:])
		case layers.IPProtocolIPv6Destination:
			p.printf("DSTOPT ")
			p.ip6Options(header[2:])
		case layers.IPProtocolIPv6Routing:
			p.printf("srcrt (len=%d, type=%d, segleft=%d) ", header[1], header[2], header[3])
		default:
			if p.fragment6(d, header); d.data == nil {
				return
			}
		}
		d.proto = layers.IPProtocol(header[0])
	}
}

// fragment6 writes a fragment header; behind one that is not the first nothing is decoded.
func (p *Printer) fragment6(d *datagram, header []byte) {
	const offsetMask = 0xfff8
	offset := binary.BigEndian.Uint16(header[2:]) & offsetMask
	p.printf("frag (")
	if p.o.Verbose > 0 {
		p.printf("0x%08x:", binary.BigEndian.Uint32(header[wordLen:]))
	}
	p.printf("%d|%d)", offset, d.length)
	d.fragmented = true
	if offset != 0 {
		d.data = nil
		return
	}
	p.printf(" ")
	if d.data == nil {
		d.data = []byte{}
	}
}

// ip6Options writes options of an extension header.
func (p *Printer) ip6Options(b []byte) {
	const pad1, padN, routerAlert, alertLen = 0, 1, 5, 2
	if p.o.Verbose == 0 {
		return
	}
	for len(b) > 0 {
		if b[0] == pad1 {
			p.printf("(pad1) ")
			b = b[1:]
			continue
		}
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			p.printf("[bad option] ")
			return
		}
		value := b[2 : 2+b[1]]
		switch {
		case b[0] == padN:
			p.printf("(padn) ")
		case b[0] == routerAlert && len(value) == alertLen:
			p.printf("(rtalert: 0x%04x) ", binary.BigEndian.Uint16(value))
		default:
			p.printf("(opt_type 0x%02x: len=%d) ", b[0], len(value))
		}
		b = b[2+len(value):]
	}
}
