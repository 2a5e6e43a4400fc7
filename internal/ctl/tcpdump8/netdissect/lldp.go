package netdissect

import (
	"encoding/binary"
	"net"
)

// lldpNames are the names of LLDP's TLVs, by type.
var lldpNames = map[uint16]string{0: "End", 1: "Chassis ID", 2: "Port ID", 3: "Time to Live", 4: "Port Description",
	5: "System Name", 6: "System Description", 7: "System Capabilities", 8: "Management Address", 127: "Organization specific"}

// lldp writes an LLDP message (lldp_print): the system's name, or every TLV's type. As
// gopacket takes such messages only if they are complete, TLVs are cut here.
func (p *Printer) lldp(data []byte, length int) {
	const lenBits, lenMask = 9, 0x1ff
	p.printf("LLDP, length %d", length)
	data = data[:min(len(data), length)]
	for len(data) > 0 {
		if len(data) < 2 {
			p.truncated("lldp")
			return
		}
		tlv := binary.BigEndian.Uint16(data)
		kind, n := tlv>>lenBits, int(tlv&lenMask)
		if p.o.Verbose > 0 {
			name, ok := lldpNames[kind]
			if !ok {
				name = "Unknown"
			}
			p.printf("\n\t%s TLV (%d), length %d", name, kind, n)
		}
		if data = data[2:]; kind == 0 || n == 0 {
			return
		}
		if len(data) < n {
			p.truncated("lldp")
			return
		}
		p.lldpValue(kind, data[:n])
		if p.o.Verbose > 1 {
			p.hex(data[:n], "\n\t  ", false)
		}
		data = data[n:]
	}
}

// lldpValue writes what a TLV says, of those whose values are short.
func (p *Printer) lldpValue(kind uint16, value []byte) {
	const (
		chassis, port, lifetime, portText, systemName, systemText = 1, 2, 3, 4, 5, 6

		chassisMAC, portName, macLen = 4, 5, 6
	)
	switch {
	case kind == systemName:
		p.printf(": %s", printable(value))
	case p.o.Verbose == 0:
	case kind == portText || kind == systemText:
		p.printf(": %s", printable(value))
	case kind == chassis && value[0] == chassisMAC && len(value) == 1+macLen:
		p.printf("\n\t  Subtype MAC address (%d): %v", value[0], net.HardwareAddr(value[1:]))
	case kind == port && value[0] == portName:
		p.printf("\n\t  Subtype Interface Name (%d): %s", value[0], printable(value[1:]))
	case kind == lifetime && len(value) == 2:
		p.printf(": TTL %ds", binary.BigEndian.Uint16(value))
	}
}

// printable is text as it can be shown on a line.
func printable(b []byte) []byte {
	text := make([]byte, len(b))
	for i, c := range b {
		if text[i] = graph(c); c == ' ' {
			text[i] = c
		}
	}
	return text
}
