package tcpdump8

import (
	"math"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/netdissect"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/pcapfilter"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
)

const usageText = tool.Usage(`Usage: tcpdump [-AdDeKlLnNOpqStuUvxX#] [ -B size ] [ -c count ] [ -F file ]
		[ -i interface ] [ -Q in|out|inout ] [ -r file ] [ -s snaplen ]
		[ -w file ] [ -y datalinktype ] [ expression ]
`)

// stdio is the file that stands for standard input and output.
const stdio = "-"

// options are what the flags choose.
type options struct {
	print     netdissect.Options
	plain     int // -t
	dump      int // -d
	list      bool
	links     bool
	noPromisc bool

	iface     string
	count     int // -c; 0: no end
	snapLen   int
	bufSize   int // bytes; 0: the default
	direction bpf.Direction
	filter    string // the expression
	fileOf    string // -F
	read      string // -r
	write     string // -w
}

// maxBuf is the largest -B, in KiB.
const maxBuf = math.MaxInt32 / 1024

// parse takes the command line. The flags that change nothing here are those about names
// (-n, -N, -f, -b), which nothing is translated to, the buffering of output (-l, -U), which
// is written as soon as there is a client that takes it, and the optimizer (-O).
func parse(args []string) (o options, err error) {
	o.snapLen = bpf.DefaultSnapLen
	rest, err := tool.Flags("tcpdump", usageText, getopt.Flags{Plain: o.flag, Valued: "BFQcirswy", Value: o.value}, args)
	if err != nil {
		return o, err
	}
	switch o.plain {
	case 0, 1, 2, 3, 4, 5:
		o.print.Time = netdissect.TimeStyle(o.plain)
	default:
		return o, tool.Messagef("only -t, -tt, -ttt, -tttt, and -ttttt are supported")
	}
	o.filter = strings.Join(rest, " ")
	if o.fileOf != "" {
		o.filter = ""
	}
	return o, nil
}

// flag takes a flag without argument; false if it is none.
func (o *options) flag(f byte) bool {
	switch f {
	case 'A':
		o.print.ASCII++
	case 'd':
		o.dump++
	case 'D':
		o.list = true
	case 'e':
		o.print.Link = true
	case 'K':
		o.print.Trusting = true
	case 'L':
		o.links = true
	case 'p':
		o.noPromisc = true
	case 'q':
		o.print.Quiet = true
	case 'S':
		o.print.Absolute = true
	case 't':
		o.plain++
	case 'v':
		o.print.Verbose++
	case 'x':
		o.print.Hex++
	case 'X':
		o.print.HexASCII++
	case '#':
		o.print.Numbered = true
	case 'b', 'f', 'l', 'n', 'N', 'O', 'u', 'U':
	default:
		return false
	}
	return true
}

// directions are the values of -Q.
var directions = map[string]bpf.Direction{"in": bpf.In, "out": bpf.Out, "inout": bpf.InOut}

// value takes a flag with an argument.
func (o *options) value(f byte, value string) (err error) {
	switch f {
	case 'B':
		o.bufSize, err = number("packet buffer size", value, 1, maxBuf)
		o.bufSize *= 1024
	case 'c':
		o.count, err = number("packet count", value, 1, math.MaxInt32)
	case 'F':
		o.fileOf = value
	case 'i':
		o.iface = value
	case 'Q':
		d, ok := directions[strings.ToLower(value)]
		if !ok {
			return tool.Messagef("unknown capture direction `%s'", value)
		}
		o.direction = d
	case 'r':
		o.read = value
	case 's':
		if o.snapLen, err = number("snaplen", value, 0, bpf.DefaultSnapLen); o.snapLen == 0 {
			o.snapLen = bpf.DefaultSnapLen
		}
	case 'w':
		o.write = value
	case 'y':
		if value != "EN10MB" {
			return tool.Messagef("invalid data link type %s", value)
		}
	}
	return err
}

// number is a flag's argument.
func number(what, text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, tool.Messagef("invalid %s %s", what, text)
	case n < least || n > most:
		return 0, tool.Messagef("invalid %s %s (must be >= %d and <= %d)", what, text, least, most)
	}
	return n, nil
}

// Files are the files of a command line, which are the client's to open.
type Files struct {
	// Read is the file of -r; empty: packets come from a machine.
	Read string
	// Write is the file of -w; empty or "-": standard output.
	Write string
	// Remote is the command line for the machine, which writes to its standard output.
	Remote []string
}

// FilesOf finds the files of a command line. An error is one that Run has, too.
func FilesOf(args []string) (Files, error) {
	o, err := parse(args)
	if err != nil {
		return Files{}, err
	}
	f := Files{Read: o.read, Write: o.write, Remote: args}
	if o.write == "" || o.write == stdio || o.list || o.links || o.dump > 0 {
		return f, nil
	}
	// The last -w holds, so one more does behind the flags.
	rest, err := getopt.Flags{Plain: new(options).flag, Valued: "BFQcirswy", Value: func(byte, string) error { return nil }}.Parse(args)
	if err != nil {
		return f, err
	}
	at := len(args) - len(rest)
	if at > 0 && args[at-1] == "--" {
		at--
	}
	f.Remote = append(append(append([]string{}, args[:at]...), "-w", stdio), args[at:]...)
	return f, nil
}

// compile compiles the expression.
func (o *options) compile() (bpf.Program, error) {
	program, err := pcapfilter.Compile(o.filter, o.snapLen)
	if err != nil || program == nil {
		return nil, err
	}
	return assemble(program)
}
