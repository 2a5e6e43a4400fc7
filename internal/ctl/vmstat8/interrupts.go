package vmstat8

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// nameLen is the length of interrupts' names on x86, blanks at the end included
// (MAXCOMLEN).
const nameLen = 19

// Widths of the numbers.
const (
	totalWidth = 20
	rateWidth  = 10
)

// source is an interrupt as it is listed.
type source struct {
	name  string
	count uint64 // since boot
}

// report is vmstat -i.
type report struct {
	o          options
	uptime     func() time.Duration
	interrupts func() []pci.Interrupt

	last   []source // of the report before
	before time.Duration
}

// run prints reports: the first since boot, each other since the one before (dointr).
func (r *report) run(ctx context.Context, streams tool.IO) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-*s %*s %*s\n", nameLen, "interrupt", totalWidth, "total", rateWidth, "rate")
	for left := r.o.count; ; left-- {
		r.write(&b)
		if _, err := b.WriteTo(streams.Stdout); err != nil {
			return err
		}
		if left == 0 || left == 1 {
			return nil
		}
		if streams.Pause(ctx, r.o.wait) != nil {
			return nil
		}
	}
}

// write prints a report. Interrupts that never came are left out but with -a.
func (r *report) write(b *bytes.Buffer) {
	now := r.uptime()
	period := uint64(max(1, (now - r.before).Milliseconds()))
	sources := list(r.interrupts())
	var total uint64
	for i, s := range sources {
		n := s.count
		if i < len(r.last) && r.last[i].name == s.name {
			n -= min(n, r.last[i].count)
		}
		total += n
		if s.count > 0 || r.o.all {
			line(b, s.name, n, period)
		}
	}
	line(b, "Total", total, period)
	r.last, r.before = sources, now
}

// line prints a number and how many it is a second, rounded; the period is in ms.
func line(b *bytes.Buffer, name string, n, period uint64) {
	const second = 1000
	fmt.Fprintf(b, "%-*s %*d %*d\n", nameLen, name, totalWidth, n, rateWidth, (n*second+period/2)/period)
}

// list names the interrupts. Each has a counter for strays, which do not happen here.
func list(interrupts []pci.Interrupt) []source {
	var out []source
	for _, i := range interrupts {
		out = append(out, source{fullName(i), i.Count}, source{fmt.Sprintf("stray irq%d", i.IRQ), 0})
	}
	return out
}

// fullName is the number of an interrupt with as many of its handlers as there is room
// for (intr_event_update): the end of one that is too long, a "+" for each of several,
// and "*" if there is no room for that either.
func fullName(i pci.Interrupt) string {
	name := fmt.Sprintf("irq%d:", i.IRQ)
	missed, none := 0, true
	for _, h := range i.Handlers {
		if len(name)+1+len(h) > nameLen {
			missed++
			continue
		}
		name, none = name+" "+h, false
	}
	switch {
	case missed == 1 && none:
		h := i.Handlers[0]
		return name + "-" + h[len(name)+1+len(h)-nameLen:]
	case missed == 0:
		return name
	case len(name)+missed+1 <= nameLen:
		sep := ""
		if none {
			sep = " "
		}
		return name + sep + strings.Repeat("+", missed)
	}
	name += strings.Repeat("+", nameLen-len(name))
	return name[:nameLen-1] + "*"
}
