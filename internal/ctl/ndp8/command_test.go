package ndp8_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/internal/ctl/ndp8"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
)

const usage = `usage: ndp [-nt] hostname
       ndp [-nt] -a | -c | -p | -r | -H | -P | -R
       ndp [-nt] -A wait
       ndp [-nt] -d hostname
       ndp [-nt] -f filename
       ndp [-nt] -i interface [flags...]
       ndp [-nt] -I [interface|delete]
       ndp [-nt] -s nodename etheraddr [temp] [proxy]
`

const header = "Neighbor                             Linklayer Address  Netif Expire    S Flags\n"

const own = `2001:db8::1                          02:00:00:00:00:01    em0 permanent R 
fe80::ff:fe00:1%em0                  02:00:00:00:00:01    em0 permanent R 
`

func host(t testing.TB) (*tooltest.Host, *tooltest.NIC) {
	h := tooltest.NewHost(t)
	return h, h.NIC("em", 0, "2001:db8::1/64")
}

// frame is an ICMPv6 message from a neighbour.
func frame(t testing.TB, typ, hopLimit uint8, message gopacket.SerializableLayer) []byte {
	t.Helper()
	h := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolICMPv6, HopLimit: hopLimit, SrcIP: []byte{0x20, 1, 0xd, 0xb8, 15: 9}, DstIP: []byte{0x20, 1, 0xd, 0xb8, 15: 1}}
	c := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(typ, 0)}
	if err := c.SetNetworkLayerForChecksum(h); err != nil {
		t.Fatal(err)
	}
	e := &layers.Ethernet{SrcMAC: peerMAC, DstMAC: []byte{2, 0, 0, 0, 0, 1}, EthernetType: layers.EthernetTypeIPv6}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, e, h, c, message); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var peerMAC = []byte{2, 0, 0, 0, 0, 0x99}

// advertisement tells where a neighbour is, and that it is a router.
func advertisement(t testing.TB) []byte {
	const routerSolicitedOverride = 0xe0
	return frame(t, layers.ICMPv6TypeNeighborAdvertisement, 255, &layers.ICMPv6NeighborAdvertisement{
		Flags: routerSolicitedOverride, TargetAddress: []byte{0x20, 1, 0xd, 0xb8, 15: 9}, Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptTargetAddress, Data: peerMAC}}})
}

// echo is an echo request from a neighbour.
func echo(t testing.TB) []byte {
	return frame(t, layers.ICMPv6TypeEchoRequest, 64, &layers.ICMPv6Echo{})
}

// TestEntryOfANeighbourThroughItsStates follows an entry until it is gone.
func TestEntryOfANeighbourThroughItsStates(t *testing.T) {
	h, n := host(t)
	entry := func(want string) {
		t.Helper()
		h.Want(ndp8.Run, "-n 2001:db8::9", header+want, "", 0)
	}
	n.Input(echo(t))
	entry("2001:db8::9                          (incomplete)         em0 1s        I  1\n")
	n.Input(advertisement(t))
	entry("2001:db8::9                          02:00:00:00:00:99    em0 30s       R R\n")
	h.K.Advance(31 * time.Second)
	entry("2001:db8::9                          02:00:00:00:00:99    em0 23h59m59s S R\n")
	n.Input(echo(t))
	entry("2001:db8::9                          02:00:00:00:00:99    em0 5s        D R\n")
	h.K.Advance(5 * time.Second)
	entry("2001:db8::9                          02:00:00:00:00:99    em0 1s        P R 1\n")
	h.K.Advance(3 * time.Second)
	h.Want(ndp8.Run, "2001:db8::9", header, "ndp: 2001:db8::9 (2001:db8::9) -- no entry\n", 1)
}

func TestWideColumnsTakeFromTheNext(t *testing.T) {
	h := tooltest.NewHost(t)
	h.NIC("verylongname", 0, "2001:db8:1234:5678:9abc:def0:1234:5678/64")
	h.Want(ndp8.Run, "-an", header+
		"2001:db8:1234:5678:9abc:def0:1234:5678 02:00:00:00:00:01 verylongname0 permanent R \n"+
		"fe80::ff:fe00:1%verylongname0        02:00:00:00:00:01 verylongname0 permanent R \n", "", 0)
}

// TestEntriesAreSetAndDeleted runs line by line on one machine.
func TestEntriesAreSetAndDeleted(t *testing.T) {
	h, _ := host(t)
	h.Files["pairs"] = "2001:db8::20 2:0:0:0:0:20\nlonely # line\n"
	for _, c := range []struct {
		line, stdout, stderr string
		exit                 int
	}{
		{"-a", header + own, "", 0},
		{"-s 2001:db8::9 2:0:0:0:0:9", "", "", 0},
		{"-s fe80::9%em0 2:0:0:0:0:9 temp", "", "", 0},
		{"-s 2001:db8:1::9 2:0:0:0:0:9", "", "ndp: delete: cannot locate 2001:db8:1::9\n", 1},
		{"-s 2001:db8::1 2:0:0:0:0:9", "", "ndp: set 2001:db8::1: File exists\n", 1},
		{"-s 192.0.2.1 2:0:0:0:0:9", "", "ndp: 192.0.2.1: Name does not resolve\n", 1},
		{"-s 2001:db8::9 there", "", "ndp: invalid Ethernet address 'there'\n", 1},
		{"-s 2001:db8::9 2:0:0:0:0:9 proxy", "", "ndp: proxy: not available\n", 1},
		{"-f pairs", "", "ndp: bad line: lonely \n", 1},
		{"fe80::9%em0", header + "fe80::9%em0                          02:00:00:00:00:09    em0 30s       R \n", "", 0},
		{"-d 2001:db8::9", "2001:db8::9 (2001:db8::9) deleted\n", "", 0},
		{"-d 2001:db8::9", "", "ndp: delete 2001:db8::9: No such file or directory\n", 1},
		{"-d 2001:db8::1", "", "ndp: delete 2001:db8::1: Operation not permitted\n", 1},
		{"-d 2001:db8:1::9", "", "ndp: delete: cannot locate 2001:db8:1::9\n", 1},
		{"-nc", "2001:db8::20 (2001:db8::20) deleted\nfe80::9%em0 (fe80::9%em0) deleted\n", "", 0},
		{"-an", header + own, "", 0},
		{"-r", "", "", 0},
		{"-H", "", "", 0},
		{"-I", "No default interface.\n", "", 0},
		{"-I em9", "", "ndp: invalid interface em9\n", 1},
		{"-p", `fe80::%em0/64 if=em0
flags=LAO vltime=infinity, pltime=infinity, expire=Never, ref=0
  No advertising router
2001:db8::/64 if=em0
flags=LO vltime=infinity, pltime=infinity, expire=Never, ref=1
  No advertising router
`, "", 0},
		{"-i em0", "linkmtu=1500, maxmtu=0, curhlim=64, basereachable=30s0ms, reachable=30s, retrans=1s0ms\nFlags: nud auto_linklocal \n", "", 0},
		{"-i em0 -- -nud disabled", "linkmtu=1500, maxmtu=0, curhlim=64, basereachable=30s0ms, reachable=30s, retrans=1s0ms\nFlags: disabled auto_linklocal \n", "", 0},
		{"-i em0 -- -disabled -auto_linklocal nothing", "linkmtu=1500, maxmtu=0, curhlim=64, basereachable=30s0ms, reachable=30s, retrans=1s0ms\n", "", 0},
		{"-i em0 retrans=1", "", "ndp: retrans: not available\n", 1},
		{"-i em9", "", "ndp: ioctl(SIOCGIFINFO_IN6): Device not configured\n", 1},
		{"-a em0", usage, "", 1},
		{"-ac", usage, "", 1},
		{"", usage, "", 1},
		{"-x", usage, "ndp: illegal option -- x\n", 1},
	} {
		h.Want(ndp8.Run, c.line, c.stdout, c.stderr, c.exit)
	}
}

func TestTableIsRepeated(t *testing.T) {
	h, _ := host(t)
	h.Pauses = 2
	h.Want(ndp8.Run, "-nA 3", strings.Repeat(header+own+"\n", 3), "", 0)
	stdout, _, _ := h.Run(ndp8.Run, "-atn")
	const stamp = len("15:04:05.000000 ")
	if lines := strings.SplitAfter(stdout, "\n"); len(lines) != 3 || lines[0][stamp:]+lines[1][stamp:] != own {
		t.Errorf("with -t:\n%s", stdout)
	}
}

func TestJSON(t *testing.T) {
	h, n := host(t)
	n.Input(echo(t))
	n.Input(advertisement(t))
	for line, want := range map[string]string{
		"2001:db8::1": `"neighbor-cache": [{"address":"2001:db8::1","mac-address":"02:00:00:00:00:01","interface":"em0","permanent":true,"neighbor-state":"R","nd-flags":""}]`,
		"2001:db8::9": `"neighbor-cache": [{"address":"2001:db8::9","mac-address":"02:00:00:00:00:99","interface":"em0","expires_sec":30,"neighbor-state":"R","nd-flags":"R"}]`,
		"-i em0": `"ifinfo": {"interface":"em0","linkmtu":1500,"maxmtu":0,"curhlim":64,"basereachable_ms":30000,"reachable_ms":30000,"retrans_ms":1000,` +
			`"flags":33, "flags_pretty": ["nud", "auto_linklocal"]}`,
		"-p": `"prefix-list": [{"prefix":"fe80::%em0/64","interface":"em0", "flags_pretty": ["ra_onlink", "ra_autonomous", "is_onlink"],"flags":"LAO",` +
			`"valid-lifetime":4294967295,"preferred-lifetime":4294967295,"permanent":true,"refcount":0}, {"prefix":"2001:db8::/64","interface":"em0", ` +
			`"flags_pretty": ["ra_onlink", "is_onlink"],"flags":"LO","valid-lifetime":4294967295,"preferred-lifetime":4294967295,"permanent":true,"refcount":1}]`,
		"-r": `"router-list": []`,
	} {
		h.Want(ndp8.Run, "--libxo json "+line, `{"__version": "1", "ndp": {`+want+"}}\n", "", 0)
	}
	h.Want(ndp8.Run, "-d 2001:db8::9 -o json", `{"__version": "1", "ndp": {"neighbor-cache": [{"hostname":"2001:db8::9","address":"2001:db8::9","interface":"em0"}]}}`+"\n", "", 0)
}

// FuzzRun: whatever the command line, there is a status.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"-an", "-s 2001:db8::9 2:0:0:0:0:9 temp", "-c", "-i em0 -- -nud disabled", "-d fe80::1%em0", "-p --libxo:JP", "-A 1"} {
		f.Add(seed)
	}
	h, _ := host(f)
	f.Fuzz(func(t *testing.T, line string) {
		if _, _, exit := h.Run(ndp8.Run, line); exit != 0 && exit != 1 {
			t.Errorf("%q: exit status %d", line, exit)
		}
	})
}
