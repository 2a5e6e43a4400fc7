package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func routeCommand() *cobra.Command {
	return toolCommand(&cobra.Command{
		Use:   "route [-S SOCKET] [-46dnqtv] add | change | delete | get | show | flush | monitor [MODIFIER...] [DESTINATION [GATEWAY [NETMASK]]]",
		Short: "show and change the routing table of a running machine, as route(8)",
		Long: `Adds, changes, deletes and shows routes of a running machine, which forwards accordingly.

    add DESTINATION GATEWAY     add a route through a neighbour
    change DESTINATION GATEWAY  replace a route that somebody added
    delete DESTINATION          delete a route (or del); of a GATEWAY too, one through it.
                                The route to an interface's network comes back with its address
    get DESTINATION             show the route that a packet takes (or show); of a
                                DESTINATION with a length, exactly that route
    flush [-inet | -inet6]      delete all routes through gateways
    monitor                     print what changes, until it is interrupted: interfaces,
                                addresses, routes and neighbours, looked at ten times a second

DESTINATION is default, an address, or a network with its length; zeros at the end of an
IPv4 network may be missing. Modifiers stand anywhere behind the command:

    -net, -host         DESTINATION is a network, or a host
    -inet, -4           addresses are IPv4, as they are without
    -inet6, -6          addresses are IPv6
    -netmask MASK       the mask of DESTINATION, which may also stand behind GATEWAY
    -prefixlen LENGTH   its length
    -interface, -iface  GATEWAY is an interface: destinations are neighbours on it
    -gateway, -dst X    GATEWAY, or DESTINATION
    -reject             packets are refused, and their senders told
    -blackhole          packets vanish
    -proto1, -proto2    flags that are only shown
    -fib 0              the one routing table that there is

Flags in front of the command:

    -n      show 0.0.0.0 and :: as numbers; names of hosts nobody knows here
    -q      say nothing
    -t, -d  change nothing
    -v      accepted

The exit status is 0; 1 if the route could not be changed or is not there; 64 for a usage
error, 65 for an interface that does not exist, 68 or 71 for a bad address.`,
		Example: `  ifsim route add -net 10.0.0.0/8 192.0.2.9
  ifsim route -n get 10.1.2.3
  ifsim route delete default`,
	}, ctl.CommandRoute)
}
