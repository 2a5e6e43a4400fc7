package main

import (
	"github.com/ifsim/ifsim/cmd/ifsim/boot"
	"github.com/spf13/cobra"
)

func bootCommand() *cobra.Command {
	var socket string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "boot DIR",
		Short: "boot a machine and keep it running",
		Long: `Boots the machine whose files are under DIR (boot/loader.conf, boot/device.hints,
etc/rc.conf, etc/sysctl.conf), prints its console, and serves sysctl, ifconfig,
netstat and pktgen on the control socket until SIGINT or SIGTERM.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := boot.Signalled(cmd.Context())
			defer stop()
			return boot.Run(ctx, boot.Options{Dir: args[0], Socket: socket, Verbose: verbose, Console: cmd.OutOrStdout()})
		},
	}
	addSocketFlag(cmd, &socket)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print what boot -v prints")
	return cmd
}
