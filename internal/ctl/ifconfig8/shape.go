package ifconfig8

import (
	"net"
	"strings"
)

// shape is how addresses are written (-f).
type shape struct{ ether, inet, inet6 string }

// set takes pairs as "inet:cidr,ether:dash" and returns those that are none. Categories and
// formats that are not known change nothing, and names of hosts are not looked up.
func (s *shape) set(list string) (bad []string) {
	for pair := range strings.SplitSeq(list, ",") {
		category, format, _ := strings.Cut(pair, ":")
		if format == "" {
			bad = append(bad, pair)
			continue
		}
		switch category {
		case "ether":
			s.ether = format
		case "inet":
			s.inet = format
		case "inet6":
			s.inet6 = format
		}
	}
	return bad
}

// mac writes an Ethernet address.
func (s *shape) mac(addr [6]byte) string {
	text := net.HardwareAddr(addr[:]).String()
	switch s.ether {
	case "dash":
		return strings.ReplaceAll(text, ":", "-")
	case "dotted":
		const group = 4
		digits := strings.ReplaceAll(text, ":", "")
		return digits[:group] + "." + digits[group:2*group] + "." + digits[2*group:]
	}
	return text
}
