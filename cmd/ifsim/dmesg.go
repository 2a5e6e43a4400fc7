package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func dmesgCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "dmesg [-S SOCKET] [-ac]",
		Short: "show what a running machine has printed, as dmesg(8)",
	}, ctl.CommandDmesg)
}
