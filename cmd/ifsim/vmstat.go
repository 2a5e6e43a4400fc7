package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func vmstatCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "vmstat [-S SOCKET] [-aiz] [-c COUNT] [-w WAIT] [WAIT [COUNT]]",
		Short: "show interrupts and memory zones of a running machine, as vmstat(8)",
	}, ctl.CommandVmstat)
}
