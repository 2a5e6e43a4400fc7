package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ifsim/ifsim/internal/bench"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "run an experiment",
		Long:  "Runs an experiment on machines that it boots for itself, and prints figures and verdicts.",
	}
	cmd.AddCommand(benchTxCommand(), benchForwardCommand(), benchALTQCommand())
	return cmd
}

func benchTxCommand() *cobra.Command {
	var tx txFlags
	var out experimentOutput
	cmd := &cobra.Command{
		Use:   "tx",
		Short: "feed one NIC queue from many CPUs, along each transmit path",
		Long: `Threads bound to CPUs send 2-mbuf chains (42 bytes of UDP headers and 1300 of
payload) at one queue of one NIC on a null port, along each transmit path in
turns. Prints packets per second that reach the hardware, what was dropped, CPU
time per packet, the ratio to mp_ring and a verdict. Needs no privilege.
docs/bench-tx.md tells how to read it.

The exit status is 0 when the experiment came to its end, whatever the verdict; 1 if it
did not, or if packets were lost uncounted.`,
		Example: `  ifsim bench tx
  ifsim bench tx --producers 1,2 --paths simple_tx --on-drop retry
  ifsim bench tx -o bench > tx.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := tx.options()
			return runExperiment(cmd, &out, &o.Options, func() (experimentResult, error) { return bench.Tx(o) })
		},
	}
	tx.add(cmd)
	out.add(cmd)
	return cmd
}

// experimentOutput are the flags for what becomes of an experiment's result.
type experimentOutput struct{ format, profile string }

// add gives a command the flags.
func (e *experimentOutput) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&e.format, "output", "o", "text", "text, json, or bench for benchstat")
	f.StringVar(&e.profile, "cpuprofile", "", "write a CPU profile of the run to `file`")
}

// experimentResult is the outcome of an experiment.
type experimentResult interface {
	WriteTable(w io.Writer) error
	WriteJSON(w io.Writer) error
	WriteBench(w io.Writer) error
}

// experimentWriters are the output formats.
var experimentWriters = map[string]func(experimentResult, io.Writer) error{
	"text": experimentResult.WriteTable, "json": experimentResult.WriteJSON, "bench": experimentResult.WriteBench,
}

// runExperiment runs an experiment, whose options hear of the progress, and writes its result.
func runExperiment(cmd *cobra.Command, e *experimentOutput, o *bench.Options, run func() (experimentResult, error)) error {
	write, ok := experimentWriters[e.format]
	if !ok {
		return fmt.Errorf("unknown output %q: text, json or bench", e.format)
	}
	if e.format == "text" && term.IsTerminal(int(os.Stderr.Fd())) {
		o.Progress = progress("slices")
	}
	stop, err := startProfile(e.profile)
	if err != nil {
		return err
	}
	res, err := run()
	if err := stop(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return write(res, cmd.OutOrStdout())
}

// txFlags are the flags of the transmit experiment.
type txFlags struct {
	o      bench.TxOptions
	onDrop []string
}

// options is what the flags have chosen.
func (t *txFlags) options() bench.TxOptions {
	o := t.o
	for _, d := range t.onDrop {
		o.OnDrop = append(o.OnDrop, bench.OnDrop(d))
	}
	return o
}

// add gives a command the flags.
func (t *txFlags) add(cmd *cobra.Command) {
	addExperimentFlags(cmd, &t.o.Options, bench.TxDriver)
	o, f := &t.o, cmd.Flags()
	f.IntSliceVar(&o.Producers, "producers", nil, "numbers of sending threads (default 1, 2, 4, ... up to the CPUs)")
	f.BoolVar(&o.Oversubscribe, "oversubscribe", false, "add 8 and 16 producers; without ratio where they outnumber the CPUs")
	f.StringSliceVar(&t.onDrop, "on-drop", nil, "what a producer does with a refused packet: drop, retry (default both)")
}

// addExperimentFlags gives a command the flags that experiments have in common.
func addExperimentFlags(cmd *cobra.Command, o *bench.Options, driver string) {
	f := cmd.Flags()
	f.IntVar(&o.Runs, "runs", bench.DefaultRuns, fmt.Sprintf("rounds; a verdict needs %d", bench.MinRuns))
	f.DurationVar(&o.Duration, "duration", bench.DefaultDuration, "time of one slice")
	f.StringSliceVar(&o.Paths, "paths", nil, "paths to run besides mp_ring (default all: "+strings.Join(bench.PathNames(), ", ")+")")
	f.StringVar(&o.Driver, "driver", driver, "driver of the NICs")
	f.StringVar(&o.Engine, "engine", "", "hardware engine: inline or thread (default the port's)")
	f.IntVar(&o.MMIONs, "mmio", 0, "cost of a register write in `ns`")
	f.StringVar(&o.Lock, "lock", "", "kind of queue lock, as hw.ifsim.lock (default mutex)")
}

// progress returns a progress bar on standard error.
func progress(of string) func(done, total int) {
	const refresh = 100 * time.Millisecond
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetDescription(of), progressbar.OptionThrottle(refresh))
		}
		// A terminal that cannot be written to is no reason to stop.
		_ = bar.Set(done)
	}
}
