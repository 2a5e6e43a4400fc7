package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// Exit statuses of the shell's own, as sh(1) has them.
const (
	statusUsage       = 2
	statusNotFound    = 127
	statusInterrupted = 130
)

// Shell runs lines. Its methods are for one goroutine.
type Shell struct {
	// Run runs a command that is none of the shell's own, until its end or that of ctx, and
	// returns its exit status; found is false if there is no such command.
	Run func(ctx context.Context, argv []string, stdout io.Writer) (status int, found bool)
	// Help prints what there is to know of a command, or with none of all.
	Help func(stdout io.Writer, argv []string) (status int)

	Stdout, Stderr io.Writer
	// Interactive shells go on after a line that makes no sense, and after an interrupt.
	Interactive bool

	status int // $?
	ended  bool
}

// Input is where lines come from. Line returns io.EOF behind the last one, and
// [ErrInterrupted] for a line that was given up.
type Input interface {
	Line() (string, error)
}

// ErrInterrupted is a line that its writer gave up.
var ErrInterrupted = errors.New("interrupted")

// Loop runs lines until exit, the end of the input or that of ctx, and returns the exit
// status: that of the last command.
func (s *Shell) Loop(ctx context.Context, in Input) (exit int) {
	for !s.ended && ctx.Err() == nil {
		line, err := in.Line()
		switch {
		case errors.Is(err, io.EOF):
			return s.status
		case errors.Is(err, ErrInterrupted):
			s.status = statusInterrupted
		case err != nil:
			s.complain("%v", err)
			return 1
		default:
			s.Line(ctx, line)
		}
	}
	return s.status
}

// Line runs a line.
func (s *Shell) Line(ctx context.Context, line string) {
	list, err := Parse(line)
	if err != nil {
		s.complain("%v", err)
		s.status, s.ended = statusUsage, !s.Interactive
		return
	}
	for _, c := range list {
		if c.Join == And && s.status != 0 || c.Join == Or && s.status == 0 {
			continue
		}
		interrupted := s.command(ctx, c)
		if interrupted {
			s.ended = s.ended || !s.Interactive
		}
		if interrupted || s.ended {
			return
		}
	}
}

// complain prints an error as sh does.
func (s *Shell) complain(format string, a ...any) {
	fmt.Fprintf(s.Stderr, "sh: "+format+"\n", a...)
}

// command runs one command. An interrupt ends it, and not the shell.
func (s *Shell) command(ctx context.Context, c Command) (interrupted bool) {
	argv := make([]string, len(c.Words))
	for i, w := range c.Words {
		argv[i] = w.Expand(s.status)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if c.Host == "" {
		s.status = s.run(ctx, argv, s.Stdout)
	} else {
		s.status = s.toHost(ctx, argv, c.Host)
	}
	// A command that hears of the interrupt, too, may be done before ctx is.
	interrupted = ctx.Err() != nil || s.status == statusInterrupted
	if interrupted && c.Host != "" {
		s.status = statusInterrupted // the host's end is no success
	}
	return interrupted
}

// run runs a command of the shell's own, or another.
func (s *Shell) run(ctx context.Context, argv []string, stdout io.Writer) (status int) {
	if own, ok := builtins[argv[0]]; ok {
		return own(s, ctx, argv, stdout)
	}
	status, found := s.Run(ctx, argv, stdout)
	if !found {
		s.complain("%s: not found", argv[0])
		return statusNotFound
	}
	return status
}

// piped is a pipe whose reader may go away: then the writer is told to end, and what it
// still writes is lost without a word (SIGPIPE).
type piped struct {
	to     io.Writer
	broken func()
}

func (p *piped) Write(b []byte) (int, error) {
	if _, err := p.to.Write(b); err != nil {
		p.broken()
	}
	return len(b), nil
}

// toHost runs a command with its output to the host's sh. The status is that of the latter.
func (s *Shell) toHost(ctx context.Context, argv []string, text string) (status int) {
	host := exec.Command("sh", "-c", text)
	host.Stdout, host.Stderr = s.Stdout, s.Stderr
	pipe, err := host.StdinPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		s.complain("%v", err)
		return statusNotFound
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.run(ctx, argv, &piped{to: pipe, broken: cancel})
	pipe.Close()
	err = host.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if !exit.Exited() {
			return statusInterrupted
		}
		return exit.ExitCode()
	}
	if err != nil {
		s.complain("%v", err)
		return 1
	}
	return 0
}
