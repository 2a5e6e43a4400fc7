package netdissect

import (
	"net"

	"github.com/google/gopacket/layers"
)

// Operations of ARP beside gopacket's.
const (
	arpReverseRequest = 3
	arpReverseReply   = 4
)

// arpNames are the names of operations.
var arpNames = map[uint16]string{layers.ARPRequest: "Request", layers.ARPReply: "Reply", arpReverseRequest: "Reverse Request", arpReverseReply: "Reverse Reply",
	8: "Inverse Request", 9: "Inverse Reply", 10: "NACK Reply"}

// arp writes an ARP packet (arp_print).
func (p *Printer) arp(data []byte, length int) {
	var a layers.ARP
	if err := decode(&a, data); err != nil {
		p.truncated("arp")
		return
	}
	if !p.o.Link {
		p.printf("ARP, ")
	}
	const ip4Len = net.IPv4len
	known := a.Protocol == layers.EthernetTypeIPv4 && a.ProtAddressSize == ip4Len && a.HwAddressSize != 0
	if !known || p.o.Verbose > 0 {
		p.arpTypes(&a)
		if p.o.Verbose == 0 {
			p.printf(", length %d", length)
			return
		}
		p.printf(", ")
	}
	if name, ok := arpNames[a.Operation]; ok {
		p.printf("%s ", name)
	} else {
		p.printf("Unknown (%d) ", a.Operation)
	}
	hw := func(b []byte) string { return net.HardwareAddr(b).String() }
	from, to := "<wrong proto type>", "<wrong proto type>"
	if known {
		from, to = net.IP(a.SourceProtAddress).String(), net.IP(a.DstProtAddress).String()
	}
	switch a.Operation {
	case layers.ARPRequest:
		p.printf("who-has %s", to)
		if !zero(a.DstHwAddress) {
			p.printf(" (%s)", hw(a.DstHwAddress))
		}
		p.printf(" tell %s", from)
	case layers.ARPReply:
		p.printf("%s is-at %s", from, hw(a.SourceHwAddress))
	case arpReverseRequest:
		p.printf("who-is %s tell %s", hw(a.DstHwAddress), hw(a.SourceHwAddress))
	case arpReverseReply:
		p.printf("%s at %s", hw(a.DstHwAddress), to)
	default:
		p.undecoded(data)
		return
	}
	p.printf(", length %d", length)
}

// arpTypes writes what kinds of addresses a packet is about.
func (p *Printer) arpTypes(a *layers.ARP) {
	if a.AddrType == layers.LinkTypeEthernet {
		p.printf("Ethernet")
	} else {
		p.printf("Unknown Hardware (%d)", uint16(a.AddrType))
	}
	p.printf(" (len %d), ", a.HwAddressSize)
	if name, ok := etherNames[a.Protocol]; ok {
		p.printf("%s", name)
	} else {
		p.printf("Unknown Protocol (0x%04x)", uint16(a.Protocol))
	}
	p.printf(" (len %d)", a.ProtAddressSize)
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
