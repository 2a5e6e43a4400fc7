package sysctl

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// isSpace is C's isspace in the C locale.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// trimSpace cuts C's white space from both ends.
func trimSpace(s string) string { return strings.Trim(s, " \t\n\v\f\r") }

// digit reports the value of c in bases up to 36, or 36 when it is none.
func digit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return uint64(c|0x20-'a') + 10
	}
	return 36
}

// number is what C's strtoull leaves behind: the magnitude, saturated when
// over is set, the sign and what follows the digits.
type number struct {
	mag  uint64
	neg  bool
	over bool
	rest string
}

// scanNumber reads a number by C's rules for base 0: white space, sign, 0x for hex,
// 0 for octal. It reports false when there is no digit.
func scanNumber(s string) (number, bool) {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	var n number
	if s != "" && (s[0] == '-' || s[0] == '+') {
		n.neg = s[0] == '-'
		s = s[1:]
	}
	const octal, decimal, hex = 8, 10, 16
	base := uint64(decimal)
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digit(s[2]) < hex:
		base, s = hex, s[2:]
	case s != "" && s[0] == '0':
		base = octal
	}
	digits := 0
	for ; digits < len(s); digits++ {
		d := digit(s[digits])
		if d >= base {
			break
		}
		hi, lo := bits.Mul64(n.mag, base)
		sum, carry := bits.Add64(lo, d, 0)
		if hi != 0 || carry != 0 || n.over {
			n.over, sum = true, math.MaxUint64
		}
		n.mag = sum
	}
	n.rest = s[digits:]
	return n, digits > 0
}

// signed converts to int64 as strtoll does: saturated, with over set when it had to be.
func (n number) signed() (v int64, over bool) {
	const minMagnitude = 1 << 63
	switch {
	case n.neg && n.mag >= minMagnitude:
		return math.MinInt64, n.mag > minMagnitude
	case n.neg:
		return -int64(n.mag), false
	case n.mag > math.MaxInt64:
		return math.MaxInt64, true
	}
	return int64(n.mag), false
}

// unsigned converts to uint64 as strtoull does: a minus sign negates modulo 2^64.
func (n number) unsigned() (v uint64, over bool) {
	switch {
	case n.over:
		return math.MaxUint64, true
	case n.neg:
		return -n.mag, false
	}
	return n.mag, false
}

// suffixShift maps the size suffixes of the environment to a shift.
func suffixShift(c byte) (shift uint, ok bool) {
	const kilo, mega, giga, tera = 10, 20, 30, 40
	switch c | 0x20 {
	case 'k':
		return kilo, true
	case 'm':
		return mega, true
	case 'g':
		return giga, true
	case 't':
		return tera, true
	}
	return 0, false
}

// tunableBytes bounds the result of the array parser.
const tunableBytes = 512

// parseTunable is the array parser for OID tunables (getenv_array, spec ifnet 2.3): the
// elements of text as little-endian bytes of the kind's size, or false.
func parseTunable(kind Kind, text string) ([]byte, bool) {
	size, signed := kind.Size(), kind.Signed()
	if size == 0 {
		return nil, false
	}
	var out []byte
	for text != "" {
		n, ok := scanNumber(text)
		if !ok {
			return nil, false
		}
		v, _ := n.signed()
		if v < 0 && !signed {
			return nil, false
		}
		text = n.rest
		var shift uint
		if text != "" {
			if shift, ok = suffixShift(text[0]); ok {
				text = text[1:]
			} else if !isListSeparator(text[0]) {
				return nil, false
			}
		}
		for text != "" && isListSeparator(text[0]) {
			text = text[1:]
		}
		if v<<shift>>shift != v {
			return nil, false
		}
		v <<= shift
		if len(out)+size > tunableBytes || !fits(v, size, signed) {
			return nil, false
		}
		out = appendNumber(out, size, uint64(v))
	}
	return out, len(out) > 0
}

// isListSeparator reports the bytes between elements of an array tunable.
func isListSeparator(c byte) bool { return c == ' ' || c == '\t' || c == ',' }

// fits checks the range of 8-, 16- and 32-bit elements; 64 bits are not checked.
func fits(v int64, size int, signed bool) bool {
	width := uint(size) * 8
	if width == 64 {
		return true
	}
	if signed {
		return v >= -1<<(width-1) && v < 1<<(width-1)
	}
	return v < 1<<width
}

// appendNumber appends the low size bytes of v, little endian.
func appendNumber(b []byte, size int, v uint64) []byte {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	return append(b, word[:size]...)
}

// loadNumber reads size bytes and extends them by the sign when asked.
func loadNumber(b []byte, size int, signed bool) int64 {
	var word [8]byte
	copy(word[:size], b)
	v := binary.LittleEndian.Uint64(word[:])
	if shift := 64 - uint(size)*8; signed {
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// parseFetch is the single-number parser of explicit fetches (getenv_quad, spec
// ifnet 2.4): one number and at most one suffix; anything behind it spoils the value.
func parseFetch(text string) (int64, bool) {
	n, ok := scanNumber(text)
	if !ok {
		return 0, false
	}
	v, _ := n.signed()
	switch len(n.rest) {
	case 0:
		return v, true
	case 1:
		shift, ok := suffixShift(n.rest[0])
		return v << shift, ok
	}
	return 0, false
}
