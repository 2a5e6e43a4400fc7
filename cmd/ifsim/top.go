package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func topCommand() *cobra.Command {
	cmd := toolCommand(&cobra.Command{
		Use:   "top [-S SOCKET] [-b] [-d SECONDS] [-I DEVICE] [-n COUNT] [-o json]",
		Short: "show what the queues and CPUs of a running machine do, live",
		Long: `Shows, again and again, what a running machine does: how busy its CPUs are with tasks and
interrupts, its packet buffers, and a line for each queue, those with most packets first:

    PACKETS/s BYTES/s  what it sent or received
    DEPTH SIZE         descriptors that are in use, or buffers that the hardware has; how
                       many there are
    SOFT STATE         packets that wait in front of the ring; the state of the mp_ring
    DROPS/s            packets that the queue lost
    INTR/s             of its vector, if that is its own

    -b          reports one after the other instead of a screen, one unless -n says more;
                so it is too when the output is no terminal
    -d SECONDS  between reports, in the machine's time; 1 without it
    -I DEVICE   only the queues of one device
    -n COUNT    end after COUNT reports; 0 goes on
    -o json     a line of JSON for each report

The first report is about the time since boot, each other about the time since the one
before. Senders are threads of their own and not in the CPUs' times. On the screen q ends
it, and d changes the time between reports.

The exit status is 0, or 1 for a usage error or a device that is not attached.`,
		Example: `  ifsim top
  ifsim top -b -n 2 -d 5
  ifsim top -b -o json -n 2 | tail -1 | jq '.queue[0]'`,
	}, ctl.CommandTop)
	ask := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out, isFile := cmd.OutOrStdout().(*os.File)
		if helpAsked(args) || !isFile || !term.IsTerminal(int(out.Fd())) || plain(args) {
			return ask(cmd, append(args[:len(args):len(args)], "-b"))
		}
		s := &screen{out: out, size: func() (int, int, error) { return term.GetSize(int(out.Fd())) }}
		return s.run(cmd, ask, args)
	}
	return cmd
}

// plain reports whether the arguments ask for something else than a screen.
func plain(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "--libxo") || strings.HasPrefix(a, "-o") || len(a) > 1 && a[0] == '-' && strings.Contains(a, "b") {
			return true
		}
	}
	return false
}

// screen shows reports one on top of the other. Each Write is a report.
type screen struct {
	out  io.Writer
	size func() (width, height int, err error)
}

// Size of a terminal that does not tell.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// Write draws a report from the upper left corner on, as much as there is room for.
func (s *screen) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	width, height, err := s.size()
	if err != nil || width < 1 || height < 1 {
		width, height = defaultWidth, defaultHeight
	}
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	lines := strings.Split(strings.TrimRight(string(p), "\n"), "\n")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line[:min(len(line), width)] + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	if _, err := b.WriteTo(s.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// delays are what the key d chooses from, in seconds.
var delays = [...]int{1, 2, 5, 10}

// run shows the reports of ask until somebody presses q or interrupts.
func (s *screen) run(cmd *cobra.Command, ask func(cmd *cobra.Command, args []string) error, args []string) error {
	in := int(os.Stdin.Fd())
	if old, err := term.MakeRaw(in); err == nil {
		defer func() { _ = term.Restore(in, old) }() // nothing can be done
	}
	ctx := cmd.Context()
	out := cmd.OutOrStdout()
	cmd.SetOut(s)
	defer cmd.SetOut(out)
	defer fmt.Fprint(s.out, "\r\n")
	var asked atomic.Int32 // presses of d
	keys := make(chan byte)
	reading, stop := context.WithCancel(ctx)
	read := make(chan struct{})
	go func() {
		defer close(read)
		readKeys(reading, os.Stdin, keys)
	}()
	defer func() {
		stop()
		<-read // what is typed next is somebody else's
	}()
	for given := args; ; {
		once, cancel := context.WithCancel(ctx)
		cmd.SetContext(once)
		over := make(chan bool, 1)
		go func() { over <- obey(once, keys, &asked, cancel) }()
		before := asked.Load()
		err := ask(cmd, args)
		cancel()
		quit := <-over
		cmd.SetContext(ctx)
		var code exitCode
		if !errors.As(err, &code) || quit || asked.Load() == before {
			if quit {
				err = nil
			}
			return err
		}
		args = append(given[:len(given):len(given)], "-d", fmt.Sprint(delays[int(asked.Load())%len(delays)]))
	}
}

// obey waits for a key that ends the present request: q, or an interrupt, which the
// terminal does not make of ^C now, ends all; d counts.
func obey(ctx context.Context, keys <-chan byte, asked *atomic.Int32, cancel func()) (quit bool) {
	const interrupt = 3 // ^C
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return false
		case k := <-keys:
			switch k {
			case 'q', interrupt:
				return true
			case 'd':
				asked.Add(1)
				return false
			}
		}
	}
}

// readKeys sends what is typed until there is no more or ctx ends. It does not take what
// it cannot send.
func readKeys(ctx context.Context, from *os.File, keys chan<- byte) {
	const look = 50 // ms between looks at ctx
	var b [1]byte
	fds := []unix.PollFd{{Fd: int32(from.Fd()), Events: unix.POLLIN}}
	for ctx.Err() == nil {
		ready, err := unix.Poll(fds, look)
		if ready == 0 || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if n, err := from.Read(b[:]); n == 0 || err != nil {
			return
		}
		select {
		case keys <- b[0]:
		case <-ctx.Done():
		}
	}
}
