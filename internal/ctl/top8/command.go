package top8

import (
	"context"
	"strconv"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/machine"
)

const usageText = tool.Usage("usage: top [-b] [-d seconds] [-I interface] [-n count] [-o json]\n")

// maxDelay bounds -d in seconds.
const maxDelay = 1_000_000

// options are what the flags choose.
type options struct {
	format tool.Format
	batch  bool // -b: reports one after the other, one unless -n says more
	delay  time.Duration
	count  int    // -n, 0: for ever
	only   string // -I
}

// Run runs top with the arguments behind the command's name on a machine and returns its
// exit status: 0, or 1 with a message on stderr. It flushes after each report, and goes on
// until there are as many as asked for or ctx ends. Any goroutine; it may sleep.
func Run(ctx context.Context, m *machine.Machine, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	if err == nil && o.only != "" && m.Ctx(o.only) == nil {
		err = tool.Messagef("%s: no such device is attached", o.only)
	}
	if err == nil {
		err = run(ctx, m, o, streams)
	}
	return tool.Exit("top", err, streams.Stderr)
}

func parse(args []string) (o options, err error) {
	o.delay, o.count = time.Second, -1
	if o.format, args, err = tool.TakeFormat(args); err != nil {
		return o, err
	}
	flags := getopt.Flags{Plain: tool.Switches(map[byte]*bool{'b': &o.batch}), Valued: "dnI", Value: o.value}
	args, err = tool.Flags("top", usageText, flags, args)
	switch {
	case err != nil:
	case len(args) > 0:
		err = usageText
	case o.count < 0 && o.batch:
		o.count = 1
	case o.count < 0:
		o.count = 0
	}
	return o, err
}

// value takes a flag's argument.
func (o *options) value(f byte, value string) error {
	switch f {
	case 'I':
		o.only = value
	case 'd':
		s, err := strconv.ParseFloat(value, 64)
		o.delay = time.Duration(s * float64(time.Second)).Truncate(time.Millisecond)
		if err != nil || !(s > 0 && s <= maxDelay) || o.delay == 0 {
			return tool.Messagef("bad delay: %s", value)
		}
	case 'n':
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return tool.Messagef("bad count: %s", value)
		}
		o.count = n
	}
	return nil
}

// run writes reports: the first about the time since boot, each other about the time since
// the one before.
func run(ctx context.Context, m *machine.Machine, o options, streams tool.IO) error {
	var before sample
	for n := 1; ; n++ {
		now := take(m, o.only)
		r := compare(&now, &before)
		var err error
		if o.format.JSON {
			err = o.format.Encode(streams.Stdout, &r)
		} else {
			err = r.write(streams.Stdout, n > 1 && o.batch)
		}
		if err != nil || n == o.count {
			return err
		}
		if streams.Pause(ctx, o.delay) != nil {
			return nil
		}
		before = now
	}
}
