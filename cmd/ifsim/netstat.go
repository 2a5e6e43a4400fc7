package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func netstatCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "netstat [-S SOCKET] -i | -I INTERFACE [-46bdhnW] [-f FAMILY]",
		Short: "show what the interfaces of a running machine have counted, as netstat(8)",
	}, ctl.CommandNetstat)
}
