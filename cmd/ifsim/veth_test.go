package main

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/ifsim/ifsim/internal/nstest"
	"golang.org/x/sys/unix"
)

// Addresses of the two ends of a cable.
var (
	hostIP = net.IPv4(198, 51, 100, 1).To4()
	em0IP  = net.IPv4(198, 51, 100, 2).To4()
)

// rxRing is the number of receive descriptors.
const rxRing = 4096

// bootOnCable boots a machine whose em0 is plugged into the cable, on one of the two
// transmit paths, and waits for the link. Its receive ring is the longest there is.
func bootOnCable(t testing.TB, preferMPRing int, ifconfig string) *box {
	t.Helper()
	b := bootBox(t, map[string]string{
		"boot/loader.conf":  fmt.Sprintf("net.iflib.prefer_mpring=\"%d\"\ndev.em.0.iflib.override_nrxds=\"%d\"\n", preferMPRing, rxRing),
		"boot/device.hints": "hint.em.0.port=\"packet:" + nicEnd + "\"\n",
		"etc/rc.conf":       "hostname=\"veth.lab\"\nifconfig_em0=\"" + ifconfig + "\"\n",
	})
	b.awaitStatus("active")
	if got, want := b.sysctl("dev.em.0.iflib.simple_tx"), uint64(1-preferMPRing); got != want {
		t.Fatalf("simple_tx is %d, want %d", got, want)
	}
	return b
}

// TestVeth runs the command on a veth pair whose other end is the host's.
func TestVeth(t *testing.T) {
	if !nstest.Inside(t) {
		return
	}
	for _, preferMPRing := range []int{0, 1} {
		if testing.Short() && preferMPRing != 0 {
			continue
		}
		t.Run("prefer_mpring="+strconv.Itoa(preferMPRing), func(t *testing.T) {
			t.Run("ping", func(t *testing.T) { testPing(t, preferMPRing, true) })
			t.Run("ping without ARP", func(t *testing.T) { testPing(t, preferMPRing, false) })
			t.Run("outwards", func(t *testing.T) { testOutwards(t, preferMPRing) })
			t.Run("inwards", func(t *testing.T) { testInwards(t, preferMPRing) })
			t.Run("unplugged", func(t *testing.T) { testUnplugged(t, preferMPRing) })
		})
	}
}

// testPing has the host ping em0. With ARP each side finds the other; without, the host
// has a static entry, and asks once as arping does, so that em0 has one too.
func testPing(t *testing.T, preferMPRing int, arp bool) {
	ping, err := exec.LookPath("ping")
	if err != nil {
		nstest.Unavailable(t, "no ping: %v", err)
	}
	c := newCable(t)
	c.address(t, hostIP, 24)
	b := bootOnCable(t, preferMPRing, "inet "+em0IP.String()+"/24")
	if arp {
		c.host.SetFlags(t, hostEnd, 0, unix.IFF_NOARP)
	} else {
		c.neighbour(t, em0IP, b.mac())
		send, mac := c.socket(t)
		send(arpRequest(t, mac))
	}
	var out bytes.Buffer
	c.host.Run(t, func() error {
		cmd := exec.Command(ping, "-n", "-c", "50", "-i", "0.02", "-W", "2", em0IP.String())
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd.Run()
	})
	if !strings.Contains(out.String(), " 50 received, 0% packet loss") {
		t.Errorf("ping:\n%s", &out)
	}
	agree(t, "sent", func() tally { return c.sent(t, b) })
	agree(t, "received", func() tally { return c.received(t, b) })
}

// arpRequest asks for em0's address.
func arpRequest(t testing.TB, mac net.HardwareAddr) []byte {
	t.Helper()
	everybody := net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	b := gopacket.NewSerializeBuffer()
	check(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{},
		&layers.Ethernet{SrcMAC: mac, DstMAC: everybody, EthernetType: layers.EthernetTypeARP},
		&layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
			Operation: layers.ARPRequest, SourceHwAddress: mac, SourceProtAddress: hostIP, DstHwAddress: make([]byte, 6), DstProtAddress: em0IP},
		gopacket.Payload(make([]byte, 18))))
	return b.Bytes()
}

// tally is how many frames, and bytes, everybody who counts has counted.
type tally struct{ Kernel, Interface, Hardware, KernelBytes, InterfaceBytes uint64 }

func (c *cable) sent(t testing.TB, b *box) tally {
	k, i := c.host.Counters(t, hostEnd), b.netstat()
	return tally{k.RxPackets, i["Opkts"], b.sysctl("dev.em.0.mac_stats.good_pkts_txd"), k.RxBytes, i["Obytes"]}
}

func (c *cable) received(t testing.TB, b *box) tally {
	k, i := c.host.Counters(t, hostEnd), b.netstat()
	return tally{k.TxPackets, i["Ipkts"], b.sysctl("dev.em.0.mac_stats.good_pkts_recvd"), k.TxBytes, i["Ibytes"]}
}

// await polls until a tally is as it shall be, or patience ends, and returns the last:
// em0's hardware is read once a second.
func await(now func() tally, is func(tally) bool) (got tally) {
	const step = 50 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if got = now(); is(got) || time.Now().After(end) {
			return got
		}
	}
}

// agree waits until everybody has counted the same frames. Not bytes: the hardware fills
// up short frames, behind the interface's back.
func agree(t testing.TB, what string, now func() tally) {
	t.Helper()
	same := func(got tally) bool { return got.Kernel == got.Interface && got.Kernel == got.Hardware }
	if got := await(now, same); !same(got) || got.Kernel == 0 {
		t.Errorf("%s: %+v", what, got)
	}
}

// agreeOn waits until the hardware has counted n frames; everybody must have.
func agreeOn(t testing.TB, what string, n uint64, now func() tally) {
	t.Helper()
	want := tally{n, n, n, n * frameSize, n * frameSize}
	got := await(now, func(got tally) bool { return got.Hardware >= n })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

const frameSize = 60

// frames is how many are sent; -short goes with the race detector.
func frames() uint64 {
	if testing.Short() {
		return vethFrames / 50
	}
	return vethFrames
}

// testOutwards: what pktgen sends is what the host, em0 and its hardware have counted.
func testOutwards(t *testing.T, preferMPRing int) {
	c := newCable(t)
	b := bootOnCable(t, preferMPRing, "up")
	n := frames()
	out := b.must("pktgen", "-i", "em0", "-f", "tx", "-n", strconv.FormatUint(n, 10), "-l", strconv.Itoa(frameSize))
	if want := fmt.Sprintf("\nSent %d packets %d bytes ", n, n*frameSize); !strings.Contains(out, want) {
		t.Errorf("pktgen says %q, want %q", out, want)
	}
	agreeOn(t, "sent", n, func() tally { return c.sent(t, b) })
	if got, want := b.must("sysctl", "-n", "dev.em.0.ifsim.ledger"), fmt.Sprintf("handed %d queued 0 ", n); !strings.Contains(got, want) {
		t.Errorf("ledger %s, want %s", got, want)
	}
}

// testInwards: what the host sends, never a ring ahead of em0, is what it, em0 and its
// hardware have counted.
func testInwards(t *testing.T, preferMPRing int) {
	const (
		rate   = 50_000 // frames a second
		burst  = rate / 1000
		window = 40 * burst
	)
	c := newCable(t)
	b := bootOnCable(t, preferMPRing, "up")
	send, mac := c.socket(t)
	frame := make([]byte, frameSize)
	copy(frame, b.mac())
	copy(frame[len(mac):], mac)
	copy(frame[2*len(mac):], []byte{0x88, 0xb5}) // local experimental
	n := frames()
	tick := time.NewTicker(time.Second * burst / rate)
	defer tick.Stop()
	for sent := uint64(0); sent < n && !t.Failed(); {
		switch {
		case testing.Short() || sent == burst: // the ring is filled when the first have come
			eventually(t, "em0 lags behind", func() bool { return b.netstat()["Ipkts"] >= sent })
		case sent%window == 0:
			eventually(t, "em0 lags behind", func() bool { return b.netstat()["Ipkts"]+rxRing-window > sent })
		}
		<-tick.C
		for range min(burst, n-sent) {
			send(frame)
			sent++
		}
	}
	agreeOn(t, "received", n, func() tally { return c.received(t, b) })
	if row := b.netstat(); row["Ierrs"]+row["Idrop"] != 0 {
		t.Errorf("counted as lost: %v", row)
	}
}

// testUnplugged: an interface that goes down, or vanishes while frames are sent, is a
// link that is down, and one that comes back is a link that is up.
func testUnplugged(t *testing.T, preferMPRing int) {
	c := newCable(t)
	b := bootOnCable(t, preferMPRing, "up")
	c.host.SetFlags(t, hostEnd, 0, unix.IFF_UP)
	b.awaitStatus("no carrier")
	c.host.SetFlags(t, hostEnd, unix.IFF_UP, unix.IFF_UP)
	b.awaitStatus("active")

	var said bytes.Buffer
	pktgen := b.command("pktgen", "-i", "em0", "-f", "tx", "-n", "1000000000")
	pktgen.Stderr = &said
	check(t, pktgen.Start())
	eventually(t, "nothing is sent", func() bool { return c.host.Counters(t, hostEnd).RxPackets > 1000 })
	c.unplug(t)
	b.awaitStatus("no carrier")
	b.must("sysctl", "kern.ostype")
	if err := pktgen.Wait(); err == nil || !strings.Contains(said.String(), "pktgen: em0: Network is down (") {
		t.Errorf("pktgen: %v, %q", err, &said)
	}

	c.plug(t)
	b.awaitStatus("active")
	const few, descriptors, mpRing = 100, 1024, 2048
	b.must("pktgen", "-i", "em0", "-f", "tx", "-n", strconv.Itoa(few))
	eventually(t, "too little on the new interface", func() bool { return c.host.Counters(t, hostEnd).RxPackets >= few })
	// Without a link the rings hold what they have.
	if got := c.host.Counters(t, hostEnd).RxPackets; got > few+descriptors+mpRing {
		t.Errorf("%d frames on the new interface, want %d", got, few)
	}
	c.unplug(t)
	b.awaitStatus("no carrier")
	b.shutdown()
}
