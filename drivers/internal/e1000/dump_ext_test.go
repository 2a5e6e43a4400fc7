package e1000_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// dumped is a NIC whose rings are read as memory.
type dumped struct {
	*machine.Machine
	t      *testing.T
	driver string
	name   string
	queues int
}

// parts are those whose rings are read, with the format of their descriptors.
var dumpParts = []struct {
	driver, chip string
	advanced     bool
	legacyRx     bool
}{
	{driver: "em", chip: "82574L"},
	{driver: "em", chip: "82540EM", legacyRx: true},
	{driver: "igb", chip: "82576", advanced: true},
	{driver: "igb", chip: "I210", advanced: true},
	{driver: "igc", chip: "I225-V", advanced: true},
}

func newDumped(t *testing.T, driver, chip string) *dumped {
	t.Helper()
	d := &dumped{t: t, driver: driver, name: driver + "0"}
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: 64 << 20, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true, Console: &rig.Console{},
		Env: map[string]string{
			"hint." + driver + ".0.port": "null", "hint." + driver + ".0.device": chip,
			"dev." + driver + ".0.iflib.simple_tx": "0", "hw.em.unsupported_tso": "1",
		},
	})
	d.must(err)
	t.Cleanup(func() { d.must(m.Close()) })
	d.Machine, d.queues = m, m.Ctx(d.name).NRxqs()
	ifp := m.Ifnet(d.name)
	d.must(ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: (ifp.Capenable() | ifnet.CapTSO) & ifp.Capabilities() &^ ifnet.CapVLANHWFilter}))
	d.must(m.Up(d.name))
	d.settle(3 * time.Second)
	return d
}

func (d *dumped) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *dumped) settle(dur time.Duration) {
	d.Kernel().RunUntilIdle()
	d.Kernel().Advance(dur)
	d.Kernel().RunUntilIdle()
}

// fault sets a fail point of the NIC.
func (d *dumped) fault(point, action string) {
	d.t.Helper()
	d.must(d.Kernel().Sysctl.SetText("debug.fail_point.hw."+d.name+"."+point, action))
}

func (d *dumped) reg(off uint64) uint32 { return d.Hardware(d.name).BARs()[0].BAR.Read32(off) }

// ring is a copy of the memory of a ring whose registers begin at base: 16 bytes a
// descriptor, four dwords d0 to d3.
func (d *dumped) ring(base uint64) [][4]uint32 {
	const bal, bah, length = 0x00, 0x04, 0x08
	addr := uint64(d.reg(base+bah))<<32 | uint64(d.reg(base+bal))
	b := d.Kernel().Mem.Bytes(physmem.Addr(addr), uint64(d.reg(base+length)))
	out := make([][4]uint32, len(b)/16)
	for i := range out {
		for k := range 4 {
			at := 16*i + 4*k
			out[i][k] = uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24
		}
	}
	return out
}

func (d *dumped) bytes(lo, hi uint32, n int) []byte {
	return bytes.Clone(d.Kernel().Mem.Bytes(physmem.Addr(uint64(hi)<<32|uint64(lo)), uint64(n)))
}

// sent is what the descriptors of a packet say.
type sent struct {
	Frame  []byte
	Tag    int  // -1 without
	MSS    int  // 0 without segmentation
	Hdr    int  // bytes of all headers, with segmentation
	L4, IP bool // checksums to insert
	Report bool
	Done   bool
}

// readAdvanced reads transmit descriptors from the bit tables of spec 1g 3.4.
func (d *dumped) readAdvanced(ring [][4]uint32) (out []sent) {
	var ctx [4]uint32
	cur, paylen := sent{Tag: -1}, 0
	for i, w := range ring {
		switch typ := w[2] >> 20 & 0xf; {
		case w[2]>>29&1 == 0:
			d.t.Fatalf("descriptor %d is none of the advanced ones: %08x", i, w)
		case typ == 2:
			ctx = w
		case typ == 3:
			cur.Frame = append(cur.Frame, d.bytes(w[0], w[1], int(w[2]&0xffff))...)
			cur.L4, cur.IP, paylen = w[3]>>9&1 == 1, w[3]>>8&1 == 1, int(w[3]>>14)
			if w[2]>>30&1 == 1 {
				cur.Tag = int(ctx[0] >> 16)
			}
			if w[2]>>31 == 1 {
				cur.MSS = int(ctx[3] >> 16)
				cur.Hdr = int(ctx[0]>>9&0x7f + ctx[0]&0x1ff + ctx[3]>>8&0xff)
			}
			if w[2]>>24&1 == 0 {
				continue
			}
			if want := len(cur.Frame) - cur.Hdr; paylen != want {
				d.t.Errorf("descriptor %d: PAYLEN %d, want %d", i, paylen, want)
			}
			cur.Report, cur.Done = w[2]>>27&1 == 1, w[3]&1 == 1
			out = append(out, cur)
			cur = sent{Tag: -1}
		default:
			d.t.Fatalf("descriptor %d has type %d: %08x", i, typ, w)
		}
	}
	return out
}

// readLegacy reads those of lem and em, legacy and extended, from the bit tables of spec
// 1g 3.1.
func (d *dumped) readLegacy(ring [][4]uint32) (out []sent) {
	var tso [4]uint32
	cur := sent{Tag: -1}
	for i, w := range ring {
		extended := w[2]>>29&1 == 1
		size := int(w[2] & 0xffff)
		switch typ := w[2] >> 20 & 0xf; {
		case extended && typ == 0:
			if w[2]>>26&1 == 1 {
				tso = w
			}
			continue
		case extended && typ == 1:
			size = int(w[2] & 0xfffff)
			cur.L4, cur.IP = w[3]>>9&1 == 1, w[3]>>8&1 == 1
			if w[2]>>26&1 == 1 {
				cur.MSS, cur.Hdr = int(tso[3]>>16), int(tso[3]>>8&0xff)
			}
		case extended:
			d.t.Fatalf("descriptor %d has type %d: %08x", i, typ, w)
		}
		cur.Frame = append(cur.Frame, d.bytes(w[0], w[1], size)...)
		if w[2]>>30&1 == 1 {
			cur.Tag = int(w[3] >> 16)
		}
		if w[2]>>24&1 == 0 {
			continue
		}
		if got := int(tso[2] & 0xfffff); cur.MSS != 0 && got != len(cur.Frame)-cur.Hdr {
			d.t.Errorf("descriptor %d: PAYLEN %d, want %d", i, got, len(cur.Frame)-cur.Hdr)
		}
		cur.Report, cur.Done = w[2]>>27&1 == 1, w[3]&1 == 1
		out = append(out, cur)
		cur = sent{Tag: -1}
	}
	return out
}

// outgoing is a packet that is handed to the interface.
type outgoing struct {
	data []byte
	csum mbuf.CsumFlags
	tag  int
	mss  int
	hdr  int // headers that the framework may prepare
}

// mixed are packets of all sorts, one after the other.
func mixed(t *testing.T, n int) (out []outgoing) {
	for i := range n {
		f := rig.NewFlow(100 + 7*i)
		f.ID = uint16(i)
		o := outgoing{tag: rig.NoTag}
		switch i % 8 {
		case 0: // nothing asked for
			o.data = rig.Ether(60 + i)
		case 1, 5:
			o.csum = mbuf.CsumIPTCP
		case 2:
			f.UDP, o.csum, o.tag = true, mbuf.CsumIPUDP, 0x2000|i
		case 3:
			f.V6, o.csum = true, mbuf.CsumIP6TCP
		case 4:
			f.V6, f.UDP, o.csum, o.tag = true, true, mbuf.CsumIP6UDP, i
		case 6: // cut by the part
			f.Payload = make([]byte, 3000+i)
			o.csum, o.mss = mbuf.CsumIPTSO, 1000
		case 7: // only a tag
			o.data, o.tag = rig.Ether(200), 0xffff
		}
		if o.data == nil {
			_, _, o.hdr = f.Offsets()
			o.data = f.Unsummed(t, o.mss != 0)
		}
		out = append(out, o)
	}
	return out
}

func (d *dumped) transmit(o outgoing) {
	d.t.Helper()
	z := mbuf.Of(d.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	m := c.GetHdr()
	if m == nil || !c.Append(m, o.data) {
		d.t.Fatal("no mbufs")
	}
	m.Pkt.CsumFlags, m.Pkt.TSOSegSz = o.csum, uint16(o.mss)
	if o.tag != rig.NoTag {
		m.Flags |= mbuf.FlagVLANTag
		m.Pkt.EtherVtag = uint16(o.tag)
	}
	d.must(d.Ifnet(d.name).Transmit(m))
}

// TestTransmitRingSaysWhatWasSent holds the hardware, so that the packets are still there,
// reads the ring after 100 of them, lets the hardware go, and reads it again.
func TestTransmitRingSaysWhatWasSent(t *testing.T) {
	const packets = 100
	for _, part := range dumpParts {
		t.Run(part.chip, func(t *testing.T) {
			d := newDumped(t, part.driver, part.chip)
			read := d.readLegacy
			if part.advanced {
				read = d.readAdvanced
			}
			const tdbal, tdt = 0x3800, 0x3818
			first := d.reg(tdt)
			d.fault("stuck_head", "return(1)")
			want := mixed(t, packets)
			for _, o := range want {
				d.transmit(o)
			}
			d.Kernel().RunUntilIdle()
			dump := func() []sent { return read(d.ring(tdbal)[first:d.reg(tdt)]) }
			got := dump()
			if len(got) == 0 || len(got) > packets {
				t.Fatalf("%d packets in the ring, want up to %d", len(got), packets)
			}
			for i, s := range got {
				if s.Done {
					t.Errorf("packet %d is done under a hardware that stands still", i)
				}
				checkSent(t, i, s, want[i])
			}
			d.fault("stuck_head", "off")
			d.settle(5 * time.Second)
			got = dump()
			if len(got) != packets {
				t.Fatalf("%d packets in the ring in the end, want %d", len(got), packets)
			}
			reports := 0
			for i, s := range got {
				if s.Report {
					reports++
				}
				if s.Done != s.Report {
					t.Errorf("packet %d: report asked for %v, done %v", i, s.Report, s.Done)
				}
			}
			if reports == 0 {
				t.Error("no packet asked for a report")
			}
		})
	}
}

// checkSent compares a packet in the ring with what was handed over: whatever is behind
// the headers byte by byte.
func checkSent(t *testing.T, i int, s sent, o outgoing) {
	t.Helper()
	if len(s.Frame) != len(o.data) || !bytes.Equal(s.Frame[o.hdr:], o.data[o.hdr:]) || !bytes.Equal(s.Frame[:12], o.data[:12]) {
		t.Errorf("packet %d:\ngot  %x\nwant %x", i, s.Frame, o.data)
	}
	want := sent{Tag: o.tag, MSS: o.mss, L4: o.csum != 0, IP: o.mss != 0, Report: s.Report}
	if o.mss != 0 {
		want.Hdr = o.hdr
	}
	s.Frame = nil
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("packet %d (-want +got):\n%s", i, diff)
	}
}

// arrived is what a receive descriptor says.
type arrived struct {
	Frame      []byte
	Tag        int // -1 without
	IPOK, L4OK bool
	Type       int    // of the hash, 0 without
	Hash       uint32 // checked where the test knows it
	Packet     uint32 // type bits of advanced descriptors
}

// readReceived reads written-back descriptors of a ring whose buffers were at the
// addresses of before, from the bit tables of spec 1g 3.2, 3.3 and 3.5.
func (d *dumped) readReceived(before, ring [][4]uint32, legacy, advanced bool) (out []arrived) {
	for i, w := range ring {
		a, status, size := arrived{Tag: -1}, w[2], w[3]&0xffff
		if legacy {
			status, size = w[3], w[2]&0xffff
		}
		if status&1 == 0 {
			break
		}
		if status>>1&1 == 0 {
			d.t.Fatalf("descriptor %d of a short frame has no end: %08x", i, w)
		}
		a.Frame = d.bytes(before[i][0], before[i][1], int(size))
		if status>>3&1 == 1 {
			a.Tag = int(w[3] >> 16)
		}
		a.IPOK, a.L4OK = status>>6&1 == 1, status>>5&1 == 1
		if !legacy {
			a.Type, a.Hash = int(w[0]&0xf), w[1]
		}
		if advanced {
			a.Packet = w[0] & 0xfff0
		}
		out = append(out, a)
	}
	return out
}

// msFlow is the flow of the published vectors of the receive hash.
func msFlow() rig.Flow {
	f := rig.NewFlow(30)
	f.Src4, f.Dst4 = []byte{66, 9, 149, 187}, []byte{161, 142, 100, 80}
	f.SPort, f.DPort = 2794, 1766
	return f
}

// TestReceiveRingSaysWhatCame loses the interrupts, so that the driver does not touch the
// ring, and reads it.
func TestReceiveRingSaysWhatCame(t *testing.T) {
	for _, part := range dumpParts {
		t.Run(part.chip, func(t *testing.T) {
			d := newDumped(t, part.driver, part.chip)
			mac := d.Ifnet(d.name).MAC()
			tcp, udp, tcp6, tagged := msFlow(), msFlow(), msFlow(), msFlow()
			udp.UDP, tcp6.V6, tagged.VLAN = true, true, 0x2064
			tagged.Payload = tagged.Payload[:20] // what is left without the tag is no other frame
			var frames []port.RxFrame
			for _, f := range []*rig.Flow{&tcp, &udp, &tcp6, &tagged} {
				f.Dst = mac
				frames = append(frames, port.RxFrame{Data: f.Build(t)})
			}
			raw := append(append(append([]byte(nil), mac[:]...), 2, 0, 0, 0, 0, 9, 0x88, 0xb5), make([]byte, 46)...)
			frames = append(frames, port.RxFrame{Data: raw})
			const rdbal, stride = 0x2800, 0x100
			var before [][][4]uint32
			for q := range d.queues {
				before = append(before, d.ring(rdbal+uint64(q)*stride))
			}
			d.fault("lost_intr", "return(1)")
			if n := d.Port(d.name).(*null.Port).Inject(frames...); n != len(frames) {
				t.Fatalf("%d frames injected", n)
			}
			d.Kernel().RunUntilIdle()
			got := map[string]arrived{}
			for q := range d.queues {
				for _, a := range d.readReceived(before[q], d.ring(rdbal+uint64(q)*stride), part.legacyRx, part.advanced) {
					got[string(a.Frame)] = a
				}
			}
			if len(got) != len(frames) {
				t.Errorf("%d frames in the rings, want %d", len(got), len(frames))
			}
			const ipv4, ipv6, isTCP, isUDP = 0x10, 0x40, 0x100, 0x200
			untagged := tagged
			untagged.VLAN = rig.NoTag
			for name, want := range map[string]arrived{
				"TCP":    {Frame: tcp.Build(t), Tag: -1, IPOK: true, L4OK: true, Type: 1, Hash: 0x51ccc178, Packet: ipv4 | isTCP},
				"UDP":    {Frame: udp.Build(t), Tag: -1, IPOK: true, L4OK: true, Type: 7, Hash: 0x51ccc178, Packet: ipv4 | isUDP},
				"IPv6":   {Frame: tcp6.Build(t), Tag: -1, L4OK: true, Type: 3, Packet: ipv6 | isTCP},
				"raw":    {Frame: raw, Tag: -1},
				"tagged": {Frame: untagged.Build(t), Tag: 0x2064, IPOK: true, L4OK: true, Type: 1, Hash: 0x51ccc178, Packet: ipv4 | isTCP},
			} {
				a, ok := got[string(rig.Padded(want.Frame))]
				if !ok {
					t.Errorf("%s did not come", name)
					continue
				}
				checkArrived(t, name, a, want, part.driver, part.legacyRx)
			}
			d.fault("lost_intr", "off")
		})
	}
}

// checkArrived compares, with what the parts differ in put right: em's hash knows no UDP
// and takes IPv6 as with extensions, 8254x have no hash and check nothing over IPv6.
func checkArrived(t *testing.T, name string, a, want arrived, driver string, legacy bool) {
	t.Helper()
	a.Frame, want.Frame = nil, nil
	switch {
	case legacy:
		want.Type, want.Hash, a.Hash = 0, 0, 0
	case driver == "em" && name == "UDP":
		want.Type, want.Hash = 2, 0x323e8fc2 // addresses alone
	case driver == "em" && name == "IPv6":
		want.Type = 6
	}
	if legacy && name == "IPv6" {
		want.L4OK = false
	}
	if want.Hash == 0 {
		a.Hash = 0
	}
	if driver == "em" {
		want.Packet = 0
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", driver, name, diff)
	}
}
