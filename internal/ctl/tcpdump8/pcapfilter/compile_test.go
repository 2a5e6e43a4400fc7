package pcapfilter_test

import (
	"strings"
	"testing"

	"github.com/google/gopacket/layers"
	"golang.org/x/net/bpf"

	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/pcapfilter"
)

var (
	tcp80  = spec{src: 1, dst: 2, proto: layers.IPProtocolTCP, sport: 1024, dport: 80, flags: 2}
	tcp443 = spec{src: 1, dst: 2, proto: layers.IPProtocolTCP, sport: 443, dport: 1024, flags: 18, options: true}
	udp53  = spec{src: 2, dst: 1, proto: layers.IPProtocolUDP, sport: 53, dport: 5353}
	udp53v = spec{src: 2, dst: 1, proto: layers.IPProtocolUDP, sport: 53, dport: 5353, vlans: []uint16{7}}
	double = spec{src: 2, dst: 1, proto: layers.IPProtocolUDP, sport: 53, dport: 5353, vlans: []uint16{7, 8}}
	arp    = spec{src: 1, dst: 2, arp: true, broadcast: true, payload: 18}
	ping6  = spec{src: 1, dst: 2, v6: true, proto: layers.IPProtocolICMPv6, icmpType: 128}
	sctp   = spec{src: 1, dst: 2, proto: layers.IPProtocolSCTP}
)

// named are the packets of the table.
var named = []struct {
	name string
	spec spec
}{{"tcp80", tcp80}, {"tcp443", tcp443}, {"udp53", udp53}, {"udp53v", udp53v}, {"double", double}, {"arp", arp}, {"ping6", ping6}, {"sctp", sctp}}

func TestExpressionsPeopleWrite(t *testing.T) {
	for _, tt := range []struct{ expression, want string }{
		{"port 80", "tcp80"},
		{"port http", "tcp80"},
		{"port 80 or 443", "tcp80 tcp443"},
		{"tcp port (80 or 443)", "tcp80 tcp443"},
		{"not port 80", "tcp443 udp53 udp53v double arp ping6 sctp"},
		{"!tcp", "udp53 udp53v double arp ping6 sctp"},
		{"not tcp and not arp", "udp53 udp53v double ping6 sctp"},
		{"tcp or udp and arp", ""}, // from the left
		{"tcp or (udp and arp)", "tcp80 tcp443"},
		{"arp or udp && src host 10.0.0.2", "udp53"},
		{"host 10.0.0.1 and not 10.0.0.2", ""},
		{"src 10.0.0.1 and dst 10.0.0.2", "tcp80 tcp443 arp sctp"},
		{"dst or src host 10.0.0.3", ""},
		{"net 10", "tcp80 tcp443 udp53 arp sctp"},
		{"net 10.0.1", ""},
		{"net 10.0.0.0 mask 255.255.255.0", "tcp80 tcp443 udp53 arp sctp"},
		{"src net 10.0.0.2/31", "udp53"},
		{"net 2001:db8::/32", "ping6"},
		{"host 2001:db8::1", "ping6"},
		{"host ::1 or src net ::/0", "ping6"},
		{"ether src 02:00:00:00:00:02", "udp53 udp53v double"},
		{"ether dst ff:ff:ff:ff:ff:ff", "arp"},
		{"ether host 2-0-0-0-0-2 and tcp", "tcp80 tcp443"},
		{"ether proto 0x806", "arp"},
		{`ether proto \ip`, "tcp80 tcp443 udp53 sctp"},
		{"sctp", "sctp"},
		{"sctp port 0", "sctp"},
		{"portrange 50-79", "udp53"}, {"portrange 80", "tcp80"},
		{"udp portrange 79-50", "udp53"},
		{"icmp6", "ping6"},
		{"icmp", ""},
		{"vlan", "udp53v double"},
		{"vlan 7", "udp53v double"},
		{"vlan 8", ""},
		{"vlan 7 and udp port 53", "udp53v"},
		{"vlan and vlan 8", "double"},
		{"vlan 7 and vlan 8 and udp", "double"},
		{"vlan and host 10.0.0.1", "udp53v"},
		{"not vlan", "tcp80 tcp443 udp53 arp ping6 sctp"},
		{"tcp[tcpflags] == tcp-syn", "tcp80"},
		{"tcp[tcpflags] & (tcp-syn|tcp-ack) == (tcp-syn|tcp-ack)", "tcp443"},
		{"tcp[13] & 16 != 0", "tcp443"},
		{"vlan and udp[0:2] = 53", "udp53v"},
		{"ip[9] = 17 or arp[6:2] = 1", "udp53 arp"},
		{"icmp6[0] = 128", "ping6"},
		{"1 = 1", "tcp80 tcp443 udp53 udp53v double arp ping6 sctp"},
		{"-1 = 4294967295 and udp", "udp53"},
		{"(7 + 2) * 3 % 5 << 2 = 8 and arp", "arp"},
		{"greater 61", "tcp443"}, // 62 with its options
	} {
		var got []string
		for _, n := range named {
			if n.name == "tcp443" {
				n.spec.payload = 4
			}
			if matches(t, tt.expression, n.spec.bytes(t)) {
				got = append(got, n.name)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q accepts %q, want %q", tt.expression, got, tt.want)
		}
	}
}

func TestExpressionsThatAreRefused(t *testing.T) {
	const syntax = "can't parse filter expression: syntax error"
	for _, tt := range []struct{ expression, want string }{
		{"host", syntax}, {"port", syntax}, {"and", syntax}, {"tcp and", syntax}, {"tcp or or udp", syntax},
		{"(tcp", syntax}, {"tcp)", syntax}, {"()", syntax}, {"tcp udp", syntax}, {"tcp (80) udp", syntax}, {"not", syntax},
		{"tcp[13", syntax}, {"tcp[13] &", syntax}, {"tcp[]  = 1", syntax}, {"len >", syntax}, {"greater", syntax}, {"less x", syntax},
		{"tcp or 80", syntax}, {"host mask", syntax}, {"net 10.0.0.0 mask 8", syntax}, {"net 10.0.0.0/x", syntax}, {"host ::1 2", syntax},
		{"\x00", syntax}, {"ip proto tcp", syntax}, {"tcp + 1", syntax},
		{"foo", syntax}, {"10.0.0.1", syntax}, {"tcp 80", syntax}, {"ip 10.0.0.1", syntax}, {"host foo.example", "unknown host 'foo.example'"}, {"host 10", "unknown host '10'"},
		{"src 443", "unknown host '443'"},
		{"port nosuchservice", "unknown port 'nosuchservice'"},
		{"port 65536", "illegal port number 65536 > 65535"},
		{"portrange 1-70000", "illegal port number 70000 > 65535"},
		{"port 10.0.0.0/8", "Mask syntax for networks only"},
		{"net 10.0.0.1/8", `non-network bits set in "10.0.0.1/8"`},
		{"net 2001:db8::1/32", `non-network bits set in "2001:db8::1/32"`},
		{"net 10.0.0.0/33", "mask length must be <= 32"}, {"net ::/129", "mask length must be <= 128"},
		{"net 10.0.0.0 mask 255.0.255.0", "mask '255.0.255.0' with a hole is not supported"},
		{"net foo", "unknown network 'foo'"}, {"net 1.2.3.4.5", "unknown network '1.2.3.4.5'"}, {"net 300", "unknown network '300'"},
		{"ip port 80", "illegal qualifier of 'port'"},
		{"icmp port 80", "illegal qualifier of 'port'"},
		{"arp portrange 1-2", "illegal qualifier of 'portrange'"},
		{"tcp host 10.0.0.1", "'tcp' modifier applied to host"},
		{"ip host ::1", "'ip' modifier applied to ip6 host"},
		{"ip6 net 10", "'ip6' modifier applied to ip net"},
		{"tcp proto 3", "'tcp proto' is bogus"},
		{"tcp broadcast", "only link-layer/IP broadcast filters supported"},
		{"ip broadcast", "netmask not known, so 'ip broadcast' not supported"},
		{"host 02:00:00:00:00:01", "ethernet address used in non-ether expression"},
		{"ether host 10.0.0.1", "illegal link layer address"},
		{"ether host 02:00:00:00:00:01:02:03", "invalid MAC-48 address '02:00:00:00:00:01:02:03'"},
		{"host ::ffff:10.0.0.1", "IPv6 address '::ffff:10.0.0.1' is not supported"},
		{"ether", "link layer applied in wrong context"},
		{"host 10.0.0.0/8", "Mask syntax for networks only"}, {"proto foo", "unknown ip proto 'foo'"}, {"proto 256", "'proto' value 256 greater than maximum 255"},
		{"ether proto 3", "'ether proto' value 3 below 1536 is not supported"},
		{"vlan 4096", "VLAN tag 4096 greater than maximum 4095"},
		{"inbound", "'inbound' not supported on linktype EN10MB; tcpdump -Q in or -Q out chooses a direction"},
		{"gateway 10.0.0.1", "'gateway' is not supported"}, {"protochain 6", "'protochain' is not supported"},
		{"ip protochain 6", "'protochain' is not supported"}, {"mpls", "'mpls' is not supported"}, {"stp", "'stp' is not supported"},
		{"decnet[0] = 1", "'decnet' does not support the index operation"},
		{"tcp[0:3] = 1", "data size must be 1, 2, or 4"},
		{"len / 0 = 1", "division by zero"}, {"len % 0 = 1", "modulus by zero"}, {"len << 32 = 1", "shift by more than 31 bits"},
		{"len = 4294967296", "number 4294967296 overflows 32 bits"},
		{"len = 08", "number 08 contains non-octal digit"},
		{"ip[4294967295] = 1", "offset 4294967295 is not in a packet"},
		{strings.Repeat("(", 65) + "tcp" + strings.Repeat(")", 65), "more than 64 parentheses and signs inside one another"},
	} {
		if program, err := pcapfilter.Compile(tt.expression, snap); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %d instructions, %v; want %q", tt.expression, len(program), err, tt.want)
		}
	}
}

func TestNoExpressionIsNoProgram(t *testing.T) {
	for _, text := range []string{"", "  \n"} {
		if program, err := pcapfilter.Compile(text, snap); program != nil || err != nil {
			t.Errorf("%q: %v, %v", text, program, err)
		}
	}
}

func TestLongProgramsJumpFarEnough(t *testing.T) {
	ports := make([]string, 100)
	for i := range ports {
		ports[i] = "port " + string(rune('1'+i%9)) + "00"
	}
	text := strings.Join(ports, " or ") + " or port 80"
	if !matches(t, text, tcp80.bytes(t)) || matches(t, text, tcp443.bytes(t)) || matches(t, "not ("+text+")", tcp80.bytes(t)) {
		t.Error("a long expression decides wrongly")
	}
	ands := strings.Repeat("not port 90 and ", 100)
	if !matches(t, ands+"port 80", tcp80.bytes(t)) || matches(t, ands+"port 81", tcp80.bytes(t)) {
		t.Error("a long conjunction decides wrongly")
	}
}

func TestProgramsAreDumpedAsTcpdumpDoes(t *testing.T) {
	program, err := pcapfilter.Compile("arp and ether[0] & 1 = 0", 96)
	if err != nil {
		t.Fatal(err)
	}
	for style, want := range map[pcapfilter.Style]string{
		pcapfilter.Readable: "(000) ldh      [12]\n(001) jeq      #0x806           jt 2\tjf 6\n(002) ldb      [0]\n(003) and      #0x1\n" +
			"(004) jeq      #0x0             jt 5\tjf 6\n(005) ret      #96\n(006) ret      #0\n",
		pcapfilter.CArray: "{ 0x28, 0, 0, 0x0000000c },\n{ 0x15, 0, 4, 0x00000806 },\n{ 0x30, 0, 0, 0x00000000 },\n{ 0x54, 0, 0, 0x00000001 },\n" +
			"{ 0x15, 0, 1, 0x00000000 },\n{ 0x6, 0, 0, 0x00000060 },\n{ 0x6, 0, 0, 0x00000000 },\n",
		pcapfilter.Decimal: "7\n40 0 0 12\n21 0 4 2054\n48 0 0 0\n84 0 0 1\n21 0 1 0\n6 0 0 96\n6 0 0 0\n",
	} {
		var b strings.Builder
		if err := pcapfilter.Dump(&b, program, style); err != nil || b.String() != want {
			t.Errorf("style %d:\n%s(%v) want\n%s", style, b.String(), err, want)
		}
	}
	program, err = pcapfilter.Compile("tcp[len - 3] + 2 > udp[2:2]", 96)
	var b strings.Builder
	if err == nil {
		err = pcapfilter.Dump(&b, program, pcapfilter.Readable)
	}
	for _, want := range []string{"ld       #pktlen\n", "sub      #3\n", "ldxb     4*([14]&0xf)\n", "add      x\n", "tax\n", "ldb      [x + 14]\n",
		"st       M[0]\n", "ldx      M[0]\n", "jgt      x                jt "} {
		if err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %q is not in\n%s", err, want, b.String())
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"tcp port 80 or 443", "vlan 7 and (ip[6:2] & 0x1fff = 0 or not host 10.0.0.1)", "ether host 2:0:0:0:0:1",
		"net 10.0.0.0 mask 255.0.0.0", "tcp[tcp[0] + 2 : 4] >= -udp[1] << 3", `proto \tcp`, "((((", "src or dst net ::/7"} {
		f.Add(text, []byte("some packet that is not one at all"))
	}
	f.Fuzz(func(t *testing.T, text string, packet []byte) {
		program, err := pcapfilter.Compile(text, snap)
		if err != nil || program == nil {
			return
		}
		vm, err := bpf.NewVM(program)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if n, err := vm.Run(packet); err != nil || n != 0 && n != snap {
			t.Fatalf("%q: keeps %d, %v", text, n, err)
		}
	})
}

func TestLengthIsThatOnTheWire(t *testing.T) {
	packet := tcp443.bytes(t)
	for _, tt := range []struct {
		text             string
		captured, length int
		want             bool
	}{
		{"", 10, 100, true}, {"tcp", 54, 54, true}, {"udp", 54, 54, false}, {"greater 100", 54, 100, true}, {"greater 100", 54, 99, false},
		{"len = 54", 54, 54, true}, {"len = 54", 54, 55, false}, {"tcp and not port 1", 20, 60, false}, {"not tcp[len - 41] = 1", 58, 60, true},
	} {
		f, err := pcapfilter.NewFilter(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(packet[:tt.captured], tt.length); got != tt.want {
			t.Errorf("%q on %d of %d bytes: %v", tt.text, tt.captured, tt.length, got)
		}
	}
	if _, err := pcapfilter.NewFilter("("); err == nil {
		t.Error("no error")
	}
}
