// Package netdissect writes packets as tcpdump(1) does, a line or more each. Its
// counterpart is tcpdump's libnetdissect; packets are decoded by gopacket, the printing is
// this package's.
//
// Ethernet, VLAN tags, ARP, IPv4 and IPv6 with fragments and hop-by-hop options, TCP, UDP,
// ICMP, ICMPv6 with neighbour discovery, IGMP and LLDP are written in full; what TCP and
// UDP carry is not looked into. Other Ethernet types are dumped, as tcpdump does with those
// that it does not know. Addresses and ports are numbers, as with tcpdump -n.
//
//	p := netdissect.New(netdissect.Options{Verbose: 1})
//	os.Stdout.Write(p.Packet(time.Now(), frame, len(frame)))
package netdissect
