package pcapfilter_test

import (
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/net/bpf"

	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/pcapfilter"
)

const snap = 262144

// matches runs an expression on a packet.
func matches(t testing.TB, expression string, packet []byte) bool {
	t.Helper()
	program, err := pcapfilter.Compile(expression, snap)
	if err != nil {
		t.Fatalf("%q: %v", expression, err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatalf("%q: %v", expression, err)
	}
	n, err := vm.Run(packet)
	if err != nil || n != 0 && n != snap {
		t.Fatalf("%q: keeps %d, %v", expression, n, err)
	}
	return n != 0
}

// spec is what a packet of a test is made of.
type spec struct {
	src, dst   byte // last bytes of the addresses
	vlans      []uint16
	broadcast  bool
	v6, arp    bool
	other      uint16 // Ethernet type of something else
	options    bool   // of IPv4
	fragment   uint16 // offset in units of 8 bytes
	fragment6  bool   // a fragment header of IPv6
	proto      layers.IPProtocol
	sport      uint16
	dport      uint16
	flags      byte
	icmpType   byte
	payload    int
	multicast4 bool
}

func (s spec) mac(last byte) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, last} }

// bytes builds the packet.
func (s spec) bytes(t testing.TB) []byte {
	t.Helper()
	eth := &layers.Ethernet{SrcMAC: s.mac(s.src), DstMAC: s.mac(s.dst)}
	if s.broadcast {
		eth.DstMAC = net.HardwareAddr{255, 255, 255, 255, 255, 255}
	}
	inner := layers.EthernetTypeIPv4
	switch {
	case s.other != 0:
		inner = layers.EthernetType(s.other)
	case s.arp:
		inner = layers.EthernetTypeARP
	case s.v6:
		inner = layers.EthernetTypeIPv6
	}
	list := []gopacket.SerializableLayer{eth}
	eth.EthernetType = inner
	for i, id := range s.vlans {
		tag := &layers.Dot1Q{VLANIdentifier: id, Type: inner}
		if i == 0 {
			eth.EthernetType = layers.EthernetTypeDot1Q
		} else {
			list[i].(*layers.Dot1Q).Type = layers.EthernetTypeDot1Q
		}
		list = append(list, tag)
	}
	list = append(list, s.network()...)
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true}, list...); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func (s spec) network() []gopacket.SerializableLayer {
	pad := gopacket.Payload(make([]byte, s.payload))
	switch {
	case s.other != 0:
		return []gopacket.SerializableLayer{pad}
	case s.arp:
		return []gopacket.SerializableLayer{&layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4,
			HwAddressSize: 6, ProtAddressSize: 4, Operation: layers.ARPRequest, SourceHwAddress: s.mac(s.src), DstHwAddress: make([]byte, 6),
			SourceProtAddress: net.IP{10, 0, 0, s.src}, DstProtAddress: net.IP{10, 0, 0, s.dst}}, pad}
	case s.v6:
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: s.proto, SrcIP: ip6(s.src), DstIP: ip6(s.dst)}
		if !s.fragment6 {
			return append([]gopacket.SerializableLayer{ip}, s.transport()...)
		}
		ip.NextHeader = layers.IPProtocolIPv6Fragment
		header := gopacket.Payload([]byte{byte(s.proto), 0, 0, 1, 0, 0, 0, 9})
		return append([]gopacket.SerializableLayer{ip, header}, s.transport()...)
	}
	ip := &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: s.proto, FragOffset: s.fragment, SrcIP: net.IP{10, 0, 0, s.src}, DstIP: net.IP{10, 0, 0, s.dst}}
	if s.multicast4 {
		ip.DstIP = net.IP{224, 0, 0, 1}
	}
	if s.options {
		ip.Options = []layers.IPv4Option{{OptionType: 1}, {OptionType: 1}, {OptionType: 1}, {OptionType: 0}}
	}
	return append([]gopacket.SerializableLayer{ip}, s.transport()...)
}

func ip6(last byte) net.IP {
	return net.IP{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}
}

func (s spec) transport() []gopacket.SerializableLayer {
	pad := gopacket.Payload(make([]byte, s.payload))
	switch s.proto {
	case layers.IPProtocolTCP:
		return []gopacket.SerializableLayer{&layers.TCP{SrcPort: layers.TCPPort(s.sport), DstPort: layers.TCPPort(s.dport), DataOffset: 5,
			FIN: s.flags&1 != 0, SYN: s.flags&2 != 0, RST: s.flags&4 != 0, PSH: s.flags&8 != 0, ACK: s.flags&16 != 0, URG: s.flags&32 != 0}, pad}
	case layers.IPProtocolUDP:
		return []gopacket.SerializableLayer{&layers.UDP{SrcPort: layers.UDPPort(s.sport), DstPort: layers.UDPPort(s.dport)}, pad}
	case layers.IPProtocolICMPv4:
		return []gopacket.SerializableLayer{&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(s.icmpType, 0)}, pad}
	case layers.IPProtocolICMPv6:
		return []gopacket.SerializableLayer{&layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(s.icmpType, 0)}, pad}
	}
	return []gopacket.SerializableLayer{gopacket.Payload(make([]byte, 8+s.payload))}
}
