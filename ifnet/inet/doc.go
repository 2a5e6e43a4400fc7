// Package inet is the part of a network stack that a machine of NICs needs: IPv4 with
// ARP, ICMP and forwarding, IPv6 with neighbour discovery and ICMPv6, so that an
// interface with an address answers pings and a machine with two routes between them.
//
// Its counterparts in FreeBSD are netinet's if_ether.c, ip_input.c, ip_fastfwd.c,
// ip_icmp.c, in.c and netinet6's ip6_input.c, icmp6.c, nd6.c, nd6_nbr.c. There are no
// sockets, no reassembly and no TCP or UDP: what arrives for them is counted and refused.
//
//	if err := inet.Init(k); err != nil { ... }
//	err = inet.AddAddr(ifp, netip.MustParsePrefix("198.18.0.205/24"))
//	err = inet.AddRoute(k, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParseAddr("198.18.0.1"))
//	err = k.Sysctl.SetText("net.inet.ip.forwarding", "1")
//
// Workers enter through ifnet's protocol handlers, many at a time. What a packet reads
// (routes, neighbours, knobs) is published in atomics; one mutex serializes changes, and
// it is never held while a packet is sent or an interface is asked. Forwarding to a
// neighbour that is known takes no lock and allocates nothing.
package inet
