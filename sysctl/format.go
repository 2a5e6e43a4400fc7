package sysctl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatOptions choose how [FormatValue] shows a value (sysctl(8) flags).
type FormatOptions struct {
	Hex     bool // -x: numbers in hex, opaques in full
	Opaques bool // -o: unknown opaques too, the first 16 bytes
}

// FormatValue shows the bytes of a value as sysctl(8) does without the name (spec ifnet 4.2). ok is
// false for an opaque it cannot show.
func FormatValue(kind Kind, format string, value []byte, opt FormatOptions) (text string, ok bool) {
	switch {
	case kind == KindString:
		s, _, _ := bytes.Cut(value, []byte{0})
		return string(s), true
	case kind.Size() > 0:
		return formatNumbers(kind, format, value, opt.Hex), true
	}
	if kind == KindOpaque {
		if known, ok := structFormats[format]; ok {
			if known.size != 0 && known.size != len(value) {
				return "", false
			}
			return known.show(value), true
		}
	}
	if !opt.Hex && !opt.Opaques {
		return "", false
	}
	return dump(format, value, opt.Hex), true
}

// formatNumbers shows the elements of an array, separated by blanks.
func formatNumbers(kind Kind, format string, value []byte, hex bool) string {
	size := kind.Size()
	var out []string
	for ; len(value) >= size; value = value[size:] {
		signed := loadNumber(value, size, true)
		unsigned := uint64(loadNumber(value, size, false))
		switch {
		case hex:
			out = append(out, formatHex(unsigned, size))
		case !kind.Signed():
			out = append(out, strconv.FormatUint(unsigned, 10))
		case len(format) > 1 && format[1] == 'K' && signed >= 0:
			out = append(out, formatTemperature(format, signed))
		default:
			out = append(out, strconv.FormatInt(signed, 10))
		}
	}
	return strings.Join(out, " ")
}

// formatHex is C's %#0*jx: zero has the width but no prefix.
func formatHex(v uint64, size int) string {
	if v == 0 {
		return strings.Repeat("0", 2+2*size)
	}
	return fmt.Sprintf("0x%0*x", 2*size, v)
}

// kelvinZero is 0 degrees Celsius in kelvin.
const kelvinZero = 273.15

// kelvinDigits is the power of ten per kelvin of an "IK" format: one unless the third letter says.
func kelvinDigits(format string) int {
	if len(format) > 2 && format[2] >= '0' && format[2] <= '9' {
		return int(format[2] - '0')
	}
	return 1
}

func formatTemperature(format string, v int64) string {
	digits := kelvinDigits(format)
	return strconv.FormatFloat(float64(v)/math.Pow10(digits)-kelvinZero, 'f', digits, 64) + "C"
}

// dump shows bytes nobody knows the meaning of. Without hex it stops after 16 and the tool's
// length counter wraps, so that "..." follows short values and not those of 17 to 33 bytes.
func dump(format string, value []byte, hex bool) string {
	const shown, wrapFree = 16, 34
	head := value
	if !hex && len(head) > shown {
		head = head[:shown]
	}
	text := fmt.Sprintf("Format:%s Length:%d Dump:0x%x", format, len(value), head)
	if !hex && (len(value) <= shown || len(value) >= wrapFree) {
		text += "..."
	}
	return text
}

// structFormat is a structure sysctl(8) knows; size 0 is any size.
type structFormat struct {
	size int
	show func([]byte) string
}

var structFormats = map[string]structFormat{
	"S,clockinfo": {20, showClockinfo}, // five ints
	"S,timeval":   {16, showTimeval},   // time_t and suseconds_t
	"S,loadavg":   {24, showLoadavg},   // three 32-bit numbers, padding, a long
	"S,input_id":  {8, showInputID},    // four 16-bit numbers
	"S,pagesizes": {0, showPagesizes},
}

func showClockinfo(b []byte) string {
	const hz, tick, stathz, profhz = 0, 1, 3, 4 // word 2 is spare
	word := func(i int) int32 { return int32(binary.LittleEndian.Uint32(b[4*i:])) }
	return fmt.Sprintf("{ hz = %d, tick = %d, profhz = %d, stathz = %d }", word(hz), word(tick), word(profhz), word(stathz))
}

func showTimeval(b []byte) string {
	sec, usec := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	return fmt.Sprintf("{ sec = %d, usec = %d } %s", sec, usec, time.Unix(sec, 0).Format("Mon Jan _2 15:04:05 2006"))
}

func showLoadavg(b []byte) string {
	const scaleAt = 16
	scale := float64(int64(binary.LittleEndian.Uint64(b[scaleAt:])))
	load := func(i int) float64 { return float64(binary.LittleEndian.Uint32(b[4*i:])) / scale }
	return fmt.Sprintf("{ %.2f %.2f %.2f }", load(0), load(1), load(2))
}

func showInputID(b []byte) string {
	word := func(i int) uint16 { return binary.LittleEndian.Uint16(b[2*i:]) }
	return fmt.Sprintf("{ bustype = 0x%04x, vendor = 0x%04x, product = 0x%04x, version = 0x%04x }", word(0), word(1), word(2), word(3))
}

func showPagesizes(b []byte) string {
	const word = 8
	var sizes []string
	for ; len(b) >= word; b = b[word:] {
		v := binary.LittleEndian.Uint64(b)
		if v == 0 {
			break
		}
		sizes = append(sizes, strconv.FormatUint(v, 10))
	}
	return "{ " + strings.Join(sizes, ", ") + " }"
}
