package vmstat8

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// run prints reports: the first since boot, each other since the one before (dointr). As
// JSON each is a document of its own.
func (r *report) run(ctx context.Context, streams tool.IO) error {
	if !r.o.format.JSON {
		fmt.Fprintf(streams.Stdout, "%-*s %*s %*s\n", nameLen, "interrupt", totalWidth, "total", rateWidth, "rate")
	}
	for left := r.o.count; ; left-- {
		if err := r.show(streams.Stdout); err != nil {
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

// measured is a line of a report: how many there were, and how many a second.
type measured struct {
	name    string
	n, rate uint64
}

// measure makes a report. Interrupts that never came are left out but with -a.
func (r *report) measure() (lines []measured, total measured) {
	now := r.uptime()
	period := uint64(max(1, (now - r.before).Milliseconds()))
	sources := list(r.interrupts())
	for i, s := range sources {
		n := s.count
		if i < len(r.last) && r.last[i].name == s.name {
			n -= min(n, r.last[i].count)
		}
		total.n += n
		if s.count > 0 || r.o.all {
			lines = append(lines, measured{s.name, n, rate(n, period)})
		}
	}
	total.name, total.rate = "Total", rate(total.n, period)
	r.last, r.before = sources, now
	return lines, total
}

// rate is how many n are a second, rounded; the period is in ms.
func rate(n, period uint64) uint64 {
	const second = 1000
	return (n*second + period/2) / period
}

// show prints a report.
func (r *report) show(w io.Writer) error {
	lines, total := r.measure()
	if r.o.format.JSON {
		return r.writeJSON(w, lines, total)
	}
	var b bytes.Buffer
	for _, l := range append(lines, total) {
		fmt.Fprintf(&b, "%-*s %*d %*d\n", nameLen, l.name, totalWidth, l.n, rateWidth, l.rate)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r *report) writeJSON(w io.Writer, lines []measured, total measured) error {
	j := r.o.format.NewJSON(w, xoVersion)
	j.Object("vmstat", func() {
		j.Object("interrupt-statistics", func() {
			j.List("interrupt", func() {
				for _, l := range lines {
					j.Item(func() {
						j.Field("name", l.name)
						j.Field("total", l.n)
						j.Field("rate", l.rate)
					})
				}
			})
			j.Field("total-interrupts", total.n)
			j.Field("total-rate", total.rate)
		})
	})
	return j.Close()
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
