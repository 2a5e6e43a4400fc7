package netstat8

import (
	"context"
	"strconv"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// maxWait bounds -w in seconds.
const maxWait = 1_000_000

// options are what the flags choose.
type options struct {
	interfaces   bool     // -i, or -I or -w
	memory       bool     // -m
	only         string   // -I: the interface
	bytes, drops bool     // -b -d
	human        bool     // -h
	family       ifnet.AF // -f -4 -6, 0: all
	wait         time.Duration
	lines        int // -q, 0: for ever
}

// Run runs netstat(8) with the arguments behind the command's name on a kernel and
// returns its exit status: 0, or 1 or 65 with a message on stderr. An interface that does
// not exist makes an empty table, but status 65 with -w, which goes on until ctx ends.
// Any goroutine; it may sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	switch {
	case err != nil:
	case o.memory:
		err = writeMemory(streams.Stdout, mbuf.Of(k).Stats())
	case o.wait > 0:
		s := sideways{o: o, rows: func() []row {
			t := table{o: options{only: o.only, family: ifnet.AFLink}}
			t.collect(k)
			return t.rows
		}}
		err = s.run(ctx, streams)
	default:
		t := table{o: o}
		t.collect(k)
		err = t.write(streams.Stdout)
	}
	return tool.Exit("netstat", err, streams.Stderr)
}

const usageText = tool.Usage("usage: netstat -i | -I interface [-46bdhnW] [-f address_family]\n" +
	"       netstat -w wait [-I interface] [-dh] [-q howmany]\n" +
	"       netstat -m\n")

// parse takes the flags; nothing may follow them.
func parse(args []string) (o options, err error) {
	args, err = tool.Flags("netstat", usageText, getopt.Flags{Plain: o.flag, Valued: "Ifqw", Value: o.value}, args)
	if err != nil {
		return o, err
	}
	if !o.interfaces && !o.memory || len(args) > 0 {
		return o, usageText
	}
	return o, nil
}

// flag takes a flag without argument; false if it is none.
func (o *options) flag(f byte) bool {
	switch f {
	case 'i':
		o.interfaces = true
	case 'm':
		o.memory = true
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
	switch f {
	case 'I':
		o.interfaces, o.only = true, value
	case 'f':
		af, ok := families[value]
		if !ok {
			return tool.Messagef("%s: unknown address family", value)
		}
		o.family = af
	case 'w':
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxWait {
			return tool.Messagef("%s: bad wait", value)
		}
		o.interfaces, o.wait = true, time.Duration(n)*time.Second
	case 'q':
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return tool.Messagef("%s: bad number of lines", value)
		}
		o.lines = n
	}
	return nil
}
