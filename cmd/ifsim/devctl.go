package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func devctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "devctl [-S SOCKET] attach|detach|disable|enable|suspend|resume [-f] DEVICE",
		Short: "attach and detach the devices of a running machine, as devctl(8)",
		Long: `Attaches and detaches the devices of a running machine. A device is named as its driver
calls it (em0) or by its place on the bus (pci0:2:0:0).

    attach   attach a device that was detached
    detach   detach it: its interface goes
    disable  detach it, and keep it from being attached
    enable   let a disabled device be attached, and attach it
    suspend  suspend it as before sleep
    resume   resume a suspended one

With an interface its addresses and settings go; rc.conf gives them back when it comes
again. So a tunable is changed without a boot: detach, kenv, attach. The flag -f of detach
and disable is accepted and changes nothing.

The exit status is 0, or 1 with the reason.`,
		Example: `  ifsim devctl detach em0
  ifsim kenv dev.em.0.iflib.simple_tx=1
  ifsim devctl attach em0`,
	}, ctl.CommandDevctl)
}
