package inet

import (
	"bytes"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
)

func TestAddAddrBringsUpJoinsAndAnnounces(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC)
	r.must(AddAddr(n.Ifnet, prefix("192.0.2.10/24")))
	if n.Flags()&ifnet.FlagUp == 0 || n.DrvFlags()&ifnet.FlagRunning == 0 {
		t.Error("not up and running")
	}
	p := n.one()
	a, e := layer[*layers.ARP](t, p), layer[*layers.Ethernet](t, p)
	if a.Operation != 1 || !bytes.Equal(a.SourceProtAddress, a.DstProtAddress) || !bytes.Equal(e.DstMAC, ifnet.EtherBroadcast[:]) {
		t.Errorf("not a gratuitous request: %v", p)
	}
	if got := slices.Collect(n.Multiaddrs); !slices.Equal(got, []macAddr{{1, 0, 0x5e, 0, 0, 1}}) {
		t.Errorf("groups %v", got)
	}
	if got := Addrs(n.Ifnet)[0].String(); got != "inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255" {
		t.Errorf("line %q", got)
	}
	if got := ARPTable(r.k); len(got) != 1 || got[0] != (Neighbour{Addr: ip("192.0.2.10"), MAC: ownMAC, If: "em0", IfType: ifnet.TypeEther, State: NeighbourPermanent, Complete: true, Permanent: true, Own: true}) {
		t.Errorf("table %v", got)
	}
	r.must(DelAddr(n.Ifnet, ip("192.0.2.10")))
	if len(Addrs(n.Ifnet)) != 0 || n.MultiCount() != 0 || len(ARPTable(r.k)) != 0 || len(Routes(r.k)) != 0 {
		t.Error("something is left")
	}
	wantErr(t, DelAddr(n.Ifnet, ip("192.0.2.10")), syscall.EADDRNOTAVAIL)
	r.noLeak()
}

func TestAddAddrRefusals(t *testing.T) {
	r := newRig(t)
	a, b := r.nic(0, ownMAC, "192.0.2.10/24"), r.nic(1, own2MAC)
	wantErr(t, AddAddr(b.Ifnet, prefix("192.0.2.10/25")), syscall.EEXIST)
	for _, p := range []string{"224.0.0.1/4", "0.0.0.0/0", "255.255.255.255/32", "ff02::1/64", "::ffff:1.2.3.4/96", "::/0"} {
		wantErr(t, AddAddr(a.Ifnet, prefix(p)), syscall.EINVAL)
	}
	ifnet.EtherDetach(b.Ifnet)
	wantErr(t, AddAddr(b.Ifnet, prefix("198.51.100.1/24")), syscall.ENXIO)
	r.must(AddAddr(a.Ifnet, prefix("192.0.2.10/16"))) // a new length
	if got := Addrs(a.Ifnet); len(got) != 1 || got[0].Prefix != prefix("192.0.2.10/16") {
		t.Errorf("addresses %v", got)
	}
}

func TestARPRequestIsAnswered(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	for _, cuts := range [][]int{nil, {14}, {14, 3}, {15, 1, 1, 20}} {
		n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10"), cuts...)
		p := n.one()
		a, e := layer[*layers.ARP](t, p), layer[*layers.Ethernet](t, p)
		if a.Operation != 2 || !bytes.Equal(a.SourceHwAddress, ownMAC[:]) || !bytes.Equal(a.SourceProtAddress, []byte{192, 0, 2, 10}) ||
			!bytes.Equal(a.DstHwAddress, peerMAC[:]) || !bytes.Equal(a.DstProtAddress, []byte{192, 0, 2, 1}) || !bytes.Equal(e.DstMAC, peerMAC[:]) {
			t.Fatalf("cuts %v: wrong reply %v", cuts, p)
		}
	}
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.11"))
	n.none()
	got := ARPTable(r.k)
	if len(got) != 2 || got[0] != (Neighbour{Addr: ip("192.0.2.1"), MAC: peerMAC, If: "em0", IfType: ifnet.TypeEther, State: NeighbourReachable, Complete: true, Expires: 20 * time.Minute}) {
		t.Errorf("table %v", got)
	}
	r.noLeak()
}

func TestARPNotForUsMakesNoEntryButUpdatesOne(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.11"))
	if len(ARPTable(r.k)) != 1 {
		t.Error("a stranger's request made an entry")
	}
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10"))
	log := r.mark()
	n.input(arpFrame(t, 1, gwMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.11"))
	r.wantLog(log, "arp: 192.0.2.1 moved from 02:00:00:00:00:99 to 02:00:00:00:00:77 on em0\n")
	if got := ARPTable(r.k)[0].MAC; got != gwMAC {
		t.Errorf("entry at %v", got)
	}
}

func TestARPLogLines(t *testing.T) {
	short := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x99, 8, 6}
	change := func(at int, v byte) func(t *testing.T) []byte {
		return func(t *testing.T) []byte {
			f := arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10")
			f[14+at] = v
			return f
		}
	}
	for _, tc := range []struct {
		name, want string
		frame      func(t *testing.T) []byte
		replies    int
	}{
		{"no header", "arp: packet with short header received on em0\n", func(*testing.T) []byte { return append(short, 0, 1, 8) }, 0},
		{"short", "arp: short packet received on em0\n", func(*testing.T) []byte { return append(short, 0, 1, 8, 0, 6, 4, 0, 1, 1, 2, 3) }, 0},
		{"hardware", "arp: packet with unknown hardware format 0x07 received on em0\n", change(1, 7), 0},
		{"link length", "arp: packet with invalid ethernet address length 5 received on em0\n", change(4, 5), 0},
		{"protocol length", "arp: requested protocol length != 4\n", change(5, 3), 0},
		{"other protocol", "", change(2, 0x86), 0},
		{"broadcast sender", "arp: link address is broadcast for IP address 192.0.2.1!\n", func(t *testing.T) []byte {
			f := arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10")
			copy(f[14+8:], ifnet.EtherBroadcast[:])
			return f
		}, 0},
		{"group sender", "arp: 03:00:00:00:00:99 is multicast\n", change(8, 3), 0},
		{"duplicate", "arp: 02:00:00:00:00:66 is using my IP address 192.0.2.10 on em0!\n", func(t *testing.T) []byte {
			return arpFrame(t, 1, badMAC, ifnet.EtherBroadcast, "192.0.2.10", macAddr{}, "192.0.2.10")
		}, 1},
		{"static", "arp: 02:00:00:00:00:66 attempts to modify permanent entry for 192.0.2.9 on em0\n", func(t *testing.T) []byte {
			return arpFrame(t, 2, badMAC, ownMAC, "192.0.2.9", ownMAC, "192.0.2.10")
		}, 0},
		{"wrong interface", "arp: 198.51.100.7 is on em1 but got reply from 02:00:00:00:00:66 on em0\n", func(t *testing.T) []byte {
			return arpFrame(t, 2, badMAC, ownMAC, "198.51.100.7", ownMAC, "192.0.2.10")
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			n := r.nic(0, ownMAC, "192.0.2.10/24")
			r.nic(1, own2MAC, "198.51.100.1/24")
			r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC}))
			log := r.mark()
			n.input(tc.frame(t))
			r.wantLog(log, tc.want)
			if got := len(n.take()); got != tc.replies {
				t.Errorf("%d replies", got)
			}
			n.input(tc.frame(t))
			r.wantLog(log, tc.want) // one a second
			r.noLeak()
		})
	}
}

func TestHoldQueueIsBoundedAndSentInOrder(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	in := r.nic(1, own2MAC, "198.51.100.1/24")
	r.set("net.inet.ip.forwarding", "1")
	for i := range 20 {
		h := ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP)
		h.Id = uint16(i)
		f := udp4(t, h, 30)
		copy(f, own2MAC[:])
		in.input(f)
	}
	if p := n.one(); layer[*layers.ARP](t, p).Operation != 1 {
		t.Errorf("not one request: %v", p)
	}
	r.stat("net.link.ether.arp.stats.dropped", "4")
	n.input(arpFrame(t, 2, peerMAC, ownMAC, "192.0.2.1", ownMAC, "192.0.2.10"))
	var ids []uint16
	for _, p := range n.take() {
		ids = append(ids, layer[*layers.IPv4](t, p).Id)
	}
	if want := []uint16{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}; !slices.Equal(ids, want) {
		t.Errorf("sent %v", ids)
	}
	r.noLeak()
}

func TestARPRequestRateAndGivingUp(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	in := r.nic(1, own2MAC, "198.51.100.1/24")
	in.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "198.51.100.7", macAddr{}, "198.51.100.1"))
	in.take()
	r.set("net.inet.ip.forwarding", "1")
	f := udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 30)
	copy(f, own2MAC[:])
	for range 7 { // seconds; three packets in each
		for range 3 {
			in.input(f)
		}
		r.advance(1)
	}
	if got := len(n.take()); got != 7 {
		t.Errorf("%d requests in 7 s", got)
	}
	if v := len(ARPTable(r.k)); v != 4 {
		t.Errorf("%d entries", v)
	}
	in.take()
	r.advance(20)
	n.none()
	got := in.take() // those that waited: unreachable
	if len(got) != 16 {
		t.Fatalf("%d messages", len(got))
	}
	if tc := layer[*layers.ICMPv4](t, got[0]).TypeCode; tc != layers.CreateICMPv4TypeCode(3, 1) {
		t.Errorf("message %v", tc)
	}
	r.stat("net.link.ether.arp.stats.timeouts", "1")
	r.stat("net.inet.ip.stats.odropped", "8") // those after the fifth question
	if len(ARPTable(r.k)) != 3 {
		t.Error("entry is left")
	}
	r.noLeak()
}

func TestARPEntryExpiresUnlessUsed(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	learn := func() {
		n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10"))
		n.take()
	}
	learn()
	r.advance(1194)
	n.none()
	r.advance(7)
	if len(ARPTable(r.k)) != 1 {
		t.Error("unused entry outlived max_age")
	}
	learn()
	r.advance(1196)
	n.input(echo4(t, "192.0.2.1", "192.0.2.10", 56)) // use
	r.advance(1)
	got := n.take()
	if len(got) < 2 {
		t.Fatalf("no probe: %v", got)
	}
	if e := layer[*layers.Ethernet](t, got[1]); !bytes.Equal(e.DstMAC, peerMAC[:]) || layer[*layers.ARP](t, got[1]).Operation != 1 {
		t.Errorf("probe is not a unicast request: %v", got[1])
	}
	n.input(arpFrame(t, 2, peerMAC, ownMAC, "192.0.2.1", ownMAC, "192.0.2.10"))
	r.advance(1000)
	if len(ARPTable(r.k)) != 2 {
		t.Error("confirmed entry went")
	}
	r.advance(196)
	n.input(echo4(t, "192.0.2.1", "192.0.2.10", 56))
	n.take()
	r.advance(10) // no answer
	if got := len(n.take()); got != 5 {
		t.Errorf("%d probes, want maxtries", got)
	}
	if len(ARPTable(r.k)) != 1 {
		t.Error("dead neighbour is left")
	}
	r.noLeak()
}

func TestStaticARP(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC}))
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("203.0.113.1"), MAC: gwMAC}), syscall.ENETUNREACH)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.10"), MAC: gwMAC}), syscall.EEXIST)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.8"), MAC: ifnet.EtherBroadcast}), syscall.EINVAL)
	wantErr(t, AddNeighbour(r.k, NeighbourReq{Addr: ip("2001:db8::1"), MAC: gwMAC}), syscall.ENETUNREACH)
	n.input(echo4(t, "192.0.2.9", "192.0.2.10", 8))
	if e := layer[*layers.Ethernet](t, n.one()); !bytes.Equal(e.DstMAC, gwMAC[:]) {
		t.Errorf("reply to %v", e.DstMAC)
	}
	r.advance(5000)
	if len(ARPTable(r.k)) != 2 {
		t.Error("static entry expired")
	}
	r.must(DelNeighbour(r.k, ip("192.0.2.9")))
	wantErr(t, DelNeighbour(r.k, ip("192.0.2.9")), syscall.ENOENT)
	wantErr(t, DelNeighbour(r.k, ip("192.0.2.10")), syscall.EPERM)
}

func TestProxyARP(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.nic(1, own2MAC, "198.51.100.1/24")
	ask := func() {
		n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "198.51.100.7"))
	}
	ask()
	n.none()
	r.set("net.link.ether.inet.proxyall", "1")
	ask()
	if a := layer[*layers.ARP](t, n.one()); !bytes.Equal(a.SourceHwAddress, ownMAC[:]) || !bytes.Equal(a.SourceProtAddress, []byte{198, 51, 100, 7}) {
		t.Errorf("reply %v", a)
	}
}

func TestNeighboursGoWithTheirNetwork(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24", "192.0.2.11/24")
	r.must(AddNeighbour(r.k, NeighbourReq{Addr: ip("192.0.2.9"), MAC: gwMAC}))
	n.input(arpFrame(t, 1, peerMAC, ifnet.EtherBroadcast, "192.0.2.1", macAddr{}, "192.0.2.10"))
	r.set("net.inet.ip.forwarding", "1")
	n.input(udp4(t, ipv4("192.0.2.1", "192.0.2.77", layers.IPProtocolUDP), 8)) // waits
	r.must(DelAddr(n.Ifnet, ip("192.0.2.10")))
	if got := ARPTable(r.k); len(got) != 4 { // the network is there through the other address
		t.Errorf("table %v", got)
	}
	r.must(DelAddr(n.Ifnet, ip("192.0.2.11")))
	if got := ARPTable(r.k); len(got) != 0 {
		t.Errorf("table %v", got)
	}
	r.noLeak()
}

func TestInterfaceEvents(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	r.must(n.Ioctl(ifnet.IoctlSetLLAddr, own2MAC[:]))
	n.one() // announced again
	if got := ARPTable(r.k)[0].MAC; got != own2MAC {
		t.Errorf("own entry at %v", got)
	}
	r.must(n.Ioctl(ifnet.IoctlSetName, "wan"))
	if len(Addrs(n.Ifnet)) != 1 {
		t.Error("a new name took the address")
	}
	ifnet.EtherDetach(n.Ifnet)
	if len(Addrs(n.Ifnet)) != 0 || len(Routes(r.k)) != 0 || len(ARPTable(r.k)) != 0 {
		t.Error("something is left of a departed interface")
	}
}

func TestPacketsToOwnAddressComeBack(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24")
	n.input(echo4(t, "192.0.2.10", "192.0.2.10", 8)) // a spoofed source: the answer goes to ourselves
	n.none()
	r.stat("net.inet.icmp.stats.ignored", "1")
	r.noLeak()
}

func TestNeighbourTableIsBounded(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "10.0.0.1/8")
	n.quiet = true
	i := r.s.iface(n.Ifnet)
	r.set("net.inet.ip.forwarding", "1")
	r.s.mu.Lock()
	i.nb4.n = maxNeighbours
	r.s.mu.Unlock()
	n.input(udp4(t, ipv4("10.0.0.2", "10.0.0.3", layers.IPProtocolUDP), 8))
	r.stat("net.link.ether.arp.stats.dropped", "1")
	r.noLeak()
}
