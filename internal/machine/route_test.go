package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// router is an rc.conf with a network of each family, and further lines.
func router(more string) string {
	return "ifconfig_cqnic0=\"inet 192.0.2.1/24\"\nifconfig_cqnic0_ipv6=\"inet6 2001:db8::1/64\"\n" + more
}

// staticRoutes are the routes of a machine that somebody added.
func staticRoutes(b *box) []string {
	var list []string
	for _, r := range inet.Routes(b.Kernel()) {
		if r.Static {
			list = append(list, fmt.Sprint(r.Prefix, " ", r.Gateway, " ", r.If))
		}
	}
	return list
}

func TestRoutesOfRCConf(t *testing.T) {
	for _, c := range []struct{ text, want, warning string }{
		{`defaultrouter="192.0.2.9"`, "0.0.0.0/0 192.0.2.9 cqnic0", ""},
		{`defaultrouter="NO"`, "", ""},
		{`ipv6_defaultrouter="fe80::1%cqnic0"`, "::/0 fe80::1 cqnic0", ""},
		{"static_routes='b-c:em0'\nroute_b_c='-net 10.0.0.0/8 192.0.2.9'", "10.0.0.0/8 192.0.2.9 cqnic0", ""},
		{"ipv6_static_routes='a b'\nipv6_route_a='2001:2:0:8000:: -prefixlen 49 2001:db8::9'\nipv6_route_b='2001:3:: 2001:db8::9'",
			"2001:3::/64 2001:db8::9 cqnic0, 2001:2:0:8000::/49 2001:db8::9 cqnic0", ""},
		{"static_routes='a b'\nroute_a='-net 10.0.0.0/8 192.0.2.9'\nroute_b='-net 10.0.0.0/8 192.0.2.9'", "10.0.0.0/8 192.0.2.9 cqnic0", ""},
		{"static_routes='a b'\nroute_a='-net 10.0.0.0/8 192.0.2.9'\nroute_b='-net 10.0.0.0/8 192.0.2.8'", "10.0.0.0/8 192.0.2.9 cqnic0",
			"etc/rc.conf:5: route_b: add net 10.0.0.0: gateway 192.0.2.8 fib 0: route already in table"},
		{`defaultrouter="203.0.113.1"`, "", "etc/rc.conf:3: defaultrouter: add net default: gateway 203.0.113.1 fib 0: Network is unreachable"},
		{"static_routes=a", "", "etc/rc.conf:3: static_routes: no route_a"},
		{"static_routes=a\nroute_a='-host 203.0.113.7 -iface cqnic0'", "203.0.113.7/32 invalid IP cqnic0", ""},
		{"static_routes=a\nroute_a='-net 203.0.113.0/24 127.0.0.1 -blackhole'", "203.0.113.0/24 127.0.0.1 lo0", ""},
		{"static_routes=a\nroute_a='-host 203.0.113.7 -iface cxl0'", "", "etc/rc.conf:4: route_a: route: interface 'cxl0' does not exist"},
		{"static_routes=a\nroute_a='-host 203.0.113.7 -iface cxl0'\nifconfig_cxl0=up", "", "etc/rc.conf:5: ifconfig: interface cxl0 does not exist"},
	} {
		b := started(t, router(c.text+"\n"))
		if got := strings.Join(staticRoutes(b), ", "); got != c.want {
			t.Errorf("%s: routes %s, want %s", c.text, got, c.want)
		}
		if got := strings.Join(b.Warnings(), "\n"); got != c.warning {
			t.Errorf("%s: %s, want %s", c.text, got, c.warning)
		}
	}
}

// TestWordsOfARoute enters all routes into one machine. Each has a destination or a warning.
func TestWordsOfARoute(t *testing.T) {
	routes := []struct{ words, prefix, warning string }{
		{"-net 198.18.0.0/16 192.0.2.9", "198.18.0.0/16", ""},
		{"-net 198.19.0.1/16 192.0.2.9", "198.19.0.0/16", ""},
		{"-net 198.20/16 192.0.2.9", "198.20.0.0/16", ""},
		{"-net 10 192.0.2.9", "10.0.0.0/8", ""},
		{"203.0.112.0 192.0.2.9", "203.0.112.0/24", ""},
		{"203.0.113.7 192.0.2.9", "203.0.113.7/32", ""},
		{"-host 203.0.114.0 192.0.2.9", "203.0.114.0/32", ""},
		{"-net 172.16.0.0 192.0.2.9 255.240.0.0", "172.16.0.0/12", ""},
		{"-net 172.32.0.0 -netmask 255.240.0.0 192.0.2.9 -static -fib 0", "172.32.0.0/12", ""},
		{"default 192.0.2.9", "0.0.0.0/0", ""},
		{"-inet6 2001:db8:1::/48 2001:db8::9", "2001:db8:1::/48", ""},
		{"-inet6 default 2001:db8::9", "::/0", ""},

		{"-net 10.0.0.0/9 203.0.113.1", "", "add net 10.0.0.0: gateway 203.0.113.1 fib 0: Network is unreachable"},
		{"10.0.0.1 2001:db8::9", "", "route: bad address: 2001:db8::9"},
		{"-net 10.0.0.0/33 192.0.2.9", "", "route: bad mask length: 33"},
		{"-net 10.0.0.0/8 gw", "", "route: bad address: gw"},
		{"-net 300.0.0.0/8 192.0.2.9", "", "route: bad address: 300.0.0.0"},
		{"-net 10.0.0.0 -netmask 255.0.255.0 192.0.2.9", "", "route: bad address: 255.0.255.0"},
		{"-net 10.0.0.0/8", "", "add net 10.0.0.0 fib 0: Invalid argument"},
		{"-net 10.0.0.0 192.0.2.9 -netmask", "", "route: usage: route [-46dnqtv] command [[modifiers] args]"},
		{"-nyet 10.0.0.0/8 192.0.2.9", "", "route: bad keyword: nyet"},
		{"-net 10.0.0.0/9 -mtu 1400 192.0.2.9", "", "route: -mtu: not available"},
		{"-net 10.128.0.0/9 -interface cqnic0", "10.128.0.0/9", ""},
		{"-net 10.0.0.0/8 192.0.2.9 -fib 3", "", "route: invalid fib number: 3"},
	}
	list, text := "", ""
	var want, warnings []string
	const firstLine = 4 // behind the router's two and static_routes
	for i, r := range routes {
		list += fmt.Sprintf("r%d ", i)
		text += fmt.Sprintf("route_r%d=\"%s\"\n", i, r.words)
		if r.warning != "" {
			warnings = append(warnings, fmt.Sprintf("etc/rc.conf:%d: route_r%d: %s", firstLine+i, i, r.warning))
			continue
		}
		want = append(want, r.prefix)
	}
	b := started(t, router("static_routes=\""+list+"\"\n"+text))
	var got []string
	for _, line := range staticRoutes(b) {
		prefix, _, _ := strings.Cut(line, " ")
		got = append(got, prefix)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(warnings, b.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestStaticNeighboursOfRCConf(t *testing.T) {
	for _, c := range []struct{ text, want, warning string }{
		{"static_arp_pairs=a\nstatic_arp_a='192.0.2.9 00:1b:21:c4:95:7a'", "192.0.2.9", ""},
		{"static_ndp_pairs='a'\nstatic_ndp_a='2001:db8::9 00:1b:21:c4:95:7a'", "2001:db8::9", ""},
		{"static_ndp_pairs='a'\nstatic_ndp_a='fe80::9%cqnic0 00:1b:21:c4:95:7a'", "fe80::9", ""},
		{"static_arp_pairs='a'", "", "etc/rc.conf:3: static_arp_pairs: no static_arp_a"},
		{"static_arp_pairs='a'\nstatic_arp_a='192.0.2.9'", "", "etc/rc.conf:4: static_arp_a: arp: an address and a link-level address are needed"},
		{"static_arp_pairs='a'\nstatic_arp_a='there 00:1b:21:c4:95:7a'", "", "etc/rc.conf:4: static_arp_a: arp: there: Unknown host"},
		{"static_arp_pairs='a'\nstatic_arp_a='192.0.2.9 00:1b'", "", "etc/rc.conf:4: static_arp_a: arp: invalid Ethernet address '00:1b'"},
		{"static_arp_pairs='a'\nstatic_arp_a='192.0.2.1 00:1b:21:c4:95:7a'", "", "etc/rc.conf:4: static_arp_a: arp: set 192.0.2.1: File exists"},
		{"static_arp_pairs='a'\nstatic_arp_a='2001:db8::9 00:1b:21:c4:95:7a'", "", "etc/rc.conf:4: static_arp_a: arp: 2001:db8::9: Unknown host"},
		{"static_ndp_pairs='a'\nstatic_ndp_a='2001:db8:1::9 00:1b:21:c4:95:7a'", "", "etc/rc.conf:4: static_ndp_a: ndp: delete: cannot locate 2001:db8:1::9"},
	} {
		b := started(t, router(c.text+"\n"))
		got := ""
		for _, n := range slices.Concat(inet.ARPTable(b.Kernel()), inet.NDTable(b.Kernel())) {
			if n.Permanent && n.MAC == [6]byte{0, 0x1b, 0x21, 0xc4, 0x95, 0x7a} {
				got += n.Addr.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: entries %q, want %q", c.text, got, c.want)
		}
		if got := strings.Join(b.Warnings(), "\n"); got != c.warning {
			t.Errorf("%s: %s, want %s", c.text, got, c.warning)
		}
	}
}

func TestGatewaysForward(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "0 0"}, {"gateway_enable=YES", "1 0"}, {"ipv6_gateway_enable=on", "0 1"}, {"gateway_enable=NO\nipv6_gateway_enable=NO", "0 0"},
	} {
		b := started(t, c.text+"\n")
		if got := b.text("net.inet.ip.forwarding") + " " + b.text("net.inet6.ip6.forwarding"); got != c.want {
			t.Errorf("%s: forwarding %s, want %s", c.text, got, c.want)
		}
	}
}

func TestWhatNeedsAnInterfaceThatDoesNotExistIsSkippedByName(t *testing.T) {
	b := started(t, `ifconfig_cqnic0="inet 192.0.2.1/24"
ifconfig_cxl0="inet 198.18.0.10/24 -tso4"
ifconfig_cxl0_ipv6="inet6 2001:2::10 prefixlen 64"
ifconfig_mce1="inet 198.19.0.10 netmask 255.255.255.0 broadcast 10.0.0.255"
vlans_cxl0="4"
ifconfig_cxl0_4="up"
static_routes="generator receiver here"
route_generator="-net 198.18.0.0/16 198.18.0.110"
route_receiver="-net 198.19.0.0/16 198.19.0.110"
route_here="-net 203.0.113.0/24 192.0.2.2"
static_arp_pairs="a"
static_arp_a="198.18.0.110 00:07:43:2e:e4:71"
static_ndp_pairs="a"
static_ndp_a="2001:2::110 00:07:43:2e:e4:71"
`)
	wantWarnings := []string{
		"etc/rc.conf:2: ifconfig: interface cxl0 does not exist",
		"etc/rc.conf:4: ifconfig: interface mce1 does not exist",
		"etc/rc.conf:6: ifconfig: interface cxl0.4 does not exist",
	}
	if diff := cmp.Diff(wantWarnings, b.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var got []string
	for _, s := range b.Skipped() {
		got = append(got, strings.Join([]string{s.Where, s.Setting, s.If}, " "))
	}
	want := []string{
		"etc/rc.conf:2 ifconfig_cxl0 cxl0", "etc/rc.conf:3 ifconfig_cxl0_ipv6 cxl0", "etc/rc.conf:4 ifconfig_mce1 mce1",
		"etc/rc.conf:5 vlans_cxl0 cxl0", "etc/rc.conf:6 ifconfig_cxl0_4 cxl0.4", "etc/rc.conf:8 route_generator cxl0", "etc/rc.conf:9 route_receiver mce1",
		"etc/rc.conf:12 static_arp_a cxl0", "etc/rc.conf:14 static_ndp_a cxl0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if got := staticRoutes(b); len(got) != 1 {
		t.Errorf("routes %q", got)
	}
	if !strings.Contains(b.console.String(), "\netc/rc.conf:8: route_generator: skipped: no interface cxl0\n") {
		t.Errorf("console:\n%s", b.console)
	}
}

func TestUnknownVariablesOfTheLoaderAreAWarningEach(t *testing.T) {
	b := boot(t, machine.Config{Files: tree(
		"boot/device.hints", "hint.cqnic.0.port=null\nhint.cqnic.1.disabled=1\nhint.uart.0.at=isa\n",
		"boot/loader.conf", `autoboot_delay="3"
kern.ipc.nmbclusters=4096
hw.usb.no_pf=1
dev.cqnic.0.iflib.override_ntxds=512
dev.cqnic.0.iflib.tx_fast=1
dev.cqnic.1.iflib.whatever=1
dev.ix.0.iflib.simple_tx=1
hw.usb.no_pf=2
beest=1
pf_load="YES"
aesni_load="YES"
cpu_microcode_load="YES"
cpu_microcode_name="/boot/firmware/intel-ucode.bin"
loader_conf_files="/boot/more.conf"
`, "boot/more.conf", "\nnet.isr.maxthreads=\"-1\"\n",
	)})
	want := []string{
		"boot/loader.conf:11: no module 'aesni'",
		"boot/loader.conf:12: no module '/boot/firmware/intel-ucode.bin'",
		"boot/loader.conf:5: dev.cqnic.0.iflib.tx_fast: not known",
		"boot/loader.conf:7: dev.ix.0.iflib.simple_tx: not known",
		"boot/loader.conf:8: hw.usb.no_pf: not known",
		"boot/loader.conf:9: beest: not known",
		"boot/more.conf:2: net.isr.maxthreads: not known",
	}
	if diff := cmp.Diff(want, b.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
