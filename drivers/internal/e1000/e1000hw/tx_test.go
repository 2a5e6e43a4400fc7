package e1000hw_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// The descriptors are typed as hexadecimal dwords on purpose: the constants of e1000reg
// are what is being tested. d2 of data: 0x00300000 DTYP, 0x20000000 DEXT, 0x01000000 EOP,
// 0x02000000 IFCS, 0x08000000 RS, 0x40000000 VLE, 0x80000000 TSE; d3: PAYLEN from bit
// 14 on, 0x100 IXSM, 0x200 TXSM, 0x10 slot 1. d2 of a context: 0x00200000 DTYP, 0x400
// IPv4, 0x800 TCP, 0x1000 SCTP.

func TestDataDescriptorsGatherPadAndReport(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		f := rig.NewFlow(1).Build(t)
		pay := uint32(len(f)) << 14
		r.data(f[:20], 0x22300000, pay)
		r.data(f[20:], 0x2b300000, pay)
		second := r.words[3]
		r.doorbell()
		if diff := cmp.Diff([][]byte{rig.Padded(f)}, b.Sent()); diff != "" {
			t.Error(diff)
		}
		if got := [2]uint32{r.status(0), r.status(1)}; got != [2]uint32{pay, pay | 1} {
			t.Errorf("status %x, want DD on the second only", got)
		}
		if r.words[3] != second|1<<32 {
			t.Errorf("descriptor %x, want %x", r.words[3], second|1<<32)
		}
		if h := b.read(r.base + e1000reg.HEAD); h != 2 {
			t.Errorf("head %d, want 2", h)
		}
	})
}

func TestContextChecksums(t *testing.T) {
	for _, tc := range []struct {
		name    string
		v6, udp bool
		ctx0    uint32
		ctx2    uint32
		d3      uint32
		payload int
	}{
		{name: "tcp4", ctx0: ctxIPv4, ctx2: 0x20200c00, d3: 0x300, payload: 777},
		{name: "udp4", udp: true, ctx0: ctxIPv4, ctx2: 0x20200400, d3: 0x300, payload: 64},
		{name: "tcp6", v6: true, ctx0: ctxIPv6, ctx2: 0x20200800, d3: 0x200, payload: 1},
		{name: "udp6", v6: true, udp: true, ctx0: ctxIPv6, ctx2: 0x20200000, d3: 0x200, payload: 300},
		{name: "tcp4, slot 1", ctx0: ctxIPv4, ctx2: 0x20200c00, d3: 0x310, payload: 777},
	} {
		t.Run(tc.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *board) {
				r := b.txOn(0)
				f := rig.NewFlow(tc.payload)
				f.V6, f.UDP = tc.v6, tc.udp
				p := f.Unsummed(t, false)
				d3 := tc.d3 | uint32(len(p))<<14
				r.put(tc.ctx0, 0, tc.ctx2, tc.d3&0xf0)
				r.data(p[:40], 0x22300000, d3)
				r.data(p[40:], 0x2b300000, d3)
				r.doorbell()
				if diff := cmp.Diff([][]byte{rig.Padded(f.Build(t))}, b.Sent()); diff != "" {
					t.Error(diff)
				}
				if r.status(0) != tc.d3&0xf0 || r.status(2) != d3|1 {
					t.Errorf("status %x %x", r.status(0), r.status(2))
				}
			})
		})
	}
}

// sctp is an SCTP packet in IPv4 with its checksum, RFC 9260 appendix A: CRC32c, in
// little-endian order.
func sctp(t testing.TB) []byte {
	f := rig.NewFlow(100).Build(t)
	f[23] = 132
	clear(f[24:26])
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(f[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum>>16+sum))
	clear(f[42:46])
	binary.LittleEndian.PutUint32(f[42:], crc32.Checksum(f[34:], crc32.MakeTable(crc32.Castagnoli)))
	return f
}

func TestSCTPChecksumIsInserted(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		want := sctp(t)
		p := append([]byte(nil), want...)
		clear(p[42:46])
		r.put(ctxIPv4, 0, 0x20201400, 0)
		r.data(p, 0x2b300000, 0x200|uint32(len(p))<<14)
		r.doorbell()
		if diff := cmp.Diff([][]byte{want}, b.Sent()); diff != "" {
			t.Error(diff)
		}
	})
}

// Contexts persist until the next one into their slot, or until the queue is disabled.
func TestContextsOfBothSlotsPersistUntilTheQueueIsDisabled(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		f := rig.NewFlow(600)
		sum, cut := f.Unsummed(t, false), f.Unsummed(t, true)
		r.put(ctxIPv4, 0, 0x20200c00, 300<<16|20<<8)
		r.put(ctxIPv4, 0, 0x20200c00, 0x10)
		r.data(sum, 0x2b300000, 0x310|uint32(len(sum))<<14)
		r.data(cut, 0xab300000, 0x300|600<<14)
		r.data(sum, 0x2b300000, 0x310|uint32(len(sum))<<14)
		r.doorbell()
		var sizes []int
		for _, g := range b.Sent() {
			sizes = append(sizes, len(g))
		}
		if !slices.Equal(sizes, []int{654, 354, 354, 654}) {
			t.Fatalf("frames of %v bytes", sizes)
		}
		b.write(r.base+e1000reg.DCTL, 0)
		b.write(r.base+e1000reg.DCTL, 1<<25)
		r.data(sum, 0x2b300000, 0x310|uint32(len(sum))<<14)
		r.doorbell()
		if n := b.count("offload asked for without a context in the slot (TDESC.IDX)"); n != 1 || len(b.Sent()) != 0 {
			t.Errorf("the context outlived its queue; %d refusals", n)
		}
		if r.status(5)&1 == 0 {
			t.Error("the refused packet was not reported")
		}
	})
}

func TestSegmentation(t *testing.T) {
	for _, tc := range []struct {
		name       string
		v6         bool
		ctx0, ctx2 uint32
		d3         uint32
	}{{"tcp4", false, ctxIPv4, 0x20200c00, 0x300}, {"tcp6", true, ctxIPv6, 0x20200800, 0x200}} {
		t.Run(tc.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *board) {
				const mss, payload = 1000, 4321
				r := b.txOn(0)
				f := rig.NewFlow(payload)
				f.V6, f.ID, f.Seq, f.Push = tc.v6, 0xfffe, 0xfffffff0, true
				p := f.Unsummed(t, true)
				r.put(tc.ctx0, 0, tc.ctx2, mss<<16|20<<8)
				r.data(p[:54], 0xa2300000, tc.d3|payload<<14)
				r.data(p[54:2000], 0xa2300000, tc.d3|payload<<14)
				r.data(p[2000:], 0xab300000, tc.d3|payload<<14)
				r.doorbell()
				if diff := cmp.Diff(f.Segments(t, mss), b.Sent()); diff != "" {
					t.Error(diff)
				}
				if v := b.read(emreg.TSCTC); v != 1 {
					t.Errorf("TSCTC is %d", v)
				}
			})
		})
	}
}

// The registers mask the TCP flags of the first, the middle and the last segments.
func TestSegmentsHaveTheFlagsOfTheMasks(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		b.write(e1000reg.DTXTCPFLGL, 0x00f<<16|0xff0)
		b.write(e1000reg.DTXTCPFLGH, 0xfff)
		f := rig.NewFlow(3000)
		p := f.Unsummed(t, true)
		p[47] = 0xff // all flags
		r.put(ctxIPv4, 0, 0x20200c00, 1000<<16|20<<8)
		r.data(p, 0xab300000, 0x300|3000<<14)
		r.doorbell()
		var flags []byte
		for _, g := range b.Sent() {
			flags = append(flags, g[47])
		}
		if !bytes.Equal(flags, []byte{0xf0, 0x0f, 0xff}) {
			t.Errorf("flags %x", flags)
		}
	})
}

func TestTagOfTheContextIsInserted(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		f := rig.NewFlow(100)
		want := f
		want.VLAN = 0xa064
		p := f.Build(t)
		r.put(0xa064<<16, 0, 0x20200000, 0) // no lengths: none are needed
		r.data(p, 0x6b300000, uint32(len(p))<<14)
		r.doorbell()
		if diff := cmp.Diff([][]byte{want.Build(t)}, b.Sent()); diff != "" {
			t.Error(diff)
		}
	})
}

// What the datasheet forbids is not sent, counted, logged once by rule, and reported so
// that the ring goes on.
func TestForbiddenDescriptorsAreRefused(t *testing.T) {
	f := rig.NewFlow(600)
	sum, cut := f.Unsummed(t, false), f.Unsummed(t, true)
	pay := uint32(len(sum)) << 14
	for _, tc := range []struct {
		name string
		put  func(r *ring)
		rule string
	}{
		{"context inside a packet", func(r *ring) {
			r.data(sum[:100], 0x22300000, pay)
			r.put(ctxIPv4, 0, 0x20200c00, 0)
			r.data(sum[100:], 0x2b300000, pay)
		}, "context descriptor inside a packet (advanced transmit context)"},
		{"no context", func(r *ring) { r.data(sum, 0x2b300000, pay|0x200) },
			"offload asked for without a context in the slot (TDESC.IDX)"},
		{"context in the other slot", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20200c00, 0x10)
			r.data(sum, 0x2b300000, pay|0x200)
		}, "offload asked for without a context in the slot (TDESC.IDX)"},
		{"legacy", func(r *ring) { r.put(0, 0, 0x0b000040, 0); r.data(sum, 0x2b300000, pay) },
			"transmit descriptor is neither advanced data nor context (TDESC.DTYP, DEXT)"},
		{"DTYP 1", func(r *ring) { r.put(0, 0, 0x2b100040, 0); r.data(sum, 0x2b300000, pay) },
			"transmit descriptor is neither advanced data nor context (TDESC.DTYP, DEXT)"},
		{"PAYLEN", func(r *ring) { r.data(sum, 0x2b300000, pay-1<<14) },
			"PAYLEN is not the length of the packet (TDESC.PAYLEN)"},
		{"PAYLEN with TSE", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20200c00, 300<<16|20<<8)
			r.data(cut, 0xab300000, 0x300|601<<14)
		}, "packet is not its headers and PAYLEN bytes long (TDESC.PAYLEN with TSE)"},
		{"MACLEN", func(r *ring) {
			r.put(20, 0, 0x20200c00, 0)
			r.data(sum, 0x2b300000, pay|0x200)
		}, "header lengths of the context are too short (MACLEN, IPLEN, L4LEN)"},
		{"L4LEN", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20200c00, 300<<16|19<<8)
			r.data(cut, 0xab300000, 0x300|601<<14)
		}, "header lengths of the context are too short (MACLEN, IPLEN, L4LEN)"},
		{"segments of UDP", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20200400, 300<<16|20<<8)
			r.data(cut, 0xab300000, 0x300|600<<14)
		}, "layer 4 type of the context cannot do what the packet asks for (L4T)"},
		{"reserved layer 4", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20201c00, 0)
			r.data(sum, 0x2b300000, pay|0x200)
		}, "layer 4 type of the context cannot do what the packet asks for (L4T)"},
		{"no MSS", func(r *ring) {
			r.put(ctxIPv4, 0, 0x20200c00, 20<<8)
			r.data(cut, 0xab300000, 0x300|600<<14)
		}, "checksum, tag or segment outside the packet (POPTS, VLE, MSS)"},
		{"IP checksum of IPv6", func(r *ring) {
			r.put(ctxIPv6, 0, 0x20200800, 0)
			r.data(sum, 0x2b300000, pay|0x300)
		}, "checksum, tag or segment outside the packet (POPTS, VLE, MSS)"},
		{"checksum behind the end", func(r *ring) {
			r.put(14<<9|511, 0, 0x20200c00, 0)
			r.data(sum[:100], 0x2b300000, 100<<14|0x200)
		}, "checksum, tag or segment outside the packet (POPTS, VLE, MSS)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBoard(t, "I210")
			r := b.txOn(1)
			for range 2 {
				tc.put(r)
				r.doorbell()
			}
			if n := len(b.Sent()); n != 0 {
				t.Errorf("%d frames were sent", n)
			}
			if n := b.count(tc.rule); n != 2 {
				t.Errorf("counted %d times, want 2", n)
			}
			if n := strings.Count(b.Console(), "queue 1: refused"); n != 1 || !strings.Contains(b.Console(), tc.rule) {
				t.Errorf("console: %s", b.Console())
			}
			if b.count("transmit packets refused") != 2 {
				t.Errorf("%d packets counted", b.count("transmit packets refused"))
			}
			last := (r.next + ringCount - 1) % ringCount
			if r.status(last)&1 == 0 || b.read(r.base+e1000reg.HEAD) != r.next {
				t.Error("the ring does not go on")
			}
			r.put(0, 0, 0, 0)
			r.next--
			r.frame(sum)
			r.doorbell()
			if diff := cmp.Diff([][]byte{sum}, b.Sent()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForbiddenRegisterWritesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(b *board, r *ring)
		rule string
	}{
		{"tail outside the ring", func(b *board, r *ring) { b.write(r.base+e1000reg.TAIL, ringCount) }, "tail outside the ring (TDT)"},
		{"head outside the ring", func(b *board, r *ring) {
			b.write(r.base+e1000reg.HEAD, ringCount)
			b.write(r.base+e1000reg.TAIL, 1)
		}, "head outside the ring (TDH)"},
		{"disabled unit", func(b *board, r *ring) {
			b.write(emreg.TCTL, 0)
			b.write(r.base+e1000reg.TAIL, 1)
		}, "tail written while TCTL.EN is 0 (TDT)"},
		{"disabled queue", func(b *board, r *ring) {
			b.write(r.base+e1000reg.DCTL, 0)
			b.write(r.base+e1000reg.TAIL, 1)
		}, "tail written while the queue is disabled (TXDCTL.ENABLE)"},
		{"busy head", func(b *board, r *ring) {
			r.data(make([]byte, 60), 0x22300000, 0) // no end of packet
			r.doorbell()
			b.write(r.base+e1000reg.HEAD, 5)
		}, "head written while the queue has work (TDH)"},
		{"ring length", func(b *board, r *ring) { b.write(r.base+e1000reg.LEN, 100) },
			"ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)"},
		{"no ring", func(b *board, r *ring) {
			b.write(r.base+e1000reg.LEN, 0)
			b.write(r.base+e1000reg.TAIL, 1)
		}, "ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)"},
		{"vector", func(b *board, _ *ring) { b.write(e1000reg.IVAR0, 0x85) }, "vector that is not there (IVAR)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBoard(t, "I210")
			tc.do(b, b.txOn(2))
			if n := b.count(tc.rule); n != 1 {
				t.Errorf("counted %d times, want 1", n)
			}
			if n := strings.Count(b.Console(), "refused"); n != 1 || !strings.Contains(b.Console(), tc.rule) {
				t.Errorf("console: %s", b.Console())
			}
		})
	}
}

// A queue that is enabled after its tail was written begins then.
func TestQueueBeginsWhenEnabled(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(3)
		b.write(r.base+e1000reg.DCTL, 0)
		f := rig.NewFlow(100).Build(t)
		r.frame(f)
		r.doorbell()
		if len(b.Sent()) != 0 {
			t.Fatal("sent by a disabled queue")
		}
		b.write(r.base+e1000reg.DCTL, 1<<25|1<<26)
		if v := b.read(r.base + e1000reg.DCTL); v != 1<<25 {
			t.Errorf("TXDCTL %#x, want the enable bit alone", v)
		}
		if diff := cmp.Diff([][]byte{f}, b.Sent()); diff != "" {
			t.Error(diff)
		}
	})
}

// Every queue sends, by registers at the old and at the new place.
func TestQueuesHaveTheirRegistersAtBothPlaces(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		queues := b.queues()
		f := rig.NewFlow(100).Build(t)
		for q := range queues {
			r := b.txOn(q)
			r.frame(f)
			b.write(0xe000+uint64(q)*0x40+0x18, r.next)
			if diff := cmp.Diff([][]byte{f}, b.Sent()); diff != "" {
				t.Fatalf("queue %d: %s", q, diff)
			}
			if v := b.read(0xe000 + uint64(q)*0x40 + 0x10); v != 1 {
				t.Errorf("queue %d: head %d", q, v)
			}
		}
		b.write(0xe000+uint64(queues)*0x40+0x18, 1) // memory, if anything
		if len(b.Console()) != 0 {
			t.Error(b.Console())
		}
	})
}

func TestHeadIsWrittenBackIfAsked(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.txOn(0)
		at := b.Alloc(8)
		b.write(r.base+e1000reg.WBAL, uint32(at)|1)
		b.write(r.base+e1000reg.WBAH, uint32(at>>32))
		f := rig.NewFlow(100).Build(t)
		r.frame(f)
		r.frame(f)
		r.doorbell()
		if v := b.Words(at, 1)[0]; v != 2 {
			t.Errorf("head in memory %d, want 2", v)
		}
		if r.status(0)&1 != 0 || r.status(1)&1 != 0 {
			t.Error("status was written too")
		}
		if len(b.Sent()) != 2 {
			t.Error("frames are missing")
		}
	})
}

// A port without room stops the queue: the head stays, nothing is lost.
func TestFullPortStopsTheHead(t *testing.T) {
	b := newBoard(t, "I225-V")
	r := b.txOn(0)
	f := rig.NewFlow(100).Build(t)
	sent := 0
	for b.read(r.base+e1000reg.HEAD) == r.next {
		if r.frame(f); sent == 5000 {
			t.Fatal("the wire is never full")
		}
		r.doorbell()
		sent++
	}
	stuck := b.read(r.base + e1000reg.HEAD)
	if r.status(stuck)&1 != 0 {
		t.Error("reported without being sent")
	}
	got := 0
	for n := len(b.Sent()); n > 0; n = len(b.Sent()) {
		got += n
		b.Settle()
	}
	if got != sent || b.read(r.base+e1000reg.HEAD) != r.next {
		t.Errorf("%d of %d frames left, head %d of %d", got, sent, b.read(r.base+e1000reg.HEAD), r.next)
	}
}
