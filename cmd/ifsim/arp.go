package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func arpCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "arp [-S SOCKET] [-n] [-i INTERFACE] -a | HOST | -d HOST | -d -a | -s HOST ADDRESS [temp] [pub] | -f FILE",
		Short: "show and change the ARP table of a running machine, as arp(8)",
		Long: `Shows IPv4 neighbours of a running machine, and sets or deletes them; packets take what
is set. HOST is an IPv4 address: names of hosts nobody knows here, and all are shown as "?".

    HOST                 show the entry of HOST
    -a                   show all entries
    -i INTERFACE         with HOST, -a, or -d -a: those of this interface
    -n                   accepted
    -s HOST ADDRESS      set an entry, which stays. Behind it may stand temp: it expires like
                         one that was learnt; and pub: ARP requests for HOST are answered
                         with ADDRESS, or with the interface's own if it is auto
    -S HOST ADDRESS      delete an entry of HOST, then set one
    -d HOST              delete an entry
    -d -a                delete all but the machine's own
    -f FILE              set entries: a line has what may stand behind -s
    -o json, --libxo json[,pretty]
                         show as JSON, with libxo's names

The exit status is 0, or 1 if HOST has no entry, or with the reason.`,
		Example: `  ifsim arp -a
  ifsim arp -s 192.0.2.9 02:00:00:00:00:09
  ifsim arp -d 192.0.2.9`,
	}, ctl.CommandARP)
}
