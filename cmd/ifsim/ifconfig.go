package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func ifconfigCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "ifconfig [-S SOCKET] [-adDlmuv] [INTERFACE [WORD ...]]",
		Short: "show and configure the interfaces of a running machine, as ifconfig(8)",
	}, ctl.CommandIfconfig)
}
