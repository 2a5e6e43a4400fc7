package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func netstatCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "netstat [-S SOCKET] -i | -I INTERFACE | -w WAIT | -m | -r | -s | -p PROTOCOL | -Q | -B [-46abdhnW] [-f FAMILY] [-q LINES]",
		Short: "show interfaces, routes, queues and counters of a running machine, as netstat(1)",
		Long: `Shows what interfaces, protocols and packet buffers of a running machine have counted, and
the routing table.

    -i            a line for each interface and each address
    -I INTERFACE  of this interface only
    -b, -d        with -i: bytes too; packets that were dropped on their way out too
    -a            with -i: the multicast addresses too
    -h            with -i and -w: short numbers, 1.2M
    -w WAIT       every WAIT seconds a line of what is new, or only WAIT without -w; with -q
                  LINES of them, else until it is interrupted
    -m            packet buffers
    -r            the routing table
    -s            counters of protocols, with -ss those that are not 0
    -p PROTOCOL   those of ip, icmp, arp, ip6 or icmp6
    -Q            transmit and receive queues of interfaces as they are, or with -I of one.
                  This is not FreeBSD's -Q, which shows its queues between interfaces and
                  protocols: packets wait in no such queue here
    -B            what listens to interfaces, as tcpdump does, or with -I to one. Flags: p for
                  promiscuous; s, o or - for packets both ways, out or in. No listener is a
                  process, so that each Pid is 0
    -f FAMILY     with -i, -r and -s: only inet, inet6 or link; -4 and -6 are the first two
    -n            with -r: addresses are not cut; names of hosts nobody knows here
    -W            wide columns; with -r numbers of next hops and MTUs too
    -F 0          the one routing table that there is
    -o json, --libxo json[,pretty]
                  show as JSON, with libxo's names; FreeBSD has dropped-packets twice with
                  -d, here those of the way out are sent-dropped-packets

Columns of -Q: Ring is the state of the mp_ring and Len how many packets wait in it, or in
the ring of simple_tx; Pidx, Cidx and InUse are the descriptors; Enqueued counts packets
that went through the mp_ring, Opkts and Obytes frames that the hardware was given, Drop
packets that the queue lost. Of a receive queue Avail is how many buffers the hardware has,
and Tasks how often the queue's task ran.

The exit status is 0, 1 with the reason, or 65 if -w has no such interface.`,
		Example: `  ifsim netstat -i -bd
  ifsim netstat -I em0 -w 1
  ifsim netstat -rn
  ifsim netstat -Q -o json`,
	}, ctl.CommandNetstat)
}
