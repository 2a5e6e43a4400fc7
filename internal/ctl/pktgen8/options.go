package pktgen8

import (
	"math"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
)

const usageText = tool.Usage(`usage: pktgen -i interface [-46ABNWZhquvz] [-f function] [-n count] [-l size [-l min_size]]
              [-b burst] [-p threads] [-c cpus] [-d dst_ip[:port][-dst_ip[:port]]]
              [-s src_ip[:port][-src_ip[:port]]] [-D dst_mac[-dst_mac]] [-S src_mac[-src_mac]]
              [-R rate] [-F fragments] [-w seconds] [-T report_ms] [-o options]
`)

// Bits of pkt-gen's -o that mean something here; those of neutralBits change how netmap's
// buffers are filled, and nothing here.
const (
	optRandomSrc = 512
	optRandomDst = 1024
	optPPSStats  = 2048
	neutralBits  = 1 | 2 | 4 | 8 | 4096
)

// pkt-gen's flags that have no meaning without netmap, without and with an argument.
const (
	foreignPlain  = "IXr"
	foreignValued = "aCHMP"
)

// options are what a command line says.
type options struct {
	p       Params
	sizes   int // how often -l was given
	cpus    int
	plain   bool // -N: numbers without K, M, G
	framing bool // -B: bits of FCS, preamble and gap count in reports
	stats   bool // -A
	verbose bool
	help    bool
	four    bool // -4
	count   bool // -u
	format  tool.Format
}

// defaultReport is pkt-gen's time between reports in ms.
const defaultReport = 1000

func parse(args []string) (o options, err error) {
	o.p.Mode, o.p.ReportMS, o.cpus = client.PktgenModeRx, defaultReport, 1
	if o.format, args, err = tool.TakeFormat(args); err != nil {
		return o, err
	}
	switches := tool.Switches(map[byte]*bool{
		'4': &o.four, '6': &o.p.IPv6, 'A': &o.stats, 'B': &o.framing, 'N': &o.plain, 'W': &o.p.UntilIdle, 'Z': &o.p.RandomDst,
		'z': &o.p.RandomSrc, 'q': &o.p.Hash, 'u': &o.count, 'v': &o.verbose, 'h': &o.help,
	})
	var foreign error
	plain := func(f byte) bool {
		switch {
		case f == '4':
			o.p.IPv6 = false // the last of -4 and -6 counts
		case strings.IndexByte(foreignPlain, f) >= 0:
			foreign = errForeign(f)
			return true
		}
		return switches(f)
	}
	args, err = tool.Flags("pktgen", usageText, getopt.Flags{Plain: plain, Valued: "fnilbdsDSpcTwRFo" + foreignValued, Value: o.value}, args)
	switch {
	case err != nil || o.help:
		return o, err
	case foreign != nil:
		return o, foreign
	case len(args) > 0 || o.p.Interface == "":
		return o, usageText
	}
	if o.count {
		o.p.OnDrop = client.PktgenDropCount
	}
	return o, nil
}

// value takes a flag's argument.
func (o *options) value(f byte, value string) (err error) {
	p := &o.p
	texts := map[byte]*string{'i': &p.Interface, 'f': &p.Mode, 'd': &p.DstIP, 's': &p.SrcIP, 'D': &p.Dst, 'S': &p.Src}
	if to, ok := texts[f]; ok {
		*to = value
		return nil
	}
	numbers := map[byte]*int{'b': &p.Burst, 'p': &p.Threads, 'c': &o.cpus, 'T': &p.ReportMS, 'w': &p.Wait, 'F': &p.Fragments}
	if to, ok := numbers[f]; ok {
		return o.number(f, value, to)
	}
	switch f {
	case 'n':
		if p.Frames, err = strconv.ParseUint(value, 10, 64); err != nil {
			return badValue(f, value)
		}
	case 'l':
		to := &p.Size
		if o.sizes++; o.sizes > 1 {
			to = &p.MinSize
		}
		return o.number(f, value, to)
	case 'R':
		if p.Rate, err = parseRate(value); err != nil {
			return badValue(f, value)
		}
	case 'o':
		return o.bits(value)
	default:
		return errForeign(f)
	}
	return nil
}

func errForeign(f byte) error { return tool.Messagef("-%c is netmap's, and has no meaning here", f) }

// number takes a whole number above 0; 0 is for nothing but -c, -T and -w. -w 0 does not wait.
func (o *options) number(f byte, value string, to *int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n == 0 && strings.IndexByte("cTw", f) < 0 {
		return badValue(f, value)
	}
	*to = n
	return nil
}

func badValue(f byte, value string) error {
	return tool.Messagef("-%c %s: not a number it can be", f, value)
}

// parseRate reads frames a second, with k, M or G behind for thousands of them.
func parseRate(text string) (rate float64, err error) {
	const thousand = 1000
	factor := 1.0
	for i, unit := range []string{"kK", "M", "G"} {
		if n := len(text) - 1; n >= 0 && strings.IndexByte(unit, text[n]) >= 0 {
			text, factor = text[:n], math.Pow(thousand, float64(i+1))
			break
		}
	}
	rate, err = strconv.ParseFloat(text, 64)
	if err == nil && (!(rate >= 0) || math.IsInf(rate, 0)) {
		err = strconv.ErrRange
	}
	return rate * factor, err
}

// bits takes pkt-gen's -o.
func (o *options) bits(value string) error {
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return badValue('o', value)
	}
	if n&^(optRandomSrc|optRandomDst|optPPSStats|neutralBits) != 0 {
		return tool.Messagef("-o %s: these bits are netmap's, and have no meaning here", value)
	}
	o.p.RandomSrc = o.p.RandomSrc || n&optRandomSrc != 0
	o.p.RandomDst = o.p.RandomDst || n&optRandomDst != 0
	o.stats = o.stats || n&optPPSStats != 0
	return nil
}
