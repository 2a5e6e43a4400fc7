// Package pcapfilter compiles filter expressions, pcap-filter(7), to BPF programs for
// Ethernet: what pcap_compile does for tcpdump(1).
//
// The tests of addresses, networks, ports and the common protocols are compiled by
// github.com/packetcap/go-pcap/filter, one primitive at a time. That library knows neither
// portrange, icmp, vlan, packet data (tcp[tcpflags]), lengths nor broadcasts, and what it
// makes of not, of parentheses and of and beside or accepts the wrong packets. So the
// grammar is this package's, as is the joining of primitives, and those that the library
// lacks. Of the library's code only that is used whose shape is known to be right; see
// [library] for what it gets wrong.
//
//	program, err := pcapfilter.Compile("tcp[tcpflags] & tcp-syn != 0 and not port 22", 262144)
package pcapfilter
