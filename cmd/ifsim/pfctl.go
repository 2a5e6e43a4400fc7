package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func pfctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "pfctl [-S SOCKET] [-degnqv] [-D MACRO=VALUE] [-f FILE] [-F MODIFIER] [-i INTERFACE] [-o lax|json] [-s MODIFIER]",
		Short: "load, show and switch the packet filter and the queues of a running machine, as pfctl(8)",
	}, ctl.CommandPfctl)
}
