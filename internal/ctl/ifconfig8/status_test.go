package ifconfig8_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
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
