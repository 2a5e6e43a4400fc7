package vmstat8

import (
	"context"
	"strconv"
	"time"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

// maxWait bounds -w in seconds.
const maxWait = 1_000_000

// options are what the flags choose.
type options struct {
	interrupts, zones, all bool // -i -z -a
	wait                   time.Duration
	count                  int // reports; -1 for ever
	format                 tool.Format
}

// xoVersion is the version of the JSON (VMSTAT_XO_VERSION).
const xoVersion = "1"

const usageText = tool.Usage("usage: vmstat [-aiz] [-c count] [-w wait] [wait [count]]\n")

// Run runs vmstat(8) with the arguments behind the command's name on a kernel and returns
// its exit status: 0, or 1 with a message on stderr. With a time to wait and no count it
// goes on until ctx ends. Any goroutine; it may sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	if err == nil && o.zones {
		stats := mbuf.Of(k).Stats()
		err = o.showZones(streams.Stdout, stats.Zones())
	}
	if err == nil && o.interrupts {
		r := report{o: o, uptime: k.Uptime, interrupts: pci.Of(k).Interrupts}
		err = r.run(ctx, streams)
	}
	return tool.Exit("vmstat", err, streams.Stderr)
}

func parse(args []string) (o options, err error) {
	format, args, err := tool.TakeFormat(args)
	if err != nil {
		return o, err
	}
	o.format = format
	flags := map[byte]*bool{'i': &o.interrupts, 'z': &o.zones, 'a': &o.all}
	args, err = tool.Flags("vmstat", usageText, getopt.Flags{Plain: tool.Switches(flags), Valued: "cw", Value: o.value}, args)
	if err != nil {
		return o, err
	}
	for i, f := range []byte("wc") {
		if i < len(args) {
			if err := o.value(f, args[i]); err != nil {
				return o, err
			}
		}
	}
	const waitAndCount = 2
	if len(args) > waitAndCount || !o.interrupts && !o.zones {
		return o, usageText
	}
	switch {
	case o.wait > 0 && o.count == 0:
		o.count = -1
	case o.wait == 0:
		o.wait = time.Second
	}
	return o, nil
}

// value takes a time in seconds or a number of reports.
func (o *options) value(f byte, value string) error {
	if f == 'w' {
		s, err := strconv.ParseFloat(value, 64)
		if err != nil || !(s >= 0 && s <= maxWait) {
			return tool.Messagef("bad wait: %s", value)
		}
		o.wait = time.Duration(s * float64(time.Second)).Truncate(time.Millisecond)
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return tool.Messagef("bad count: %s", value)
	}
	o.count = n
	return nil
}
