package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// oneNIC boots a machine with em0.
func oneNIC(t *testing.T) *box {
	t.Helper()
	return boot(t, machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\n")})
}

// ifconfigCase is a line of ifconfig(8) behind the interface's name.
type ifconfigCase struct{ line, err, state string }

// runCases runs lines one after another and compares errors, and the state after each.
func runCases(t *testing.T, b *box, ifp *ifnet.Ifnet, state func() string, cases []ifconfigCase) {
	t.Helper()
	for _, c := range cases {
		got := ""
		if _, err := b.Ifconfig(ifp, strings.Fields(c.line)); err != nil {
			got = err.Error()
		}
		if got != c.err || state() != c.state {
			t.Errorf("%s: %q, then %s; want %q, %s", c.line, got, state(), c.err, c.state)
		}
	}
}

func TestIfconfigEndsAtTheFirstCommandThatFails(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	runCases(t, b, ifp, func() string { return fmt.Sprint(ifp.MTU(), " ", ifp.Metric()) }, []ifconfigCase{
		{"mtu 1400 up", "", "1400 0"},
		{"mtu 1300 mtu 71 mtu 1200", "ioctl SIOCSIFMTU (set mtu): Invalid argument", "1300 0"},
		{"mtu 65536", "ioctl SIOCSIFMTU (set mtu): Invalid argument", "1300 0"},
		{"mtu many", "ioctl SIOCSIFMTU (set mtu): Invalid argument", "1300 0"}, // atoi(3) of it is 0
		{"mtu 1280x", "", "1280 0"},
		{"mtu", "'mtu' requires argument", "1280 0"},
		{"foo mtu 1200", "foo: bad value", "1280 0"},
		{"metric 7", "", "1280 7"},
		{"metric -1", "", "1280 -1"},
		{"metric no", "", "1280 0"},
		{"em1 mtu 1200", "em1: bad value", "1280 0"},
		{"-up", "-up: bad value", "1280 0"},
		{"metric 5 destroy metric 6", "SIOCIFDESTROY: Invalid argument", "1280 5"},
		{"vnet cell", `jail "cell" not found`, "1280 5"},
	})
	if len(b.Warnings()) != 0 {
		t.Errorf("warnings %q", b.Warnings())
	}
	must(t, b.Detach("em0"))
	for word, want := range map[string]string{"promisc": "promisc: no such interface", "-rxcsum": "ioctl (SIOCGIFCAP): no such interface"} {
		if got := fmt.Sprint(b.ifconfig(ifp, []string{word})); got != want {
			t.Errorf("%s after detach: %s, want %s", word, got, want)
		}
	}
}

func TestIfconfigFlags(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	const up = "0x0"
	flags := func() string { return fmt.Sprintf("%#x", ifp.Flags()&^(ifnet.FlagCantChange)) }
	runCases(t, b, ifp, flags, []ifconfigCase{
		{"", "", up}, {"up", "", "0x1"}, {"down", "", up}, {"debug", "", "0x4"}, {"-debug", "", up}, {"-arp", "", "0x80"}, {"arp", "", up},
		{"promisc", "", "0x20000"}, {"-promisc", "", up}, {"allmulti", "", "0x800000"}, {"-allmulti", "", up},
		{"monitor", "", "0x40000"}, {"-monitor", "", up}, {"staticarp", "", "0x80000"}, {"-staticarp", "", up},
		{"stickyarp", "", "0x100000"}, {"-stickyarp", "", up}, {"link0 link1 link2", "", "0x7000"}, {"-link2 -link1 normal", "", up},
		{"compress noicmp", "", "0x3000"}, {"-link0 -link1", "", up}, {"-compress", "-compress: bad value", up}, {"permanentpromisc", "permanentpromisc: bad value", up},
	})
}

func TestIfconfigCapabilities(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	have, enabled := ifp.Capabilities(), ifp.Capenable()
	for word, caps := range map[string]ifnet.Caps{
		"rxcsum": ifnet.CapRxCsum | ifnet.CapRxCsumIPv6, "txcsum": ifnet.CapTxCsum, "rxcsum6": ifnet.CapRxCsum | ifnet.CapRxCsumIPv6, "txcsum6": ifnet.CapTxCsumIPv6,
		"tso": ifnet.CapTSO, "tso4": ifnet.CapTSO4, "tso6": ifnet.CapTSO6, "lro": ifnet.CapLRO, "vlanmtu": ifnet.CapVLANMTU,
		"vlanhwtag": ifnet.CapVLANHWTag, "vlanhwfilter": ifnet.CapVLANHWFilter, "vlanhwtso": ifnet.CapVLANHWTSO, "vlanhwcsum": ifnet.CapVLANHWCsum,
		"wol": ifnet.CapWOL, "wol_ucast": ifnet.CapWOLUcast, "wol_mcast": ifnet.CapWOLMcast, "wol_magic": ifnet.CapWOLMagic,
		"mextpg": ifnet.CapMEXTPG, "nomap": ifnet.CapMEXTPG,
		// em has none of these: nothing happens, and nobody says so
		"polling": 0, "netcons": 0, "toe": 0, "txrtlmt": 0, "hwrxtstmp": 0, "rxtls": 0, "txtls": 0, "txtlsrtlmt": 0, "vxlanhwcsum": 0, "vxlanhwtso": 0, "ipsec": 0,
	} {
		if caps&^have != 0 {
			t.Errorf("em0 has not %#x of %s", caps&^have, word)
		}
		for _, c := range []struct {
			word string
			want ifnet.Caps
		}{{"-" + word, enabled &^ caps}, {word, enabled | caps}} {
			must(t, b.ifconfig(ifp, []string{c.word}))
			if got := ifp.Capenable(); got != c.want {
				t.Errorf("%s: %#x, want %#x", c.word, got, c.want)
			}
		}
		must(t, ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: enabled}))
	}
}

func TestIfconfigAddresses(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	const notThere = "ioctl (SIOCDIFADDR): Can't assign requested address"
	const both = "[192.0.2.2/25 198.51.100.1/32]"
	runCases(t, b, ifp, func() string { return fmt.Sprint(b.Addrs("em0")) }, []ifconfigCase{
		{"inet -alias", "", "[]"},
		{"192.0.2.1/24 -tso4", "", "[192.0.2.1/24]"},
		{"inet 192.0.2.2 netmask 255.255.255.128", "", "[192.0.2.2/25]"}, // instead of the first
		{"inet 198.51.100.1/32 alias", "", both},
		{"alias 198.51.100.1", "", "[192.0.2.2/25 198.51.100.1/24]"},
		{"add 198.51.100.1 netmask 0xffffffff", "", both},
		{"inet 198.51.100.9 delete", notThere, both},
		{"inet delete 198.51.100.1/32", "198.51.100.1/32: bad value", both},
		{"inet -alias 198.51.100.1", "", "[192.0.2.2/25]"},
		{"inet 192.0.2.2/25 remove", "", "[]"},
		{"inet 10.1/16 broadcast 10.0.255.255", "", "[10.0.0.1/16]"},
		{"inet 10.0.0.5 10.0.0.6 netmask 0377.0xff.65280", "", "[10.0.0.5/24]"},
		{"inet -alias", "", "[]"},
		{"inet 192.0.2.1/33", "192.0.2.1/33: bad value (width too large)", "[]"},
		{"inet 192.0.2.1/x", "192.0.2.1/x: bad value (width invalid)", "[]"},
		{"inet 192.0.2.256/24", "192.0.2.256: bad value", "[]"},
		{"inet 2001:db8::1", "2001:db8::1: bad value", "[]"},
		{"inet 192.0.2.1/24 10.0.0.300", "10.0.0.300: bad value", "[]"},
		{"inet 192.0.2.1/24 netmask x", "x: bad value", "[]"},
		{"inet 192.0.2.1/24 broadcast x", "x: bad value", "[]"},
		{"inet netmask 255.255.255.0", "ioctl (SIOCAIFADDR): Invalid argument", "[]"},
		{"inet 224.0.0.5/24", "ioctl (SIOCAIFADDR): Invalid argument", "[]"},
		{"inet 192.0.2.1/24 inet6", "inet6: bad value", "[]"},
		{"inet 192.0.2.1/24 pltime 5", "pltime not allowed for the AF", "[]"},
		{"inet 192.0.2.1/24 anycast", "address flags can be set only for inet6 addresses", "[]"},
		{"inet 192.0.2.1/24 eui64", "eui64 not allowed for the AF", "[]"},
	})
}

func TestIfconfigBroadcastAddresses(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	runCases(t, b, ifp, func() string { return fmt.Sprint(inet.Addrs(ifp)) }, []ifconfigCase{
		{"inet 192.0.2.1/24 broadcast 192.0.2.0", "", "[inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.0]"},
		{"inet 192.0.2.1/24", "", "[inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255]"},
		{"inet broadcast 192.0.2.0 192.0.2.1/24 alias", "", "[inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.0]"},
		{"inet -alias broadcast 10.0.0.0", "", "[]"},
	})
}

func TestIfconfigInet6Addresses(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	const own = "fe80::ff:fe00:1/64"
	runCases(t, b, ifp, func() string { return fmt.Sprint(b.Addrs("em0")) }, []ifconfigCase{
		{"inet6 2001:db8::1 eui64", "interface index is already filled", "[]"},
		{"inet6 2001:db8:: eui64", "could not determine link local address", "[]"},
		{"inet6 2001:db8::1", "", "[" + own + " 2001:db8::1/64]"},
		{"inet6 2001:db8::2/48", "", "[" + own + " 2001:db8::1/64 2001:db8::2/48]"}, // nothing is replaced
		{"inet6 2001:db8::2 prefixlen 128 -alias", "", "[" + own + " 2001:db8::1/64]"},
		{"inet6 2001:db8::1 delete", "", "[" + own + "]"},
		{"inet6 2001:db8:1:: eui64 prefixlen 56", "", "[" + own + " 2001:db8:1::ff:fe00:1/56]"},
		{"inet6 -alias 2001:db8:1::ff:fe00:1", "", "[" + own + "]"},
		{"inet6 -alias", "ioctl (SIOCDIFADDR): Can't assign requested address", "[" + own + "]"},
		{"inet6 2001:db8::1/129", "129: bad value", "[" + own + "]"},
		{"inet6 2001:db8::1 prefixlen 129", "129: bad value", "[" + own + "]"},
		{"inet6 192.0.2.1", "192.0.2.1: bad value", "[" + own + "]"},
		{"inet6 2001:db8::1 netmask 255.0.0.0", "255.0.0.0: bad value", "[" + own + "]"},
		{"inet6 2001:db8::1 vltime x", "invalid vltime", "[" + own + "]"},
		{"inet6 fe80::ff:fe00:1%em0 -alias", "", "[]"},
	})
}

func TestIfconfigLinkAddresses(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	burnt := ifp.HWAddr()
	runCases(t, b, ifp, func() string { return fmt.Sprintf("%x", ifp.MAC()) }, []ifconfigCase{
		{"ether 02:00:00:00:00:99 up", "", "020000000099"},
		{"lladdr 2.0.0.0.0.9a", "", "02000000009a"},
		{"link 02-00-00-00-00-9b", "", "02000000009b"},
		{"link 0200.0000.009c", "", "02000000009c"},
		{"ether 02:00", "ioctl (SIOCAIFADDR): Invalid argument", "02000000009c"},
		{"ether 02:zz", "malformed link-level address", "02000000009c"},
		{"ether 1.2.3.4.5.6.7.8.9.a.b.c.d.e.f", "malformed link-level address", "02000000009c"},
		{"ether netmask 255.0.0.0", "can't set link-level netmask or broadcast", "02000000009c"},
		{"ether broadcast 02:00:00:00:00:01", "can't set link-level netmask or broadcast", "02000000009c"},
		{"ether 02:00:00:00:00:9d 02:00:00:00:00:9e", "can't set link-level netmask or broadcast", "02000000009c"},
	})
	out, err := b.Ifconfig(ifp, []string{"ether", "02:00:00:00:00:9d", "-alias"})
	if want := []string{"interface em0 cannot change ether addresses!"}; err != nil || !slices.Equal(out.Warnings, want) {
		t.Errorf("%q, %v", out, err)
	}
	must(t, b.ifconfig(ifp, []string{"ether", "random"}))
	if mac := ifp.MAC(); mac[0]&3 != 2 || mac == burnt || ifp.HWAddr() != burnt {
		t.Errorf("random address %x", mac)
	}
}

func TestIfconfigWarnsAndGoesOn(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	for line, want := range map[string][]string{
		"10.1.2.3": {"WARNING: setting interface address without mask is deprecated,\ndefault mask may not be correct."},
		"fib x":    {"fib x not valid"}, "fib 1": {"ioctl (SIOCSIFFIB): Invalid argument"}, "fib 0": nil, "inet6 -nud": nil,
	} {
		out, err := b.Ifconfig(ifp, strings.Fields(line))
		if diff := cmp.Diff(want, out.Warnings); diff != "" || err != nil || out.Name != "" {
			t.Errorf("%s: %v, warnings (-want +got):\n%s", line, err, diff)
		}
	}
	if got := fmt.Sprint(b.Addrs("em0")); got != "[10.1.2.3/8]" {
		t.Errorf("addresses %s", got)
	}
}

func TestIfconfigNeighbourDiscovery(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	runCases(t, b, ifp, func() string { return fmt.Sprintf("%#x", inet.ND6Options(ifp)) }, []ifconfigCase{
		{"inet6 accept_rtadv no_radr no_prefer_iface no_dad", "", "0x1eb"},
		{"inet6 -accept_rtadv -no_radr -no_prefer_iface -no_dad -nud", "", "0x28"},
		{"inet6 -ifdisabled -auto_linklocal nud", "", "0x1"},
		{"inet6 defaultif deprecated -tentative pltime 0x20", "", "0x1"},
	})
	if want, got := []string{"defaultif", "deprecated", "-tentative", "pltime 0x20"}, b.Inet6Options("em0"); !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func TestIfconfigNamesGroupsAndDescriptions(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	runCases(t, b, ifp, func() string { return fmt.Sprintf("%s %q %q", ifp.Name(), ifp.Description(), ifp.Groups()) }, []ifconfigCase{
		{"group lab group lab group wan -group lab -group lab", "", `em0 "" ["all" "wan"]`},
		{"group em0", "setifgroup: group names may not end in a digit", `em0 "" ["all" "wan"]`},
		{"-group em0", "unsetifgroup: group names may not end in a digit", `em0 "" ["all" "wan"]`},
		{"group aaaaaaaaaaaaaaaa", "setifgroup: group name too long", `em0 "" ["all" "wan"]`},
		{"description uplink", "", `em0 "uplink" ["all" "wan"]`},
		{"-description descr x -descr", "", `em0 "" ["all" "wan"]`},
		{"descr " + strings.Repeat("x", 1024), "ioctl SIOCSIFDESCR (set descr): File name too long", `em0 "" ["all" "wan"]`},
		{"name aaaaaaaaaaaaaaaa", "ioctl SIOCSIFNAME (set name): File name too long", `em0 "" ["all" "wan"]`},
		{"name wan0", "", `wan0 "" ["all" "wan"]`},
	})
	out, err := b.Ifconfig(ifp, []string{"inet6", "defaultif", "name", "lan0", "mtu", "1"})
	if out.Name != "lan0" || err == nil || ifp.Name() != "lan0" || !slices.Equal(b.Inet6Options("lan0"), []string{"defaultif"}) {
		t.Errorf("%+v, %v", out, err)
	}
	if got := b.text("dev.em.0.%driver"); got != "em" {
		t.Errorf("dev.em.0 after the rename: %s", got)
	}
	if out, err := b.Ifconfig(ifp, []string{"name", "lan0"}); out.Name != "lan0" || err != nil {
		t.Errorf("its own name: %+v, %v", out, err)
	}
}

func TestIfconfigMedia(t *testing.T) {
	b := oneNIC(t)
	ifp := b.Ifnet("em0")
	media := func() string {
		var req ifnet.MediaReq
		must(t, ifp.Ioctl(ifnet.IoctlGetXMedia, &req))
		return req.Current.Name()
	}
	const none = "SIOCSIFMEDIA (media): Device not configured"
	runCases(t, b, ifp, media, []ifconfigCase{
		{"media 100baseTX mediaopt full-duplex", "", "100baseTX <full-duplex>"},
		{"media 10baseT/UTP", "", "10baseT/UTP"}, // options go
		{"mediaopt full-duplex media 10baseT", "", "10baseT/UTP"},
		{"mediaopt full-duplex", "", "10baseT/UTP <full-duplex>"},
		{"mediaopt half-duplex", "", "10baseT/UTP"},
		{"mediaopt ,full-duplex,", "", "10baseT/UTP <full-duplex>"},
		{"-mediaopt full-duplex", "", "10baseT/UTP"},
		{"media 1000TX mediaopt hdx", "unknown option: hdx", "10baseT/UTP"},
		{"media 12baseT", "unknown media subtype: 12baseT", "10baseT/UTP"},
		{"media 100GBase-LR4 inet 192.0.2.1/24", "inet: bad value", "10baseT/UTP"},
		{"media 100GBase-LR4 192.0.2.1/24", none, "10baseT/UTP"},
		{"instance 16", "invalid media instance: 16", "10baseT/UTP"},
		{"inst -1", "invalid media instance: -1", "10baseT/UTP"},
		{"instance 1", none, "10baseT/UTP"},
		{"mode 11a", none, "10baseT/UTP"},
		{"media auto", "", "autoselect"},
	})
	if got := b.Addrs("em0"); got != nil {
		t.Errorf("addresses %v: the media failed before", got)
	}
}

func TestIfconfigOfVLANs(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\nhint.em.1.port=null\n")})
	ifp, out, err := b.CreateInterface("vlan", nil)
	must(t, err)
	if out.Name != "vlan0" {
		t.Errorf("%+v", out)
	}
	const halves = "both vlan and vlandev must be specified"
	pcp := func() string { return fmt.Sprintf("%s pcp %d", vlans(t, b), ifp.PCP()) }
	runCases(t, b, ifp, pcp, []ifconfigCase{
		{"vlan 5", halves, "vlan0 0 0x0 of  down [] pcp 255"},
		{"vlandev em0", halves, "vlan0 0 0x0 of  down [] pcp 255"},
		{"vlandev em0 vlan 5", "", "vlan0 5 0x8100 of em0 down [] pcp 255"},
		{"vlan 0x6", "", "vlan0 6 0x8100 of em0 down [] pcp 255"},
		{"vlanproto QinQ", "", "vlan0 6 0x88a8 of em0 down [] pcp 255"},
		{"vlan 7", "", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlan 7 vlandev em1", "SIOCSETVLAN: Device busy", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlan 4095", "SIOCSETVLAN: Invalid argument", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlan x", "invalid value for vlan", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlan 65536", "value for vlan out of range", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlanproto 802.1x", "invalid value for vlanproto", "vlan0 7 0x88a8 of em0 down [] pcp 255"},
		{"vlanpcp 3", "", "vlan0 7 0x88a8 of em0 down [] pcp 3"},
		{"vlanpcp 8", "value for vlanpcp out of range", "vlan0 7 0x88a8 of em0 down [] pcp 3"},
		{"vlanpcp x", "invalid value for vlanpcp", "vlan0 7 0x88a8 of em0 down [] pcp 3"},
		{"media autoselect", "SIOCSIFMEDIA (media): Invalid argument", "vlan0 7 0x88a8 of em0 down [] pcp 3"},
		{"-vlandev em0 192.0.2.1/24", "", "vlan0 0 0x0 of  up [192.0.2.1/24] pcp 3"},
		{"media autoselect", "vlan0: ifconfig_media_get_mediareq: Invalid argument", "vlan0 0 0x0 of  up [192.0.2.1/24] pcp 3"},
		{"mtu 1400", "ioctl SIOCSIFMTU (set mtu): Invalid argument", "vlan0 0 0x0 of  up [192.0.2.1/24] pcp 3"},
	})
	em0 := b.Ifnet("em0")
	runCases(t, b, em0, func() string { return fmt.Sprint(em0.PCP()) }, []ifconfigCase{
		{"vlan 5 vlandev em1", "", "255"}, {"vlan 5", halves, "255"}, {"vlanpcp 1", "SIOCSVLANPCP: Invalid argument", "255"},
		{"-vlandev", "SIOCGETVLAN: Invalid argument", "255"}, {"pcp 4", "", "4"}, {"pcp 9", "value for pcp out of range", "4"},
		{"pcp x", "invalid value for pcp", "4"}, {"-pcp", "", "255"},
	})
	must(t, b.ifconfig(ifp, []string{"down", "destroy"}))
	if got := vlans(t, b); got != "" {
		t.Errorf("after destroy: %s", got)
	}
}

func FuzzIfconfig(f *testing.F) {
	for _, s := range []string{"inet 192.0.2.1/24 alias", "inet6 fe80::1%em0 -alias eui64", "ether random", "media 10baseT mediaopt full-duplex instance 1",
		"vlan 5 vlandev em0 vlanproto 802.1ad", "name x group y -group y descr z", "mtu 0x40 pcp 7 fib 9", "netmask 1.2.3 broadcast 0x7f", "delete 1 2 3 add"} {
		f.Add("vlan", s)
	}
	f.Add("em0.5", "create")
	f.Fuzz(func(t *testing.T, name, line string) {
		m, err := machine.Boot(stepped(machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\n")}))
		must(t, err)
		words := strings.Fields(line)
		if _, err := m.Ifconfig(m.Ifnet("em0"), words); err != nil && err.Error() == "" {
			t.Error("no message")
		}
		if ifp, _, err := m.CreateInterface(name, words); ifp == nil && err == nil {
			t.Error("no interface and no message")
		}
		must(t, m.Close())
	})
}
