package netstat8

import (
	"bytes"
	"context"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
	"github.com/ifsim/ifsim/internal/kern"
)

// bare is a machine without NICs of iflib.
type bare struct{ k *kern.Kernel }

func (b bare) Kernel() *kern.Kernel     { return b.k }
func (bare) Devices() []string          { return nil }
func (bare) Ctx(name string) *iflib.Ctx { return nil }

func run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) int {
	return Run(ctx, bare{k}, args, streams)
}

// router has routes of all kinds.
func router(t testing.TB) *tooltest.Host {
	h := tooltest.NewHost(t)
	h.NIC("em", 0, "192.0.2.1/24", "2001:db8::1/64")
	h.NIC("em", 1, "198.51.100.1/24")
	for _, r := range []inet.RouteReq{
		{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.9")},
		{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Gateway: netip.MustParseAddr("198.51.100.9")},
		{Prefix: netip.MustParsePrefix("10.0.0.0/16"), Gateway: netip.MustParseAddr("192.0.2.9"), Flags: inet.RouteProto1},
		{Prefix: netip.MustParsePrefix("203.0.113.7/32"), If: "em1"},
		{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Gateway: netip.MustParseAddr("127.0.0.1"), Flags: inet.RouteBlackhole},
		{Prefix: netip.MustParsePrefix("::/0"), Gateway: netip.MustParseAddr("fe80::9%em0")},
	} {
		if err := inet.AddRoute(h.K, r); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestRoutesAreLaidOutAsFreeBSDDoes(t *testing.T) {
	h := router(t)
	h.Want(run, "-rn", `Routing tables

Internet:
Destination        Gateway            Flags         Netif Expire
default            192.0.2.9          UGS             em0
10.0.0.0/16        192.0.2.9          UGS1            em0
10.0.0.0/8         198.51.100.9       UGS             em1
192.0.2.0/24       link#1             U               em0
192.0.2.1          link#1             UHS             lo0
198.51.100.0/24    link#2             U               em1
198.51.100.1       link#2             UHS             lo0
203.0.113.0/24     127.0.0.1          UGSB            lo0
203.0.113.7        link#2             UHS             em1

Internet6:
Destination                       Gateway                       Flags         Netif Expire
default                           fe80::9%em0                   UGS             em0
2001:db8::/64                     link#1                        U               em0
2001:db8::1                       link#1                        UHS             lo0
fe80::%em0/64                     link#1                        U               em0
fe80::ff:fe00:1%em0               link#1                        UHS             lo0
`, "", 0)
	h.Want(run, "-r -6", `Routing tables

Internet6:
Destination        Gateway            Flags         Netif Expire
default            fe80::9%em0        UGS             em0
2001:db8::/64      link#1             U               em0
2001:db8::1        link#1             UHS             lo0
fe80::%em0/64      link#1             U               em0
fe80::ff:fe00:1%em link#1             UHS             lo0
`, "", 0)
	h.Want(run, "-rnW -f inet", `Routing tables

Internet:
Destination        Gateway            Flags   Nhop#    Mtu            Netif Expire
default            192.0.2.9          UGS         1   1500              em0
10.0.0.0/16        192.0.2.9          UGS1        2   1500              em0
10.0.0.0/8         198.51.100.9       UGS         3   1500              em1
192.0.2.0/24       link#1             U           4   1500              em0
192.0.2.1          link#1             UHS         5   1500              lo0
198.51.100.0/24    link#2             U           6   1500              em1
198.51.100.1       link#2             UHS         7   1500              lo0
203.0.113.0/24     127.0.0.1          UGSB        8                     lo0
203.0.113.7        link#2             UHS         9   1500              em1
`, "", 0)
	h.Want(run, "-r -f link", "Routing tables\n", "", 0)
}

func TestLongAddressesOfRoutesTakeFromTheNextColumn(t *testing.T) {
	var b bytes.Buffer
	l := options{numeric: true}.routeLayout(internet6)
	l.header(&b)
	l.line(&b, routeRow{dest: "2001:db8:1234:5678:9abc:def0:1234:5678", gateway: "fe80::1234:5678:9abc:def0%em0", flags: "UGHS", netif: "averylonginterface"})
	const want = `Destination                       Gateway                       Flags         Netif Expire
2001:db8:1234:5678:9abc:def0:1234:5678 fe80::1234:5678:9abc:def0%em0 UGHS averylongint
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRoutesAsJSON(t *testing.T) {
	h := tooltest.NewHost(t)
	h.NIC("em", 0, "192.0.2.1/24")
	h.Want(run, "-rW --libxo json", `{"__version": "1", "statistics": {"route-information": {"route-table": {"rt-family": [{"address-family":"Internet", "rt-entry": [`+
		`{"destination":"192.0.2.0/24","gateway":"link#1","flags":"U", "flags_pretty": ["up"],"weight":1,"nhop-kidx":1,"nhop":1,"mtu":1500,"interface-name":"em0"}, `+
		`{"destination":"192.0.2.1","gateway":"link#1","flags":"UHS", "flags_pretty": ["up", "host", "static"],"weight":1,"nhop-kidx":2,"nhop":2,"mtu":1500,"interface-name":"lo0"}`+
		`]}]}}}}`+"\n", "", 0)
}

func TestInterfacesAsJSON(t *testing.T) {
	h := tooltest.NewHost(t)
	n := h.NIC("em", 0, "192.0.2.1/24")
	h.Want(run, "-ibd -o json", `{"__version": "1", "statistics": {"interface": [`+
		`{"name":"em0","flags":"0x8843","mtu":1500,"network":"<Link#1>","address":"02:00:00:00:00:01","received-packets":0,"received-errors":0,"dropped-packets":0,"received-bytes":0,`+
		`"sent-packets":0,"send-errors":0,"sent-bytes":0,"collisions":0,"sent-dropped-packets":0}, `+
		`{"name":"em0","flags":"0x8843","network":"192.0.2.0/24","address":"192.0.2.1","received-packets":0,"received-bytes":0,"sent-packets":0,"sent-bytes":0}]}}`+"\n", "", 0)
	n.IncCounter(ifnet.CounterIMcasts, 7)
	n.IncCounter(ifnet.CounterIPackets, 12345)
	h.Want(run, "-iah -f link -o json", `{"__version": "1", "statistics": {"interface": [`+
		`{"name":"em0","flags":"0x8843","mtu":1500,"network":"<Link#1>","address":"02:00:00:00:00:01","received-packets":"12k","received-errors":"0","dropped-packets":"0",`+
		`"sent-packets":"0","send-errors":"0","collisions":"0", "multicast-address": [{"address":"01:00:5e:00:00:01","received-packets":7,"sent-packets":0}]}]}}`+"\n", "", 0)
}

func TestMulticastAddressesStandBelowTheirInterface(t *testing.T) {
	h := tooltest.NewHost(t)
	n := h.NIC("em", 0, "192.0.2.1/24", "2001:db8::1/64")
	n.IncCounter(ifnet.CounterIMcasts, 7)
	h.Want(run, "-iab", `Name    Mtu Network        Address                Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll
em0    1500 <Link#1>       02:00:00:00:00:01          0     0     0          0        0     0          0     0
                          33:33:ff:00:00:01        7                         0
                          33:33:00:00:00:01        7                         0
                          01:00:5e:00:00:01        7                         0
em0       - 192.0.2.0/24   192.0.2.1                  0     -     -          0        0     -          0     -
                          224.0.0.1        
em0       - fe80::%em0/64  fe80::ff:fe00:1%em0        0     -     -          0        0     -          0     -
                          ff02::1%em0      
                          ff02::1:ff00:1%em
em0       - 2001:db8::/64  2001:db8::1                0     -     -          0        0     -          0     -
                          ff02::1%em0      
                          ff02::1:ff00:1%em
`, "", 0)
	stdout, _, _ := h.Run(run, "-iaW -6")
	if !bytes.Contains([]byte(stdout), []byte("                            ff02::1:ff00:1%em0\n")) {
		t.Errorf("with -W:\n%s", stdout)
	}
}

func TestStatisticsOfProtocols(t *testing.T) {
	h := tooltest.NewHost(t)
	n := h.NIC("em", 0, "192.0.2.1/24")
	arp := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x99, 8, 6},
		0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 0x99, 192, 0, 2, 9, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1)
	n.Input(arp)
	h.Want(run, "-sp arp", `arp:
	1 ARP request sent
	0 ARP requests failed to sent
	1 ARP reply sent
	1 ARP request received
	0 ARP replies received
	1 ARP packet received
	0 total packets dropped due to no ARP entry
	0 ARP entrys timed out
	0 Duplicate IPs seen
`, "", 0)
	h.Want(run, "-ss -4", `ip:
icmp:
	ICMP address mask responses are disabled
arp:
	1 ARP request sent
	1 ARP reply sent
	1 ARP request received
	1 ARP packet received
`, "", 0)
	stdout, _, exit := h.Run(run, "-s -p ip")
	if exit != 0 || !bytes.Contains([]byte(stdout), []byte("ip:\n\t0 total packets received\n\t0 bad header checksums\n\t0 with size smaller than minimum\n")) ||
		!bytes.Contains([]byte(stdout), []byte("\t0 packets forwarded (0 packets fast forwarded)\n")) {
		t.Errorf("%d\n%s", exit, stdout)
	}
	h.Want(run, "-ssp arp --libxo json", `{"__version": "1", "statistics": {"arp": {"sent-requests":1,"sent-replies":1,"received-requests":1,"received-packers":1}}}`+"\n", "", 0)
	for _, p := range protocols { // every counter is there
		if _, stderr, exit := h.Run(run, "-sp "+p.name); exit != 0 {
			t.Errorf("%s: %s", p.name, stderr)
		}
	}
}

func TestQueuesAreShownWithWhatTheyHold(t *testing.T) {
	sets := []queueSet{{name: "igb0",
		tx: []iflib.TxqSample{
			{State: iflib.TxqState{Pidx: 1023, Cidx: 7, InUse: 1016}, Size: 1024, CPU: 0, Packets: 1488095, Bytes: 89285700, Drops: 12, Enqueues: 1488107, SoftLen: 2047, SoftSize: 2048, Soft: "STALLED"},
			{Size: 1024, CPU: 1, Soft: "IDLE", Deferred: 3, DeferredSize: 256},
		},
		rx: []iflib.RxqSample{{State: iflib.RxqState{CQCidx: 5, FreeLists: []iflib.FreeListState{{Pidx: 4, Cidx: 5, Credits: 1023}}}, Size: 1023, CPU: 0, Packets: 77, Bytes: 5000, Tasks: 9}},
	}, {name: "verylong0", rx: []iflib.RxqSample{{}}}}
	const want = `Transmit queues:
Name      Queue CPU Ring        Len  Pidx  Cidx InUse  Size   Enqueued      Opkts       Obytes    Drop
igb0      txq0    0 STALLED    2047  1023     7  1016  1024    1488107    1488095     89285700      12
igb0      txq1    1 IDLE          3     0     0     0  1024          0          0            0       0

Receive queues:
Name      Queue CPU  Pidx  Cidx Avail  Size      Tasks      Ipkts       Ibytes    Drop
igb0      rxq0    0     4     5  1023  1023          9         77         5000       0
verylong0 rxq0    0     0     0     0     0          0          0            0       0
`
	const wantJSON = `{"__version": "1", "statistics": {"transmit-queue": [{"name":"igb0","queue":0,"cpu":0,"ring-state":"STALLED","ring-length":2047,"ring-size":2048,` +
		`"deferred-length":0,"deferred-size":0,"producer-index":1023,"consumer-index":7,"in-use":1016,"size":1024,"enqueued":1488107,"sent-packets":1488095,` +
		`"sent-bytes":89285700,"dropped-packets":12}], "receive-queue": [{"name":"igb0","queue":0,"cpu":0,"producer-index":4,"consumer-index":5,"available":1023,` +
		`"size":1023,"tasks":9,"received-packets":77,"received-bytes":5000,"dropped-packets":0}]}}` + "\n"
	var b bytes.Buffer
	if err := (options{}).showQueues(&b, sets); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	b.Reset()
	sets = sets[:1]
	sets[0].tx = sets[0].tx[:1]
	if err := (options{format: tool.Format{JSON: true}}).showQueues(&b, sets); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wantJSON, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// FuzzRun: whatever the command line, there is a status.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"-ibdan", "-rnW -f inet6", "-s -p arp", "-Q -I em0 -o json", "-w 1 -q 2", "-m --libxo json,pretty", "-ss -4", "3"} {
		f.Add(seed)
	}
	h := router(f)
	f.Fuzz(func(t *testing.T, line string) {
		if _, _, exit := h.Run(run, line); exit != 0 && exit != 1 && exit != exitNoData {
			t.Errorf("%q: exit status %d", line, exit)
		}
	})
}
