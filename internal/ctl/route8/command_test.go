package route8_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/route8"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
)

// host has a network of each family.
func host(t testing.TB) *tooltest.Host {
	h := tooltest.NewHost(t)
	h.NIC("em", 0, "192.0.2.1/24", "2001:db8::1/64")
	h.NIC("em", 1, "198.51.100.1/24")
	return h
}

// static are the routes that somebody added.
func static(h *tooltest.Host) string {
	var list []string
	for _, r := range inet.Routes(h.K) {
		if r.Static {
			text := r.Prefix.String() + " " + r.If
			if r.Gateway.IsValid() {
				text += " " + r.Gateway.String()
			}
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

const usage = "route: usage: route [-46dnqtv] command [[modifiers] args]\n"

// TestRoutesAreAddedChangedAndDeleted runs line by line on one machine.
func TestRoutesAreAddedChangedAndDeleted(t *testing.T) {
	h := host(t)
	for _, c := range []struct {
		line, stdout, stderr string
		exit                 int
		routes               string
	}{
		{"add -net 10.0.0.0/8 192.0.2.9", "add net 10.0.0.0: gateway 192.0.2.9\n", "", 0, "10.0.0.0/8 em0 192.0.2.9"},
		{"add -net 10.0.0.0/8 192.0.2.9", "add net 10.0.0.0: gateway 192.0.2.9 fib 0: route already in table\n", "", 1, "10.0.0.0/8 em0 192.0.2.9"},
		{"change 10.0.0.0/8 198.51.100.9", "change net 10.0.0.0: gateway 198.51.100.9\n", "", 0, "10.0.0.0/8 em1 198.51.100.9"},
		{"change 10.0.0.0/9 198.51.100.9", "change net 10.0.0.0: gateway 198.51.100.9 fib 0: not in table\n", "", 1, "10.0.0.0/8 em1 198.51.100.9"},
		{"-t delete 10.0.0.0/8", "delete net 10.0.0.0\n", "", 0, "10.0.0.0/8 em1 198.51.100.9"},
		{"delete 10.0.0.0/8 192.0.2.9", "delete net 10.0.0.0: gateway 192.0.2.9 fib 0: not in table\n", "", 1, "10.0.0.0/8 em1 198.51.100.9"},
		{"del 10.0.0.0/8", "del net 10.0.0.0\n", "", 0, ""},
		{"-q del 10.0.0.0/8", "", "", 1, ""},
		{"add default 192.0.2.9", "add net default: gateway 192.0.2.9\n", "", 0, "0.0.0.0/0 em0 192.0.2.9"},
		{"delete default", "delete net default\n", "", 0, ""},
		{"add 203.0.113.7 203.0.112.1", "add host 203.0.113.7: gateway 203.0.112.1 fib 0: Network is unreachable\n", "", 1, ""},
		{"add -host 203.0.113.7 -iface em1", "add host 203.0.113.7: gateway em1\n", "", 0, "203.0.113.7/32 em1"},
		{"add default 203.0.113.7", "add net default: gateway 203.0.113.7\n", "", 0, "203.0.113.7/32 em1, 0.0.0.0/0 em1 203.0.113.7"},
		{"delete 203.0.113.7", "delete host 203.0.113.7\n", "", 0, ""},
		{"add -net 203.0.113.0 -netmask 255.255.255.128 127.0.0.1 -blackhole", "add net 203.0.113.0: gateway 127.0.0.1\n", "", 0, "203.0.113.0/25 lo0 127.0.0.1"},
		{"delete -net 203.0.113.0/25", "delete net 203.0.113.0\n", "", 0, ""},
		{"-6 add default 2001:db8::9", "add net default: gateway 2001:db8::9\n", "", 0, "::/0 em0 2001:db8::9"},
		{"add -inet6 2001:db8:8000::/49 2001:db8::9", "add net 2001:db8:8000::/49: gateway 2001:db8::9\n", "", 0, "2001:db8:8000::/49 em0 2001:db8::9, ::/0 em0 2001:db8::9"},
		{"-n flush", "2001:db8:8000::      2001:db8::9          -fib 0   done\n::                   2001:db8::9          -fib 0   done\n", "", 0, ""},
		{"add -inet6 2001:db8:1::1 2001:db8::9 -prefixlen 128", "add host 2001:db8:1::1: gateway 2001:db8::9\n", "", 0, "2001:db8:1::1/128 em0 2001:db8::9"},
		{"delete -inet6 2001:db8:1::1/128", "delete host 2001:db8:1::1/128\n", "", 0, ""},
		{"delete 192.0.2.1", "delete host 192.0.2.1 fib 0: Operation not permitted\n", "", 1, ""},
		{"add 10.0.0.0/8", "add net 10.0.0.0 fib 0: Invalid argument\n", "", 1, ""},

		{"add -net 10.0.0.0/33 192.0.2.9", "", "route: bad mask length: 33\n", 68, ""},
		{"add -net 300.0.0.0/8 192.0.2.9", "", "route: bad address: 300.0.0.0\n", 68, ""},
		{"add -net 10.0.0.0 192.0.2.9 255.0.255.0", "", "route: bad address: 255.0.255.0\n", 68, ""},
		{"add -net 10.0.0.0/8 2001:db8::9", "", "route: bad address: 2001:db8::9\n", 68, ""},
		{"add -6 there 2001:db8::9", "", "route: there: Name does not resolve\n", 71, ""},
		{"add -6 2001:: -prefixlen 129 2001:db8::9", "", "route: 129: invalid prefixlen\n", 64, ""},
		{"add 10.0.0.0/8 -interface em9", "", "route: interface 'em9' does not exist\n", 65, ""},
		{"add 10.0.0.0/8 192.0.2.9 -fib 3", "", "route: invalid fib number: 3\n", 64, ""},
		{"add 10.0.0.0/8 192.0.2.9 -mtu 1400", "", "route: -mtu: not available\n", 64, ""},
		{"add -nyet 10.0.0.0/8", "", "route: bad keyword: nyet\n" + usage, 64, ""},
		{"add 10.0.0.0 192.0.2.9 -netmask", "", usage, 64, ""},
		{"add", "", "route: destination parameter required\n" + usage, 64, ""},
		{"burn", "", "route: bad keyword: burn\n" + usage, 64, ""},
		{"", "", usage, 64, ""},
		{"-x", "", "route: illegal option -- x\n" + usage, 64, ""},
	} {
		h.Want(route8.Run, c.line, c.stdout, c.stderr, c.exit)
		if got := static(h); got != c.routes {
			t.Errorf("%s: routes %q, want %q", c.line, got, c.routes)
		}
	}
}

func TestGetShowsARouteAsFreeBSDDoes(t *testing.T) {
	h := host(t)
	h.Run(route8.Run, "add default 192.0.2.9")
	h.Run(route8.Run, "add -6 2001:db8:1::/48 2001:db8::9")
	h.Run(route8.Run, "add 10.0.0.0/8 127.0.0.1 -reject")
	const metrics = " recvpipe  sendpipe  ssthresh  rtt,msec    mtu        weight    expire\n" +
		"       0         0         0         0      1500         1         0 \n"
	for line, want := range map[string]string{
		"-n get 8.8.8.8": `   route to: 8.8.8.8
destination: 0.0.0.0
       mask: 0.0.0.0
    gateway: 192.0.2.9
        fib: 0
  interface: em0
      flags: <UP,GATEWAY,DONE,STATIC>
` + metrics,
		"get default": `   route to: default
destination: default
       mask: default
    gateway: 192.0.2.9
        fib: 0
  interface: em0
      flags: <UP,GATEWAY,DONE,STATIC>
` + metrics,
		"show 192.0.2.77": `   route to: 192.0.2.77
destination: 192.0.2.0
       mask: 255.255.255.0
        fib: 0
  interface: em0
      flags: <UP,DONE,PINNED>
` + metrics,
		"get -inet6 2001:db8::1": `   route to: 2001:db8::1
destination: 2001:db8::1
        fib: 0
  interface: lo0
      flags: <UP,HOST,DONE,STATIC,PINNED>
` + metrics,
		"get -6 2001:db8:1::/48": `   route to: 2001:db8:1::
destination: 2001:db8:1::
       mask: ffff:ffff:ffff::
    gateway: 2001:db8::9
        fib: 0
  interface: em0
      flags: <UP,GATEWAY,DONE,STATIC>
` + metrics,
	} {
		h.Want(route8.Run, line, want, "", 0)
	}
	stdout, _, _ := h.Run(route8.Run, "get 10.1.2.3")
	if !strings.Contains(stdout, "    gateway: 127.0.0.1\n") || !strings.Contains(stdout, "      flags: <UP,GATEWAY,REJECT,DONE,STATIC>\n") {
		t.Errorf("a route to nowhere:\n%s", stdout)
	}
	h.Want(route8.Run, "get -6 2001:db9::1", "", "route: route has not been found\n", 1)
	h.Want(route8.Run, "get 192.0.2.0/25", "", "route: route has not been found\n", 1)
	h.Want(route8.Run, "get gw", "", "route: bad address: gw\n", 68)
}

func TestFlushDeletesRoutesThroughGateways(t *testing.T) {
	h := host(t)
	for _, line := range []string{"add 10.0.0.0/8 192.0.2.9", "add 10.1.0.0/16 192.0.2.9", "add 203.0.113.7 192.0.2.9", "add default 192.0.2.9",
		"add 10.2.0.0/16 -iface em1", "add -6 default fe80::9%em0"} {
		h.Want(route8.Run, "-q "+line, "", "", 0)
	}
	h.Want(route8.Run, "flush -inet6", "::                   fe80::9%em0          -fib 0   done\n", "", 0)
	h.Want(route8.Run, "flush -fib 0 -4", `203.0.113.7          192.0.2.9            -fib 0   done
10.1                 192.0.2.9            -fib 0   done
10                   192.0.2.9            -fib 0   done
default              192.0.2.9            -fib 0   done
`, "", 0)
	if got := static(h); got != "10.2.0.0/16 em1" {
		t.Errorf("left %q", got)
	}
	h.Want(route8.Run, "flush em0", "", "route: bad keyword: em0\n"+usage, 64)
	h.Want(route8.Run, "flush -fib 1", "", "route: invalid fib number: 1\n", 64)
}

// TestRoutesForward has the tool decide where packets of others go.
func TestRoutesForward(t *testing.T) {
	h := tooltest.NewHost(t)
	in, out := h.NIC("em", 0, "198.51.100.1/24"), h.NIC("em", 1, "192.0.2.1/24")
	if err := h.K.Sysctl.SetText("net.inet.ip.forwarding", "1"); err != nil {
		t.Fatal(err)
	}
	for _, last := range []byte{8, 9} {
		if err := inet.AddNeighbour(h.K, inet.NeighbourReq{Addr: netip.AddrFrom4([4]byte{192, 0, 2, last}), MAC: [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, last}}); err != nil {
			t.Fatal(err)
		}
	}
	// A datagram from 198.51.100.7 to 10.1.2.3.
	packet := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x99, 8, 0,
		0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x44, 0x93, 198, 51, 100, 7, 10, 1, 2, 3, 0, 9, 0, 9, 0, 8, 0, 0}
	for _, c := range []struct {
		line string
		to   byte // last of the link address; 0: nowhere
	}{
		{"get 192.0.2.1", 0},
		{"add -net 10.0.0.0/8 192.0.2.9", 9},
		{"change -net 10.0.0.0/8 192.0.2.8", 8},
		{"add 10.1.2.3 192.0.2.9", 9},
		{"delete 10.1.2.3", 8},
		{"flush", 0},
		{"add default 192.0.2.9", 9},
		{"add -net 10.1.0.0/16 127.0.0.1 -blackhole", 0},
	} {
		if _, stderr, exit := h.Run(route8.Run, c.line); exit != 0 {
			t.Fatalf("%s: %s", c.line, stderr)
		}
		out.Sent = nil
		in.Input(packet)
		to := byte(0)
		for _, f := range out.Sent {
			to = f[5]
		}
		if to != c.to {
			t.Errorf("%s: the packet went to %d, want %d", c.line, to, c.to)
		}
	}
}

func TestMonitorTellsOfChanges(t *testing.T) {
	h := host(t)
	steps := []func(){
		func() { h.Run(route8.Run, "add 10.0.0.0/8 192.0.2.9") },
		func() { h.Run(route8.Run, "change 10.0.0.0/8 198.51.100.9") },
		func() {
			_ = inet.AddNeighbour(h.K, inet.NeighbourReq{Addr: netip.MustParseAddr("192.0.2.9"), MAC: [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 9}})
		},
		func() {
			h.Run(route8.Run, "delete 10.0.0.0/8")
			_ = inet.DelNeighbour(h.K, netip.MustParseAddr("192.0.2.9"))
		},
		func() { _ = inet.DelAddr(ifnet.ByName(h.K, "em1"), netip.MustParseAddr("198.51.100.1")) },
		func() { h.Run(route8.Run, "add -6 2001:db9::/32 2001:db8::9 -blackhole") },
	}
	h.Pauses, h.OnPause = len(steps), func() {
		if len(steps) > 0 {
			step := steps[0]
			steps = steps[1:]
			step()
		}
	}
	stdout, _, exit := h.Run(route8.Run, "monitor")
	var got []string
	const stamp = len("22:19:41.333 ")
	for line := range strings.Lines(stdout) {
		got = append(got, strings.TrimSpace(line[stamp:]))
	}
	want := []string{
		"add/repl route 10.0.0.0/8 gw 192.0.2.9 iface em0 mtu 1500 table inet.0",
		"add/repl route 10.0.0.0/8 gw 198.51.100.9 iface em1 mtu 1500 table inet.0",
		"add/repl neigh 192.0.2.9 state REACHABLE lladdr 02:00:00:00:00:09 iface em0",
		"delete route 10.0.0.0/8 gw 198.51.100.9 iface em1 mtu 1500 table inet.0",
		"delete neigh 192.0.2.9 state REACHABLE lladdr 02:00:00:00:00:09 iface em0",
		"delete addr 198.51.100.1/24 iface em1",
		"delete route 198.51.100.1/32 iface lo0 mtu 1500 table inet.0",
		"delete route 198.51.100.0/24 iface em1 mtu 1500 table inet.0",
		"delete neigh 198.51.100.1 state REACHABLE lladdr 02:00:00:00:00:02 iface em1",
		"add/repl route 2001:db9::/32 blackhole",
	}
	if d := cmp.Diff(want, got); d != "" || exit != 0 {
		t.Errorf("exit %d (-want +got):\n%s", exit, d)
	}
	h.Want(route8.Run, "monitor em0", "", "route: bad keyword: em0\n"+usage, 64)
}

// FuzzParse: whatever stands in rc.conf, there is a command or a reason.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"-net 10.0.0.0/8 192.0.2.9", "default 192.0.2.9", "-inet6 2001:db8::/32 fe80::1%em0", "-host 10.0.0.1 -iface em0",
		"-net 10 -netmask 0xff000000 192.0.2.1 -fib 0", "10.0.0.0 1.2.3.4 255.0.0.0", "-6 :: ::1 -prefixlen 0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := route8.Parse(append([]string{"add"}, strings.Fields(line)...), 0)
		if err == nil && (!c.Prefix().IsValid() || c.Prefix() != c.Prefix().Masked()) {
			t.Errorf("%q: %v", line, c.Prefix())
		}
	})
}
