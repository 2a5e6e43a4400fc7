package machine_test

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// started boots a machine with one NIC, cqnic0, and an rc.conf.
func started(t *testing.T, rcconf string) *box {
	t.Helper()
	return boot(t, machine.Config{Files: tree("boot/device.hints", "hint.cqnic.0.port=null\n", "etc/rc.conf", rcconf)})
}

func TestRCConfConfiguresInterfaces(t *testing.T) {
	const nic = "cqnic0"
	flags := func(b *box) string { return fmt.Sprintf("%#x", b.Ifnet(nic).Flags()&^ifnet.FlagCantChange) }
	enabled := func(c ifnet.Caps) func(b *box) string {
		return func(b *box) string { return fmt.Sprintf("%#x", b.Ifnet(nic).Capenable()&c) }
	}
	mtu := func(b *box) string { return fmt.Sprint(b.Ifnet(nic).MTU()) }
	addrs := func(b *box) string { return fmt.Sprint(b.Addrs(nic)) }
	hex := func(v any) string { return fmt.Sprintf("%#x", v) }
	up := hex(ifnet.FlagUp)
	for _, c := range []struct {
		text string
		get  func(b *box) string
		want string
	}{
		{``, flags, "0x0"},
		{`ifconfig_cqnic0=""`, flags, "0x0"},
		{`ifconfig_cqnic0="up"`, flags, up},
		{`ifconfig_cqnic0="down"`, flags, up}, // rc marks a configured interface up
		{`ifconfig_cqnic0="inet 192.0.2.1/24"`, flags, up},
		{`ifconfig_cqnic0="NOAUTO inet 192.0.2.1/24"`, flags, "0x0"},
		{`ifconfig_DEFAULT="debug"`, flags, hex(ifnet.FlagUp | ifnet.FlagDebug)},
		{`ifconfig_cqnic0="-arp promisc link1 monitor staticarp"`, flags, hex(ifnet.FlagUp | ifnet.FlagNoARP | ifnet.FlagPPromisc | ifnet.FlagLink1 | ifnet.FlagMonitor | ifnet.FlagStaticARP)},
		{`ifconfig_cqnic0="-arp arp debug -debug"`, flags, up},
		{`ifconfig_cqnic0="-tso4 -tso6"`, enabled(ifnet.CapTSO), "0x0"},
		{`ifconfig_cqnic0="-tso tso6"`, enabled(ifnet.CapTSO), hex(ifnet.CapTSO6)},
		{`ifconfig_cqnic0="-txcsum6"`, enabled(ifnet.CapTxCsum | ifnet.CapTxCsumIPv6), hex(ifnet.CapTxCsum)},
		{`ifconfig_cqnic0="-rxcsum"`, enabled(ifnet.CapRxCsum | ifnet.CapRxCsumIPv6), "0x0"},            // iflib couples the two
		{`ifconfig_cqnic0="toe ipsec -rxtls netcons"`, enabled(ifnet.CapTOE | ifnet.CapNetcons), "0x0"}, // not there: silent
		{`ifconfig_cqnic0="mtu 9000"`, mtu, "9000"},
		{`ifconfig_cqnic0="mtu 1492 mtu 1400bytes"`, mtu, "1400"},
		{`ifconfig_cqnic0="inet 192.0.2.1/24 alias 10.0.0.1"`, addrs, "[192.0.2.1/24]"},
		{`ifconfig_cqnic0="inet 192.0.2.1 netmask 255.255.255.128 inet 10.1.2.3 netmask 0xfffff000"`, addrs, "[192.0.2.1/25 10.1.2.3/20]"},
		{`ifconfig_cqnic0="inet 10.0.0.1 inet 172.16.0.1 inet 192.0.2.1 inet6 2001:db8::1"`, addrs, "[10.0.0.1/8 172.16.0.1/16 192.0.2.1/24 fe80::ff:fe03:1/64 2001:db8::1/64]"}, // with a warning
		{`ifconfig_cqnic0_ipv6="inet6 2001:2::12 prefixlen 49"`, addrs, "[fe80::ff:fe03:1/64 2001:2::12/49]"},
		{"ifconfig_cqnic0='inet 10.0.0.1/8'\nifconfig_cqnic0_alias0='inet 10.0.0.2/32'\nifconfig_cqnic0_alias1='inet 10.0.0.3/32'\nifconfig_cqnic0_alias3='inet 10.0.0.4/32'\nifconfig_cqnic0_aliases='inet 10.0.0.5/32 inet 10.0.0.6/32'", addrs,
			"[10.0.0.1/8 10.0.0.2/32 10.0.0.3/32 10.0.0.5/32 10.0.0.6/32]"},
		{`ifconfig_cqnic0="inet6 -ifdisabled accept_rtadv pltime 5 up"`, func(b *box) string { return strings.Join(b.Inet6Options(nic), ",") }, "pltime 5"},
		{`ifconfig_cqnic0="inet6 -ifdisabled accept_rtadv no_dad -nud auto_linklocal"`, func(b *box) string { return fmt.Sprintf("%#x", inet.ND6Options(b.Ifnet(nic))) },
			hex(inet.ND6AcceptRTAdv | inet.ND6AutoLinkLocal | inet.ND6NoDAD)},
		{`ifconfig_cqnic0="description 'to the lab' up"`, func(b *box) string { return b.Ifnet(nic).Description() }, "to the lab"},
		{"ifconfig_cqnic0=up\nifconfig_cqnic0_descr='spare'", func(b *box) string { return b.Ifnet(nic).Description() }, "spare"},
		{"ifconfig_cqnic0_name=wan0\nifconfig_wan0='mtu 1300'", func(b *box) string { return b.Ifnet("wan0").Name() + fmt.Sprint(b.Ifnet(nic).MTU()) }, "wan01300"},
		{`ifconfig_cqnic0="metric 3 group lab"`, func(b *box) string {
			return fmt.Sprint(b.Ifnet(nic).Metric(), slices.Contains(b.Ifnet(nic).Groups(), "lab"))
		}, "3 true"},
		{`ifconfig_cqnic0="ether 02:11:22:33:44:55 pcp 5"`, func(b *box) string { return fmt.Sprintf("%x %d", b.Ifnet(nic).MAC(), b.Ifnet(nic).PCP()) }, "021122334455 5"},
		{"hostname=x\nx=24\nifconfig_cqnic0=\"inet 192.0.2.1/${x}\"", addrs, "[192.0.2.1/24]"},
	} {
		b := started(t, c.text+"\n")
		if got := c.get(b); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
		for _, w := range b.Warnings() {
			if !strings.Contains(c.text, "alias3") && !strings.HasSuffix(w, "default mask may not be correct.") {
				t.Errorf("%s: %s", c.text, w)
			}
		}
	}
}

func TestWhatRCConfGetsWrongIsAWarningEach(t *testing.T) {
	b := started(t, `ifconfig_cqnic0="inet 192.0.2.1/24 foo 10.0.0.1/33 vlan 3 media 1000base vlandev" # 1
ifconfig_cqnic0_alias0="inet 192.0.2.2/24 mtu 71 -tso4"
ifconfig_cqnic0_alias1="mediaopt full-duplex,loud netmask 255.x inet 2001::1 inet6 10.0.0.1 ether 1:x -group lab group lab2"
ifconfig_cqnic1="DHCP"
ifconfig_vlan5="up"
ifconfig_cqnic0_inet6="2001::1"
sshd_enable="YES"
`)
	want := []string{
		"etc/rc.conf:1: ifconfig: cqnic0: foo: bad value",
		"etc/rc.conf:1: ifconfig: cqnic0: 10.0.0.1/33: bad value",
		"etc/rc.conf:1: ifconfig: cqnic0: unknown media subtype: 1000base",
		"etc/rc.conf:1: ifconfig: cqnic0: 'vlandev' requires argument",
		"etc/rc.conf:1: ifconfig: cqnic0: both vlan and vlandev must be specified",
		"etc/rc.conf:2: ifconfig: cqnic0: ioctl SIOCSIFMTU (set mtu): Invalid argument",
		"etc/rc.conf:3: ifconfig: cqnic0: unknown option: loud",
		"etc/rc.conf:3: ifconfig: cqnic0: 255.x: bad value",
		"etc/rc.conf:3: ifconfig: cqnic0: 2001::1: bad value",
		"etc/rc.conf:3: ifconfig: cqnic0: 10.0.0.1: bad value",
		"etc/rc.conf:3: ifconfig: cqnic0: malformed link-level address",
		"etc/rc.conf:3: ifconfig: cqnic0: setifgroup: group names may not end in a digit",
		"etc/rc.conf:4: ifconfig_cqnic1: DHCP: not available",
		"etc/rc.conf:5: ifconfig: interface vlan5 does not exist",
		"etc/rc.conf:6: ifconfig_cqnic0_inet6: not known",
	}
	if diff := cmp.Diff(want, b.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got, want := b.Addrs("cqnic0"), []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}; !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
	if b.Ifnet("cqnic0").Flags()&ifnet.FlagUp == 0 || b.Ifnet("cqnic0").MTU() != 1500 {
		t.Error("cqnic0 was not configured by the rest")
	}
}

func TestMediaWordsMakeOneRequest(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\n", "etc/rc.conf", "ifconfig_em0=\"media 100baseTX mediaopt full-duplex\"\n")})
	var req ifnet.MediaReq
	must(t, b.Ifnet("em0").Ioctl(ifnet.IoctlGetMedia, &req))
	if want := ifnet.MediaEther | ifnet.Media100TX | ifnet.MediaFDX; req.Current != want {
		t.Errorf("media %s, want %s", req.Current.Name(), want.Name())
	}
	if w := b.Warnings(); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}

func TestMediaThatTheNICLacksIsAWarning(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\n", "etc/rc.conf", "ifconfig_em0=\"media 100GBase-LR4\"\n")})
	want := []string{"etc/rc.conf:1: ifconfig: em0: SIOCSIFMEDIA (media): Device not configured"}
	if got := b.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

func TestSysctlConfIsAppliedWithTheToolsMessages(t *testing.T) {
	b := boot(t, machine.Config{Files: tree(
		"boot/device.hints", "hint.cqnic.0.port=null\n",
		"etc/sysctl.conf", "# comment\ndev.cqnic.0.iflib.tx_abdicate=1 # as measured\nno.such.oid=1\nnet.iflib.min_tx_latency=x\ndev.cqnic.0.iflib.simple_tx=1\n",
		"etc/sysctl.conf.local", "net.iflib.min_tx_latency=1\n",
	)})
	if got := b.text("dev.cqnic.0.iflib.tx_abdicate"); got != "1" {
		t.Errorf("tx_abdicate %s, want 1", got)
	}
	if got := b.text("net.iflib.min_tx_latency"); got != "1" {
		t.Errorf("min_tx_latency %s, want 1", got)
	}
	want := []string{
		"etc/sysctl.conf: sysctl: invalid integer 'x' at line 4",
		"etc/sysctl.conf: sysctl: oid 'dev.cqnic.0.iflib.simple_tx' is a read only tunable at line 5",
		"etc/sysctl.conf: sysctl: Tunable values are set in /boot/loader.conf",
		"etc/sysctl.conf: sysctl: unknown oid 'no.such.oid' at line 3",
	}
	if diff := cmp.Diff(want, b.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestIPv6IsActivatedOnAllInterfaces(t *testing.T) {
	for text, want := range map[string]string{
		"ifconfig_cqnic0=up\n": "[]", "ifconfig_cqnic0=up\nipv6_activate_all_interfaces=YES\n": "[fe80::ff:fe03:1/64]",
		"ifconfig_cqnic0=up\nipv6_activate_all_interfaces=NO\n": "[]",
	} {
		b := started(t, text)
		b.settle()
		if got := fmt.Sprint(b.Addrs("cqnic0")); got != want {
			t.Errorf("%q: addresses %s, want %s", text, got, want)
		}
	}
}

// FuzzFiles boots machines of any files: each comes up or says why not.
func FuzzFiles(f *testing.F) {
	f.Add("a=1\nif_em_load=YES\nhint.cqnic.0.port=null\n", `ifconfig_cqnic0="inet 192.0.2.1/24 vlan 3 vlandev cqnic1"
vlans_cqnic0="5 lan"
create_args_lan="vlan 7"
cloned_interfaces="vlan vlan3 bridge0"
static_routes="a b"
route_a="-net 10/8 192.0.2.2"
ipv6_static_routes="a"
ipv6_route_a="2001:db8:: -prefixlen 49 fe80::1%cqnic0"
static_arp_pairs="a"
static_arp_a="192.0.2.2 02:00:00:00:00:09"
static_ndp_pairs="a"
static_ndp_a="2001:db8::2 02:00:00:00:00:09"
ifconfig_cxl0_4_ipv6="inet6 2001:db8::1%x prefixlen 200 inet ::ffff:1.2.3.4 netmask 0 broadcast"
`, "dev.cqnic.0.fc=0\nnet.inet.ip.forwarding = 1 # x\n")
	f.Add("loader_conf_files=\"/boot/loader.conf /\"\ndev.cqnic..x=1\nhint.cqnic.0.at=pci9\n", "defaultrouter=x\nstatic_routes=a:\nroute_a=-net\nifconfig__=up\nifconfig_=up\nvlans_=1\n", "=\ndev.=1\n")
	f.Fuzz(func(t *testing.T, loader, rc, sysctls string) {
		cfg := stepped(machine.Config{DryRun: true, Files: tree("boot/loader.conf", loader, "etc/rc.conf", rc, "etc/sysctl.conf", sysctls)})
		m, err := machine.Boot(cfg)
		if err != nil {
			return
		}
		if err := m.WritePlan(io.Discard); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}
