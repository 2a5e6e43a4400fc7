package netdissect

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket/layers"
)

// Lengths of Ethernet, and the largest value of its type that is a length.
const (
	etherHeader = 14
	tagLen      = 4
	maxLength   = 1500
)

// Types of VLAN tags beside gopacket's.
const (
	etherTag9100 = 0x9100
	etherTag9200 = 0x9200
)

// etherNames are the names of Ethernet types (ethertype_values).
var etherNames = map[layers.EthernetType]string{
	layers.EthernetTypeIPv4: "IPv4", layers.EthernetTypeMPLSUnicast: "MPLS unicast", layers.EthernetTypeMPLSMulticast: "MPLS multicast",
	layers.EthernetTypeIPv6: "IPv6", layers.EthernetTypeDot1Q: "802.1Q", etherTag9100: "802.1Q-9100", etherTag9200: "802.1Q-9200",
	layers.EthernetTypeQinQ: "802.1Q-QinQ", layers.EthernetTypeARP: "ARP", 0x8035: "Reverse ARP",
	layers.EthernetTypeLinkLayerDiscovery: "LLDP", layers.EthernetTypePPP: "PPP", layers.EthernetTypePPPoEDiscovery: "PPPoE D",
	layers.EthernetTypePPPoESession: "PPPoE S", layers.EthernetTypeEAPOL: "EAPOL", 0x8809: "Slow Protocols", 0x8808: "MPCP",
	0x9000: "Loopback", 0x88f7: "PTP", 0x88e5: "802.1AE MACsec", 0x88cb: "AoE", 0x809b: "Appletalk", 0x80f3: "Appletalk ARP",
	0x8137: "IPX", 0x6558: "TEB", 0x8902: "CFM", 0x88a2: "AoE", 0x8870: "Jumbo", 0x894f: "NSH",
}

// etherType writes an Ethernet type.
func (p *Printer) etherType(t layers.EthernetType) {
	name, known := etherNames[t]
	switch {
	case !p.o.Quiet && known:
		p.printf("ethertype %s (0x%04x)", name, uint16(t))
	case !p.o.Quiet:
		p.printf("ethertype Unknown (0x%04x)", uint16(t))
	case known:
		p.printf("%s", name)
	default:
		p.printf("Unknown Ethertype (0x%04x)", uint16(t))
	}
}

// ethernet writes a frame and returns how long its header is, tags included
// (ether_print).
func (p *Printer) ethernet(data []byte, length int) (header int) {
	var eth layers.Ethernet
	if err := decode(&eth, data); err != nil {
		p.truncated("ether")
		return len(data)
	}
	// Of a frame with a length gopacket has made type 0.
	etype := layers.EthernetType(binary.BigEndian.Uint16(data[etherHeader-2:]))
	whole := length
	if p.o.Link {
		p.printf("%v > %v, ", eth.SrcMAC, eth.DstMAC)
	}
	header, tagged := etherHeader, false
	for ; isTag(etype); header += tagLen {
		var tag layers.Dot1Q
		if err := decode(&tag, data[header:]); err != nil {
			p.truncated("vlan")
			return len(data)
		}
		if p.o.Link {
			p.etherType(etype)
			p.after(tagged, whole)
			p.printf("%s, ", tagText(&tag))
		}
		tagged, etype = true, tag.Type
	}
	f := frame{data: data[header:], length: length - header, src: eth.SrcMAC.String(), dst: eth.DstMAC.String(), whole: whole}
	if etype <= maxLength {
		p.length8023(f, int(etype), tagged)
		return header
	}
	if p.o.Link {
		p.etherType(etype)
		p.after(tagged, whole)
	}
	if !p.network(etype, f) {
		if !p.o.Link {
			p.printf("%s > %s, ", f.src, f.dst)
			p.etherType(etype)
			p.printf(", length %d: ", whole)
		}
		p.undecoded(f.data)
	}
	return header
}

// after writes what is between an Ethernet type and what follows: the frame's length, but
// once.
func (p *Printer) after(tagged bool, whole int) {
	if tagged {
		p.printf(", ")
		return
	}
	p.printf(", length %d: ", whole)
}

func isTag(t layers.EthernetType) bool {
	return t == layers.EthernetTypeDot1Q || t == layers.EthernetTypeQinQ || t == etherTag9100 || t == etherTag9200
}

// tagText is a VLAN tag (ieee8021q_tci_string).
func tagText(tag *layers.Dot1Q) string {
	text := fmt.Sprintf("vlan %d, p %d", tag.VLANIdentifier, tag.Priority)
	if tag.DropEligible {
		text += ", DEI"
	}
	return text
}

// frame is what is behind an Ethernet header.
type frame struct {
	data     []byte // as far as captured
	length   int
	src, dst string // of the header
	whole    int    // length of the whole frame
}

// network writes a packet of an Ethernet type; false if there is no printer for it.
func (p *Printer) network(etype layers.EthernetType, f frame) bool {
	switch etype {
	case layers.EthernetTypeIPv4:
		p.ip4(f.data, f.length)
	case layers.EthernetTypeIPv6:
		p.ip6(f.data, f.length)
	case layers.EthernetTypeARP:
		p.arp(f.data, f.length)
	case layers.EthernetTypeLinkLayerDiscovery:
		p.lldp(f.data, f.length)
	default:
		return false
	}
	return true
}

// length8023 writes a frame with a length instead of a type, as far as its LLC header.
func (p *Printer) length8023(f frame, length int, tagged bool) {
	f.length = min(f.length, length)
	f.data = f.data[:min(len(f.data), f.length)]
	if p.o.Link {
		p.printf("802.3")
		if !tagged {
			p.printf(", length %d: ", f.length)
		}
	}
	var llc layers.LLC
	if len(f.data) < 3 {
		p.truncated("llc")
		p.undecoded(f.data)
		return
	}
	if err := decode(&llc, f.data); err != nil {
		p.truncated("llc")
		return
	}
	width := 2
	if llc.Control > 0xff {
		width *= 2
	}
	p.printf("LLC, dsap %#02x %s, ssap %#02x %s, ctrl 0x%0*x, length %d", llc.DSAP, pick(llc.IG, "Group", "Individual"),
		llc.SSAP, pick(llc.CR, "Response", "Command"), width, llc.Control, f.length)
	p.undecoded(f.data[min(len(f.data), width/2+2):])
}

func pick(which bool, yes, no string) string {
	if which {
		return yes
	}
	return no
}
