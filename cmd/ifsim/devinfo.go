package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func devinfoCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "devinfo [-S SOCKET] [-o json] [-rv] | -u | -p DEVICE [-v]",
		Short: "show the device tree of a running machine, as devinfo(8)",
		Long: `Shows the devices of a running machine as a tree: the root, host bridges, buses, NICs.

    -r         beside each device what it has: interrupts, ports, memory, bus numbers
    -v         devices without a driver too ("unknown"), and of each who it says it is
               (pnpinfo) and where it lies
    -u         instead of the tree what there is of each resource, and who has it; what
               nobody has is marked ----
    -p DEVICE  only the way from a device up to the root
    -o json    the same as JSON; also --libxo json

Devices that are disabled or suspended are marked.

The exit status is 0, or 1 for a usage error or a device that there is not.`,
		Example: `  ifsim devinfo -v
  ifsim devinfo -r
  ifsim devinfo -p em0
  ifsim devinfo -r -o json`,
	}, ctl.CommandDevinfo)
}
