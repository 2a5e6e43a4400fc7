package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func kenvCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "kenv [-S SOCKET] [-hlNqs] | [-qv] NAME[=VALUE] | [-q] -u NAME",
		Short: "show and set the kernel environment of a running machine, as kenv(1)",
		Long: `Shows and changes the kernel environment of a running machine: hints and tunables, as the
loader left them. Without a name all are shown; a name shows its value; NAME=VALUE sets.
A device reads its tunables when it is attached.

    -h  hints only
    -l  the loader's environment, which is not kept: refused
    -N  names without values
    -q  failures are not told
    -s  the static environment, which is not kept: refused
    -u  unset the variable
    -v  NAME="VALUE" instead of the value alone

The exit status is 0, 1 for a usage error, and 255 where the kernel refuses.`,
		Example: `  ifsim kenv -h
  ifsim devctl detach em0
  ifsim kenv dev.em.0.iflib.simple_tx=1
  ifsim devctl attach em0`,
	}, ctl.CommandKenv)
}
