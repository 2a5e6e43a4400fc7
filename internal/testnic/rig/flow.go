package rig

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// NoTag is the TCI of a Flow that is not tagged.
const NoTag = -1

// Flow describes a frame, which gopacket builds: the reference of what models make and
// take.
type Flow struct {
	Dst     [6]byte
	V6      bool
	UDP     bool // else TCP
	VLAN    int  // TCI, or NoTag
	ID      uint16
	Seq     uint32
	Push    bool
	Payload []byte
	SPort   uint16
	DPort   uint16
	Src4    net.IP // addresses of IPv4; those of IPv6 are fixed
	Dst4    net.IP
}

// NewFlow is TCP over IPv4 to the NIC under test, with a payload of n bytes that tells
// places apart.
func NewFlow(n int) Flow {
	f := Flow{Dst: MAC, VLAN: NoTag, Payload: make([]byte, n), SPort: 1024, DPort: 80,
		Src4: net.IP{198, 18, 0, 1}, Dst4: net.IP{198, 18, 0, 205}}
	for i := range f.Payload {
		f.Payload[i] = byte(i*7 + i>>8)
	}
	return f
}

// Build serialises the flow with right lengths and checksums, not padded.
func (f Flow) Build(t testing.TB) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 7}, DstMAC: f.Dst[:], EthernetType: layers.EthernetTypeIPv4}
	if f.V6 {
		eth.EthernetType = layers.EthernetTypeIPv6
	}
	ls := []gopacket.SerializableLayer{eth}
	if f.VLAN != NoTag {
		ls = append(ls, &layers.Dot1Q{Priority: uint8(f.VLAN >> 13), VLANIdentifier: uint16(f.VLAN & 0xfff), Type: eth.EthernetType})
		eth.EthernetType = layers.EthernetTypeDot1Q
	}
	proto := layers.IPProtocolTCP
	if f.UDP {
		proto = layers.IPProtocolUDP
	}
	var network gopacket.NetworkLayer
	if f.V6 {
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, SrcIP: net.ParseIP("2001:db8::1"), DstIP: net.ParseIP("2001:db8::205")}
		ls, network = append(ls, ip), ip
	} else {
		ip := &layers.IPv4{Version: 4, TTL: 64, Id: f.ID, Protocol: proto, SrcIP: f.Src4, DstIP: f.Dst4, Flags: layers.IPv4DontFragment}
		ls, network = append(ls, ip), ip
	}
	if f.UDP {
		u := &layers.UDP{SrcPort: layers.UDPPort(f.SPort), DstPort: layers.UDPPort(f.DPort)}
		must(u.SetNetworkLayerForChecksum(network))
		ls = append(ls, u)
	} else {
		c := &layers.TCP{SrcPort: layers.TCPPort(f.SPort), DstPort: layers.TCPPort(f.DPort), Seq: f.Seq, Window: 1000, ACK: true, PSH: f.Push}
		must(c.SetNetworkLayerForChecksum(network))
		ls = append(ls, c)
	}
	ls = append(ls, gopacket.Payload(f.Payload))
	buf := gopacket.NewSerializeBuffer()
	must(gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...))
	_, _, p := f.Offsets()
	return buf.Bytes()[:p+len(f.Payload)]
}

// Offsets are those of the IP header, the TCP or UDP header and the payload.
func (f Flow) Offsets() (l3, l4, payload int) {
	l3 = 14
	if f.VLAN != NoTag {
		l3 += 4
	}
	l4 = l3 + 20
	if f.V6 {
		l4 = l3 + 40
	}
	if f.UDP {
		return l3, l4, l4 + 8
	}
	return l3, l4, l4 + 20
}

// Unsummed is the flow as a driver hands it over: IP checksum 0, the layer 4 field
// holding the pseudo header's sum, without the length for segmentation.
func (f Flow) Unsummed(t testing.TB, tso bool) []byte {
	t.Helper()
	p := f.Build(t)
	l3, l4, _ := f.Offsets()
	proto, field := uint32(6), l4+16
	if f.UDP {
		proto, field = 17, l4+6
	}
	addrs := p[l3+12 : l3+20]
	if f.V6 {
		addrs = p[l3+8 : l3+40]
	} else {
		clear(p[l3+10 : l3+12])
	}
	sum := proto
	if !tso {
		sum += uint32(len(p) - l4)
	}
	for i := 0; i < len(addrs); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(addrs[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(p[field:], uint16(sum))
	return p
}

// Segments is what cutting the flow into pieces of mss bytes must give.
func (f Flow) Segments(t testing.TB, mss int) [][]byte {
	t.Helper()
	var out [][]byte
	for off := 0; off < len(f.Payload); off += mss {
		piece := f
		piece.Payload = f.Payload[off:min(off+mss, len(f.Payload))]
		piece.Push = f.Push && off+mss >= len(f.Payload)
		piece.ID, piece.Seq = f.ID+uint16(len(out)), f.Seq+uint32(off)
		out = append(out, piece.Build(t))
	}
	return out
}

// Padded is a frame as the wire needs it.
func Padded(p []byte) []byte {
	for len(p) < 60 {
		p = append(p, 0)
	}
	return p
}
