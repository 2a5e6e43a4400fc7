package sysctl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
)

// ParseError is a value that sysctl(8) refuses before it asks the kernel. It is EINVAL.
type ParseError struct {
	Message string // as the tool prints it, without "sysctl: "
}

// Error is the tool's message.
func (e *ParseError) Error() string { return e.Message }

// Unwrap makes it an EINVAL.
func (e *ParseError) Unwrap() error { return syscall.EINVAL }

// ParseValue turns text into the bytes of a new value as sysctl(8) does (spec ifnet 4.4): numbers are split at
// blanks and commas, base 0, without size suffixes, cut to the type; strings are their bytes without
// NUL. The result is nil when there is nothing but separators, which the tool hands
// on as "no new value". Errors are *ParseError.
func ParseValue(kind Kind, format, text string) ([]byte, error) {
	switch {
	case kind == KindString:
		return []byte(text), nil
	case kind.Size() == 0:
		return nil, &ParseError{fmt.Sprintf("type %d, cannot set that", kind)}
	case text == "":
		return nil, &ParseError{"empty numeric value"}
	}
	var out []byte
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		v, ok := parsePiece(kind, format, piece)
		if !ok {
			return nil, &ParseError{fmt.Sprintf("invalid %v '%s'", kind, piece)}
		}
		out = appendNumber(out, kind.Size(), v)
	}
	return out, nil
}

// parsePiece parses one number with the C function of the type's signedness.
func parsePiece(kind Kind, format, piece string) (uint64, bool) {
	if kind == KindInt && strings.HasPrefix(format, "IK") {
		return parseTemperature(format, piece)
	}
	n, ok := scanNumber(piece)
	if !ok || n.rest != "" {
		return 0, false
	}
	if kind.Signed() {
		v, over := n.signed()
		return uint64(v), !over
	}
	v, over := n.unsigned()
	return v, !over
}

// parseTemperature reads a temperature that ends in C, F or K into the units of the format. A bare
// number is refused, as in the revision the specification describes.
func parseTemperature(format, piece string) (uint64, bool) {
	if piece == "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(piece[:len(piece)-1], 64)
	if err != nil {
		return 0, false
	}
	const fahrenheitZero, fahrenheitPerKelvin = 459.67, 1.8
	switch piece[len(piece)-1] | 0x20 {
	case 'c':
		v += kelvinZero
	case 'f':
		v = (v + fahrenheitZero) / fahrenheitPerKelvin
	case 'k':
	default:
		return 0, false
	}
	v = math.Round(v * math.Pow10(kelvinDigits(format)))
	if !(v >= math.MinInt32 && v <= math.MaxInt32) {
		return 0, false
	}
	return uint64(int64(v)), true
}

// Text returns the value as sysctl -n prints it, without the newline. EINVAL: an opaque without a known form.
func (t *Tree) Text(name string) (string, error) {
	o, err := t.Lookup(name)
	if err != nil {
		return "", err
	}
	value, err := t.ReadOID(o)
	if err != nil {
		return "", err
	}
	text, ok := FormatValue(o.kind, o.format, value, FormatOptions{})
	if !ok {
		return "", fmt.Errorf("sysctl %s: no text form of %q: %w", name, o.format, syscall.EINVAL)
	}
	return text, nil
}

// SetText writes value, parsed as sysctl(8) parses it, as root. The error wraps the errno: ENOENT, EISDIR for a
// node, EPERM for what is not writable, EINVAL for text that is no value of the type, else what the handler says.
func (t *Tree) SetText(name, value string) error {
	o, err := t.Lookup(name)
	if err != nil {
		return err
	}
	if o.plainNode() {
		return fmt.Errorf("setting sysctl %s: %w", name, syscall.EISDIR)
	}
	if o.Flags()&WR == 0 {
		return fmt.Errorf("setting sysctl %s: %w", name, syscall.EPERM)
	}
	b, err := ParseValue(o.kind, o.format, value)
	if err != nil {
		return fmt.Errorf("setting sysctl %s: %w", name, err)
	}
	return t.WriteOID(o, b)
}
