package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func dmesgCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "dmesg [-S SOCKET] [-ac]",
		Short: "show what a running machine has printed, as dmesg(8)",
		Long: `Shows what the machine has printed on its console, from the first line of the boot on as
far as the message buffer goes back.

    -a  all, which is the same here: nothing writes to the buffer but the kernel
    -c  empty the buffer after it has been shown

The exit status is 0, or 1 for a usage error.`,
		Example: `  ifsim dmesg | grep em0`,
	}, ctl.CommandDmesg)
}
