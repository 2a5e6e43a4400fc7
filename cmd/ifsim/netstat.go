package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func netstatCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "netstat [-S SOCKET] -i | -I INTERFACE [-46bdhnW] [-f FAMILY] | -w WAIT [-I INTERFACE] [-dh] [-q LINES] | -m",
		Short: "show what interfaces and packet buffers of a running machine have counted, as netstat(8)",
	}, ctl.CommandNetstat)
}
