package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bandwidth is a rate as it is written: bits/s, or a percentage of what encloses it.
type Bandwidth struct {
	Absolute uint64 // bits/s; 0: Percent counts
	Percent  int    // 0..100
}

// fullBandwidth is what a line without a bandwidth has.
var fullBandwidth = Bandwidth{Percent: 100}

const percentBase = 100

// of is the rate in bits/s when ref encloses it (eval_bwspec).
func (b Bandwidth) of(ref uint64) uint64 {
	if b.Absolute > 0 {
		return min(b.Absolute, ref)
	}
	return ref / percentBase * uint64(b.Percent)
}

// units are the factors of a rate's unit.
var units = map[string]float64{"b": 1, "K": 1e3, "M": 1e6, "G": 1e9}

// bandwidth reads a rate.
func (p *parser) bandwidth() Bandwidth {
	t := p.tok
	switch t.kind {
	case tokNumber:
		if t.num < 0 || t.num == math.MaxInt64 {
			p.fail(t.pos, "bandwidth number too big")
		}
		p.next()
		return Bandwidth{Absolute: uint64(t.num)}
	case tokString:
		p.next()
		return p.rate(t)
	}
	p.syntax()
	return Bandwidth{}
}

// rate reads a number with a unit.
func (p *parser) rate(t token) Bandwidth {
	n, unit := leadingFloat(t.text)
	if len(unit) > 1 {
		switch unit[1:] {
		case "Bit", "B", "bit", "b":
			unit = unit[:1]
		}
	}
	if unit == "%" {
		if n < 0 || n > percentBase {
			p.fail(t.pos, "bandwidth spec out of range")
		}
		return Bandwidth{Percent: int(n)}
	}
	factor, ok := units[unit]
	if !ok {
		p.fail(t.pos, "unknown unit %s", unit)
	}
	n *= factor
	if !(n >= 0 && n < math.MaxInt64) {
		p.fail(t.pos, "bandwidth number too big")
	}
	return Bandwidth{Absolute: uint64(n)}
}

// leadingFloat reads the number that text begins with (strtod), 0 if it is none, and
// returns what follows it.
func leadingFloat(text string) (n float64, rest string) {
	end := 0
	seenDot := false
	for end < len(text) && (isDigit(int(text[end])) || text[end] == '.' && !seenDot) {
		seenDot = seenDot || text[end] == '.'
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil && !strings.ContainsAny(text[:end], "0123456789") {
		return 0, text
	}
	return n, text[end:]
}

// rateSteps is how often Rate divides; there are letters for three.
const rateSteps = 4

// Rate writes a rate in bits/s as pfctl does (rate2str): "10Mb", "1.50Kb", "500 b".
func Rate(bps float64) string {
	const thousand, hundred = 1000, 100
	i := 0
	for ; bps >= thousand && i < rateSteps; i++ {
		bps /= thousand
	}
	unit := ""
	if i < rateSteps {
		unit = string(" KMG"[i]) + "b"
	}
	if int64(bps*hundred)%hundred != 0 {
		return fmt.Sprintf("%.2f%s", bps, unit)
	}
	return fmt.Sprintf("%d%s", int64(bps), unit)
}
