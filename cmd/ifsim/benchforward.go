package main

import (
	"github.com/ifsim/ifsim/internal/bench"
	"github.com/spf13/cobra"
)

func benchForwardCommand() *cobra.Command {
	var forward forwardFlags
	var out experimentOutput
	cmd := &cobra.Command{
		Use:   "forward",
		Short: "forward a flood from one NIC to another, along each transmit path",
		Long: `A flood of small UDP packets, 2000 flows from 20 addresses to 100, arrives at one NIC
of a router as fast as it takes them, and is forwarded through the IP stack to a
neighbour of the other NIC, along each transmit path in turns. Prints packets per second that the other NIC sends, what was
missed and dropped, CPU time per packet, the ratio to mp_ring and a verdict. Needs no
privilege. docs/bench-forward.md tells how to read it.

The exit status is 0 when the experiment came to its end, whatever the verdict; 1 if it
did not, or if packets were lost uncounted.`,
		Example: `  ifsim bench forward
  ifsim bench forward --queues 4 --paths simple_tx
  ifsim bench forward --size 1342 --mmio 100 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := forward.o
			return runExperiment(cmd, &out, &o.Options, func() (experimentResult, error) { return bench.Forward(o) })
		},
	}
	forward.add(cmd)
	out.add(cmd)
	return cmd
}

// forwardFlags are the flags of the forwarding experiment.
type forwardFlags struct{ o bench.ForwardOptions }

// add gives a command the flags.
func (t *forwardFlags) add(cmd *cobra.Command) {
	addExperimentFlags(cmd, &t.o.Options, bench.ForwardDriver)
	f := cmd.Flags()
	f.IntVar(&t.o.Queues, "queues", 0, "queues of each NIC, and CPUs of the router (default one less than the host's CPUs)")
	f.IntVar(&t.o.Size, "size", bench.DefaultFrameSize, "`bytes` of a frame, without FCS")
}
