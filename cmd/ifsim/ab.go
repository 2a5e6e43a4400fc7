package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ifsim/ifsim/internal/bench"
	"github.com/ifsim/ifsim/internal/bench/ab"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func abCommand() *cobra.Command {
	var output, dir string
	var rounds int
	cmd := &cobra.Command{
		Use:                   "ab [-o FORMAT] KNOB=V1,V2 ... -- bench tx|forward [FLAG ...] | ab --dir DIR [--runs N] [-o FORMAT] KNOB=V1,V2 ... -- pktgen -i INTERFACE -f tx -n COUNT [OPTION ...]",
		DisableFlagsInUseLine: true,

		Short: "compare values of a knob by a benchmark",
		Long: `Runs the same benchmark on machines that differ in a knob's value and in nothing else, in
turns, and tells whether the difference is significant. A knob is any tunable or variable
that sysctl shows, of a device (dev.em.0.iflib.simple_tx) or of all (net.iflib.min_tx_latency).
It may have more than two values, and several knobs are crossed; all are compared with the
first values. A value with a comma is in double quotes.

Tunables are given to the loader; variables are set before the interface comes up. What
there is not, or is refused, is an error in sysctl's words before anything runs.

Benchmarks are

    bench tx, bench forward
              with their flags, but for those of output. Without --paths packets take the
              path that the knobs and the machine's defaults choose.
    pktgen    with its own flags: -f tx, and a count. The machines are those of DIR, one
              for each value at the same time, each with wires of its own.

Others are refused: the figures of bench altq are set by a shaper, and time there is
simulated in part.

The table has each value's median with quartiles, the ratio of the medians to the first
value's, and P, how likely chance alone makes such a difference (Mann-Whitney). A
difference is significant if P is below 0.01 and the medians are 3 % apart.

The exit status is 0 when all has been run, whatever the verdict; else 1.`,
		Example: `  ifsim ab dev.em.0.iflib.simple_tx=0,1 -- bench tx
  ifsim ab net.iflib.min_tx_latency=0,1 -- bench tx --producers 1 --on-drop retry
  ifsim ab dev.igb.0.legacy_udp_hashtype=0,1 -- bench forward --queues 4
  ifsim ab --dir docs/labs/first net.iflib.prefer_mpring=0,1 -- pktgen -i em0 -f tx -n 100000
  ifsim ab -o json 'dev.em.0.iflib.override_ntxds=256,1024,4096' -- bench tx --paths simple_tx`,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := abWriters[output]
			if !ok {
				return fmt.Errorf("unknown output %q: text, json or bench", output)
			}
			dash := cmd.ArgsLenAtDash()
			if dash < 0 || dash == len(args) {
				return errors.New("no benchmark: ab KNOB=V1,V2 -- bench tx")
			}
			arms, err := ab.Parse(args[:dash])
			if err != nil {
				return err
			}
			run := comparison{arms: arms, dir: dir, rounds: rounds, bar: output == "text" && term.IsTerminal(int(os.Stderr.Fd()))}
			res, err := run.of(cmd.Context(), args[dash:])
			if err != nil {
				return err
			}
			for _, s := range arms[0] {
				res.Knobs = append(res.Knobs, s.Knob)
			}
			res.Benchmark = strings.Join(args[dash:], " ")
			return write(res, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "text", "text, json, or bench for benchstat")
	f.StringVar(&dir, "dir", "", "directory of the machine that pktgen runs on")
	f.IntVar(&rounds, "runs", bench.DefaultRuns, fmt.Sprintf("rounds of pktgen; a verdict needs %d. bench has its own", bench.MinRuns))
	return cmd
}

// abWriters are the output formats of ab.
var abWriters = map[string]func(*ab.Result, io.Writer) error{
	"text":  (*ab.Result).WriteTable,
	"json":  (*ab.Result).WriteJSON,
	"bench": (*ab.Result).WriteBench,
}

// comparison is what is compared.
type comparison struct {
	arms   []ab.Arm
	dir    string // of the machine, for pktgen
	rounds int    // of pktgen
	bar    bool   // a progress bar is shown
}

// of runs a benchmark, given by its command line, on all arms.
func (c comparison) of(ctx context.Context, args []string) (*ab.Result, error) {
	const words = 2
	name := strings.Join(args[:min(words, len(args))], " ")
	switch {
	case args[0] == "pktgen":
		return c.pktgen(ctx, args[1:])
	case c.dir != "":
		return nil, fmt.Errorf("%s: --dir is for pktgen", name)
	case name == "bench tx":
		var tx txFlags
		if err := benchArguments(name, tx.add, args[words:]); err != nil {
			return nil, err
		}
		o := tx.options()
		if c.bar {
			o.Progress = progress("slices")
		}
		return ab.Tx(c.arms, o)
	case name == "bench forward":
		var forward forwardFlags
		if err := benchArguments(name, forward.add, args[words:]); err != nil {
			return nil, err
		}
		o := forward.o
		if c.bar {
			o.Progress = progress("slices")
		}
		return ab.Forward(c.arms, o)
	case name == "bench altq":
		return nil, errors.New("bench altq: its figures are set by a shaper, so no knob makes them better; bench tx, bench forward and pktgen can be compared")
	}
	return nil, fmt.Errorf("%s: cannot be compared; bench tx, bench forward and pktgen can", name)
}

// benchArguments reads the arguments of a benchmark of that name into the flags that add adds.
func benchArguments(name string, add func(*cobra.Command), args []string) error {
	cmd := &cobra.Command{Use: name}
	add(cmd)
	if err := cmd.ParseFlags(longFlags(cmd, args)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		return fmt.Errorf("%s: %q is no flag", name, rest[0])
	}
	return nil
}
