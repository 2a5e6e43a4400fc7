package shapes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Lengths in bytes, and the EtherType of packets of no known protocol (IEEE 802 local
// experimental).
const (
	EtherHdr  = 14
	VLANHdr   = 18
	TagLen    = 4
	MinFrame  = 60
	EtherTest = 0x88b5
)

// Packet is what a stack hands to an interface, and what shall arrive.
type Packet struct {
	Data []byte
	Csum mbuf.CsumFlags // what is left to the hardware
	MSS  uint16         // 0: not cut
	VTag int            // out of band; -1: none
	Flow uint32
	IP   bool     // Reserialize can judge it
	Want [][]byte // frames, tags included
}

// Offload is what of a packet's checksums is left to the hardware, as bits.
type Offload uint8

// The parts of Offload.
const (
	OffloadIP Offload = 1 << iota
	OffloadL4
)

// Spec describes an IP packet.
type Spec struct {
	V6, UDP         bool
	IPOpts, TCPOpts int // bytes of options, multiples of 4
	Payload         []byte
	Offload         Offload
	Flags           uint8  // TCP's low eight bits
	ID              uint16 // of IPv4
	Seq             uint32
	MSS             int  // cut into segments; 0: do not
	TCI             int  // tag; -1: none
	Inline          bool // the tag is in the frame
}

// Bits of Spec.Flags.
const (
	TCPFin = 0x01
	TCPPsh = 0x08
	TCPAck = 0x10
)

// Lengths of headers without options, and where checksums are in them, in bytes.
const (
	MinIPv4, MinIPv6, MinTCP, MinUDP = 20, 40, 20, 8
	IPCsumAt, TCPCsumAt, UDPCsumAt   = 10, 16, 6
)

var (
	src4, dst4 = net.IP{198, 18, 0, 1}, net.IP{198, 19, 0, 2}
	src6, dst6 = net.ParseIP("2001:db8::1"), net.ParseIP("2001:db8:ffff::2")
)

// Headers is the length of the packet's own headers without Ethernet.
func (s *Spec) Headers() (l3, l4 int) {
	l3, l4 = MinIPv4+s.IPOpts, MinTCP+s.TCPOpts
	if s.V6 {
		l3 = MinIPv6
	}
	if s.UDP {
		l4 = MinUDP
	}
	return l3, l4
}

// Network returns gopacket's network packet with these variable fields.
func (s *Spec) Network(payload []byte, id uint16, seq uint32, flags uint8) []byte {
	var ip gopacket.NetworkLayer
	var l3, l4 gopacket.SerializableLayer
	proto := layers.IPProtocolTCP
	if s.UDP {
		proto = layers.IPProtocolUDP
	}
	if s.V6 {
		h := &layers.IPv6{Version: 6, TrafficClass: 0x2c, FlowLabel: 0xabcde, NextHeader: proto, HopLimit: 63, SrcIP: src6, DstIP: dst6}
		ip, l3 = h, h
	} else {
		h := &layers.IPv4{Version: 4, TOS: 0x2c, Id: id, Flags: layers.IPv4DontFragment, TTL: 63, Protocol: proto, SrcIP: src4, DstIP: dst4}
		if s.IPOpts != 0 {
			h.Options = []layers.IPv4Option{{OptionType: 0x82, OptionLength: uint8(s.IPOpts), OptionData: Random(3, s.IPOpts-2)}}
		}
		ip, l3 = h, h
	}
	if s.UDP {
		h := &layers.UDP{SrcPort: 2000, DstPort: 4000}
		_ = h.SetNetworkLayerForChecksum(ip) // fails for other network layers only
		l4 = h
	} else {
		h := &layers.TCP{SrcPort: 2000, DstPort: 80, Seq: seq, Ack: 0x01020304, Window: 0x8000, Urgent: 0,
			FIN: flags&TCPFin != 0, PSH: flags&TCPPsh != 0, ACK: flags&TCPAck != 0}
		if s.TCPOpts != 0 {
			h.Options = []layers.TCPOption{{OptionType: 253, OptionData: Random(4, s.TCPOpts-2)}}
		}
		_ = h.SetNetworkLayerForChecksum(ip)
		l4 = h
	}
	b := serialize(l3, l4, gopacket.Payload(payload))
	if at := len(b) - len(payload) - MinUDP + UDPCsumAt; s.UDP && binary.BigEndian.Uint16(b[at:]) == 0 {
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

// Packet makes the packet with the frames that it shall become.
func (s Spec) Packet(dst, src [6]byte) *Packet {
	etype := uint16(0x0800)
	if s.V6 {
		etype = 0x86dd
	}
	whole := s.Network(s.Payload, s.ID, s.Seq, s.Flags)
	p := &Packet{IP: true, VTag: -1, Flow: uint32(len(whole)), Want: s.Frames(dst, src, etype)}
	p.Csum, p.MSS = s.requests(), uint16(s.MSS)
	s.leave(whole)
	p.Data = Ether(dst, src, etype, whole)
	p.tag(s.TCI, s.Inline)
	return p
}

// tag puts a tag on the packet, in the frame or beside it; the frames on the wire have
// it already.
func (p *Packet) tag(tci int, inline bool) {
	switch {
	case tci < 0:
	case inline:
		p.Data = Tagged(p.Data, uint16(tci))
	default:
		p.VTag = tci
	}
}

// requests are the offload flags of the packet.
func (s *Spec) requests() (f mbuf.CsumFlags) {
	pick := func(cond bool, v4, v6 mbuf.CsumFlags) {
		switch {
		case cond && s.V6:
			f |= v6
		case cond:
			f |= v4
		}
	}
	pick(s.Offload&OffloadIP != 0, mbuf.CsumIP, 0)
	pick(s.Offload&OffloadL4 != 0 && s.UDP, mbuf.CsumIPUDP, mbuf.CsumIP6UDP)
	pick(s.Offload&OffloadL4 != 0 && !s.UDP, mbuf.CsumIPTCP, mbuf.CsumIP6TCP)
	pick(s.MSS != 0, mbuf.CsumIPTSO, mbuf.CsumIP6TSO)
	return f
}

// leave undoes in a network packet what is left to the hardware: the IP checksum, and
// the transport's, which becomes the sum over the pseudo header.
func (s *Spec) leave(b []byte) {
	l3, _ := s.Headers()
	if s.Offload&OffloadIP != 0 && !s.V6 {
		b[IPCsumAt], b[IPCsumAt+1] = 0, 0
	}
	if s.Offload&OffloadL4 == 0 {
		return
	}
	at, proto := l3+TCPCsumAt, uint32(layers.IPProtocolTCP)
	if s.UDP {
		at, proto = l3+UDPCsumAt, uint32(layers.IPProtocolUDP)
	}
	addrs := b[12:20]
	if s.V6 {
		addrs = b[8:MinIPv6]
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

// Frames is the frames that the packet shall become: cut by gopacket's serialisation, not
// by ours.
func (s *Spec) Frames(dst, src [6]byte, etype uint16) (frames [][]byte) {
	rest, seq, id, size := s.Payload, s.Seq, s.ID, s.MSS
	if size == 0 {
		size = len(rest)
	}
	for first := true; first || len(rest) > 0; first = false {
		n := min(size, len(rest))
		flags := s.Flags
		if n < len(rest) {
			flags &^= TCPFin | TCPPsh
		}
		b := Ether(dst, src, etype, s.Network(rest[:n], id, seq, flags))
		if s.TCI >= 0 {
			b = Tagged(b, uint16(s.TCI))
		}
		frames = append(frames, Padded(b))
		rest, seq, id = rest[n:], seq+uint32(n), id+1
	}
	return frames
}

// Ether is a frame.
func Ether(dst, src [6]byte, etype uint16, payload []byte) []byte {
	b := append(append(make([]byte, 0, EtherHdr+len(payload)), dst[:]...), src[:]...)
	return append(binary.BigEndian.AppendUint16(b, etype), payload...)
}

// Tagged is a frame with an 802.1Q tag behind the addresses.
func Tagged(b []byte, tci uint16) []byte {
	const addrs = 12
	out := append(make([]byte, 0, len(b)+TagLen), b[:addrs]...)
	out = append(out, 0x81, 0x00, byte(tci>>8), byte(tci))
	return append(out, b[addrs:]...)
}

// Padded is a frame with zeros up to the least size.
func Padded(b []byte) []byte {
	if len(b) >= MinFrame {
		return b
	}
	return append(b[:len(b):len(b)], make([]byte, MinFrame-len(b))...)
}

// Raw is a packet of no known protocol.
func Raw(dst, src [6]byte, payload []byte, tci int, inline bool) *Packet {
	f := Ether(dst, src, EtherTest, payload)
	p := &Packet{Data: f, VTag: -1}
	if tci >= 0 {
		f = Tagged(f, uint16(tci))
	}
	p.Want = [][]byte{Padded(f)}
	p.tag(tci, inline)
	return p
}

// Reserialize decodes a frame with gopacket, has it compute lengths and checksums anew.
// The error says what differs, unless the same bytes come out, or more zeros behind a
// short packet.
func Reserialize(b []byte) error {
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.NoCopy)
	if e := p.ErrorLayer(); e != nil {
		return fmt.Errorf("gopacket: %w in %x", e.Error(), b)
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
			return fmt.Errorf("%v cannot be serialized", l.LayerType())
		}
		ls = append(ls, s)
	}
	again := serialize(ls...)
	if udp != nil && udp.Checksum == 0 && sum == 0xffff {
		return nil // gopacket computes 0, which nobody may send
	}
	if n := len(again); n > len(b) || !bytes.Equal(again, b[:n]) || len(bytes.TrimLeft(b[n:], "\x00")) != 0 {
		return fmt.Errorf("gopacket makes of the frame\n     %x\nwhat is\n     %x", again, b)
	}
	return nil
}

// Random returns n bytes that seed decides.
func Random(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
