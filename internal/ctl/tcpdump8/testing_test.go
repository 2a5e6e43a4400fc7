package tcpdump8_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/ctl/tool/tooltest"
)

// bench is a machine with an interface to listen on.
type bench struct {
	*tooltest.Host
	nic *tooltest.NIC
	t   testing.TB
}

func newBench(t testing.TB) *bench {
	b := &bench{Host: tooltest.NewHost(t), t: t}
	b.nic = b.NIC("em", 0, "10.0.0.1/24")
	return b
}

// run runs tcpdump. Each step is done when output is flushed; the first flush tells that
// the capture has begun, and after the last step the client gives up.
func (b *bench) run(line string, steps ...func()) (stdout, stderr string, exit int) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var o, e bytes.Buffer
	exit = tcpdump8.Run(ctx, b.K, strings.Fields(line), tool.IO{Stdout: &o, Stderr: &e, Flush: func() {
		if len(steps) > 0 {
			steps[0]()
			steps = steps[1:]
		}
		if len(steps) == 0 {
			cancel()
		}
	}, Open: func(name string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(b.Files[name])), nil
	}})
	return o.String(), e.String(), exit
}

// in receives frames, all of them.
func (b *bench) in(frames ...[]byte) func() {
	return func() {
		for _, f := range frames {
			b.nic.Input(f)
		}
	}
}

// out shows the taps a frame that is sent, as a driver does, with a tag beside it if it is
// not negative.
func (b *bench) out(frame []byte, tag int) func() {
	return func() {
		z := mbuf.Of(b.K)
		c := z.NewCache()
		defer c.Close()
		m := c.GetCl(mbuf.FlagPktHdr)
		m.SetLen(copy(m.Room(), frame))
		m.FixHdr()
		if tag >= 0 {
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = uint16(tag)
		}
		b.nic.Tap(m)
		c.FreeChain(m)
	}
}

// udp is a UDP packet for the interface.
func udp(t testing.TB, sport, dport, size int) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 0, 0, 2}, DstIP: net.IP{10, 0, 0, 1}}
	u := &layers.UDP{SrcPort: layers.UDPPort(sport), DstPort: layers.UDPPort(dport)}
	_ = u.SetNetworkLayerForChecksum(ip)
	buf := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		&layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 9}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, EthernetType: layers.EthernetTypeIPv4},
		ip, u, gopacket.Payload(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
