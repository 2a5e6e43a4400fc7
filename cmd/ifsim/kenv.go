package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func kenvCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "kenv [-S SOCKET] [-hlNqs] | [-qv] NAME[=VALUE] | [-q] -u NAME",
		Short: "show and set the kernel environment of a running machine, as kenv(1)",
	}, ctl.CommandKenv)
}
