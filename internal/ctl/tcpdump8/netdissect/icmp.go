package netdissect

import (
	"encoding/binary"
	"fmt"
	"net"

	"github.com/google/gopacket/layers"
)

// The header of ICMP and ICMPv6 messages: the packet that an error is about is behind it.
const icmpHeader = 8

// icmpNames are messages that need no more words.
var icmpNames = map[uint8]string{layers.ICMPv4TypeEchoReply: "echo reply", layers.ICMPv4TypeSourceQuench: "source quench",
	layers.ICMPv4TypeRouterSolicitation: "router solicitation", layers.ICMPv4TypeRouterAdvertisement: "router advertisement",
	layers.ICMPv4TypeTimestampRequest: "time stamp request", layers.ICMPv4TypeTimestampReply: "time stamp reply",
	layers.ICMPv4TypeInfoRequest: "information request", layers.ICMPv4TypeInfoReply: "information reply",
	layers.ICMPv4TypeAddressMaskRequest: "address mask request", layers.ICMPv4TypeAddressMaskReply: "address mask reply"}

// icmp writes an ICMP message (icmp_print).
func (p *Printer) icmp(d *datagram) {
	var m layers.ICMPv4
	if err := decode(&m, d.data); err != nil {
		p.truncated("icmp")
		return
	}
	text, ok := p.icmpText(&m, d.data)
	if !ok {
		p.printf("ICMP")
		p.truncated("icmp")
		return
	}
	p.printf("ICMP %s, length %d", text, d.length)
	if p.o.Verbose > 0 && !d.fragmented && d.whole() {
		if sum := cksum(d.data); sum != 0 {
			p.printf(" (wrong icmp cksum %x (->%x)!)", m.Checksum, shouldBe(m.Checksum, sum))
		}
	}
	if p.o.Verbose > 0 && isICMPError(m.TypeCode.Type()) && len(d.data) >= icmpHeader+ip4Header {
		p.printf("\n\t")
		inner := d.data[icmpHeader:]
		p.ip4(inner, int(binary.BigEndian.Uint16(inner[2:])))
	}
}

func isICMPError(t uint8) bool {
	switch t {
	case layers.ICMPv4TypeDestinationUnreachable, layers.ICMPv4TypeSourceQuench, layers.ICMPv4TypeRedirect, layers.ICMPv4TypeTimeExceeded, layers.ICMPv4TypeParameterProblem:
		return true
	}
	return false
}

// icmpText is a message in words; false if too little of it was captured.
func (p *Printer) icmpText(m *layers.ICMPv4, data []byte) (text string, ok bool) {
	code := m.TypeCode.Code()
	switch t := m.TypeCode.Type(); t {
	case layers.ICMPv4TypeEchoRequest, layers.ICMPv4TypeEchoReply:
		return fmt.Sprintf("echo %s, id %d, seq %d", pick(t == layers.ICMPv4TypeEchoRequest, "request", "reply"), m.Id, m.Seq), true
	case layers.ICMPv4TypeDestinationUnreachable:
		return unreachable(code, m, data)
	case layers.ICMPv4TypeRedirect:
		return redirect(code, data)
	case layers.ICMPv4TypeTimeExceeded:
		switch code {
		case layers.ICMPv4CodeTTLExceeded:
			return "time exceeded in-transit", true
		case layers.ICMPv4CodeFragmentReassemblyTimeExceeded:
			return "ip reassembly time exceeded", true
		}
		return fmt.Sprintf("time exceeded-#%d", code), true
	case layers.ICMPv4TypeParameterProblem:
		if code != 0 {
			return fmt.Sprintf("parameter problem - code %d", code), true
		}
		return fmt.Sprintf("parameter problem - octet %d", m.Id>>8), true
	default:
		if name, known := icmpNames[t]; known {
			return name, true
		}
		return fmt.Sprintf("type-#%d", t), true
	}
}

// quoted is what an error is about: the destination, the protocol and its port; false if
// the destination was not captured, -1 if the port was not.
func quoted(data []byte) (dst net.IP, proto layers.IPProtocol, port int, ok bool) {
	const protoOff, dstOff = 9, 16
	if len(data) < icmpHeader+ip4Header {
		return nil, 0, 0, false
	}
	inner := data[icmpHeader:]
	port = -1
	if off := int(inner[0]&0xf) * wordLen; len(inner) >= off+wordLen {
		port = int(binary.BigEndian.Uint16(inner[off+2:]))
	}
	return net.IP(inner[dstOff:ip4Header]), layers.IPProtocol(inner[protoOff]), port, true
}

// unreachableFormats are what is unreachable, by code.
var unreachableFormats = map[uint8]string{
	0: "net %v unreachable", 1: "host %v unreachable", 5: "%v unreachable - source route failed", 6: "net %v unreachable - unknown",
	7: "host %v unreachable - unknown", 8: "%v unreachable - source host isolated", 9: "net %v unreachable - admin prohibited",
	10: "host %v unreachable - admin prohibited", 11: "net %v unreachable - tos prohibited", 12: "host %v unreachable - tos prohibited",
	13: "host %v unreachable - admin prohibited filter", 14: "host %v unreachable - host precedence violation",
	15: "host %v unreachable - precedence cutoff",
}

func unreachable(code uint8, m *layers.ICMPv4, data []byte) (text string, ok bool) {
	dst, proto, port, ok := quoted(data)
	if !ok {
		return "", false
	}
	switch code {
	case layers.ICMPv4CodeProtocol:
		return fmt.Sprintf("%v protocol %d unreachable", dst, uint8(proto)), true
	case layers.ICMPv4CodePort:
		switch {
		case port < 0:
			return "", false
		case proto == layers.IPProtocolTCP:
			return fmt.Sprintf("%v tcp port %d unreachable", dst, port), true
		case proto == layers.IPProtocolUDP:
			return fmt.Sprintf("%v udp port %d unreachable", dst, port), true
		}
		return fmt.Sprintf("%v protocol %d port %d unreachable", dst, uint8(proto), port), true
	case layers.ICMPv4CodeFragmentationNeeded:
		if m.Seq != 0 { // the next hop's MTU
			return fmt.Sprintf("%v unreachable - need to frag (mtu %d)", dst, m.Seq), true
		}
		return fmt.Sprintf("%v unreachable - need to frag", dst), true
	}
	if format, known := unreachableFormats[code]; known {
		return fmt.Sprintf(format, dst), true
	}
	return fmt.Sprintf("%v unreachable - #%d", dst, code), true
}

func redirect(code uint8, data []byte) (text string, ok bool) {
	dst, _, _, ok := quoted(data)
	if !ok {
		return "", false
	}
	gateway := net.IP(data[wordLen:icmpHeader])
	formats := [...]string{"redirect %v to net %v", "redirect %v to host %v", "redirect-tos %v to net %v", "redirect-tos %v to host %v"}
	if int(code) < len(formats) {
		return fmt.Sprintf(formats[code], dst, gateway), true
	}
	return fmt.Sprintf("redirect-#%d %v to %v", code, dst, gateway), true
}
