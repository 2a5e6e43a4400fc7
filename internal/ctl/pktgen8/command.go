package pktgen8

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// Run runs pktgen with the arguments behind the command's name and returns its exit status: 0,
// or 1 with a message on stderr. Reports go to stderr and results to stdout, as pkt-gen's do.
// A client that goes away ends it without an error. Any goroutine.
func (g *Pktgen) Run(ctx context.Context, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	switch {
	case err == nil && o.help:
		fmt.Fprint(streams.Stdout, string(usageText))
	case err == nil:
		err = g.command(ctx, o, streams)
	}
	return tool.Exit("pktgen", err, streams.Stderr)
}

func (g *Pktgen) command(ctx context.Context, o options, streams tool.IO) error {
	j, err := g.newJob(o.p)
	if err != nil {
		return fmt.Errorf("%s: %w", o.p.Interface, err)
	}
	if have := j.k.NCPU(); o.cpus > have {
		return tool.Messagef("%d cpus is too high, have only %d cpus", o.cpus, have)
	}
	t := &text{o: o, mode: j.p.Mode, streams: streams}
	if !o.format.JSON {
		t.header(j)
	}
	res, err := g.Do(ctx, o.p, streams.Wait, t.report)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil && res.Frames == 0 {
		return err
	}
	return errors.Join(err, t.summary(res))
}

// header says what begins.
func (t *text) header(j *job) {
	what, queues := "Working on", j.nic.NTxqs()
	switch j.p.Mode {
	case client.PktgenModeTx:
		what = "Sending on"
	case client.PktgenModeRx:
		what, queues = "Receiving from", j.nic.NRxqs()
	}
	cpus := t.o.cpus
	if cpus == 0 {
		cpus = j.k.NCPU()
	}
	out := t.streams.Stdout
	if t.o.verbose {
		for _, s := range []span{j.src, j.dst} {
			t.say(j.k.Uptime(), "extract_ip_range", 0, "range is %v", s)
		}
	}
	fmt.Fprintf(out, "%s %s: %d queues, %d threads and %d cpus.\n", what, j.ifp.Name(), queues, j.p.Threads, cpus)
	if j.p.Mode == client.PktgenModeTx {
		src, dst := t.o.p.Src, t.o.p.Dst
		if src == "" {
			src = station(j.wheels[srcStation].first)
		}
		if dst == "" {
			dst = station(j.wheels[dstStation].first)
		}
		fmt.Fprintf(out, "%s -> %s (%s -> %s)\n", j.p.SrcIP, j.p.DstIP, src, dst)
	}
	if t.streams.Flush != nil {
		t.streams.Flush()
	}
}

// station is an address in text.
func station(v uint64) string {
	var parts []string
	const last = 40
	for shift := last; shift >= 0; shift -= bitsPerByte {
		parts = append(parts, fmt.Sprintf("%02x", byte(v>>shift)))
	}
	return strings.Join(parts, ":")
}
