package machine

import (
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// cSpace is what isspace(3) takes for blank.
const cSpace = " \t\n\v\f\r"

// atoi is C's: blanks, a sign and decimal digits, whatever follows; 0 without a digit, and
// no more than 32 bits hold.
func atoi(s string) int {
	s = strings.TrimLeft(s, cSpace)
	end := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		end++
	}
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], 10, 32) // saturated, or 0
	return int(n)
}

// strtoul is C's with base 0, of a word that is all a number: blanks, a sign, digits behind
// 0x or 0 in base 16 or 8. A minus negates modulo 2^64, and more than 64 bits saturate.
func strtoul(s string) (n uint64, ok bool) {
	s = strings.TrimLeft(s, cSpace)
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	const octal, decimal, hex = 8, 10, 16
	base := decimal
	if digits, isHex := strings.CutPrefix(strings.ToLower(s), "0x"); isHex {
		s, base = digits, hex
	} else if strings.HasPrefix(s, "0") {
		base = octal
	}
	n, err := strconv.ParseUint(s, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return math.MaxUint64, true
	case err != nil:
		return 0, false
	case neg:
		return -n, true
	}
	return n, true
}

// clampInt is a number for a request whose field is an int.
func clampInt(n uint64) int { return int(min(n, math.MaxInt32)) }

// inetAton is inet_aton(3): one to four numbers with dots between them, in any base of
// strtoul's, of which the last fills the rest of the address.
func inetAton(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > net.IPv4len {
		return netip.Addr{}, false
	}
	var b [net.IPv4len]byte
	for i, part := range parts {
		if part == "" || part[0] < '0' || part[0] > '9' {
			return netip.Addr{}, false
		}
		n, ok := strtoul(part)
		limit := uint64(math.MaxUint8)
		if i == len(parts)-1 {
			limit = math.MaxUint32 >> (8 * i)
		}
		if !ok || n > limit {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			b[i] = byte(n)
			continue
		}
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|uint32(n))
	}
	return netip.AddrFrom4(b), true
}
