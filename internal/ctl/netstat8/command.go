package netstat8

import (
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// exitFailure is the status of every failure.
const exitFailure = 1

// options are what the flags choose.
type options struct {
	interfaces   bool     // -i, or -I
	only         string   // -I: the interface
	bytes, drops bool     // -b -d
	human        bool     // -h
	family       ifnet.AF // -f -4 -6, 0: all
}

// Run runs netstat(8) with the arguments behind the command's name on the interfaces of a
// kernel and returns its exit status: 0, or 1 with a message on stderr. An interface that
// does not exist makes an empty table. Any goroutine; it may sleep.
func Run(k *kern.Kernel, args []string, stdout, stderr io.Writer) (exit int) {
	o, err := parse(args)
	if err != nil {
		fmt.Fprint(stderr, err.Error())
		return exitFailure
	}
	t := table{o: o}
	t.collect(k)
	if err := t.write(stdout); err != nil {
		fmt.Fprintf(stderr, "netstat: %v\n", err)
		return exitFailure
	}
	return 0
}

// usage is a command line that makes no sense; the text is all that is printed.
type usage string

func (u usage) Error() string { return string(u) }

const usageText = usage("usage: netstat -i | -I interface [-46bdhnW] [-f address_family]\n")

// parse takes the flags; nothing may follow them.
func parse(args []string) (o options, err error) {
	args, err = getopt.Flags{Plain: o.flag, Valued: "If", Value: o.value}.Parse(args)
	if bad, ok := err.(getopt.Error); ok {
		return o, usage(fmt.Sprintf("netstat: %v\n%s", bad, usageText))
	}
	if err != nil {
		return o, err
	}
	if !o.interfaces || len(args) > 0 {
		return o, usageText
	}
	return o, nil
}

// flag takes a flag without argument; false if it is none.
func (o *options) flag(f byte) bool {
	switch f {
	case 'i':
		o.interfaces = true
	case 'b':
		o.bytes = true
	case 'd':
		o.drops = true
	case 'h':
		o.human = true
	case '4':
		o.family = ifnet.AFInet
	case '6':
		o.family = ifnet.AFInet6
	case 'n', 'W': // names and narrow columns, which nothing here has
	default:
		return false
	}
	return true
}

// families are the names of address families.
var families = map[string]ifnet.AF{"inet": ifnet.AFInet, "inet6": ifnet.AFInet6, "link": ifnet.AFLink}

func (o *options) value(f byte, value string) error {
	if f == 'I' {
		o.interfaces, o.only = true, value
		return nil
	}
	af, ok := families[value]
	if !ok {
		return usage(fmt.Sprintf("netstat: %s: unknown address family\n", value))
	}
	o.family = af
	return nil
}
