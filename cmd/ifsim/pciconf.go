package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func pciconfCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "pciconf [-S SOCKET] -l [-BbceVv] [-o json] [DEVICE] | -a DEVICE | -r [-b|-h] DEVICE ADDR[:ADDR2] | -w [-b|-h] DEVICE ADDR VALUE",
		Short: "show and set the PCI functions of a running machine, as pciconf(8)",
		Long: `Lists the PCI functions of a running machine, and reads and writes their configuration
space. DEVICE is the name of a driver's device (em0) or a selector (pci0:2:0:0); what
stands before an @ in it is ignored, so that what -l prints can be given.

    -l  list the functions, or one: driver and unit ("none" without), place, identity
    -v  with -l: the names of vendor, device and class
    -b  with -l: base address registers; with -r and -w: bytes instead of words
    -c  with -l: capabilities
    -e  with -l: errors that the function has seen
    -B  with -l: windows of bridges, of which a machine has none
    -V  with -l: vital product data, which no part has
    -o json  with -l: as JSON; also --libxo json
    -a  tell whether a driver is attached
    -r  read registers: one, or a range with both ends
    -w  write a register; bits that software may not write stay
    -h  with -r and -w: 16 bits instead of 32

A write goes to the function behind the driver's back: a driver may stop working.

The exit status is 0, or 1 for an error. That of -a is 2 if no driver is attached.`,
		Example: `  ifsim pciconf -lvbc
  ifsim pciconf -l em0
  ifsim pciconf -r em0 0:0x3f
  ifsim pciconf -w -h em0 4 0x406`,
	}, ctl.CommandPciconf)
}
