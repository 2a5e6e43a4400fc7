package altqbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/ifsim/ifsim/internal/netns"
)

// Run runs the parts that the options choose. Those on wires run in a process of their
// own, in namespaces in which it may make interfaces: this executable with the arguments
// in child, of which the first is its name. It must do what [Serve] does. A host that
// does not let it is no error; the result says so.
func Run(ctx context.Context, o Options, child []string) (res Result, err error) {
	if err := o.normalize(); err != nil {
		return res, err
	}
	if o.Only != OnlyWires {
		if res, err = Simulate(ctx, o); err != nil {
			return res, err
		}
	}
	if o.Only == OnlySimulated {
		return res, nil
	}
	part, err := isolated(ctx, o, child)
	res.add(part)
	return res, err
}

// message is a line from the child: progress, or the result.
type message struct {
	Done   int     `json:"done,omitempty"`
	Total  int     `json:"total,omitempty"`
	Result *Result `json:"result,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// isolated has a child run the part on wires.
func isolated(ctx context.Context, o Options, child []string) (res Result, err error) {
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	options, err := json.Marshal(o)
	if err != nil {
		return res, err
	}
	cmd := exec.CommandContext(ctx, self, child[1:]...)
	cmd.Args[0] = child[0]
	var said strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(options), &said
	in, out := io.Pipe()
	cmd.Stdout = out
	var last message
	heard := make(chan error, 1)
	go func() { heard <- hear(in, &o, &last) }()
	err = netns.Run(cmd)
	_ = out.Close() // never fails
	if herr := <-heard; err == nil {
		err = herr
	}
	switch {
	case errors.Is(err, netns.ErrUnavailable):
		return skipped(&o, err.Error()), nil
	case err != nil:
		return res, fmt.Errorf("measuring wires: %w: %s", err, strings.TrimSpace(said.String()))
	case last.Error != "":
		return res, fmt.Errorf("measuring wires: %s", last.Error)
	case last.Result == nil:
		return res, fmt.Errorf("measuring wires: no result: %s", strings.TrimSpace(said.String()))
	}
	return *last.Result, nil
}

// hear passes on the child's progress until its last word.
func hear(in io.ReadCloser, o *Options, last *message) error {
	defer in.Close()
	for dec := json.NewDecoder(in); ; {
		*last = message{}
		switch err := dec.Decode(last); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case last.Result != nil || last.Error != "":
			return nil
		}
		o.progress(OnlyWires, last.Done, last.Total)
	}
}

// skipped is the part on wires where there are none.
func skipped(o *Options, why string) Result {
	res := Result{Skipped: why}
	for _, r := range o.wireRuns() {
		res.Rows = append(res.Rows, Row{
			Where: r.where(), Discipline: r.s.discipline, Scenario: r.s.name, Class: all, Quantity: Rate, Verdict: VerdictSkipped,
		})
	}
	return res
}

// WireCommand is the name of the command that does what [Serve] does.
const WireCommand = "altq-wires"

// Serve is the child: it reads options and writes progress and result.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var o Options
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("reading options: %w", err)
	}
	enc := json.NewEncoder(out)
	o.Progress = func(_ string, done, total int) {
		// A parent that does not read this will miss the result.
		_ = enc.Encode(message{Done: done, Total: total})
	}
	res, err := Wires(ctx, o)
	if errors.Is(err, errNoWire) && len(res.Rows) == 0 {
		res, err = skipped(&o, err.Error()), nil
	}
	if err != nil {
		return enc.Encode(message{Error: err.Error()})
	}
	return enc.Encode(message{Result: &res})
}
