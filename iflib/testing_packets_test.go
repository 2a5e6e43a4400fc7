package iflib_test

import (
	"bytes"
	"encoding/binary"
	"net"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// packet is what a stack hands to an interface, and what shall arrive.
type packet struct {
	data []byte
	csum mbuf.CsumFlags
	mss  uint16
	vtag int // out of band; -1: none
	flow uint32
	ip   bool
	want [][]byte // frames, tags included
}

// offload is what of a packet's checksums is left to the hardware, as bits.
type offload uint8

const (
	offloadIP offload = 1 << iota
	offloadL4
)

// spec describes an IP packet.
type spec struct {
	v6, udp         bool
	ipOpts, tcpOpts int // bytes of options, multiples of 4
	payload         []byte
	offload         offload
	flags           uint8  // TCP's low eight bits
	id              uint16 // of IPv4
	seq             uint32
	mss             int // cut into segments; 0: do not
	tci             int // tag; -1: none
	inline          bool
}

const (
	tcpFin = 0x01
	tcpPsh = 0x08
	tcpAck = 0x10

	minIPv4, minIPv6, minTCP, minUDP = 20, 40, 20, 8
	ipCsumAt, tcpCsumAt, udpCsumAt   = 10, 16, 6
)

var (
	src4, dst4 = net.IP{198, 18, 0, 1}, net.IP{198, 19, 0, 2}
	src6, dst6 = net.ParseIP("2001:db8::1"), net.ParseIP("2001:db8:ffff::2")
)

// headers is the length of the packet's own headers without Ethernet.
func (s *spec) headers() (l3, l4 int) {
	l3, l4 = minIPv4+s.ipOpts, minTCP+s.tcpOpts
	if s.v6 {
		l3 = minIPv6
	}
	if s.udp {
		l4 = minUDP
	}
	return l3, l4
}

// network returns gopacket's network packet with these variable fields.
func (s *spec) network(payload []byte, id uint16, seq uint32, flags uint8) []byte {
	var ip gopacket.NetworkLayer
	var l3, l4 gopacket.SerializableLayer
	proto := layers.IPProtocolTCP
	if s.udp {
		proto = layers.IPProtocolUDP
	}
	if s.v6 {
		h := &layers.IPv6{Version: 6, TrafficClass: 0x2c, FlowLabel: 0xabcde, NextHeader: proto, HopLimit: 63, SrcIP: src6, DstIP: dst6}
		ip, l3 = h, h
	} else {
		h := &layers.IPv4{Version: 4, TOS: 0x2c, Id: id, Flags: layers.IPv4DontFragment, TTL: 63, Protocol: proto, SrcIP: src4, DstIP: dst4}
		if s.ipOpts != 0 {
			h.Options = []layers.IPv4Option{{OptionType: 0x82, OptionLength: uint8(s.ipOpts), OptionData: random(3, s.ipOpts-2)}}
		}
		ip, l3 = h, h
	}
	if s.udp {
		h := &layers.UDP{SrcPort: 2000, DstPort: 4000}
		_ = h.SetNetworkLayerForChecksum(ip) // fails for other network layers only
		l4 = h
	} else {
		h := &layers.TCP{SrcPort: 2000, DstPort: 80, Seq: seq, Ack: 0x01020304, Window: 0x8000, Urgent: 0,
			FIN: flags&tcpFin != 0, PSH: flags&tcpPsh != 0, ACK: flags&tcpAck != 0}
		if s.tcpOpts != 0 {
			h.Options = []layers.TCPOption{{OptionType: 253, OptionData: random(4, s.tcpOpts-2)}}
		}
		_ = h.SetNetworkLayerForChecksum(ip)
		l4 = h
	}
	b := serialize(l3, l4, gopacket.Payload(payload))
	if at := len(b) - len(payload) - minUDP + udpCsumAt; s.udp && binary.BigEndian.Uint16(b[at:]) == 0 {
		b[at], b[at+1] = 0xff, 0xff // RFC 768: 0 means that there is none
	}
	return b
}

func serialize(ls ...gopacket.SerializableLayer) []byte {
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		panic(err) // a mistake of the test
	}
	return buf.Bytes()
}

// packet makes the packet with the frames that it shall become.
func (s spec) packet(dst, src [6]byte) *packet {
	etype := uint16(0x0800)
	if s.v6 {
		etype = 0x86dd
	}
	whole := s.network(s.payload, s.id, s.seq, s.flags)
	p := &packet{ip: true, vtag: -1, flow: uint32(len(whole)), want: s.wire(dst, src, etype)}
	p.csum, p.mss = s.requests(), uint16(s.mss)
	s.leave(whole)
	p.data = ether(dst, src, etype, whole)
	p.tag(s.tci, s.inline)
	return p
}

// tag puts a tag on the packet, in the frame or beside it; the frames on the wire have
// it already.
func (p *packet) tag(tci int, inline bool) {
	switch {
	case tci < 0:
	case inline:
		p.data = tagged(p.data, uint16(tci))
	default:
		p.vtag = tci
	}
}

// requests are the offload flags of the packet.
func (s *spec) requests() (f mbuf.CsumFlags) {
	pick := func(cond bool, v4, v6 mbuf.CsumFlags) {
		switch {
		case cond && s.v6:
			f |= v6
		case cond:
			f |= v4
		}
	}
	pick(s.offload&offloadIP != 0, mbuf.CsumIP, 0)
	pick(s.offload&offloadL4 != 0 && s.udp, mbuf.CsumIPUDP, mbuf.CsumIP6UDP)
	pick(s.offload&offloadL4 != 0 && !s.udp, mbuf.CsumIPTCP, mbuf.CsumIP6TCP)
	pick(s.mss != 0, mbuf.CsumIPTSO, mbuf.CsumIP6TSO)
	return f
}

// leave undoes in a network packet what is left to the hardware: the IP checksum, and
// the transport's, which becomes the sum over the pseudo header.
func (s *spec) leave(b []byte) {
	l3, _ := s.headers()
	if s.offload&offloadIP != 0 && !s.v6 {
		b[ipCsumAt], b[ipCsumAt+1] = 0, 0
	}
	if s.offload&offloadL4 == 0 {
		return
	}
	at, proto := l3+tcpCsumAt, uint32(layers.IPProtocolTCP)
	if s.udp {
		at, proto = l3+udpCsumAt, uint32(layers.IPProtocolUDP)
	}
	addrs := b[12:20]
	if s.v6 {
		addrs = b[8:minIPv6]
	}
	sum := proto + uint32(len(b)-l3)
	for ; len(addrs) > 0; addrs = addrs[2:] {
		sum += uint32(binary.BigEndian.Uint16(addrs))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(b[at:], uint16(sum))
}

// wire is the frames that the packet shall become: cut by gopacket's serialisation, not
// by ours.
func (s *spec) wire(dst, src [6]byte, etype uint16) (frames [][]byte) {
	rest, seq, id, size := s.payload, s.seq, s.id, s.mss
	if size == 0 {
		size = len(rest)
	}
	for first := true; first || len(rest) > 0; first = false {
		n := min(size, len(rest))
		flags := s.flags
		if n < len(rest) {
			flags &^= tcpFin | tcpPsh
		}
		b := ether(dst, src, etype, s.network(rest[:n], id, seq, flags))
		if s.tci >= 0 {
			b = tagged(b, uint16(s.tci))
		}
		frames = append(frames, padded(b))
		rest, seq, id = rest[n:], seq+uint32(n), id+1
	}
	return frames
}

// ether is a frame.
func ether(dst, src [6]byte, etype uint16, payload []byte) []byte {
	b := append(append(make([]byte, 0, etherHdr+len(payload)), dst[:]...), src[:]...)
	return append(binary.BigEndian.AppendUint16(b, etype), payload...)
}

// padded is a frame with zeros up to the least size.
func padded(b []byte) []byte {
	if len(b) >= minFrame {
		return b
	}
	return append(b[:len(b):len(b)], make([]byte, minFrame-len(b))...)
}

// rawPacket is a packet of no known protocol.
func rawPacket(dst, src [6]byte, payload []byte, tci int, inline bool) *packet {
	f := ether(dst, src, etherTest, payload)
	p := &packet{data: f, vtag: -1}
	if tci >= 0 {
		f = tagged(f, uint16(tci))
	}
	p.want = [][]byte{padded(f)}
	p.tag(tci, inline)
	return p
}

// reserialize decodes a frame with gopacket, has it compute lengths and checksums anew,
// and fails unless the same bytes come out, or more zeros behind a short packet.
func reserialize(t rapid.TB, b []byte) {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.NoCopy)
	if e := p.ErrorLayer(); e != nil {
		t.Fatalf("gopacket: %v in %x", e.Error(), b)
	}
	var ls []gopacket.SerializableLayer
	var ip gopacket.NetworkLayer
	var udp *layers.UDP
	var sum uint16
	for _, l := range p.Layers() {
		switch l := l.(type) {
		case *layers.IPv4:
			ip = l
		case *layers.IPv6:
			ip = l
		case *layers.TCP:
			_ = l.SetNetworkLayerForChecksum(ip)
		case *layers.UDP:
			_ = l.SetNetworkLayerForChecksum(ip)
			udp, sum = l, l.Checksum
		}
		if app, ok := l.(gopacket.ApplicationLayer); ok {
			ls = append(ls, gopacket.Payload(app.LayerContents()))
			continue
		}
		s, ok := l.(gopacket.SerializableLayer)
		if !ok {
			t.Fatalf("%v cannot be serialized", l.LayerType())
		}
		ls = append(ls, s)
	}
	again := serialize(ls...)
	if udp != nil && udp.Checksum == 0 && sum == 0xffff {
		return // gopacket computes 0, which nobody may send
	}
	if n := len(again); n > len(b) || !bytes.Equal(again, b[:n]) || len(bytes.TrimLeft(b[n:], "\x00")) != 0 {
		t.Fatalf("gopacket makes of the frame\n     %x\nwhat is\n     %x", again, b)
	}
}
