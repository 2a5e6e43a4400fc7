package netstat8

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// Machine is what the tool looks at.
type Machine interface {
	Kernel() *kern.Kernel
	// Devices are the names of NICs.
	Devices() []string
	// Ctx is the device of that name, nil if it is not attached.
	Ctx(name string) *iflib.Ctx
}

// maxWait bounds -w in seconds.
const maxWait = 1_000_000

// xoVersion is the version of the JSON (NETSTAT_XO_VERSION).
const xoVersion = "1"

// options are what the flags choose.
type options struct {
	interfaces   bool     // -i, or -I or -w
	memory       bool     // -m
	routes       bool     // -r
	queues       bool     // -Q
	taps         bool     // -B
	stats        int      // -s, how often
	protocol     string   // -p
	only         string   // -I: the interface
	bytes, drops bool     // -b -d
	human        bool     // -h
	multicast    bool     // -a
	numeric      bool     // -n
	wide         bool     // -W
	family       ifnet.AF // -f -4 -6, 0: all
	wait         time.Duration
	lines        int // -q, 0: for ever
	format       tool.Format
}

// Run runs netstat(1) with the arguments behind the command's name on a machine and
// returns its exit status: 0, or 1 or 65 with a message on stderr. An interface that does
// not exist makes an empty table, but status 65 with -w, which goes on until ctx ends.
// Any goroutine; it may sleep.
func Run(ctx context.Context, m Machine, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	if err == nil {
		err = o.run(ctx, m, streams)
	}
	return tool.Exit("netstat", err, streams.Stderr)
}

// run shows what the flags choose, in FreeBSD's order.
func (o options) run(ctx context.Context, m Machine, streams tool.IO) error {
	k := m.Kernel()
	switch {
	case o.taps:
		return o.showTaps(streams.Stdout, bpf.List(k))
	case o.memory:
		return o.showMemory(streams.Stdout, mbuf.Of(k).Stats())
	case o.queues:
		return o.showQueues(streams.Stdout, queuesOf(m, o.only))
	case o.wait > 0:
		s := sideways{o: o, rows: func() []row {
			t := table{o: options{only: o.only, family: ifnet.AFLink}}
			t.collect(k)
			return t.rows
		}}
		return s.run(ctx, streams)
	case o.interfaces:
		t := table{o: o}
		t.collect(k)
		return t.show(streams.Stdout)
	case o.routes:
		return o.showRoutes(streams.Stdout, k)
	}
	return o.showStats(streams.Stdout, k)
}

const usageText = tool.Usage(`usage: netstat -i | -I interface [-46abdhnW] [-f address_family]
       netstat -w wait [-I interface] [-46d] [-q howmany]
       netstat -s [-46s] [-f protocol_family | -p protocol]
       netstat -m
       netstat -B [-I interface]
       netstat -r [-46nW] [-f address_family]
       netstat -Q [-I interface]
`)

// parse takes the flags; only a number of seconds, as -w, may follow them.
func parse(args []string) (o options, err error) {
	format, args, err := tool.TakeFormat(args)
	if err != nil {
		return o, err
	}
	o.format = format
	args, err = tool.Flags("netstat", usageText, getopt.Flags{Plain: o.flag, Valued: "FfIMNpqw", Value: o.value}, args)
	if err != nil {
		return o, err
	}
	if len(args) == 1 && strings.Trim(args[0], "0123456789") == "" {
		if err := o.value('w', args[0]); err != nil {
			return o, usageText
		}
		args = nil
	}
	if len(args) > 0 || !o.interfaces && !o.memory && !o.routes && !o.queues && !o.taps && o.stats == 0 {
		return o, usageText
	}
	if o.stats > 0 && (o.interfaces || o.routes) {
		return o, tool.Messagef("-s with -i, -I or -r: not available")
	}
	return o, nil
}

// flag takes a flag without argument; false if it is none.
func (o *options) flag(f byte) bool {
	switches := map[byte]*bool{'i': &o.interfaces, 'm': &o.memory, 'r': &o.routes, 'Q': &o.queues, 'B': &o.taps, 'b': &o.bytes, 'd': &o.drops,
		'h': &o.human, 'a': &o.multicast, 'n': &o.numeric, 'S': &o.numeric, 'W': &o.wide, 'l': &o.wide}
	switch {
	case tool.Switches(switches)(f):
	case f == 's':
		o.stats++
	case f == '4':
		o.family = ifnet.AFInet
	case f == '6':
		o.family = ifnet.AFInet6
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
		if o.only = value; !o.queues {
			o.interfaces = true
		}
	case 'f':
		af, ok := families[value]
		if !ok {
			return tool.Messagef("%s: unknown address family", value)
		}
		o.family = af
	case 'F':
		if value != "0" {
			return tool.Messagef("%s: invalid fib", value)
		}
	case 'p':
		if _, ok := protocolOf(value); !ok {
			return tool.Messagef("%s: unknown or uninstrumented protocol", value)
		}
		o.protocol = value
		o.stats = max(o.stats, 1)
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
	default: // -M -N: of files of another machine
		return tool.Messagef("-%c: not available", f)
	}
	return nil
}
