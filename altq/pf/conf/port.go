package conf

import (
	"strconv"
	"strings"
)

// PortOp is how a rule compares ports; the values are FreeBSD's (PF_OP_*).
type PortOp uint8

// Comparisons.
const (
	NoPort     PortOp = iota // any port
	PortInside               // PF_OP_IRG: a >< b, both excluded
	PortBeyond               // PF_OP_XRG: a <> b, below a or above b
	PortEq                   // PF_OP_EQ
	PortNe                   // PF_OP_NE
	PortLt                   // PF_OP_LT
	PortLe                   // PF_OP_LE
	PortGt                   // PF_OP_GT
	PortGe                   // PF_OP_GE
	PortRange                // PF_OP_RRG: a:b, both included
)

// Match reports whether port stands so to a and b.
func (op PortOp) Match(a, b, port uint16) bool {
	switch op {
	case PortInside:
		return port > a && port < b
	case PortBeyond:
		return port < a || port > b
	case PortEq:
		return port == a
	case PortNe:
		return port != a
	case PortLt:
		return port < a
	case PortLe:
		return port <= a
	case PortGt:
		return port > a
	case PortGe:
		return port >= a
	case PortRange:
		return port >= a && port <= b
	}
	return true
}

// portRange is ports as they are written.
type portRange struct {
	op   PortOp
	port [2]uint16
}

// port reads a port, a range, or a comparison.
func (p *parser) port() portRange {
	op := p.unaryOp()
	at := p.tok.pos
	a, b, ranged := p.plainRange()
	binary := map[kind]PortOp{tokXRange: PortBeyond, tokIRange: PortInside}[p.tok.kind]
	switch {
	case p.dead:
		return portRange{}
	case op != NoPort && ranged:
		p.fail(at, "':' cannot be used with an other port operator")
	case op != NoPort:
		return portRange{op, [2]uint16{a, 0}}
	case binary != NoPort:
		p.next()
		c, _, ranged2 := p.plainRange()
		if ranged || ranged2 {
			p.fail(at, "':' cannot be used with an other port operator")
		}
		return portRange{binary, [2]uint16{a, c}}
	case ranged:
		return portRange{PortRange, [2]uint16{a, b}}
	}
	return portRange{PortEq, [2]uint16{a, 0}}
}

// unaryOp reads the comparison in front of a port.
func (p *parser) unaryOp() PortOp {
	switch {
	case p.char('='):
		return PortEq
	case p.char('!'):
		p.expect('=')
		return PortNe
	case p.char('<'):
		if p.char('=') {
			return PortLe
		}
		return PortLt
	case p.char('>'):
		if p.char('=') {
			return PortGe
		}
		return PortGt
	}
	return NoPort
}

// plainRange reads a port or two with a colon between them. A range of one port is none.
func (p *parser) plainRange() (a, b uint16, ranged bool) {
	t := p.tok
	if t.kind != tokNumber && t.kind != tokString {
		p.syntax()
		return 0, 0, false
	}
	p.next()
	low, high, ranged := strings.Cut(t.text, ":")
	a = p.service(t, low)
	if !ranged {
		return a, 0, false
	}
	b = p.service(t, high)
	return a, b, a != b
}

// service finds the port of a number or a service.
func (p *parser) service(t token, text string) uint16 {
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		if n > 65535 {
			p.fail(t.pos, "illegal port value %d", n)
		}
		return uint16(n)
	}
	s, ok := services[text]
	if !ok {
		p.fail(t.pos, "unknown port %s", text)
	}
	return s.port
}
