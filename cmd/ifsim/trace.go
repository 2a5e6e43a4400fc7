package main

import (
	"fmt"
	"io"
	"os"

	"github.com/ifsim/ifsim/internal/trace"
	"github.com/spf13/cobra"
)

func traceCommand() *cobra.Command {
	var c trace.Config
	var output string
	cmd := &cobra.Command{
		Use:   "trace DIR",
		Short: "send packets and explain every step from if_transmit to the wire",
		Long: `Boots the machine in DIR in the stepped executor on the manual clock, brings an
interface up, waits until all is quiet, then sends packets (42 bytes of UDP
headers and a payload, in 2 mbufs), each when the machine is done with the last.
Prints every trace point that fires on the interface: FreeBSD's function, what
changed, and why. The same machine prints the same text. Needs no privilege.
docs/trace.md goes through one. The form perfetto is for ui.perfetto.dev.

The exit status is 0, or 1 if the machine does not boot or the interface does not send.`,
		Example: `  ifsim trace docs/labs/first
  ifsim trace -i em1 -n 2 -s 1500 docs/labs/first
  ifsim trace -o perfetto docs/labs/first > trace.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := traceWriters[output]
			if !ok {
				return fmt.Errorf("unknown output %q: text, json or perfetto", output)
			}
			if c.Packets < 1 {
				return fmt.Errorf("-n %d: at least one packet", c.Packets)
			}
			dir, err := os.Stat(args[0])
			if err == nil && !dir.IsDir() {
				err = fmt.Errorf("%s: not a directory", args[0])
			}
			if err != nil {
				return err
			}
			c.Files = os.DirFS(args[0])
			res, err := trace.Run(c)
			if err != nil {
				return err
			}
			return write(res, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVarP(&c.Packets, "count", "n", 1, "packets to send")
	f.StringVarP(&c.Iface, "interface", "i", "", "interface to send from (default the first)")
	f.IntVarP(&c.Size, "size", "s", 0, "bytes of a packet, headers included (default 1342)")
	f.StringVarP(&output, "output", "o", "text", "text, json or perfetto")
	return cmd
}

// traceWriters are the output formats of trace.
var traceWriters = map[string]func(*trace.Result, io.Writer) error{
	"text":     (*trace.Result).WriteText,
	"json":     (*trace.Result).WriteJSON,
	"perfetto": (*trace.Result).WritePerfetto,
}
