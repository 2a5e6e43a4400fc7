package tcpdump8

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/netdissect"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
)

const (
	// defaultBuf is what libpcap asks bpf(4) for: bytes of each of the two buffers.
	defaultBuf = 512 << 10
	// batch is how many bytes are written before they are sent on.
	batch = 256 << 10
)

// capture is a live capture.
type capture struct {
	o       *options
	k       *kern.Kernel
	ifp     *ifnet.Ifnet
	streams tool.IO
	sink    sink
	packets uint64 // captured
	pending int    // bytes written since the last flush
}

// sink is what packets are written to.
type sink interface {
	// write writes a packet and returns how many bytes that made.
	write(p bpf.Packet) (int, error)
	flush() error
	// close ends what was written with the counts.
	close(at time.Duration, s bpf.Stats) error
}

// run captures until the end.
func (c *capture) run(ctx context.Context, program bpf.Program) error {
	size := c.o.bufSize
	if size == 0 {
		size = defaultBuf
	}
	gone := make(chan struct{})
	var once sync.Once
	cancel := ifnet.OnEvent(c.k, func(which *ifnet.Ifnet, e ifnet.EventKind) {
		if which == c.ifp && e == ifnet.EventDeparture && !c.attached() {
			once.Do(func() { close(gone) })
		}
	})
	defer cancel()
	if !c.attached() {
		return noDevice(c.ifp.Name())
	}
	l, err := c.open(bpf.Config{Filter: program, SnapLen: c.o.snapLen, Direction: c.o.direction, BufSize: size, Promisc: !c.o.noPromisc, Owner: "tcpdump"})
	if err != nil {
		return c.openError(err)
	}
	defer l.Close()
	boot := time.Now().Add(-c.k.Uptime())
	if c.sink, err = c.o.sink(c.streams.Stdout, c.ifp.Name(), boot); err != nil {
		return err
	}
	c.announce()
	end, err := c.loop(ctx, l, gone)
	return c.finish(l, end, err)
}

// attached reports whether the interface is in the machine. One that gets a new name
// departs only for a moment.
func (c *capture) attached() bool { return slices.Contains(ifnet.List(c.k), c.ifp) }

// open puts a listener on the interface. One that cannot be promiscuous is listened to as
// it is, with a warning.
func (c *capture) open(cfg bpf.Config) (*bpf.Listener, error) {
	l, err := bpf.Open(c.k, c.ifp, cfg)
	if err == nil || !cfg.Promisc || errors.Is(err, syscall.ENXIO) {
		return l, err
	}
	cfg.Promisc = false
	l, plain := bpf.Open(c.k, c.ifp, cfg)
	if plain == nil {
		fmt.Fprintf(c.streams.Stderr, "tcpdump: WARNING: %s: That device doesn't support promiscuous mode\n(BIOCPROMISC: %s)\n", c.ifp.Name(), reason(err))
	}
	return l, plain
}

// openError is what tcpdump says of an interface that cannot be listened on.
func (c *capture) openError(err error) error {
	if errors.Is(err, syscall.ENXIO) {
		return noDevice(c.ifp.Name())
	}
	return fmt.Errorf("%s: %w", c.ifp.Name(), err)
}

// announce says what is captured.
func (c *capture) announce() {
	if c.o.print.Verbose == 0 && c.o.write == "" {
		fmt.Fprint(c.streams.Stderr, "tcpdump: verbose output suppressed, use -v[v]... for full protocol decode\n")
	} else {
		fmt.Fprint(c.streams.Stderr, "tcpdump: ")
	}
	fmt.Fprintf(c.streams.Stderr, "listening on %s, link-type EN10MB (Ethernet), snapshot length %d bytes\n", c.ifp.Name(), c.o.snapLen)
}

// ending is why a capture ended.
type ending uint8

const (
	counted     ending = iota // -c
	interrupted               // by the client
	disappeared               // the interface
	failed                    // writing
)

// loop writes packets as they come.
func (c *capture) loop(ctx context.Context, l *bpf.Listener, gone <-chan struct{}) (ending, error) {
	for begun := false; ; begun = true {
		full, err := c.drain(l)
		switch {
		case err != nil:
			return failed, err
		case full:
			return counted, nil
		case c.pending > 0 || !begun:
			if err := c.flush(); err != nil {
				return failed, err
			}
		}
		select {
		case <-l.Ready():
		case <-gone:
			return c.last(l, gone)
		case <-ctx.Done():
			return c.last(l, gone)
		}
	}
}

// last writes what came before the capture was ended.
func (c *capture) last(l *bpf.Listener, gone <-chan struct{}) (ending, error) {
	full, err := c.drain(l)
	if full {
		return counted, err
	}
	select {
	case <-gone:
		return disappeared, err
	default:
		return interrupted, err
	}
}

// drain writes what the listener has; true if that is all that -c asks for.
func (c *capture) drain(l *bpf.Listener) (full bool, err error) {
	l.Read(func(p bpf.Packet) bool {
		var n int
		if n, err = c.sink.write(p); err != nil {
			return false
		}
		c.packets++
		if c.pending += n; c.pending >= batch {
			err = c.flush()
		}
		full = c.o.count > 0 && c.packets >= uint64(c.o.count)
		return err == nil && !full
	})
	return full, err
}

// flush sends what has been written.
func (c *capture) flush() error {
	if err := c.sink.flush(); err != nil {
		return err
	}
	if c.pending = 0; c.streams.Flush != nil {
		c.streams.Flush()
	}
	return nil
}

// finish takes the listener off and writes the counts.
func (c *capture) finish(l *bpf.Listener, end ending, err error) error {
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	s := l.Stats()
	if err == nil {
		err = c.sink.close(c.k.Uptime(), s)
	}
	if err == nil && end == interrupted && c.o.write == "" {
		_, err = io.WriteString(c.streams.Stdout, "\n")
	}
	if end == disappeared {
		fmt.Fprint(c.streams.Stderr, "tcpdump: pcap_loop: The interface disappeared\n")
	}
	fmt.Fprintf(c.streams.Stderr, "%d packet%s captured\n%d packet%s received by filter\n%d packet%s dropped by kernel\n",
		c.packets, plural(c.packets), s.Received, plural(s.Received), s.Dropped, plural(s.Dropped))
	if err == nil && end == disappeared {
		err = tool.Status{Code: tool.Failure}
	}
	return err
}

// sink is where packets go: pcapng, or text.
func (o *options) sink(w io.Writer, ifname string, boot time.Time) (sink, error) {
	if o.write == "" {
		return &printSink{w: w, p: netdissect.New(o.print), boot: boot}, nil
	}
	ng, err := bpf.NewNgWriter(w, bpf.NgInterface{Name: ifname, SnapLen: o.snapLen, Filter: o.filter, Boot: boot})
	return ngSink{ng}, err
}

// printSink writes text.
type printSink struct {
	w    io.Writer
	p    *netdissect.Printer
	boot time.Time
}

func (s *printSink) write(p bpf.Packet) (int, error) {
	return s.w.Write(s.p.Packet(s.boot.Add(p.Time), p.Data, p.Len))
}

func (s *printSink) flush() error { return nil }

func (s *printSink) close(time.Duration, bpf.Stats) error { return nil }

// ngSink writes pcapng.
type ngSink struct{ w *bpf.NgWriter }

func (s ngSink) write(p bpf.Packet) (int, error) { return len(p.Data), s.w.Write(p) }

func (s ngSink) flush() error { return s.w.Flush() }

func (s ngSink) close(at time.Duration, st bpf.Stats) error { return s.w.Close(at, st) }
