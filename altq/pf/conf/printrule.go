package conf

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes the rule as pfctl -s rules does (print_rule).
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Action.String())
	if r.Action == Block {
		b.WriteString(" drop")
	}
	switch r.Dir {
	case In:
		b.WriteString(" in")
	case Out:
		b.WriteString(" out")
	}
	if r.Quick {
		b.WriteString(" quick")
	}
	if r.Ifname != "" {
		b.WriteString(" on ")
		if r.IfNot {
			b.WriteString("! ")
		}
		b.WriteString(r.Ifname)
	}
	switch r.Family {
	case Inet:
		b.WriteString(" inet")
	case Inet6:
		b.WriteString(" inet6")
	}
	if r.Proto != 0 {
		name, ok := protocolNames[r.Proto]
		if !ok {
			name = strconv.Itoa(int(r.Proto))
		}
		b.WriteString(" proto " + name)
	}
	if r.Src.any() && r.Dst.any() {
		b.WriteString(" all")
	} else {
		b.WriteString(" from " + r.Src.text(r.Proto) + " to " + r.Dst.text(r.Proto))
	}
	r.printOptions(&b)
	return b.String()
}

// printOptions writes what follows the addresses.
func (r Rule) printOptions(b *strings.Builder) {
	if r.FlagSet != 0 {
		fmt.Fprintf(b, " flags %s/%s", flagText(r.Flags), flagText(r.FlagSet))
	} else if r.Action == Pass && r.KeepState && (r.Proto == 0 || r.Proto == protoTCP) {
		b.WriteString(" flags any")
	}
	if r.TOS != 0 {
		fmt.Fprintf(b, " tos 0x%02x", r.TOS)
	}
	switch {
	case r.KeepState:
		b.WriteString(" keep state")
	case r.Action == Pass:
		b.WriteString(" no state")
	}
	switch {
	case r.PQname != "":
		fmt.Fprintf(b, " queue(%s, %s)", r.Qname, r.PQname)
	case r.Qname != "":
		b.WriteString(" queue " + r.Qname)
	}
}

func flagText(f uint8) string {
	var b strings.Builder
	for i, letter := range tcpFlags {
		if f&(1<<i) != 0 {
			b.WriteRune(letter)
		}
	}
	return b.String()
}

// text writes one end of a rule (print_fromto).
func (p Peer) text(proto uint8) string {
	text := "any"
	switch {
	case p.anyAddr():
	case p.Addr.IsSingleIP():
		text = p.Addr.Addr().String()
	default:
		text = p.Addr.String()
	}
	if p.Not {
		text = "! " + text
	}
	if p.Op == NoPort {
		return text
	}
	a, b := strconv.Itoa(int(p.Port[0])), strconv.Itoa(int(p.Port[1]))
	if name := serviceName(p.Port[0], proto == protoTCP); name != "" && (p.Op == PortEq || p.Op == PortNe) {
		a = name
	}
	switch p.Op {
	case PortInside:
		a += " >< " + b
	case PortBeyond:
		a += " <> " + b
	case PortRange:
		a += ":" + b
	default:
		a = map[PortOp]string{PortEq: "=", PortNe: "!=", PortLt: "<", PortLe: "<=", PortGt: ">", PortGe: ">="}[p.Op] + " " + a
	}
	return text + " port " + a
}
