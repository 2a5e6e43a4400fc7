package main

import (
	"errors"
	"fmt"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func pktgenCommand() *cobra.Command {
	var socket string
	var p ctl.PktgenParams
	cmd := &cobra.Command{
		Use:   "pktgen -i INTERFACE",
		Short: "send frames from an interface of a running machine",
		Long: `Sends UDP packets from an interface as fast as it takes them, or at a rate; what is
refused is sent again. Ends when the hardware has sent the last one. Bits a second
are those of the frames, without FCS, preamble and gap.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.Interface == "" {
				return errors.New("pktgen: -i names the interface to send from")
			}
			reply, err := ask(cmd, socket, ctl.Request{Command: ctl.CommandPktgen, Pktgen: &p})
			if err != nil {
				return err
			}
			r := reply.Pktgen
			if r == nil {
				return errors.New("the machine did not say what it sent")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d frames of %d bytes in %.6f s: %.0f pps, %.0f bit/s (%d refused and sent again)\n",
				p.Interface, r.Frames, r.Size, r.Elapsed.Seconds(), r.PPS(), r.BitsPerSecond(), r.Refused)
			return err
		},
	}
	const defaultFrames = 1000
	f := cmd.Flags()
	f.StringVarP(&p.Interface, "interface", "i", "", "`interface` to send from")
	f.Uint64VarP(&p.Frames, "count", "n", defaultFrames, "number of frames")
	f.IntVarP(&p.Size, "size", "s", ctl.MinFrame, "`bytes` of a frame without FCS")
	f.IntVarP(&p.Threads, "threads", "t", 1, "threads that send")
	f.StringVar(&p.Dst, "dst", "", "Ethernet address of the destination (default broadcast)")
	f.Float64Var(&p.Rate, "rate", 0, "frames a second, 0 for as fast as can be")
	addSocketFlag(cmd, &socket)
	return cmd
}
