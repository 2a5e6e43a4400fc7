package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ifsim/ifsim/internal/bench/altqbench"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func benchALTQCommand() *cobra.Command {
	var o altqbench.Options
	var output, plot string
	cmd := &cobra.Command{
		Use:   "altq",
		Short: "compare each discipline of ALTQ with its theory",
		Long: `Runs each discipline on simulated links, where time is not the host's, and on
pairs of veth interfaces, where the host's kernel counts what a NIC sends. Prints
what theory expects of each class, what it got, and a verdict; the exit status is
1 if a figure is off. Makes namespaces of its own, so it needs no privilege; where
the host has none for it, what needs them is skipped. docs/altq.md tells how to read it.`,
		Example: `  ifsim bench altq
  ifsim bench altq --only simulated --disciplines hfsc,cbq
  ifsim bench altq --plot throughput.png`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := altqWriters[output]
			if !ok {
				return fmt.Errorf("unknown output %q: text or json", output)
			}
			if err := altqbench.CheckPicture(plot); err != nil {
				return err
			}
			if output == "text" && term.IsTerminal(int(os.Stderr.Fd())) {
				o.Progress = progressOfParts()
			}
			res, err := altqbench.Run(cmd.Context(), o, []string{os.Args[0], altqbench.WireCommand})
			if err != nil {
				return err
			}
			if err := write(&res, cmd.OutOrStdout()); err != nil {
				return err
			}
			if plot != "" {
				if err := res.Draw(plot); err != nil {
					return err
				}
			}
			if res.Off() > 0 {
				return exitCode(1)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Only, "only", "", fmt.Sprintf("one part: %s or %s", altqbench.OnlySimulated, altqbench.OnlyWires))
	f.DurationVar(&o.Simulated, "simulated", altqbench.DefaultSimulated, "simulated time that a link is measured; tolerances are those of the default")
	f.DurationVar(&o.Duration, "duration", altqbench.DefaultDuration, "time that a wire is measured")
	f.StringSliceVar(&o.NICs, "nics", nil, "drivers of the NICs on wires (default em,igb)")
	f.StringSliceVar(&o.Disciplines, "disciplines", nil, "disciplines to run (default all: "+strings.Join(altqbench.Disciplines(), ", ")+")")
	f.StringVar(&plot, "plot", "", "draw throughput over time into `file`, a .png or .svg, or both without extension")
	f.StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// altqWriters are the output formats of bench altq.
var altqWriters = map[string]func(*altqbench.Result, io.Writer) error{
	"text": (*altqbench.Result).WriteTable,
	"json": (*altqbench.Result).WriteJSON,
}

// progressOfParts returns a progress bar for each part.
func progressOfParts() func(part string, done, total int) {
	parts := make(map[string]func(done, total int))
	return func(part string, done, total int) {
		if parts[part] == nil {
			parts[part] = progress(part)
		}
		parts[part](done, total)
	}
}

// altqWiresCommand is the part of bench altq that needs namespaces.
func altqWiresCommand() *cobra.Command {
	return &cobra.Command{Use: altqbench.WireCommand, Hidden: true, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return altqbench.Serve(cmd.Context(), os.Stdin, cmd.OutOrStdout())
	}}
}
