// Package inaddr reads addresses, masks and link addresses as FreeBSD's tools do.
package inaddr

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Prefix lengths without one given: of the address's class, and of IPv6.
const (
	classA, classB, classC = 8, 16, 24
	firstB, firstC         = 128, 192
	inet6Bits              = 64
)

// DefaultBits is the prefix length of an address without one.
func DefaultBits(addr netip.Addr) int {
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

// PrefixLength reads a length for addr; not ok if it is none.
func PrefixLength(addr netip.Addr, text string) (n int, ok bool) {
	v, err := strconv.ParseUint(text, 10, 8)
	return int(v), err == nil && addr.IsValid() && int(v) <= addr.BitLen()
}

// MaskLength reads a mask for addr: of IPv4 255.255.255.0 or 0xffffff00, of IPv6 ffff::.
// Not ok if it has holes or is none.
func MaskLength(addr netip.Addr, text string) (n int, ok bool) {
	var mask []byte
	if v, err := strconv.ParseUint(text, 0, 32); err == nil {
		mask = binary.BigEndian.AppendUint32(nil, uint32(v))
	} else if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		mask = a.AsSlice()
	}
	const bitsPerByte = 8
	if !addr.IsValid() || len(mask)*bitsPerByte != addr.BitLen() {
		return 0, false
	}
	ones, bits := net.IPMask(mask).Size()
	return ones, bits != 0
}

// etherLen is the length of an Ethernet address in bytes.
const etherLen = 6

// Ether reads an Ethernet address of six hexadecimal numbers, leading zeros not needed
// (ether_aton(3)); not ok if it is none.
func Ether(text string) (mac [etherLen]byte, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != etherLen {
		return mac, false
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 16, 8)
		if err != nil {
			return mac, false
		}
		mac[i] = byte(v)
	}
	return mac, true
}

// EtherText is an Ethernet address as ether_ntoa(3) prints it.
func EtherText(mac [etherLen]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5])
}
