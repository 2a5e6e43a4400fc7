package netdissect

// bytesPerLine are the bytes in a line of a dump.
const bytesPerLine = 16

// dump writes what -X, -x or -A ask for.
func (p *Printer) dump(data []byte, header int) {
	inner := data[header:]
	pick := func(level int) []byte {
		if level > 1 {
			return data
		}
		return inner
	}
	switch {
	case p.o.HexASCII > 0:
		p.hex(pick(p.o.HexASCII), "\n\t", true)
	case p.o.Hex > 0:
		p.hex(pick(p.o.Hex), "\n\t", false)
	case p.o.ASCII > 0 && len(pick(p.o.ASCII)) > 0:
		p.ascii(pick(p.o.ASCII))
	}
}

// undecoded dumps what no printer knows, unless the packet is dumped anyway (-x, -X) or
// little is to be said.
func (p *Printer) undecoded(data []byte) {
	if !p.o.Quiet && p.o.HexASCII == 0 && p.o.Hex == 0 {
		p.hex(data, "\n\t", true)
	}
}

// hex writes lines of bytes in groups of two, with the characters beside them.
func (p *Printer) hex(data []byte, indent string, chars bool) {
	for off := 0; off < len(data); off += bytesPerLine {
		line := data[off:min(off+bytesPerLine, len(data))]
		p.printf("%s0x%04x: ", indent, off)
		width := 0
		for i, c := range line {
			format := "%02x"
			if i%2 == 0 {
				format = " %02x"
			}
			p.printf(format, c)
			width += len(format) - len("%02x") + 2
		}
		if !chars {
			continue
		}
		const full = bytesPerLine*2 + bytesPerLine/2
		p.printf("%*s  ", full-width, "")
		for _, c := range line {
			p.b.WriteByte(graph(c))
		}
	}
}

// graph is a character, or a dot for one that does not show.
func graph(c byte) byte {
	if c <= ' ' || c > '~' {
		return '.'
	}
	return c
}

// ascii writes the packet as text.
func (p *Printer) ascii(data []byte) {
	p.printf("\n")
	for i, c := range data {
		switch {
		case c == '\r':
			if i+2 < len(data) && data[i+1] != '\n' {
				p.b.WriteByte('.')
			}
		case c == '\t' || c == ' ' || c == '\n':
			p.b.WriteByte(c)
		default:
			p.b.WriteByte(graph(c))
		}
	}
}
