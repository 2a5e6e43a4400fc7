package netstat8

import (
	"bytes"
	"context"
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/sysctl"
)

// exitNoData is the status for an interface that does not exist (EX_DATAERR).
const exitNoData = 65

// bannerLines is how many lines a banner is good for.
const bannerLines = 21

// sideways is netstat -w: a line of differences after each interval (sidewaysintpr).
type sideways struct {
	o    options
	rows func() []row // of the interfaces, without addresses
	last row
}

// run prints lines until there are as many as -q says or the wait ends. As JSON they are
// one list, of which each is shown when it is there.
func (s *sideways) run(ctx context.Context, streams tool.IO) error {
	now, err := s.sum()
	if err != nil {
		return err
	}
	s.last = now
	if s.o.format.JSON {
		return s.runJSON(ctx, streams)
	}
	var b bytes.Buffer
	for n := 0; s.o.lines == 0 || n < s.o.lines; n++ {
		if n%bannerLines == 0 {
			s.banner(&b)
		}
		if _, err := b.WriteTo(streams.Stdout); err != nil {
			return err
		}
		if streams.Pause(ctx, s.o.wait) != nil {
			return nil
		}
		if now, err = s.sum(); err != nil {
			return err
		}
		s.line(&b, now)
		s.last = now
	}
	_, err = b.WriteTo(streams.Stdout)
	return err
}

func (s *sideways) runJSON(ctx context.Context, streams tool.IO) error {
	j := s.o.format.NewJSON(streams.Stdout, xoVersion)
	var err error
	j.Object("statistics", func() {
		j.List("interface-statistics", func() {
			for n := 0; s.o.lines == 0 || n < s.o.lines; n++ {
				j.Flush()
				if streams.Pause(ctx, s.o.wait) != nil {
					return
				}
				var now row
				if now, err = s.sum(); err != nil {
					return
				}
				t := table{o: s.o}
				j.Item(func() { t.differences(j, now, s.last) })
				s.last = now
			}
		})
	})
	if err != nil {
		return err
	}
	return j.Close()
}

// differences are the fields of what is new. Counters that went down are those of
// interfaces that are gone.
func (t *table) differences(j *tool.JSON, now, last row) {
	count := func(name string, now, last uint64) {
		j.Field(name, t.jsonNumber(now-min(now, last), decimal, "kMGTPE"))
	}
	size := func(name string, now, last uint64) { j.Field(name, t.jsonNumber(now-min(now, last), binary, "KMGTPE")) }
	count("received-packets", now.in.packets, last.in.packets)
	count("received-errors", now.ierrors, last.ierrors)
	count("dropped-packets", now.idrops, last.idrops)
	size("received-bytes", now.in.bytes, last.in.bytes)
	count("sent-packets", now.out.packets, last.out.packets)
	count("send-errors", now.oerrors, last.oerrors)
	size("sent-bytes", now.out.bytes, last.out.bytes)
	count("collisions", now.collisions, last.collisions)
	if t.o.drops {
		count("sent-dropped-packets", now.odrops, last.odrops)
	}
}

// sum adds up the interfaces that the options choose.
func (s *sideways) sum() (total row, err error) {
	found := s.o.only == ""
	for _, r := range s.rows() {
		found = true
		total.in.packets += r.in.packets
		total.in.bytes += r.in.bytes
		total.out.packets += r.out.packets
		total.out.bytes += r.out.bytes
		total.ierrors += r.ierrors
		total.idrops += r.idrops
		total.oerrors += r.oerrors
		total.collisions += r.collisions
		total.odrops += r.odrops
	}
	if !found {
		return total, tool.Status{Code: exitNoData,
			Err: tool.Messagef("interface %s not found: %s", s.o.only, sysctl.Strerror(syscall.ENXIO))}
	}
	return total, nil
}

func (s *sideways) banner(b *bytes.Buffer) {
	title := s.o.only
	if title == "" {
		title = "(Total)"
	}
	fmt.Fprintf(b, "%17s %14s %16s\n", "input", title, "output")
	fmt.Fprintf(b, "%10s %5s %5s %10s %10s %5s %10s %5s", "packets", "errs", "idrops", "bytes", "packets", "errs", "bytes", "colls")
	if s.o.drops {
		fmt.Fprintf(b, " %5.5s", "drops")
	}
	b.WriteByte('\n')
}

// line prints what is new. Counters that went down are those of interfaces that are gone.
func (s *sideways) line(b *bytes.Buffer, now row) {
	t := table{o: s.o}
	count := func(now, last uint64) string { return t.count(now - min(now, last)) }
	size := func(now, last uint64) string { return t.size(now - min(now, last)) }
	l := s.last
	fmt.Fprintf(b, "%10s %5s %5s %10s ", count(now.in.packets, l.in.packets), count(now.ierrors, l.ierrors), count(now.idrops, l.idrops), size(now.in.bytes, l.in.bytes))
	fmt.Fprintf(b, "%10s %5s %10s %5s", count(now.out.packets, l.out.packets), count(now.oerrors, l.oerrors), size(now.out.bytes, l.out.bytes), count(now.collisions, l.collisions))
	if s.o.drops {
		fmt.Fprintf(b, " %5s ", count(now.odrops, l.odrops))
	}
	b.WriteByte('\n')
}
