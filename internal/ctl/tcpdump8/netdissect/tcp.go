package netdissect

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/google/gopacket/layers"
)

const tcpHeader = 20

// maxConversations bounds what is remembered of TCP connections.
const maxConversations = 4096

// conversation is a TCP connection, whichever end a packet is from.
type conversation struct{ low, high netip.AddrPort }

// sequence are the initial sequence numbers of a connection's ends.
type sequence struct{ low, high uint32 }

// tcp writes a TCP segment (tcp_print).
func (p *Printer) tcp(d *datagram) {
	if len(d.data) < wordLen {
		p.printf("%v > %v:", d.src, d.dst)
		p.truncated("tcp")
		return
	}
	p.ports(d, binary.BigEndian.Uint16(d.data), binary.BigEndian.Uint16(d.data[2:]))
	var t layers.TCP
	err := decode(&t, d.data)
	headerLen := int(t.DataOffset) * wordLen
	switch {
	case len(d.data) < tcpHeader:
		p.truncated("tcp")
		return
	case headerLen < tcpHeader:
		p.printf(" tcp %d [bad hdr length %d - too short, < %d]", uint32(d.length-headerLen), headerLen, tcpHeader)
		return
	}
	length := d.length - headerLen
	if p.o.Quiet {
		p.printf("tcp %d", uint32(length))
	} else {
		p.printf("Flags [%s]", tcpFlags(d.data))
	}
	if length < 0 {
		p.printf(" [bad hdr length %d - too long, > %d]", headerLen, d.length)
		return
	}
	if p.o.Quiet {
		return
	}
	if p.o.Verbose > 0 && !p.o.Trusting && !d.fragmented && d.whole() {
		p.tcpSum(d, t.Checksum)
	}
	rel := p.relative(d, &t)
	if p.o.Verbose > 1 || length > 0 || t.SYN || t.FIN || t.RST {
		p.printf(", seq %d", t.Seq-rel.seq)
		if length > 0 {
			p.printf(":%d", t.Seq-rel.seq+uint32(length))
		}
	}
	if t.ACK {
		p.printf(", ack %d", t.Ack-rel.ack)
	}
	p.printf(", win %d", t.Window)
	if t.URG {
		p.printf(", urg %d", t.Urgent)
	}
	if headerLen > tcpHeader {
		p.tcpOptions(&t, rel, len(d.data) < headerLen, err)
	}
	p.printf(", length %d", length)
}

// tcpFlags are the flags' letters.
func tcpFlags(b []byte) string {
	const flagsOff, flagsMask = 12, 0x1ff
	return bits(uint32(binary.BigEndian.Uint16(b[flagsOff:])&flagsMask), "",
		flag{0x01, "F"}, flag{0x02, "S"}, flag{0x04, "R"}, flag{0x08, "P"}, flag{0x10, "."},
		flag{0x20, "U"}, flag{0x40, "E"}, flag{0x80, "W"}, flag{0x100, "e"})
}

func (p *Printer) tcpSum(d *datagram, got uint16) {
	data := d.data[:min(len(d.data), d.length)]
	sum := cksum(pseudo(d.src, d.dst, byte(layers.IPProtocolTCP), len(data)), data)
	if sum == 0 {
		p.printf(", cksum 0x%04x (correct)", got)
		return
	}
	p.printf(", cksum 0x%04x (incorrect -> 0x%04x)", got, shouldBe(got, sum))
}

// relation is what to subtract from a segment's numbers.
type relation struct{ seq, ack uint32 }

// relative is what a segment's numbers are relative to: nothing, for the first that is
// seen of a connection or that begins one.
func (p *Printer) relative(d *datagram, t *layers.TCP) (r relation) {
	if p.o.Absolute || !t.ACK {
		return r
	}
	src, _ := netip.AddrFromSlice(d.src)
	dst, _ := netip.AddrFromSlice(d.dst)
	c := conversation{netip.AddrPortFrom(src, uint16(t.SrcPort)), netip.AddrPortFrom(dst, uint16(t.DstPort))}
	swapped := t.SrcPort > t.DstPort || t.SrcPort == t.DstPort && bytes.Compare(d.src, d.dst) > 0
	if swapped {
		c.low, c.high = c.high, c.low
	}
	s, known := p.conns[c]
	if !known || t.SYN {
		if s = (sequence{low: t.Seq, high: t.Ack - 1}); swapped {
			s = sequence{low: t.Ack - 1, high: t.Seq}
		}
		if len(p.conns) >= maxConversations {
			clear(p.conns)
		}
		p.conns[c] = s
		return r
	}
	if swapped {
		return relation{seq: s.high, ack: s.low}
	}
	return relation{seq: s.low, ack: s.high}
}

// tcpOptionNames are the names of options.
var tcpOptionNames = map[layers.TCPOptionKind]string{0: "eol", 1: "nop", 2: "mss", 3: "wscale", 4: "sackOK", 5: "sack", 6: "echo", 7: "echoreply", 8: "TS",
	11: "cc", 12: "ccnew", 13: "ccecho", 19: "md5", 20: "scps", 28: "uto", 29: "tcp-ao", 30: "mptcp", 34: "tfo", 254: "exp"}

// tcpOptions writes the options, as far as they were captured and make sense.
func (p *Printer) tcpOptions(t *layers.TCP, rel relation, cut bool, err error) {
	p.printf(", options [")
	for i, o := range t.Options {
		if i > 0 {
			p.printf(",")
		}
		if name, ok := tcpOptionNames[o.OptionType]; ok {
			p.printf("%s", name)
		} else {
			p.printf("unknown-%d", uint8(o.OptionType))
		}
		p.tcpOption(o, rel)
		if o.OptionType == layers.TCPOptionKindEndList {
			break
		}
	}
	switch {
	case cut:
		p.truncated("tcp")
	case err != nil:
		p.printf("[bad opt]")
	}
	p.printf("]")
}

// tcpOption writes an option's value.
func (p *Printer) tcpOption(o layers.TCPOption, rel relation) {
	const edges, timestamps = 8, 8
	b := o.OptionData
	switch {
	case o.OptionType == layers.TCPOptionKindMSS && len(b) == 2:
		p.printf(" %d", binary.BigEndian.Uint16(b))
	case o.OptionType == layers.TCPOptionKindWindowScale && len(b) == 1:
		p.printf(" %d", b[0])
	case o.OptionType == layers.TCPOptionKindTimestamps && len(b) == timestamps:
		p.printf(" val %d ecr %d", binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[wordLen:]))
	case o.OptionType == layers.TCPOptionKindEcho && len(b) == wordLen || o.OptionType == layers.TCPOptionKindEchoReply && len(b) == wordLen:
		p.printf(" %d", binary.BigEndian.Uint32(b))
	case o.OptionType == layers.TCPOptionKindSACK && len(b)%edges == 0:
		p.printf(" %d ", len(b)/edges)
		for ; len(b) > 0; b = b[edges:] {
			p.printf("{%d:%d}", binary.BigEndian.Uint32(b)-rel.ack, binary.BigEndian.Uint32(b[wordLen:])-rel.ack)
		}
	case len(b) > 0:
		p.printf(" 0x%x", b)
	}
}
