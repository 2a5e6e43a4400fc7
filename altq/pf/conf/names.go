package conf

// protocols are the names of protocols (protocols(5)).
var protocols = map[string]uint8{
	"icmp": protoICMP, "igmp": 2, "ipencap": 4, "tcp": protoTCP, "egp": 8, "igp": 9, "udp": protoUDP, "ipv6": 41, "rsvp": 46,
	"gre": 47, "esp": 50, "ah": 51, "skip": 57, "ipv6-icmp": protoICMPv6, "icmp6": protoICMPv6, "eigrp": 88, "ospf": 89,
	"ospfigp": 89, "etherip": 97, "encap": 98, "pim": 103, "ipcomp": 108, "vrrp": 112, "carp": 112, "l2tp": 115,
	"sctp": 132, "udplite": 136, "pfsync": 240,
}

// protocolNames are what rules are shown with.
var protocolNames = map[uint8]string{
	protoICMP: "icmp", 2: "igmp", 4: "ipencap", protoTCP: "tcp", 8: "egp", 9: "igp", protoUDP: "udp", 41: "ipv6", 46: "rsvp",
	47: "gre", 50: "esp", 51: "ah", 57: "skip", protoICMPv6: "ipv6-icmp", 88: "eigrp", 89: "ospf", 97: "etherip",
	98: "encap", 103: "pim", 108: "ipcomp", 112: "carp", 115: "l2tp", 132: "sctp", 136: "udplite", 240: "pfsync",
}

// service is a port with a name. One without UDP or without TCP has its name with the
// other only.
type service struct {
	port     uint16
	tcp, udp bool
}

// services are the names of ports that published rules use (services(5)).
var services = map[string]service{
	"ftp-data": {20, true, true}, "ftp": {21, true, true}, "ssh": {22, true, true}, "telnet": {23, true, true},
	"smtp": {25, true, true}, "time": {37, true, true}, "domain": {53, true, true}, "bootps": {67, true, true},
	"bootpc": {68, true, true}, "tftp": {69, true, true}, "finger": {79, true, true}, "http": {80, true, true},
	"www": {80, true, true}, "kerberos": {88, true, true}, "pop3": {110, true, true}, "sunrpc": {111, true, true},
	"auth": {113, true, true}, "ident": {113, true, false}, "nntp": {119, true, true}, "ntp": {123, true, true},
	"netbios-ns": {137, true, true}, "netbios-dgm": {138, true, true}, "netbios-ssn": {139, true, true},
	"imap": {143, true, true}, "snmp": {161, true, true}, "snmptrap": {162, true, true}, "bgp": {179, true, true},
	"ldap": {389, true, true}, "https": {443, true, true}, "microsoft-ds": {445, true, true}, "isakmp": {500, true, true},
	"syslog": {514, false, true}, "printer": {515, true, true}, "dhcpv6-client": {546, true, true},
	"dhcpv6-server": {547, true, true}, "submission": {587, true, true}, "ipp": {631, true, true},
	"ldaps": {636, true, true}, "rsync": {873, true, true}, "imaps": {993, true, true}, "pop3s": {995, true, true},
	"openvpn": {1194, true, true}, "l2tp": {1701, true, true}, "pptp": {1723, true, true}, "nfsd": {2049, true, true},
	"mysql": {3306, true, true}, "rdp": {3389, true, true}, "sip": {5060, true, true}, "sip-tls": {5061, true, true},
	"sips": {5061, true, true}, "postgresql": {5432, true, true}, "x11": {6000, true, true}, "git": {9418, true, true},
}

// serviceName is the name that a port is shown with, "" if it has none. Of two names
// the first in the alphabet counts.
func serviceName(port uint16, tcp bool) (name string) {
	for n, s := range services {
		if s.port == port && (tcp && s.tcp || !tcp && s.udp) && (name == "" || n < name) {
			name = n
		}
	}
	return name
}
