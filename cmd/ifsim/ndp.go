package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func ndpCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "ndp [-S SOCKET] [-nt] -a | -c | -p | -r | HOST | -A WAIT | -d HOST | -s HOST ADDRESS [temp] | -f FILE | -i INTERFACE [FLAG...]",
		Short: "show and change the IPv6 neighbours of a running machine, as ndp(8)",
		Long: `Shows IPv6 neighbours of a running machine, sets or deletes them, and sets flags of
neighbour discovery. HOST is an IPv6 address; a link-local one names its interface: fe80::9%em0.

    HOST                   show the entry of HOST
    -a                     show all entries
    -A WAIT                show them every WAIT seconds
    -c                     delete all but the machine's own
    -d HOST                delete an entry
    -s HOST ADDRESS        set an entry, which stays, or with temp behind it expires
    -f FILE                set entries: a line has what may stand behind -s
    -i INTERFACE           show times and flags of an interface. FLAGs behind it are set, with
                           a minus cleared: disabled, nud, accept_rtadv, auto_linklocal,
                           no_prefer_iface; in front of one with a minus stands --
    -p                     show the networks of addresses
    -r                     show routers: none, as advertisements are not listened to
    -H, -P, -R, -I         accepted; there is nothing to flush, and no default interface
    -n                     accepted
    -t                     with -a and -A: the time in front of each line
    -o json, --libxo json[,pretty]
                           show as JSON, with libxo's names

S is the state: I incomplete, R reachable, S stale, D delay, P probe; flag R is a router. A
number behind them is how often it was asked.

The exit status is 0, or 1 if HOST has no entry, or with the reason.`,
		Example: `  ifsim ndp -an
  ifsim ndp -i em0 -- -nud
  ifsim ndp -d 2001:db8::9`,
	}, ctl.CommandNDP)
}
