package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func sysctlCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "sysctl [-S SOCKET] [-bdeFhilNnoqTtWx] [-B BUFSIZE] [-f FILE] [-a | NAME[=VALUE] ...]",
		Short: "show and set the variables of a running machine, as sysctl(8)",
		Long: `Shows and sets the variables (OIDs) of a running machine. A NAME alone is shown, with all
below it if it is a node; NAME=VALUE sets. Options and layout are FreeBSD's:

    -a          show everything that has a value
    -b          values as raw bytes, without names
    -d          descriptions instead of values
    -e          names and values apart by = instead of a colon
    -F          formats instead of values
    -h          accepted; figures have no separators here
    -i          unknown names are passed over in silence
    -l          lengths of values in bytes with the values
    -N          names only
    -n          values only
    -o          opaque values too, as hexadecimal of their first 16 bytes
    -q          some complaints are not made
    -T          variables only that the loader can set (tunables)
    -t          types instead of values
    -W          variables only that can be written and are no statistics
    -x          numbers in hexadecimal; -X is -ax, -A is -ao
    -B BUFSIZE  bytes that a value is read with
    -f FILE     names and settings from the lines of a file like sysctl.conf

A tunable that is read only is set in boot/loader.conf, or with kenv while its device is
detached. The exit status is the number of arguments and lines that failed; 1 for a usage
error, 66 for a file that cannot be read.`,
		Example: `  ifsim sysctl dev.em.0.iflib
  ifsim sysctl -d net.iflib.min_tx_latency
  ifsim sysctl net.iflib.min_tx_latency=1`,
	}, ctl.CommandSysctl)
}
