package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func devctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "devctl [-S SOCKET] attach|detach|disable|enable|suspend|resume [-f] DEVICE",
		Short: "attach and detach the devices of a running machine, as devctl(8)",
	}, ctl.CommandDevctl)
}
