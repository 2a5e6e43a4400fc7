package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func sysctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "sysctl [-S SOCKET] [-bdeFhilNnoqTtWx] [-B BUFSIZE] [-f FILE] [-a | NAME[=VALUE] ...]",
		Short: "show and set the variables of a running machine, as sysctl(8)",
	}, ctl.CommandSysctl)
}
