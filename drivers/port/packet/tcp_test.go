package packet_test

import (
	"io"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/jsimonetti/rtnetlink/v2"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/nstest"
)

func addAddress(t *testing.T, ns *nstest.NS, name, addr string) {
	t.Helper()
	ip := net.ParseIP(addr).To4()
	ns.Change(t, name, func(c *rtnetlink.Conn, index uint32) error {
		return c.Address.New(&rtnetlink.AddressMessage{Family: unix.AF_INET, PrefixLength: 24, Index: index,
			Attributes: &rtnetlink.AddressAttributes{Address: ip, Local: ip}})
	})
}

// transfer sends n bytes over TCP from the stack of another namespace to this one's.
func transfer(t *testing.T, from *nstest.NS, addr string, n int) {
	t.Helper()
	l, err := net.Listen("tcp4", addr+":0")
	check(t, err)
	defer l.Close()
	errs := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			errs <- err
			return
		}
		defer c.Close()
		got, err := io.Copy(io.Discard, c)
		if err == nil && got != int64(n) {
			err = io.ErrUnexpectedEOF
		}
		errs <- err
	}()
	from.Run(t, func() error {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			return err
		}
		if _, err := c.Write(make([]byte, n)); err != nil {
			_ = c.Close()
			return err
		}
		return c.Close()
	})
	check(t, <-errs)
}

// The host's stack sends super-frames with partial checksums (its default on veth). The
// NIC must see what a wire would carry: nothing longer than MTU + 18, all checksums good.
func TestSuperFramesOfTheHostBecomeGoodSegments(t *testing.T) {
	needNamespaces(t)
	const (
		bytes = 1 << 20
		mtu   = 1500
	)
	ns := nstest.New(t)
	w := plainCable(t, ns)
	here.DisableIPv6(t, w.a)
	ns.DisableIPv6(t, w.b)
	setUp(t, nil, w.a, true)
	setUp(t, ns, w.b, true)
	addAddress(t, nil, w.a, "198.18.0.1")
	addAddress(t, ns, w.b, "198.18.0.2")
	p, c := openPort(t, w.a)
	wantEvents(t, c, true)
	transfer(t, ns, "198.18.0.1", bytes)

	src := hw.NewRxSource(p, 0)
	var first uint32 // of the payload
	seen, payload := make([]bool, bytes), 0
	for payload < bytes { // the host may reorder
		f := receive(t, c, src, 1)[0]
		if len(f) > mtu+18 {
			t.Fatalf("frame of %d bytes", len(f))
		}
		ip, tcp := decode(t, f)
		if tcp == nil {
			continue
		}
		checkSums(t, ip, tcp, f)
		if tcp.SYN {
			first = tcp.Seq + 1
		}
		for i := range tcp.Payload {
			if at := tcp.Seq - first + uint32(i); !seen[at] {
				seen[at] = true
				payload++
			}
		}
	}
	if src.Counters.GSOCut == 0 || src.Counters.Truncated != 0 || src.Counters.Malformed != 0 {
		t.Errorf("counters %+v: want super-frames and no losses", src.Counters)
	}
	if s := p.Stats(); s.RxDrops != [port.NumCauses]uint64{} {
		t.Errorf("stats %+v", s)
	}
}

// decode returns the layers of a TCP frame, nil for another.
func decode(t *testing.T, f []byte) (*layers.IPv4, *layers.TCP) {
	t.Helper()
	pkt := gopacket.NewPacket(f, layers.LayerTypeEthernet, gopacket.Default)
	if e := pkt.ErrorLayer(); e != nil {
		t.Fatalf("frame %x: %v", f, e.Error())
	}
	tcp, _ := pkt.Layer(layers.LayerTypeTCP).(*layers.TCP)
	ip, _ := pkt.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	return ip, tcp
}

// checkSums compares both checksums with those that gopacket computes.
func checkSums(t *testing.T, ip *layers.IPv4, tcp *layers.TCP, f []byte) {
	t.Helper()
	gotIP, gotTCP := ip.Checksum, tcp.Checksum
	check(t, tcp.SetNetworkLayerForChecksum(ip))
	buf := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{ComputeChecksums: true}
	check(t, gopacket.SerializeLayers(buf, opts, ip, tcp, gopacket.Payload(tcp.Payload)))
	if ip.Checksum != gotIP || tcp.Checksum != gotTCP {
		t.Fatalf("checksums %#x %#x, want %#x %#x, frame of %d bytes", gotIP, gotTCP, ip.Checksum, tcp.Checksum, len(f))
	}
}
