package inet_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/nstest"
	"github.com/ifsim/ifsim/internal/physmem"
)

// commands runs ip(8).
func commands(t *testing.T, lines ...string) {
	t.Helper()
	for _, c := range lines {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			nstest.Unavailable(t, "ip %s: %v: %s", c, err, out)
		}
	}
}

// wire is an interface of the machine that is plugged into one of the host.
func wire(t *testing.T, k *kern.Kernel, host string, mac [ifnet.EtherAddrLen]byte) *ifnet.Ifnet {
	t.Helper()
	hostIf, err := net.InterfaceByName(host)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := packet.Listen(hostIf, packet.Raw, unix.ETH_P_ALL, nil)
	if err != nil {
		nstest.Unavailable(t, "no packet socket: %v", err)
	}
	ifp := ifnet.Alloc(k, ifnet.TypeEther)
	ifp.InitName("em", 0)
	ifp.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	ifp.SetMethods(ifnet.Methods{
		Init:  func() { ifp.SetDrvFlags(ifnet.FlagRunning, 0) },
		Ioctl: func(cmd ifnet.Ioctl, data any) error { return ifnet.EtherIoctl(ifp, cmd, data) },
		Transmit: func(m *mbuf.Mbuf) error {
			b := make([]byte, m.Length())
			m.CopyData(0, b)
			mbuf.FreeChain(m)
			_, err := conn.WriteTo(b, &packet.Addr{HardwareAddr: b[:ifnet.EtherAddrLen]})
			return err
		},
		QFlush: func() {},
	})
	ifnet.EtherAttach(ifp, mac)
	var wg sync.WaitGroup
	wg.Go(func() {
		c := ifp.Zones().NewCache()
		defer c.Close()
		buf := make([]byte, 1<<16)
		for {
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if m := c.DevGet(buf[:n], 0, ifp); m != nil {
				ifp.InputCache(c, m)
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		wg.Wait()
	})
	return ifp
}

// ping sends one echo request from the host and waits for its reply.
func ping(t *testing.T, network, from, to string, seq, size int) {
	t.Helper()
	conn, err := icmp.ListenPacket(network, from)
	if err != nil {
		nstest.Unavailable(t, "no raw socket: %v", err)
	}
	defer conn.Close()
	var request, reply icmp.Type = ipv4.ICMPTypeEcho, ipv4.ICMPTypeEchoReply
	proto := 1
	if strings.HasPrefix(network, "ip6") {
		request, reply, proto = ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, 58
	}
	payload := strings.Repeat("ping ", size/5+1)[:size]
	b, err := (&icmp.Message{Type: request, Body: &icmp.Echo{ID: os.Getpid() & 0xffff, Seq: seq, Data: []byte(payload)}}).Marshal(nil)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := net.ResolveIPAddr("ip", to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.WriteTo(b, addr); err != nil {
		t.Fatalf("sending to %s: %v", to, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 1<<16)
	for {
		n, _, err := conn.ReadFrom(in)
		if err != nil {
			t.Fatalf("no reply from %s to %d bytes: %v", to, size, err)
		}
		m, err := icmp.ParseMessage(proto, in[:n])
		if err != nil || m.Type != reply {
			continue
		}
		if e := m.Body.(*icmp.Echo); e.Seq == seq && string(e.Data) == payload {
			return
		}
	}
}

func TestLinuxHostPingsTheMachine(t *testing.T) {
	if !nstest.Inside(t) {
		return
	}
	commands(t, "link add host0 type veth peer name nic0", "link set nic0 up", "link set host0 up",
		"addr add 198.18.0.1/24 dev host0", "addr add 2001:db8::1/64 dev host0 nodad")
	k, err := kern.New(kern.Config{NCPU: 1, Mem: physmem.Config{Size: 16 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := mbuf.Init(k, mbuf.Config{}); err != nil {
		t.Fatal(err)
	}
	if err := inet.Init(k); err != nil {
		t.Fatal(err)
	}
	ifp := wire(t, k, "nic0", [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 1})
	if err := errors.Join(
		inet.SetND6Options(ifp, inet.ND6NoDAD, 0),
		inet.AddAddr(ifp, netip.MustParsePrefix("198.18.0.205/24")),
		inet.AddAddr(ifp, netip.MustParsePrefix("2001:db8::205/64")),
	); err != nil {
		t.Fatal(err)
	}
	for i, size := range []int{0, 1, 56, 57, 1000, 1452} {
		ping(t, "ip4:icmp", "198.18.0.1", "198.18.0.205", i, size)
		ping(t, "ip6:ipv6-icmp", "2001:db8::1", "2001:db8::205", i, size)
	}
	if got := fmt.Sprint(len(inet.ARPTable(k)), len(inet.NDTable(k))); got != "2 3" && got != "2 4" {
		t.Errorf("neighbours: %s: %v %v", got, inet.ARPTable(k), inet.NDTable(k))
	}
}
