package netstat8

import "strconv"

// Units of -h: thousands of packets, and binary ones of bytes.
const (
	decimal = 1000
	binary  = 1024

	decimalBase = 10
)

// humanize is humanize_number(3) with four characters: three digits, or two with a point
// between them, and a suffix.
func humanize(v, unit uint64, suffixes string) string {
	const (
		limit    = 1000 // what three digits do not hold
		point    = 10   // from here on no decimal
		pct, cut = 100, 95
	)
	rest, scale := uint64(0), 0
	// From 95 % on a remainder rounds up to the next digit.
	for scale < len(suffixes) && (v >= limit || v == limit-1 && rest >= unit/2) {
		v, rest = v/unit, v%unit
		scale++
	}
	if scale == 0 {
		return strconv.FormatUint(v, decimalBase)
	}
	suffix := suffixes[scale-1 : scale]
	if v < point-1 || v == point-1 && rest < unit*cut/pct {
		tenths := v*point + (rest*point+unit/2)/unit
		return strconv.FormatUint(tenths/point, decimalBase) + "." + strconv.FormatUint(tenths%point, decimalBase) + suffix
	}
	return strconv.FormatUint(v+(rest+unit/2)/unit, decimalBase) + suffix
}
