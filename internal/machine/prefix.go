package machine

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
)

// Prefix lengths without one given: of the address's class, and of IPv6.
const (
	classA, classB, classC = 8, 16, 24
	firstB, firstC         = 128, 192
	inet6Bits              = 64
)

// defaultBits is the prefix length of an address without one.
func defaultBits(addr netip.Addr) int {
	switch {
	case addr.Is6():
		return inet6Bits
	case addr.As4()[0] < firstB:
		return classA
	case addr.As4()[0] < firstC:
		return classB
	}
	return classC
}

// prefixLength reads a length for addr; not ok if it is none.
func prefixLength(addr netip.Addr, text string) (n int, ok bool) {
	v, err := strconv.ParseUint(text, 10, 8)
	return int(v), err == nil && addr.IsValid() && int(v) <= addr.BitLen()
}

// maskLength reads an IPv4 mask, 255.255.255.0 or 0xffffff00; not ok if it has holes.
func maskLength(addr netip.Addr, text string) (n int, ok bool) {
	var mask [net.IPv4len]byte
	if v, err := strconv.ParseUint(text, 0, 32); err == nil {
		binary.BigEndian.PutUint32(mask[:], uint32(v))
	} else if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
		mask = a.As4()
	} else {
		return 0, false
	}
	ones, bits := net.IPMask(mask[:]).Size()
	return ones, bits != 0 && addr.Is4()
}

// lengthWords reads the pair of words that may follow an address, a keyword and its
// argument; not ok if it says no length.
func lengthWords(addr netip.Addr, word, arg string) (n int, ok bool) {
	switch word {
	case "prefixlen":
		return prefixLength(addr, arg)
	case "netmask":
		return maskLength(addr, arg)
	}
	return 0, false
}
