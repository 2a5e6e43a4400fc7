package inet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

type macAddr = [ifnet.EtherAddrLen]byte

var (
	ownMAC  = macAddr{2, 0, 0, 0, 0, 1}
	own2MAC = macAddr{2, 0, 0, 0, 0, 2}
	peerMAC = macAddr{2, 0, 0, 0, 0, 0x99}
	gwMAC   = macAddr{2, 0, 0, 0, 0, 0x77}
	badMAC  = macAddr{2, 0, 0, 0, 0, 0x66}
)

func ip(s string) netip.Addr       { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// rig is a machine whose interfaces keep what they send.
type rig struct {
	t testing.TB
	k *kern.Kernel
	z *mbuf.Zones
	c *mbuf.Cache
	s *stack
}

func newRig(t testing.TB) *rig {
	return newRigWith(t, kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true})
}

func newRigWith(t testing.TB, cfg kern.Config) *rig {
	t.Helper()
	cfg.Mem = physmem.Config{Size: 16 << 20}
	k, err := kern.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, k: k}
	t.Cleanup(func() {
		if r.c != nil {
			r.c.Close()
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if u := r.z.Usage(); u.Any() {
			t.Errorf("mbufs in use after close: %+v", u)
		}
	})
	if r.z, err = mbuf.Init(k, mbuf.Config{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second call does nothing
		if err := Init(k); err != nil {
			t.Fatal(err)
		}
	}
	r.s, _ = stackOf(k)
	r.c = r.z.NewCache()
	return r
}

// nic is an interface that keeps copies of the frames it sends.
type nic struct {
	*ifnet.Ifnet
	r      *rig
	frames [][]byte
	mbufs  []mbufInfo // of the frames
	answer error      // of Transmit
	quiet  bool       // keep nothing
}

type mbufInfo struct {
	flow uint32
	rss  mbuf.HashType
	csum mbuf.CsumFlags
}

func (r *rig) nic(unit int, mac macAddr, addrs ...string) *nic {
	r.t.Helper()
	n := &nic{Ifnet: ifnet.Alloc(r.k, ifnet.TypeEther), r: r}
	n.InitName("em", unit)
	n.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	n.SetMethods(ifnet.Methods{
		Init:     func() { n.SetDrvFlags(ifnet.FlagRunning, 0) },
		Ioctl:    func(cmd ifnet.Ioctl, data any) error { return ifnet.EtherIoctl(n.Ifnet, cmd, data) },
		Transmit: n.transmit,
		QFlush:   func() {},
	})
	ifnet.EtherAttach(n.Ifnet, mac)
	for _, a := range addrs {
		r.must(AddAddr(n.Ifnet, prefix(a)))
	}
	n.frames, n.mbufs = nil, nil
	return n
}

func (n *nic) transmit(m *mbuf.Mbuf) error {
	if n.quiet {
		n.r.c.FreeChain(m)
		return n.answer
	}
	b := make([]byte, m.Length())
	m.CopyData(0, b)
	if int(m.Pkt.Len) != len(b) {
		n.r.t.Errorf("%s: packet length %d, chain %d", n.Name(), m.Pkt.Len, len(b))
	}
	n.frames = append(n.frames, b)
	n.mbufs = append(n.mbufs, mbufInfo{flow: m.Pkt.FlowID, rss: m.Pkt.RSSType, csum: m.Pkt.CsumFlags})
	mbuf.FreeChain(m)
	return n.answer
}

// input receives frames, each cut into mbufs at the given lengths.
func (n *nic) input(frame []byte, cuts ...int) {
	n.r.t.Helper()
	n.InputCache(n.r.c, n.r.packet(n, frame, cuts...))
	n.r.k.RunUntilIdle()
}

func (r *rig) packet(n *nic, frame []byte, cuts ...int) *mbuf.Mbuf {
	r.t.Helper()
	var head, tail *mbuf.Mbuf
	add := func(p []byte) {
		for first := true; first || len(p) > 0; first = false {
			flags := mbuf.Flags(0)
			if head == nil {
				flags = mbuf.FlagPktHdr
			}
			m := r.c.GetCl(flags)
			if m == nil {
				r.t.Fatal("no mbufs")
			}
			m.SetLen(copy(m.Room(), p))
			p = p[m.Len():]
			if head == nil {
				head = m
			} else {
				tail.Next = m
			}
			tail = m
		}
	}
	for _, c := range cuts {
		c = min(c, len(frame))
		add(frame[:c])
		frame = frame[c:]
	}
	if len(frame) > 0 || head == nil {
		add(frame)
	}
	head.FixHdr()
	head.Pkt.RcvIf = n.Ifnet
	return head
}

// take is what was sent since the last call, each frame checked by serialising it again.
func (n *nic) take() []gopacket.Packet {
	n.r.t.Helper()
	n.r.k.RunUntilIdle()
	var list []gopacket.Packet
	for _, f := range n.frames {
		list = append(list, reserialized(n.r.t, f))
	}
	n.frames, n.mbufs = nil, nil
	return list
}

// one is take for exactly one frame.
func (n *nic) one() gopacket.Packet {
	n.r.t.Helper()
	list := n.take()
	if len(list) != 1 {
		n.r.t.Fatalf("%s sent %d frames, want 1: %v", n.Name(), len(list), list)
	}
	return list[0]
}

func (n *nic) none() {
	n.r.t.Helper()
	if list := n.take(); len(list) != 0 {
		n.r.t.Fatalf("%s sent %d frames, want none: %v", n.Name(), len(list), list)
	}
}

// reserialized decodes a frame and compares it with what gopacket makes of its layers.
func reserialized(t testing.TB, frame []byte) gopacket.Packet {
	t.Helper()
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	var out []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		payload := gopacket.Payload(l.LayerPayload())
		switch l := l.(type) {
		case *layers.Ethernet:
			out = append(out, l)
		case *layers.ARP:
			out = append(out, l)
		case *layers.IPv4:
			out = append(out, l)
			if l.Protocol != layers.IPProtocolICMPv4 || l.FragOffset != 0 || l.Flags&layers.IPv4MoreFragments != 0 {
				out = append(out, payload)
			}
		case *layers.IPv6:
			out = append(out, l)
		case *layers.ICMPv4:
			out = append(out, l, payload)
		case *layers.ICMPv6:
			if ip6, ok := p.NetworkLayer().(*layers.IPv6); ok {
				_ = l.SetNetworkLayerForChecksum(ip6)
			}
			out = append(out, l, payload)
		}
	}
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, out...); err != nil {
		t.Fatalf("serialising %v: %v", p, err)
	}
	want := buf.Bytes()
	if len(frame) < len(want) && bytes.Equal(want[len(frame):], make([]byte, len(want)-len(frame))) {
		want = want[:len(frame)] // gopacket pads to 60 bytes
	}
	if !bytes.Equal(frame, want) {
		t.Fatalf("frame is not what it should be:\n%s\nwant\n%s", hex.Dump(frame), hex.Dump(want))
	}
	return p
}

// build serialises layers.
func build(t testing.TB, ls ...gopacket.SerializableLayer) []byte {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(buf.Bytes())
}

func eth(src, dst macAddr, t layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: src[:], DstMAC: dst[:], EthernetType: t}
}

func arpFrame(t testing.TB, op uint16, src, dst macAddr, spa string, tha macAddr, tpa string) []byte {
	s, d := ip(spa).As4(), ip(tpa).As4()
	return build(t, eth(src, dst, layers.EthernetTypeARP), &layers.ARP{AddrType: 1, Protocol: 0x800, HwAddressSize: 6, ProtAddressSize: 4,
		Operation: op, SourceHwAddress: src[:], SourceProtAddress: s[:], DstHwAddress: tha[:], DstProtAddress: d[:]})
}

func ipv4(src, dst string, proto layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Id: 0x1234, Protocol: proto, SrcIP: net.ParseIP(src).To4(), DstIP: net.ParseIP(dst).To4()}
}

func pattern(n int) gopacket.Payload {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func echo4(t testing.TB, src, dst string, n int) []byte {
	return build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv4), ipv4(src, dst, layers.IPProtocolICMPv4),
		&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Id: 77, Seq: 5}, pattern(n))
}

func udp4(t testing.TB, h *layers.IPv4, n int) []byte {
	u := &layers.UDP{SrcPort: 1000, DstPort: 2000}
	_ = u.SetNetworkLayerForChecksum(h)
	return build(t, eth(peerMAC, ownMAC, layers.EthernetTypeIPv4), h, u, pattern(n))
}

func layer[T gopacket.Layer](t testing.TB, p gopacket.Packet) T {
	t.Helper()
	for _, l := range p.Layers() {
		if v, ok := l.(T); ok {
			return v
		}
	}
	var zero T
	t.Fatalf("no %T in %v", zero, p)
	return zero
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func wantErr(t testing.TB, err error, want syscall.Errno) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func (r *rig) set(name, value string) {
	r.t.Helper()
	r.must(r.k.Sysctl.SetText(name, value))
}

// stat checks a sysctl's text.
func (r *rig) stat(name, want string) {
	r.t.Helper()
	if got, err := r.k.Sysctl.Text(name); err != nil || got != want {
		r.t.Errorf("%s: got %q, %v; want %s", name, got, err, want)
	}
}

// log checks what the console said since mark.
func (r *rig) mark() func() string {
	n := len(r.k.Dmesg())
	return func() string { return r.k.Dmesg()[n:] }
}

func (r *rig) wantLog(since func() string, want string) {
	r.t.Helper()
	if got := since(); got != want {
		r.t.Errorf("console:\n got %q\nwant %q", got, want)
	}
}

func (r *rig) advance(seconds int) { r.k.Advance(time.Duration(seconds) * time.Second) }

func (r *rig) noLeak() {
	r.t.Helper()
	if u := r.z.Usage(); u.Any() {
		r.t.Errorf("mbufs in use: %+v", u)
	}
}
