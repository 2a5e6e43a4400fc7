package main

import (
	"github.com/ifsim/ifsim/cmd/ifsim/boot"
	"github.com/spf13/cobra"
)

func bootCommand() *cobra.Command {
	var o boot.Options
	var dry bool
	cmd := &cobra.Command{
		Use:   "boot DIR",
		Short: "boot a machine and keep it running",
		Long: `Boots the machine whose files are under DIR (boot/loader.conf, boot/device.hints,
etc/rc.conf, etc/sysctl.conf), prints its console, and serves sysctl, ifconfig,
netstat and pktgen on the control socket until SIGINT or SIGTERM.

With --dry-run it prints what the files make of the machine instead: NICs, interfaces,
addresses, routes, settings, and what is passed over and why. Ports are not opened.

With --metrics it serves the machine's numbers to Prometheus at /metrics of that address,
which other hosts cannot reach unless --metrics-public lets them; docs/metrics.md has the
list.

When a driver breaks its contract with the framework, or the machine panics, a dump of the
device, or of all, is written: a few lines to the console, and the whole to a file in the
directory of --crash-dir, else in var/crash of DIR if that is there. It is what ifsim dump
shows.

What the files say and nothing knows is one warning each, with file and line, and the boot
goes on. The exit status is 0 when the machine was taken down by a signal, 1 if it could
not be booted or did not end well; a NIC that does not attach is no reason.`,
		Example: `  ifsim boot --dry-run docs/labs/first
  ifsim boot docs/labs/first
  ifsim boot -S /tmp/second.sock -v docs/labs/first
  ifsim boot --metrics 127.0.0.1:9180 docs/labs/first`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir, o.Console = args[0], cmd.OutOrStdout()
			if dry {
				return boot.DryRun(o)
			}
			ctx, stop := boot.Signalled(cmd.Context())
			defer stop()
			return boot.Run(ctx, o)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what the files make of the machine, and end")
	addBootFlags(cmd, &o)
	return cmd
}

// addBootFlags adds the flags of commands that boot a machine from a directory.
func addBootFlags(cmd *cobra.Command, o *boot.Options) {
	addSocketFlag(cmd, &o.Socket)
	f := cmd.Flags()
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print what boot -v prints")
	f.StringVar(&o.Metrics, "metrics", "", "serve metrics for Prometheus at this `address`, as 127.0.0.1:9180")
	f.BoolVar(&o.MetricsPublic, "metrics-public", false, "let other hosts read the metrics")
	f.StringVar(&o.CrashDir, "crash-dir", "", "`directory` for dumps of broken contracts and panics (default var/crash in DIR, if it is there)")
}
