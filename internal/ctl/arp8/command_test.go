package arp8_test

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/arp8"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
)

var peerMAC = [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 0x99}

const usage = `usage: arp [-n] [-i interface] hostname
       arp [-n] [-i interface] -a
       arp -d hostname [pub]
       arp -d [-i interface] -a
       arp -s hostname ether_addr [temp] [reject | blackhole] [pub [only]]
       arp -S hostname ether_addr [temp] [reject | blackhole] [pub [only]]
       arp -f filename
`

// host has two networks, of which the second has no neighbours.
func host(t testing.TB) (*tooltest.Host, *tooltest.NIC) {
	h := tooltest.NewHost(t)
	n := h.NIC("em", 0, "192.0.2.1/24")
	h.NIC("em", 1, "198.51.100.1/24")
	return h, n
}

// request is a question for own from a neighbour.
func request(sender, own string) []byte {
	spa, tpa := netip.MustParseAddr(sender).As4(), netip.MustParseAddr(own).As4()
	b := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, peerMAC[:]...)
	b = binary.BigEndian.AppendUint16(b, ifnet.EtherTypeARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, 1)
	b = append(append(append(append(b, peerMAC[:]...), spa[:]...), make([]byte, 6)...), tpa[:]...)
	return b
}

// echo is an echo request from 192.0.2.9, whose sender nobody has heard of.
func echo() []byte {
	return []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x99, 8, 0,
		0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0xf6, 0xd6, 192, 0, 2, 9, 192, 0, 2, 1, 8, 0, 0xf7, 0xff, 0, 0, 0, 0}
}

const ownLine = "? (192.0.2.1) at 02:00:00:00:00:01 on em0 permanent [ethernet]\n"

func TestLearntEntryShowsAndExpires(t *testing.T) {
	h, n := host(t)
	n.Input(request("192.0.2.9", "192.0.2.1"))
	h.Want(arp8.Run, "-an -i em0", ownLine+"? (192.0.2.9) at 02:00:00:00:00:99 on em0 expires in 1200 seconds [ethernet]\n", "", 0)
	h.K.Advance(5 * time.Second)
	h.Want(arp8.Run, "192.0.2.9", "? (192.0.2.9) at 02:00:00:00:00:99 on em0 expires in 1195 seconds [ethernet]\n", "", 0)
	h.K.Advance(1194 * time.Second)
	h.Want(arp8.Run, "192.0.2.9", "? (192.0.2.9) at 02:00:00:00:00:99 on em0 expires in 1 seconds [ethernet]\n", "", 0)
	h.K.Advance(500 * time.Millisecond)
	h.Want(arp8.Run, "192.0.2.9", "? (192.0.2.9) at 02:00:00:00:00:99 on em0 expired [ethernet]\n", "", 0)
	h.K.Advance(time.Second)
	h.Want(arp8.Run, "192.0.2.9", "192.0.2.9 (192.0.2.9) -- no entry\n", "", 1)
	h.Want(arp8.Run, "-i em1 192.0.2.9", "192.0.2.9 (192.0.2.9) -- no entry on em1\n", "", 1)
}

// TestEntriesAreSetAndDeleted runs line by line on one machine.
func TestEntriesAreSetAndDeleted(t *testing.T) {
	h, _ := host(t)
	h.Files["pairs"] = "# neighbours\n192.0.2.20 2:0:0:0:0:20\n\n192.0.2.21 2:0:0:0:0:21 temp # for now\nlonely\n192.0.2.22 nowhere\n"
	for _, c := range []struct {
		line, stdout, stderr string
		exit                 int
	}{
		{"-s 192.0.2.9 02:00:00:00:00:99", "", "", 0},
		{"192.0.2.9", "? (192.0.2.9) at 02:00:00:00:00:99 on em0 permanent [ethernet]\n", "", 0},
		{"-S 192.0.2.9 2:0:0:0:0:9 temp pub only", "192.0.2.9 (192.0.2.9) deleted\n", "", 0},
		{"192.0.2.9", "? (192.0.2.9) at 02:00:00:00:00:09 on em0 expires in 1200 seconds published [ethernet]\n", "", 0},
		{"-d 192.0.2.9 pub", "192.0.2.9 (192.0.2.9) deleted\n", "", 0},
		{"-d 192.0.2.9", "", "arp: delete 192.0.2.9: No such file or directory\n", 1},
		{"-d 192.0.2.1", "", "arp: delete 192.0.2.1: Operation not permitted\n", 1},
		{"-d 203.0.113.1", "", "arp: delete: cannot locate 203.0.113.1\n", 1},
		{"-S 192.0.2.9 2:0:0:0:0:9", "", "arp: delete 192.0.2.9: No such file or directory\n", 0},
		{"-s 192.0.2.8 auto pub", "using interface em0 for proxy with address 02:00:00:00:00:01\n", "", 0},
		{"-s 203.0.113.1 auto pub", "", "arp: no interface found for 203.0.113.1\n", 1},
		{"-s 203.0.113.1 2:0:0:0:0:9", "", "arp: delete: cannot locate 203.0.113.1\n", 1},
		{"-s 192.0.2.1 2:0:0:0:0:9", "", "arp: set 192.0.2.1: File exists\n", 1},
		{"-s 192.0.2.9 there", "", "arp: invalid Ethernet address 'there'\n", 1},
		{"-s gw 2:0:0:0:0:9", "", "arp: gw: Unknown host\n", 1},
		{"-s 192.0.2.9 2:0:0:0:0:9 forever", "", "arp: Invalid parameter 'forever'\n" + usage, 1},
		{"-s 192.0.2.9 2:0:0:0:0:9 reject", "", "arp: reject: not available\n", 1},
		{"-f pairs", "", "arp: bad line: lonely\narp: invalid Ethernet address 'nowhere'\n", 1},
		{"-f none", "", "arp: cannot open none: No such file or directory\n", 1},
		{"-a -i em0", ownLine +
			"? (192.0.2.8) at 02:00:00:00:00:01 on em0 permanent published [ethernet]\n" +
			"? (192.0.2.9) at 02:00:00:00:00:09 on em0 permanent [ethernet]\n" +
			"? (192.0.2.20) at 02:00:00:00:00:20 on em0 permanent [ethernet]\n" +
			"? (192.0.2.21) at 02:00:00:00:00:21 on em0 expires in 1200 seconds [ethernet]\n", "", 0},
		{"-d -i em1 -a", "", "", 0},
		{"-da", "192.0.2.8 (192.0.2.8) deleted\n192.0.2.9 (192.0.2.9) deleted\n192.0.2.20 (192.0.2.20) deleted\n192.0.2.21 (192.0.2.21) deleted\n", "", 0},
		{"-an", ownLine + "? (198.51.100.1) at 02:00:00:00:00:02 on em1 permanent [ethernet]\n", "", 0},

		{"-i em0 -d 192.0.2.9", "", "arp: -i not applicable to this operation\n", 1},
		{"-i em9 -a", "", "arp: interface em9 does not exist\n", 1},
		{"-ds 192.0.2.9", "", usage, 1},
		{"-a em0", "", usage, 1},
		{"", "", usage, 1},
		{"-s 192.0.2.9", "", usage, 1},
		{"-x", "", "arp: illegal option -- x\n" + usage, 1},
	} {
		h.Want(arp8.Run, c.line, c.stdout, c.stderr, c.exit)
	}
}

func TestIncompleteEntry(t *testing.T) {
	h, n := host(t)
	n.Input(echo())
	h.Want(arp8.Run, "192.0.2.9", "? (192.0.2.9) at (incomplete) on em0 expires in 20 seconds [ethernet]\n", "", 0)
	h.Want(arp8.Run, "--libxo json 192.0.2.9",
		`{"__version": "1", "arp": {"arp-cache": [{"hostname":"?","ip-address":"192.0.2.9","incomplete":true,"interface":"em0","expires":20,"type":"ethernet"}]}}`+"\n", "", 0)
}

func TestJSON(t *testing.T) {
	h, n := host(t)
	n.Input(request("192.0.2.9", "192.0.2.1"))
	h.Run(arp8.Run, "-s 192.0.2.8 auto pub")
	h.Want(arp8.Run, "-a -i em0 -o json,pretty", `{
  "__version": "1", 
  "arp": {
    "arp-cache": [
      {
        "hostname": "?",
        "ip-address": "192.0.2.1",
        "mac-address": "02:00:00:00:00:01",
        "interface": "em0",
        "permanent": true,
        "type": "ethernet"
      },
      {
        "hostname": "?",
        "ip-address": "192.0.2.8",
        "mac-address": "02:00:00:00:00:01",
        "interface": "em0",
        "permanent": true,
        "published": true,
        "type": "ethernet"
      },
      {
        "hostname": "?",
        "ip-address": "192.0.2.9",
        "mac-address": "02:00:00:00:00:99",
        "interface": "em0",
        "expires": 1200,
        "type": "ethernet"
      }
    ]
  }
}
`, "", 0)
	h.K.Advance(1199*time.Second + 500*time.Millisecond)
	h.Want(arp8.Run, "-o json 192.0.2.9",
		`{"__version": "1", "arp": {"arp-cache": [{"hostname":"?","ip-address":"192.0.2.9","mac-address":"02:00:00:00:00:99","interface":"em0","expired":true,"type":"ethernet"}]}}`+"\n", "", 0)
	h.Want(arp8.Run, "-o json 192.0.2.77", `{"__version": "1", "arp": {"arp-cache": []}}`+"\n", "", 1)
	h.Want(arp8.Run, "-a --libxo", "", "arp: missing libxo option\n", 1)
}

func TestStaticEntryIsUsed(t *testing.T) {
	h, n := host(t)
	h.Run(arp8.Run, "-s 192.0.2.9 2:0:0:0:0:77")
	n.Sent = nil
	n.Input(echo())
	if len(n.Sent) != 1 || n.Sent[0][5] != 0x77 {
		t.Errorf("sent %x, in table %v", n.Sent, inet.ARPTable(h.K))
	}
}

// FuzzRun: whatever the command line, there is a status, and the machine's own entries stay.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"-an", "-s 192.0.2.9 2:0:0:0:0:9 temp pub", "-S 192.0.2.1 auto pub", "-d -a -i em0", "-f pairs", "192.0.2.9 -o json"} {
		f.Add(seed)
	}
	h, _ := host(f)
	h.Files["pairs"] = "192.0.2.7 2:0:0:0:0:7\n"
	f.Fuzz(func(t *testing.T, line string) {
		if _, _, exit := h.Run(arp8.Run, line); exit != 0 && exit != 1 {
			t.Errorf("%q: exit status %d", line, exit)
		}
		if list := inet.ARPTable(h.K); len(list) < 2 || !list[0].Own {
			t.Errorf("%q: table %v", line, list)
		}
	})
}
