package hw

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// flow describes a frame to build with gopacket, the reference of all these tests.
type flow struct {
	v6, udp  bool
	vlan     int // TCI, -1 for none
	ipOpts   int // bytes of IPv4 options or of an IPv6 hop-by-hop header, multiple of 8
	tcpOpts  int // bytes of TCP options, multiple of 4
	id       uint16
	seq      uint32
	flags    uint8 // TCP
	payload  []byte
	badCsums bool // leave the checksums 0
}

var (
	macA = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	macB = net.HardwareAddr{2, 0, 0, 0, 0, 2}
	ip4A = net.IP{198, 18, 0, 1}
	ip4B = net.IP{198, 18, 0, 205}
	ip6A = net.ParseIP("2001:db8::1")
	ip6B = net.ParseIP("2001:db8::205")
)

// build serialises a flow with correct lengths and checksums.
func build(t testing.TB, f flow) []byte {
	t.Helper()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: !f.badCsums}
	eth := &layers.Ethernet{SrcMAC: macA, DstMAC: macB, EthernetType: layers.EthernetTypeIPv4}
	if f.v6 {
		eth.EthernetType = layers.EthernetTypeIPv6
	}
	ls := []gopacket.SerializableLayer{eth}
	if f.vlan >= 0 {
		ls = append(ls, &layers.Dot1Q{Priority: uint8(f.vlan >> 13), DropEligible: f.vlan>>12&1 != 0,
			VLANIdentifier: uint16(f.vlan & VLANMask), Type: eth.EthernetType})
		eth.EthernetType = layers.EthernetTypeDot1Q
	}
	proto := layers.IPProtocolTCP
	if f.udp {
		proto = layers.IPProtocolUDP
	}
	var network gopacket.NetworkLayer
	if f.v6 {
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, SrcIP: ip6A, DstIP: ip6B}
		ls = append(ls, ip)
		network = ip
		if f.ipOpts != 0 {
			ip.NextHeader = layers.IPProtocolIPv6HopByHop
			ext := make(gopacket.Payload, f.ipOpts)
			ext[0], ext[1] = byte(proto), byte(f.ipOpts/8-1)
			ext[2], ext[3] = 1, byte(f.ipOpts-4) // PadN
			ls = append(ls, ext)
		}
	} else {
		ip := &layers.IPv4{Version: 4, TTL: 64, Id: f.id, Protocol: proto, SrcIP: ip4A, DstIP: ip4B, Flags: layers.IPv4DontFragment}
		for range f.ipOpts {
			ip.Options = append(ip.Options, layers.IPv4Option{OptionType: 1})
		}
		ls = append(ls, ip)
		network = ip
	}
	if f.udp {
		u := &layers.UDP{SrcPort: 1024, DstPort: 80}
		must(t, u.SetNetworkLayerForChecksum(network))
		ls = append(ls, u)
	} else {
		c := &layers.TCP{SrcPort: 1024, DstPort: 80, Seq: f.seq, Ack: 77, Window: 1000,
			FIN: f.flags&1 != 0, SYN: f.flags&2 != 0, RST: f.flags&4 != 0, PSH: f.flags&8 != 0,
			ACK: f.flags&0x10 != 0, URG: f.flags&0x20 != 0, ECE: f.flags&0x40 != 0, CWR: f.flags&0x80 != 0}
		for range f.tcpOpts {
			c.Options = append(c.Options, layers.TCPOption{OptionType: layers.TCPOptionKindNop})
		}
		must(t, c.SetNetworkLayerForChecksum(network))
		ls = append(ls, c)
	}
	ls = append(ls, gopacket.Payload(f.payload))
	buf := gopacket.NewSerializeBuffer()
	must(t, gopacket.SerializeLayers(buf, opts, ls...))
	_, _, p := f.offsets()
	return buf.Bytes()[:p+len(f.payload)] // gopacket pads to 60 bytes
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// offsets returns where the headers of a built flow are.
func (f *flow) offsets() (l3, l4, payload int) {
	l3 = EtherHdrLen
	if f.vlan >= 0 {
		l3 += VLANLen
	}
	l4 = l3 + IPv4HdrLen + f.ipOpts
	if f.v6 {
		l4 = l3 + IPv6HdrLen + f.ipOpts
	}
	if f.udp {
		return l3, l4, l4 + UDPHdrLen
	}
	return l3, l4, l4 + TCPHdrLen + f.tcpOpts
}

// tso is the request a driver would make for the flow.
func (f *flow) tso(mss int) *TSO {
	l3, l4, p := f.offsets()
	return &TSO{HdrLen: p, L3: l3, L4: l4, MSS: mss, IPv6: f.v6, UDP: f.udp, IPCsum: !f.v6, L4Csum: true,
		FirstFlags: DefaultFirstFlags, MiddleFlags: DefaultMiddleFlags, LastFlags: DefaultLastFlags}
}

// want builds the segments that cutting the flow must give.
func (f flow) want(t testing.TB, mss int) [][]byte {
	t.Helper()
	var out [][]byte
	n := (len(f.payload) + mss - 1) / mss
	for i := range n {
		part := f
		part.payload = f.payload[i*mss : min((i+1)*mss, len(f.payload))]
		part.id += uint16(i)
		part.seq += uint32(i * mss)
		if i != n-1 {
			part.flags &^= TCPFin | TCPPsh
		}
		if i != 0 {
			part.flags &^= TCPCwr
		}
		out = append(out, build(t, part))
	}
	return out
}

func pattern(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// split cuts b at the places given, which must ascend.
func split(b []byte, at ...int) [][]byte {
	var out [][]byte
	from := 0
	for _, to := range append(at, len(b)) {
		out = append(out, b[from:to:to])
		from = to
	}
	return out
}

// drawSplit cuts b at random places.
func drawSplit(t *rapid.T, b []byte) [][]byte {
	var out [][]byte
	for len(b) > 0 && len(out) < 40 {
		n := rapid.IntRange(0, min(len(b), 700)).Draw(t, "seg")
		out = append(out, b[:n:n])
		b = b[n:]
	}
	return append(out, b)
}

// join returns the bytes of a gather list.
func join(segs [][]byte) []byte {
	var out []byte
	for _, s := range segs {
		out = append(out, s...)
	}
	return out
}

func drawFlow(t *rapid.T) flow {
	f := flow{
		v6: rapid.Bool().Draw(t, "v6"), udp: rapid.Bool().Draw(t, "udp"),
		vlan:   rapid.SampledFrom([]int{-1, 0, 100, 0xa064, 0xffff}).Draw(t, "vlan"),
		ipOpts: 8 * rapid.IntRange(0, 5).Draw(t, "ipOpts"), tcpOpts: 4 * rapid.IntRange(0, 10).Draw(t, "tcpOpts"),
		id: rapid.Uint16().Draw(t, "id"), seq: rapid.Uint32().Draw(t, "seq"), flags: rapid.Uint8().Draw(t, "flags"),
	}
	f.payload = pattern(rapid.IntRange(1, 9000).Draw(t, "payload"))
	return f
}

// testMem keeps kernels small.
var testMem = physmem.Config{Size: 4 << 20, Backing: physmem.Heap}

// newKernel makes a kernel with DMA that is closed at the end, after which no goroutine
// may be left.
func newKernel(t testing.TB, cfg kern.Config) *kern.Kernel {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	cfg.Mem = testMem
	if cfg.NCPU == 0 {
		cfg.NCPU = 2
	}
	k, err := kern.New(cfg)
	must(t, err)
	must(t, busdma.Init(k))
	t.Cleanup(func() {
		must(t, k.Close())
		if err := goleak.Find(ignore); err != nil {
			t.Error(err)
		}
	})
	return k
}

func stepped(seed uint64) kern.Config {
	return kern.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed}
}

// fakePort takes as many frames as room says and completes them when told. It keeps the
// frames themselves until then, as a port without copies does.
type fakePort struct {
	room     int // frames it will take
	auto     bool
	held     []port.Frame
	finished int
	sent     [][]byte // what was completed
	batches  []int
	rx       []port.RxFrame
	lent     int
	released int
	link     port.Link
}

func (p *fakePort) Name() string           { return "fake" }
func (p *fakePort) Bind(port.Client) error { return nil }
func (p *fakePort) TakeErrors(int) int     { return 0 }
func (p *fakePort) Link() port.Link        { return p.link }
func (p *fakePort) Stats() (s port.Stats)  { return s }
func (p *fakePort) Close() error           { return nil }
func (p *fakePort) Release(_, n int)       { p.lent -= n; p.released += n }

func (p *fakePort) Send(_ int, frames []port.Frame) int {
	n := min(len(frames), p.room)
	p.room -= n
	p.batches = append(p.batches, len(frames))
	p.held = append(p.held, frames[:n]...)
	if p.auto {
		p.complete(n)
	}
	return n
}

// complete finishes n frames; only now are their bytes read.
func (p *fakePort) complete(n int) {
	for _, f := range p.held[:n] {
		p.sent = append(p.sent, join(f.Segs))
	}
	p.held = p.held[n:]
	p.finished += n
}

func (p *fakePort) Completed(int) int {
	n := p.finished
	p.finished = 0
	return n
}

func (p *fakePort) Recv(_ int, frames []port.RxFrame) int {
	n := copy(frames, p.rx)
	p.rx = p.rx[n:]
	p.lent += n
	return n
}

var _ port.Port = (*fakePort)(nil)
