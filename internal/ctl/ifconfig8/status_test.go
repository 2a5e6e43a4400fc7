package ifconfig8_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/ifnet/vlan"
)

const ether = ifnet.MediaEther

// full is an interface to which every line of the layout applies.
func full(b *box) *ifnet.Ifnet {
	ifp := b.add("em", 0, nic{
		media: &ifnet.MediaReq{
			Current: ether | ifnet.MediaAuto, Active: ether | ifnet.Media1000T | ifnet.MediaFDX | ifnet.MediaRxPause,
			Status: ifnet.MediaAValid | ifnet.MediaActive,
			List:   []ifnet.MediaWord{ether | ifnet.MediaAuto, ether | ifnet.Media1000T | ifnet.MediaFDX | ifnet.MediaTxPause, ether | ifnet.Media10GKR | 2<<28},
		},
		status: "\ttunnel inet a --> b\n",
	})
	ifp.SetFlags(ifnet.FlagUp, 0)
	ifp.SetDrvFlags(ifnet.FlagRunning, 0)
	ifp.SetCapabilities(ifnet.CapHWCsum|ifnet.CapTSO|ifnet.CapNV, 0)
	ifp.SetCapabilities2(ifnet.Cap2RxTLS4|ifnet.Cap2IPsec|1<<3, 0)
	ifp.SetCapenable(ifnet.CapHWCsum, 0)
	ifp.SetCapenable2(ifnet.Cap2IPsec, 0)
	must(b.t, ifp.Ioctl(ifnet.IoctlSetDescr, "uplink"))
	must(b.t, ifp.Ioctl(ifnet.IoctlSetMetric, 3))
	must(b.t, ifp.Ioctl(ifnet.IoctlSetLLAddr, []byte{2, 0, 0, 0, 0, 0x99}))
	must(b.t, ifp.Ioctl(ifnet.IoctlAddGroup, "wan"))
	must(b.t, ifp.Ioctl(ifnet.IoctlAddGroup, "lab"))
	ifp.SetPCP(5)
	must(b.t, b.k.Sysctl.SetText("net.inet6.ip6.dad_count", "0"))
	for _, a := range []string{"fe80::ff:fe00:1/64", "192.0.2.10/24", "2001:db8::1/48", "198.51.100.1/32", "203.0.113.129/25"} {
		must(b.t, inet.AddAddr(ifp, netip.MustParsePrefix(a)))
	}
	return ifp
}

const fullText = `em0: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 3 mtu 1500
	description: uplink
	options=3<RXCSUM,TXCSUM,IPSEC>
	capabilities=20303<RXCSUM,TXCSUM,TSO4,TSO6,NV,RXTLS4,IPSEC,IFCAPS_35>
	ether 02:00:00:00:00:99
	hwaddr 02:00:00:00:00:01
	pcp 5
	inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255
	inet 198.51.100.1 netmask 0xffffffff broadcast 198.51.100.1
	inet 203.0.113.129 netmask 0xffffff80 broadcast 203.0.113.255
	inet6 fe80::ff:fe00:1%em0 prefixlen 64 scopeid 0x1
	inet6 2001:db8::1 prefixlen 48
	groups: wan lab
	media: Ethernet autoselect (1000baseT <full-duplex,rxpause>)
	status: active
	supported media:
		media autoselect
		media 1000baseT mediaopt full-duplex,txpause
		media 10GBase-KR instance 2
	nd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>
	tunnel inet a --> b
	drivername: em0
`

// without leaves lines out that contain one of the words.
func without(text string, words ...string) string {
	var b strings.Builder
line:
	for l := range strings.Lines(text) {
		for _, w := range words {
			if strings.Contains(l, w) {
				continue line
			}
		}
		b.WriteString(l)
	}
	return b.String()
}

func TestEveryLineHasItsPlace(t *testing.T) {
	b := newBox(t)
	full(b)
	for _, c := range []struct{ args, want string }{
		{"-m -v em0", fullText},
		{"-D em0", without(fullText, "capabilities=", "supported", "\t\t")},
		{"-ma", without(fullText, "drivername")},
		{"", without(fullText, "capabilities=", "supported", "\t\t", "drivername")},
		{"em0 inet6", without(fullText, "capabilities=", "\t\t", "media", "status", "groups", "inet ", "ether ", "hwaddr", "pcp", "drivername") + "\ttunnel inet a --> b\n"},
		{"-a ether", without(fullText, "capabilities=", "\t\t", "media", "status", "groups", "inet", "nd6", "drivername") + "\ttunnel inet a --> b\n"},
	} {
		stdout, stderr, exit := b.run(strings.Fields(c.args)...)
		if diff := cmp.Diff(c.want, stdout); diff != "" || stderr != "" || exit != 0 {
			t.Errorf("ifconfig %s: exit %d, stderr %q, stdout (-want +got):\n%s", c.args, exit, stderr, diff)
		}
	}
}

func TestFormatsOfAddresses(t *testing.T) {
	b := newBox(t)
	full(b)
	for args, want := range map[string]string{
		"-f inet:cidr":                 "inet 192.0.2.10/24 broadcast 192.0.2.255|inet6 fe80::ff:fe00:1%em0 prefixlen 64 scopeid 0x1|ether 02:00:00:00:00:99|hwaddr 02:00:00:00:00:01",
		"-f inet:dotted,inet6:cidr":    "inet 192.0.2.10 netmask 255.255.255.0 broadcast 192.0.2.255|inet6 fe80::ff:fe00:1%em0/64 scopeid 0x1",
		"-f inet:hex,ether:dash":       "inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255|ether 02-00-00-00-00-99|hwaddr 02-00-00-00-00-01",
		"-f inet:cidr -f ether:dotted": "inet 192.0.2.10/24 broadcast 192.0.2.255|ether 0200.0000.0099|hwaddr 0200.0000.0001",
		"-f addr:fqdn,ether:colon,x:y": "inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255|ether 02:00:00:00:00:99",
	} {
		stdout, stderr, exit := b.run(strings.Fields(args + " em0")...)
		for line := range strings.SplitSeq(want, "|") {
			if !strings.Contains(stdout, "\t"+line+"\n") || stderr != "" || exit != 0 {
				t.Errorf("ifconfig %s: no %q in %q, %q, %d", args, line, stdout, stderr, exit)
			}
		}
	}
}

func TestAnAddressOfEverybodyHasNoBroadcast(t *testing.T) {
	b := newBox(t)
	must(t, inet.AddAddr(b.add("em", 0, nic{}), netip.MustParsePrefix("192.0.2.1/0")))
	stdout, _, _ := b.run("em0", "inet")
	if !strings.HasSuffix(stdout, "\n\tinet 192.0.2.1 netmask 0x0\n") {
		t.Errorf("%q", stdout)
	}
}

func TestVLANsHaveALineOfTheirOwn(t *testing.T) {
	b := newBox(t)
	em := b.add("em", 0, nic{media: &ifnet.MediaReq{Current: ether, Active: ether | ifnet.Media1000T | ifnet.MediaFDX, Status: ifnet.MediaAValid | ifnet.MediaActive, List: []ifnet.MediaWord{ether, ether | ifnet.Media1000T}}})
	em.SetPCP(2)
	ifp, err := vlan.Create(b.k, "vlan7")
	must(t, err)
	const flags = "vlan7: flags=%s metric 0 mtu 1496\n\toptions=0\n\tether 02:00:00:00:00:01\n\tgroups: vlan\n"
	const nd6 = "\tnd6 options=29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>\n"
	check := func(want string) {
		t.Helper()
		stdout, stderr, exit := b.run("-m", "vlan7")
		want = strings.Replace(want, "options=0\n", "options=0\n\tcapabilities=0\n", 1)
		if diff := cmp.Diff(want, stdout); diff != "" || stderr != "" || exit != 0 {
			t.Errorf("%q, %d (-want +got):\n%s", stderr, exit, diff)
		}
	}
	check("vlan7: flags=8802<BROADCAST,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=0\n\tether 00:00:00:00:00:00\n\tgroups: vlan\n" +
		"\tvlan: 0 vlanproto: 0x0000 vlanpcp: 0 parent interface: <none>\n" + nd6)
	must(t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: "em0", VID: 7, Proto: ifnet.EtherTypeQinQ}))
	head := fmt.Sprintf(flags, "1008842<BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP>")
	const tail = "\tmedia: Ethernet autoselect (1000baseT <full-duplex>)\n\tstatus: active\n\tsupported media:\n\t\tmedia autoselect\n" + nd6
	check(head + "\tvlan: 7 vlanproto: 802.1ad vlanpcp: 0 parent interface: em0\n" + tail)
	must(t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: "em0", VID: 8}))
	must(t, ifp.Ioctl(ifnet.IoctlSetLANPCP, uint8(5)))
	check(head + "\tvlan: 8 vlanproto: 802.1q vlanpcp: 5 parent interface: em0\n" + tail)
	b.k.RunUntilIdle()
}

// fullJSON is the object of full's interface, with -m and -D.
const fullJSON = `{
  "__version": "1", 
  "ifconfig": {
    "interface": [
      {
        "name": "em0",
        "flags": [
          "UP",
          "BROADCAST",
          "RUNNING",
          "SIMPLEX",
          "MULTICAST",
          "LOWER_UP"
        ],
`

func TestJSONHasAnObjectForEachInterface(t *testing.T) {
	b := newBox(t)
	full(b)
	b.add("em", 1, nic{})
	stdout, stderr, exit := b.run("-o", "json,pretty", "-m", "-D", "em0")
	if !strings.HasPrefix(stdout, fullJSON) || stderr != "" || exit != 0 {
		t.Errorf("%s, %q, %d", stdout, stderr, exit)
	}
	stdout, _, _ = b.run("--libxo=json", "-m", "-D")
	var doc struct {
		Ifconfig struct{ Interface []map[string]any }
	}
	must(t, json.Unmarshal([]byte(stdout), &doc))
	want := []map[string]any{
		{
			"name": "em0", "metric": 3., "mtu": 1500., "description": "uplink", "ether": "02:00:00:00:00:99", "hwaddr": "02:00:00:00:00:01", "pcp": 5.,
			"flags":   []any{"UP", "BROADCAST", "RUNNING", "SIMPLEX", "MULTICAST", "LOWER_UP"},
			"options": []any{"RXCSUM", "TXCSUM", "IPSEC"}, "capabilities": []any{"RXCSUM", "TXCSUM", "TSO4", "TSO6", "NV", "RXTLS4", "IPSEC", "IFCAPS_35"},
			"addresses": []any{
				map[string]any{"family": "inet", "address": "192.0.2.10", "prefixlen": 24., "netmask": "255.255.255.0", "broadcast": "192.0.2.255"},
				map[string]any{"family": "inet", "address": "198.51.100.1", "prefixlen": 32., "netmask": "255.255.255.255", "broadcast": "198.51.100.1"},
				map[string]any{"family": "inet", "address": "203.0.113.129", "prefixlen": 25., "netmask": "255.255.255.128", "broadcast": "203.0.113.255"},
				map[string]any{"family": "inet6", "address": "fe80::ff:fe00:1%em0", "prefixlen": 64., "scopeid": 1.},
				map[string]any{"family": "inet6", "address": "2001:db8::1", "prefixlen": 48.},
			},
			"groups": []any{"wan", "lab"}, "status": "active", "nd6-options": []any{"PERFORMNUD", "AUTO_LINKLOCAL"}, "drivername": "em0",
			"media": map[string]any{
				"current": map[string]any{"media": "autoselect"},
				"active":  map[string]any{"media": "1000baseT", "mediaopt": []any{"full-duplex", "rxpause"}},
				"supported": []any{
					map[string]any{"media": "autoselect"}, map[string]any{"media": "1000baseT", "mediaopt": []any{"full-duplex", "txpause"}},
					map[string]any{"media": "10GBase-KR", "instance": 2.},
				},
			},
		},
		{
			"name": "em1", "metric": 0., "mtu": 1500., "ether": "02:00:00:00:00:01", "flags": []any{"BROADCAST", "SIMPLEX", "MULTICAST"}, "options": []any{},
			"addresses": []any{}, "groups": []any{}, "nd6-options": []any{"PERFORMNUD", "IFDISABLED", "AUTO_LINKLOCAL"}, "drivername": "em1",
		},
	}
	if diff := cmp.Diff(want, doc.Ifconfig.Interface); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSONOfVLANsAndStates(t *testing.T) {
	b := newBox(t)
	em := b.add("em", 0, nic{})
	must(t, inet.AddAddr(em, netip.MustParsePrefix("2001:db8::1/64")))
	on, err := vlan.Create(b.k, "em0.5")
	must(t, err)
	must(t, on.Ioctl(ifnet.IoctlSetLANPCP, uint8(1)))
	_, err = vlan.Create(b.k, "vlan6")
	must(t, err)
	stdout, _, _ := b.run("-o", "json")
	for _, want := range []string{
		`"vlan":{"tag":5,"proto":"802.1q","pcp":1,"parent":"em0"}`, `"vlan":{"tag":0,"proto":"0x0000","pcp":0}`,
		`{"family":"inet6","address":"2001:db8::1","prefixlen":64,"flags":["tentative"]}`,
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in %s", want, stdout)
		}
	}
	for args, want := range map[string]string{
		"-o json em0 inet": `{"__version": "1", "ifconfig": {"interface": []}}`, "-o json -l": `{"__version": "1", "ifconfig": {"interface": ["em0", "em0.5", "vlan6"]}}`,
		"-C -o json": `{"__version": "1", "ifconfig": {"cloner": ["vlan"]}}`, "-g vlan -o json": `{"__version": "1", "ifconfig": {"member": ["em0.5", "vlan6"]}}`,
	} {
		if stdout, stderr, exit := b.run(strings.Fields(args)...); stdout != want+"\n" || stderr != "" || exit != 0 {
			t.Errorf("ifconfig %s: %q %q %d", args, stdout, stderr, exit)
		}
	}
	b.k.RunUntilIdle()
}

func TestABareInterfaceHasFewLines(t *testing.T) {
	b := newBox(t)
	b.add("em", 0, nic{})
	stdout, stderr, exit := b.run("em0")
	want := "em0: flags=8802<BROADCAST,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=0\n\tether 02:00:00:00:00:01\n\tnd6 options=29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>\n"
	if stdout != want || stderr != "" || exit != 0 {
		t.Errorf("%q %q %d, want %q", stdout, stderr, exit, want)
	}
}

func TestMediaAndStatusLines(t *testing.T) {
	one := []ifnet.MediaWord{ether | ifnet.MediaAuto}
	for _, c := range []struct {
		name           string
		n              nic
		stdout, stderr string
	}{
		{"as set", nic{media: &ifnet.MediaReq{Current: ether | ifnet.Media100TX | ifnet.MediaFDX, Active: ether | ifnet.Media100TX | ifnet.MediaFDX, List: one}},
			"\tmedia: Ethernet 100baseTX <full-duplex>\n", ""},
		{"instance", nic{media: &ifnet.MediaReq{Current: ether | ifnet.Media1000T | 3<<28, Active: ether, List: one}},
			"\tmedia: Ethernet 1000baseT instance 3 (autoselect)\n", ""},
		{"unknown", nic{media: &ifnet.MediaReq{Current: ether | 0x7800, Active: ether | 0x7800, List: one}},
			"\tmedia: Ethernet <unknown subtype>\n", ""},
		{"no carrier", nic{media: &ifnet.MediaReq{Current: ether, Active: ether, Status: ifnet.MediaAValid, List: one}},
			"\tmedia: Ethernet autoselect\n\tstatus: no carrier\n", ""},
		{"reason", nic{why: &ifnet.DownReason{Kind: ifnet.DownReasonMsg, Text: "no module"},
			media: &ifnet.MediaReq{Current: ether, Active: ether, Status: ifnet.MediaAValid, List: one}},
			"\tmedia: Ethernet autoselect\n\tstatus: no carrier (no module)\n", ""},
		{"vendor", nic{why: &ifnet.DownReason{Kind: ifnet.DownReasonVendor, Vendor: 17},
			media: &ifnet.MediaReq{Current: ether, Active: ether, Status: ifnet.MediaAValid, List: one}},
			"\tmedia: Ethernet autoselect\n\tstatus: no carrier (vendor code 17)\n", ""},
		{"no types", nic{media: &ifnet.MediaReq{Current: ether}}, "", "ifconfig: em0: no media types?\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.add("em", 0, c.n)
			stdout, stderr, exit := b.run("em0")
			got := without(stdout, "flags=", "options=", "ether 02")
			if got != c.stdout || stderr != c.stderr || exit != 0 {
				t.Errorf("%q %q %d, want %q %q", got, stderr, exit, c.stdout, c.stderr)
			}
		})
	}
}
