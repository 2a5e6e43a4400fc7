package e1000hw_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// Written-back descriptors are typed as hexadecimal dwords. d0: RSS type, packet type
// (0x10 IPv4, 0x20 with options, 0x40 IPv6, 0x80 with extensions, 0x100 TCP, 0x200 UDP,
// 0x400 SCTP); d1: hash; d2: 1 DD, 2 EOP, 8 VP, 0x10 UDPCS, 0x20 L4CS, 0x40 IPCS, 0x80
// PIF, 0x20000000 L4E, 0x40000000 IPE; d3: tag and length.

// optioned is a TCP/IPv4 frame with an option of 4 bytes in its IP header; extended one
// over IPv6 behind an empty hop-by-hop header.
func optioned(t testing.TB) []byte {
	f := rig.NewFlow(100).Build(t)
	p := append(append(append([]byte(nil), f[:34]...), 1, 1, 1, 0), f[34:]...)
	p[14] = 0x46
	binary.BigEndian.PutUint16(p[16:], uint16(len(p)-14))
	clear(p[24:26])
	sum := uint32(0)
	for i := 14; i < 38; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(p[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(p[24:], ^uint16(sum))
	return p
}

func extended(t testing.TB) []byte {
	f := rig.NewFlow(100)
	f.V6 = true
	b := f.Build(t)
	p := append(append(append([]byte(nil), b[:54]...), 6, 0, 1, 4, 0, 0, 0, 0), b[54:]...)
	p[20] = 0
	binary.BigEndian.PutUint16(p[18:], uint16(len(p)-54))
	return p
}

func TestReceiveWriteBack(t *testing.T) {
	flow := func(change func(*rig.Flow)) func(testing.TB) []byte {
		return func(t testing.TB) []byte {
			f := rig.NewFlow(100)
			change(&f)
			return f.Build(t)
		}
	}
	cases := []struct {
		name   string
		make   func(testing.TB) []byte
		bad    int // byte to damage, 0 for none
		d0, d2 uint32
		tag    uint32
		csum   uint32 // RXCSUM
		rfctl  uint32
	}{
		{"tcp4", flow(func(*rig.Flow) {}), 0, 0x0110, 0x63, 0, 0x300, 0},
		{"udp4", flow(func(f *rig.Flow) { f.UDP = true }), 0, 0x0210, 0x73, 0, 0x300, 0},
		{"tcp6", flow(func(f *rig.Flow) { f.V6 = true }), 0, 0x0140, 0x23, 0, 0x300, 0},
		{"udp6", flow(func(f *rig.Flow) { f.V6, f.UDP = true, true }), 0, 0x0240, 0x33, 0, 0x300, 0},
		{"bad IP", flow(func(*rig.Flow) {}), 22, 0x0110, 0x40000063, 0, 0x300, 0},
		{"bad TCP", flow(func(*rig.Flow) {}), 60, 0x0110, 0x20000063, 0, 0x300, 0},
		{"bad UDP", flow(func(f *rig.Flow) { f.UDP = true }), 60, 0x0210, 0x20000073, 0, 0x300, 0},
		{"options", optioned, 0, 0x0130, 0x63, 0, 0x300, 0},
		{"extension", extended, 0, 0x01c0, 0x23, 0, 0x300, 0},
		{"extension, not looked behind", extended, 0, 0x00c0, 0x03, 0, 0x300, 1 << 16},
		{"sctp", sctp, 0, 0x0410, 0x63, 0, 0xb00, 0},
		{"bad sctp", sctp, 60, 0x0410, 0x20000063, 0, 0xb00, 0},
		{"sctp, not asked for", sctp, 0, 0x0410, 0x43, 0, 0x300, 0},
		{"tag", flow(func(f *rig.Flow) { f.VLAN = 0xa064 }), 0, 0x0110, 0x6b, 0xa064, 0x300, 0},
		{"priority tag", flow(func(f *rig.Flow) { f.VLAN = 0 }), 0, 0x0110, 0x6b, 0, 0x300, 0},
		{"checksums off", flow(func(*rig.Flow) {}), 60, 0x0110, 0x03, 0, 0, 0},
		{"not IP", func(testing.TB) []byte { return rig.Ether(60) }, 0, 0, 0x03, 0, 0x300, 0},
	}
	each(t, func(t *testing.T, b *board) {
		b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
		for _, tc := range cases {
			b.write(emreg.RXCSUM, tc.csum)
			b.write(emreg.RFCTL, tc.rfctl)
			r := b.rxOn(0)
			addr := physmem.Addr(r.words[0])
			p := tc.make(t)
			if tc.bad != 0 {
				p[tc.bad] ^= 0x10
			}
			want := p
			if tc.d2&8 != 0 {
				want = append(append([]byte(nil), p[:12]...), p[16:]...)
			}
			b.Inject(p)
			if diff := cmp.Diff([4]uint32{tc.d0, 0, tc.d2, tc.tag<<16 | uint32(len(want))}, r.desc(0)); diff != "" {
				t.Errorf("%s: %s", tc.name, diff)
			}
			if !bytes.Equal(b.Bytes(addr, len(want)), want) {
				t.Errorf("%s: buffer differs from the frame", tc.name)
			}
			if h := b.read(r.base + e1000reg.HEAD); h != 1 {
				t.Errorf("%s: head %d, want 1", tc.name, h)
			}
		}
	})
}

func TestShortFrameIsPaddedAndFCSKept(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.rxOn(0)
		b.write(emreg.RCTL, emreg.RCTLEN) // SECRC off
		addr := physmem.Addr(r.words[0])
		f := rig.Ether(20)
		b.Inject(f)
		want := rig.Padded(append([]byte(nil), f...))
		want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(want))
		if got := b.Bytes(addr, 64); !bytes.Equal(got, want) || r.desc(0)[3] != 64 {
			t.Errorf("%d bytes: %x\nwant %x", r.desc(0)[3], got, want)
		}
	})
}

// SRRCTL has the size of buffers in KiB; without it RCTL does. Only the last descriptor
// says what the frame is, null addresses are passed over.
func TestFrameIsSpreadOverBuffers(t *testing.T) {
	for _, tc := range []struct {
		name         string
		srrctl, rctl uint32
		sizes        []uint32
	}{
		{"SRRCTL", 0x02000001, 0, []uint32{1024, 1024, 252}},
		{"RCTL", 0x02000000, 1 << 16, []uint32{1024, 1024, 252}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *board) {
				r := b.rxOn(0)
				b.write(r.base+e1000reg.SRRCTL, tc.srrctl)
				b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLLPE|tc.rctl)
				r.words[2] = 0
				addrs := [3]uint64{r.words[0], r.words[4], r.words[6]}
				f := rig.Ether(2300)
				b.Inject(f)
				at := 0
				for i, n := range []uint32{0, 2, 3} {
					size, last := tc.sizes[i], i == 2
					want := [4]uint32{0, 0, 1, size}
					if last {
						want[2] = 3
					}
					if got := r.desc(n); got != want {
						t.Errorf("descriptor %d: %x, want %x", n, got, want)
					}
					if !bytes.Equal(b.Bytes(physmem.Addr(addrs[i]), int(size)), f[at:at+int(size)]) {
						t.Errorf("buffer %d differs", i)
					}
					at += int(size)
				}
				if got := r.desc(1); got != [4]uint32{0, 0, 1, 0} {
					t.Errorf("null descriptor: %x", got)
				}
			})
		})
	}
}

// Longest frames are 1518 bytes with FCS, and a tag; with LPE RLPML says.
func TestLongFramesAreCountedAndDropped(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		for _, tc := range []struct {
			size   int // without FCS
			tagged bool
			lpe    uint32
			rlpml  uint32
			taken  bool
		}{
			{1514, false, 0, 0x2600, true}, {1515, false, 0, 0x2600, false},
			{1518, true, 0, 0x2600, true}, {1519, true, 0, 0x2600, false},
			{3000, false, emreg.RCTLLPE, 3004, true}, {3001, false, emreg.RCTLLPE, 3004, false},
			{1515, false, 0, 3004, false},
		} {
			r := b.rxOn(0)
			b.read(emreg.ROC)
			b.write(emreg.RCTL, b.read(emreg.RCTL)|tc.lpe)
			b.write(e1000reg.RLPML, tc.rlpml)
			f := rig.Ether(tc.size)
			if tc.tagged {
				f = rig.Tagged(rig.Ether(tc.size-4), 5)
			}
			b.Inject(f)
			if taken := r.desc(0)[2]&1 != 0; taken != tc.taken || b.read(emreg.ROC) != uint32(boolInt(!tc.taken)) {
				t.Errorf("%d bytes, tagged %v, LPE %v, RLPML %d: taken %v", tc.size, tc.tagged, tc.lpe != 0, tc.rlpml, taken)
			}
		}
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAddressFilters(t *testing.T) {
	group := [6]byte{0x01, 0, 0x5e, 0x12, 0x34, 0x56}
	other := [6]byte{2, 0, 0, 0, 0, 0x99}
	all := [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	// The hash of a group: bits 11:0 of b5<<4 | b4>>4 (spec 1g 5.3).
	const hash = 0x563
	unicast := uint64(0x9900>>4) & 0xfff
	for _, tc := range []struct {
		name string
		dst  [6]byte
		set  func(b *board)
		want uint32 // status, 0: not taken
	}{
		{"own", rig.MAC, func(*board) {}, 3},
		{"other", other, func(*board) {}, 0},
		{"promiscuous", other, func(b *board) { b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLUPE) }, 0x83},
		{"broadcast", all, func(*board) {}, 3},
		{"no broadcasts", all, func(b *board) { b.write(emreg.RCTL, b.read(emreg.RCTL)&^emreg.RCTLBAM) }, 0},
		{"group", group, func(*board) {}, 0},
		{"group in the table", group, func(b *board) { b.write(emreg.MTA+hash>>5*4, 1<<(hash&31)) }, 0x83},
		{"all groups", group, func(b *board) { b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLMPE) }, 0x83},
		{"unicast table", other, func(b *board) { b.write(e1000reg.UTA+unicast>>5*4, 1<<(unicast&31)) }, 0x83},
		{"address 15", other, func(b *board) { b.address(emreg.RAL+15*8, other, 1<<31) }, 3},
		{"not valid", other, func(b *board) { b.address(emreg.RAL+15*8, other, 0) }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *board) {
				r := b.rxOn(0)
				tc.set(b)
				f := rig.Ether(60)
				copy(f, tc.dst[:])
				b.Inject(f)
				if got := r.desc(0)[2]; got != tc.want {
					t.Errorf("status %#x, want %#x", got, tc.want)
				}
				if n := b.count("filtered"); n != uint64(boolInt(tc.want == 0)) {
					t.Errorf("%d frames filtered", n)
				}
			})
		})
	}
}

// address writes a receive address.
func (b *board) address(ral uint64, mac [6]byte, av uint32) {
	b.write(ral, binary.LittleEndian.Uint32(mac[:]))
	b.write(ral+4, uint32(binary.LittleEndian.Uint16(mac[4:]))|av)
}

// The addresses from 16 on are at a place of their own; I210 and igc have none.
func TestHighReceiveAddresses(t *testing.T) {
	other := [6]byte{2, 0, 0, 0, 0, 0x99}
	last := map[string]int{"82576": 23, "I350": 31}
	each(t, func(t *testing.T, b *board) {
		for _, i := range []int{16, 23, 31} {
			r := b.rxOn(0)
			at := uint64(0x54e0 + 8*(i-16))
			b.address(at, other, 1<<31)
			f := rig.Ether(60)
			copy(f, other[:])
			b.Inject(f)
			if taken := r.desc(0)[2] == 3; taken != (i <= last[b.name]) {
				t.Errorf("address %d: taken %v", i, taken)
			}
			b.write(at+4, 0)
		}
	})
}

func TestVLANFilter(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		none := strings.HasPrefix(b.name, "I22")
		b.rxOn(0)
		b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLVFE)
		b.write(emreg.VFTA+100>>5*4, 1<<(100&31))
		for i, tc := range []struct {
			tci  uint16
			want bool
		}{{100, true}, {0xe064, true}, {101, none}, {0, none}} {
			r := b.rxOn(0)
			b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLVFE)
			b.Inject(rig.Tagged(rig.Ether(60), tc.tci))
			if taken := r.desc(0)[2]&1 != 0; taken != tc.want {
				t.Errorf("%d: tag %#x: taken %v", i, tc.tci, taken)
			}
		}
	})
}

// Frames of a queue that is off, or of a unit or link that is down, are lost; those for
// which there is no buffer are missed, and counted by the queue if it may drop.
func TestFramesThatFindNoBuffer(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.rxOn(0)
		f := rig.Ether(60)
		b.write(r.base+e1000reg.DCTL, 0)
		b.Inject(f)
		b.write(r.base+e1000reg.DCTL, 1<<25)
		b.write(emreg.RCTL, 0)
		b.Inject(f)
		if n := b.count("received while disabled"); n != 2 || b.read(emreg.MPC) != 0 {
			t.Errorf("%d frames lost while disabled", n)
		}
		b.write(emreg.RCTL, emreg.RCTLEN|emreg.RCTLSECRC)
		b.write(r.base+e1000reg.TAIL, 1)
		b.Inject(f, f)
		b.write(r.base+e1000reg.SRRCTL, 0x82000002)
		b.Inject(f)
		if mpc, rnbc, rqdpc := b.read(emreg.MPC), b.read(emreg.RNBC), b.read(r.base+0x30); mpc != 2 || rnbc != 2 || rqdpc != 1 {
			t.Errorf("MPC %d, RNBC %d, RQDPC %d; want 2, 2, 1", mpc, rnbc, rqdpc)
		}
		if b.read(r.base+0x30) != 0 {
			t.Error("RQDPC was not cleared")
		}
		if icr := b.read(emreg.ICR); icr&0x40 == 0 {
			t.Errorf("ICR %#x: no RXO", icr)
		}
	})
}

func TestOtherReceiveDescriptorsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.rxOn(0)
		b.write(r.base+e1000reg.SRRCTL, 2) // legacy
		b.Inject(rig.Ether(60))
		if n := b.count("receive descriptors are not of the advanced one-buffer type (SRRCTL.DESCTYPE)"); n != 1 {
			t.Errorf("refused %d times", n)
		}
		for off, rule := range map[uint64]string{e1000reg.TAIL: "tail outside the ring (RDT)", e1000reg.HEAD: "head outside the ring (RDH)"} {
			r := b.rxOn(0)
			b.write(r.base+off, ringCount)
			b.Inject(rig.Ether(60))
			if n := b.count(rule); n != 1 || r.desc(0)[2] != 0 {
				t.Errorf("%s: %d times", rule, n)
			}
		}
	})
}

// key is the key of Microsoft's verification suite for RSS.
var key = []byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa}

// steer programs key, an indirection table that counts up, and the hash types of igb.
func (b *board) steer(mrqc uint32) {
	for i := 0; i < len(key); i += 4 {
		b.write(emreg.RSSRK+uint64(i), binary.LittleEndian.Uint32(key[i:]))
	}
	for i := range uint32(32) {
		b.write(emreg.RETA+uint64(4*i), 0x03020100+i*0x04040404)
	}
	b.write(emreg.RXCSUM, 1<<13|0x300)
	b.write(emreg.MRQC, mrqc)
}

// allTypes are the fields that the igb driver sets: IPv4, TCPv4, IPv6, TCPv6, UDPv4,
// UDPv6, UDPv6EX, TCPv6EX, and RSS.
const allTypes = 2 | 1<<16 | 1<<17 | 1<<18 | 1<<20 | 1<<21 | 1<<22 | 1<<23 | 1<<24

// The published vectors: hash, type, and the queue that the table names (the low bits of
// the hash, as the table counts up).
func TestReceiveSteeringByTheMicrosoftVectors(t *testing.T) {
	vectors := []struct {
		src, dst     string
		sport, dport uint16
		ip, tcp      uint32
	}{
		{"66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178},
		{"199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea},
		{"24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a},
		{"38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f},
		{"153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2},
	}
	each(t, func(t *testing.T, b *board) {
		for q := range b.queues() {
			b.rxOn(q)
		}
		for _, v := range vectors {
			for _, kind := range []struct {
				name string
				udp  bool
				mrqc uint32
				typ  uint32
				hash uint32
			}{
				{"tcp", false, allTypes, 1, v.tcp}, {"udp", true, allTypes, 7, v.tcp},
				{"udp by addresses", true, 2 | 1<<17, 2, v.ip}, {"tcp by addresses", false, 2 | 1<<17, 2, v.ip},
				{"not hashed", false, 2 | 1<<20, 0, 0},
			} {
				b.steer(kind.mrqc)
				f := rig.NewFlow(20)
				f.UDP, f.SPort, f.DPort = kind.udp, v.sport, v.dport
				f.Src4, f.Dst4 = net.ParseIP(v.src).To4(), net.ParseIP(v.dst).To4()
				want := int(kind.hash) & 127 & (b.queues() - 1)
				r := b.rxOn(want)
				b.Inject(f.Build(t))
				if d := r.desc(0); d[0]&0xf != kind.typ || d[1] != kind.hash || d[2]&3 != 3 {
					t.Errorf("%s %s, queue %d: %x, want type %d, hash %#x", v.src, kind.name, want, d, kind.typ, kind.hash)
				}
			}
		}
	})
}

// Without PCSD a frame is steered and says nothing about it; the table decides, not the
// hash.
func TestSteeringByTheTable(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.steer(allTypes)
		b.write(emreg.RXCSUM, 0x300)
		f := rig.NewFlow(20)
		f.SPort, f.DPort, f.Src4, f.Dst4 = 2794, 1766, net.IP{66, 9, 149, 187}, net.IP{161, 142, 100, 80}
		const entry = 0x51ccc178 & 127
		b.write(emreg.RETA+entry&^3, 2<<(entry&3*8))
		r := b.rxOn(2)
		b.Inject(f.Build(t))
		if d := r.desc(0); d[0] != 0x110 || d[1] != 0 || d[2] != 0x63 {
			t.Errorf("descriptor %x", d)
		}
	})
}

// A flow over IPv6 and a fragment get the types of spec 1g 3.6.
func TestHashTypesOfIPv6(t *testing.T) {
	for _, tc := range []struct {
		name string
		udp  bool
		mrqc uint32
		want uint32
	}{{"tcp", false, allTypes, 3}, {"udp", true, allTypes, 8}, {"addresses", true, 2 | 1<<20, 5}, {"udp ex", true, 2 | 1<<24, 9}, {"tcp ex", false, 2 | 1<<18, 6}, {"addresses ex", false, 2 | 1<<19, 4}} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBoard(t, "I225-V")
			b.steer(tc.mrqc)
			for i := range uint64(32) {
				b.write(emreg.RETA+4*i, 0)
			}
			r := b.rxOn(0)
			f := rig.NewFlow(20)
			f.V6, f.UDP = true, tc.udp
			b.Inject(f.Build(t))
			if d := r.desc(0); d[0]&0xf != tc.want || d[1] == 0 {
				t.Errorf("descriptor %x, want type %d", d, tc.want)
			}
		})
	}
}

// 2000 UDP flows over four queues differ by less than 10 %.
func TestUDPFlowsSpreadOverTheQueues(t *testing.T) {
	b := newBoard(t, "I210")
	b.steer(allTypes)
	var rings [4]*ring
	for q := range rings {
		rings[q] = b.rxOn(q)
	}
	var got [4]int
	for i := range 2000 {
		f := rig.NewFlow(18)
		f.UDP, f.SPort, f.DPort = true, 2000, 2000
		f.Src4, f.Dst4 = net.IP{198, 18, 0, byte(1 + i/100)}, net.IP{198, 19, 0, byte(1 + i%100)}
		b.Inject(f.Build(t))
		for q, r := range rings {
			at := b.read(r.base+e1000reg.HEAD) + ringCount - r.next
			if at %= ringCount; at != 0 {
				got[q]++
				if d := r.desc(r.next); d[0]&0xf != 7 {
					t.Fatalf("descriptor %x", d)
				}
				r.next = (r.next + 1) % ringCount
				b.write(r.base+e1000reg.TAIL, (r.next+ringCount-1)%ringCount)
				i := (r.next + ringCount - 1) % ringCount
				r.words[2*i], r.words[2*i+1] = uint64(b.scratch()), 0
			}
		}
	}
	for q, n := range got {
		if n < 450 || n > 550 {
			t.Errorf("queue %d got %d of 2000: %v", q, n, got)
		}
	}
}

// scratch is a buffer that all descriptors share which are refilled.
func (b *board) scratch() physmem.Addr {
	if b.shared == 0 {
		b.shared = b.Alloc(bufLen)
	}
	return b.shared
}
