package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func vmstatCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "vmstat [-S SOCKET] [-aiz] [-c COUNT] [-w WAIT] [WAIT [COUNT]]",
		Short: "show interrupts and memory zones of a running machine, as vmstat(8)",
		Long: `Shows what devices have interrupted, or what packet buffers are used.

    -i        interrupts: the total of each vector, and its rate a second since boot
    -z        memory zones of packet buffers
    -a        with -i: vectors too that have never interrupted
    -w WAIT   report again every WAIT seconds; from the second report on the rate is that
              of the time between
    -c COUNT  end after COUNT reports; without it -w goes on until it is interrupted
    -o json, --libxo json[,pretty]
              show as JSON, with libxo's names; each report is a document of its own

WAIT and COUNT may also follow without their letters. One of -i and -z is needed: of a
whole system's statistics there are these two.

The exit status is 0, or 1 for a usage error.`,
		Example: `  ifsim vmstat -i
  ifsim vmstat -i -w 1 -c 3
  ifsim vmstat -z`,
	}, ctl.CommandVmstat)
}
