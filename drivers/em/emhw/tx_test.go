package emhw_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// The descriptors are typed as hexadecimal dwords on purpose: the constants of emreg
// are what is being tested.

func TestLegacyDescriptorsGatherAndPad(t *testing.T) {
	for _, chip := range someChips() {
		b := newBoard(t, chip)
		r := b.txOn(0)
		f := rig.NewFlow(1).Build(t)
		r.data(f[:20], 0x02000000, 0)
		r.data(f[20:], 0x0b000000, 0) // EOP IFCS RS
		r.doorbell()
		if diff := cmp.Diff([][]byte{rig.Padded(f)}, b.frames()); diff != "" {
			t.Errorf("%s: %s", chip, diff)
		}
		if got := [2]uint32{r.status(0), r.status(1)}; got != [2]uint32{0, 1} {
			t.Errorf("%s: status %x, want DD on the second only", chip, got)
		}
		if h := b.read(emreg.TDH); h != 2 {
			t.Errorf("%s: head %d, want 2", chip, h)
		}
	}
}

func TestWriteBackKeepsTheRestOfTheWord(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.txOn(0)
	f := rig.Padded(rig.NewFlow(1).Build(t))
	r.data(f, 0x0b000000, 0xabcd120e) // tag, CSS and EC|LC|TU
	r.doorbell()
	want := uint64(0xabcd1201)<<32 | 0x0b000000 | uint64(len(f))
	if r.words[1] != want {
		t.Errorf("descriptor %x, want %x", r.words[1], want)
	}
}

func TestLegacyChecksum(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.txOn(0)
	f := rig.NewFlow(101)
	f.UDP = true
	p := f.Unsummed(t, false)
	binary.BigEndian.PutUint16(p[24:], binary.BigEndian.Uint16(f.Build(t)[24:])) // the stack did the IP header
	r.data(p, 0x0f280000, 0x00002200)                                            // CSO 40, EOP IFCS IC RS, CSS 34
	r.doorbell()
	if diff := cmp.Diff([][]byte{f.Build(t)}, b.frames()); diff != "" {
		t.Error(diff)
	}
}

func TestContextAndExtendedDataChecksums(t *testing.T) {
	for _, tc := range []struct {
		name       string
		v6, udp    bool
		ctx0, ctx1 uint32 // d0, d1
		ctx2       uint32
		d3         uint32
		payload    int
	}{
		{name: "tcp4", ctx0: 0x0021180e, ctx1: 0x00003222, ctx2: 0x23000000, d3: 0x300, payload: 777},
		{name: "udp4", udp: true, ctx0: 0x0021180e, ctx1: 0x00002822, ctx2: 0x22000000, d3: 0x300, payload: 64},
		{name: "tcp6", v6: true, ctx0: 0x0000180e, ctx1: 0x00004636, ctx2: 0x21000000, d3: 0x200, payload: 1},
		{name: "udp6", v6: true, udp: true, ctx0: 0x0000180e, ctx1: 0x00003c36, ctx2: 0x20000000, d3: 0x200, payload: 300},
	} {
		for _, chip := range someChips() {
			b := newBoard(t, chip)
			r := b.txOn(0)
			f := rig.NewFlow(tc.payload)
			f.V6, f.UDP = tc.v6, tc.udp
			p := f.Unsummed(t, false)
			r.put(tc.ctx0, tc.ctx1, tc.ctx2, 0)
			r.data(p[:40], 0x22100000, tc.d3)
			r.data(p[40:], 0x2b100000, tc.d3)
			r.doorbell()
			if diff := cmp.Diff([][]byte{rig.Padded(f.Build(t))}, b.frames()); diff != "" {
				t.Errorf("%s on %s: %s", tc.name, chip, diff)
			}
			if r.status(0) != 0 || r.status(2) != tc.d3|1 {
				t.Errorf("%s on %s: status %x %x", tc.name, chip, r.status(0), r.status(2))
			}
		}
	}
}

// The device keeps contexts until the next one: packets go on using them (spec 1g 4.1).
func TestContextsOfBothKindsPersist(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.txOn(0)
	f := rig.NewFlow(600)
	r.put(0x0021180e, 0x00003222, 0x27000258, 300<<16|54<<8) // TSO: PAYLEN 600, MSS 300
	r.put(0x0021180e, 0x00003222, 0x23000000, 0)             // checksums
	r.data(f.Unsummed(t, false), 0x2b100000, 0x300)
	r.data(f.Unsummed(t, true), 0x2f100000, 0x300) // TSE
	r.data(f.Unsummed(t, false), 0x2b100000, 0x300)
	r.doorbell()
	got := b.frames()
	var sizes []int
	for _, g := range got {
		sizes = append(sizes, len(g))
	}
	if !slices.Equal(sizes, []int{654, 354, 354, 654}) {
		t.Fatalf("frames of %v bytes", sizes)
	}
	if !bytes.Equal(got[0], f.Build(t)) || !bytes.Equal(got[3], f.Build(t)) {
		t.Error("the checksum context was lost")
	}
}

// Case 15: the frames of a TSO packet are complete, each of them.
func TestSegmentation(t *testing.T) {
	for _, chip := range someChips() {
		for _, v6 := range []bool{false, true} {
			b := newBoard(t, chip)
			b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
			r := b.txOn(0)
			f := rig.NewFlow(4096)
			f.V6, f.ID, f.Push, f.Seq = v6, 7, true, 0xfffffff0
			p := f.Unsummed(t, true)
			d3 := uint32(0xa064_0300)
			if v6 {
				r.put(0x0000180e, 0x00004636, 0x25001000, 1448<<16|74<<8)
				d3 = 0xa064_0200
			} else {
				binary.BigEndian.PutUint16(p[16:], 20+20+1448)
				r.put(0x0021180e, 0x00003222, 0x27001000, 1448<<16|54<<8)
			}
			r.data(p[:100], 0x66100000, d3)
			r.data(p[100:len(p)-4], 0x66100000, d3)
			r.data(p[len(p)-4:], 0x6f100000, d3) // sentinel
			r.doorbell()
			f.VLAN = 0xa064
			if diff := cmp.Diff(f.Segments(t, 1448), b.frames()); diff != "" {
				t.Errorf("%s v6 %v: %s", chip, v6, diff)
			}
			if n := b.read(emreg.TSCTC); n != 1 {
				t.Errorf("%s: TSCTC %d, want 1", chip, n)
			}
		}
	}
}

func TestTagIsInsertedOnlyInVLANMode(t *testing.T) {
	for _, tc := range []struct {
		vme, ext bool
		want     int
	}{{true, false, 0x2005}, {true, true, 0x2005}, {false, false, -1}, {false, true, -1}} {
		b := newBoard(t, "82574L")
		if tc.vme {
			b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
		}
		r := b.txOn(0)
		f := rig.NewFlow(2)
		d2 := uint32(0x4b000000)
		if tc.ext {
			d2 = 0x6b100000
		}
		r.data(f.Build(t), d2, 0x20050000)
		r.doorbell()
		f.VLAN = tc.want
		if diff := cmp.Diff([][]byte{rig.Padded(f.Build(t))}, b.frames()); diff != "" {
			t.Errorf("%+v: %s", tc, diff)
		}
	}
}

// Case 22: the chip does as it is told; a tag in the packet and VLE make two.
func TestTagInPacketAndVLEMakeTwo(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
	r := b.txOn(0)
	f := rig.NewFlow(60)
	f.VLAN = 0xa064
	r.data(f.Build(t), 0x4b000000, 0)
	r.doorbell()
	got := b.frames()
	if len(got) != 1 || !bytes.Equal(got[0][12:20], []byte{0x81, 0, 0, 0, 0x81, 0, 0xa0, 0x64}) {
		t.Errorf("frames %x", got)
	}
}

// Case 52: the ring is what the registers say when descriptors are fetched.
func TestRingRegistersInAnyOrder(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, chip := range someChips() {
			b := newBoard(t, chip)
			stale := b.ring(emreg.TDBAL, ringCount)
			stale.program()
			r := b.ring(emreg.TDBAL, ringCount)
			b.write(emreg.TCTL, emreg.TCTLEN)
			regs := [3][2]uint64{{emreg.TDBAL, uint64(r.addr)}, {emreg.TDBAH, uint64(r.addr >> 32)}, {emreg.TDLEN, ringCount * 16}}
			for _, i := range order {
				b.write(regs[i][0], uint32(regs[i][1]))
			}
			b.write(emreg.TDH, 0)
			f := rig.Padded(rig.NewFlow(9).Build(t))
			r.data(f, 0x0b000000, 0)
			r.doorbell()
			if got := b.frames(); len(got) != 1 || !bytes.Equal(got[0], f) || r.status(0) != 1 {
				t.Errorf("%s, order %v: %d frames, status %x", chip, order, len(got), r.status(0))
			}
		}
	}
}

func TestTransmitRingWraps(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.txOn(1)
	var want [][]byte
	for i := range 5 * ringCount {
		f := rig.NewFlow(60 + i)
		p := f.Build(t)
		want = append(want, p)
		r.data(p[:30], 0x02000000, 0)
		r.data(p[30:50], 0x02000000, 0)
		r.data(p[50:], 0x0b000000, 0)
		r.doorbell()
		if h := b.read(emreg.TDH + emreg.RingStride); h != r.next {
			t.Fatalf("head %d, want %d", h, r.next)
		}
	}
	if diff := cmp.Diff(want, b.frames()); diff != "" {
		t.Error(diff)
	}
}

func TestPacketWithoutEndWaitsForIt(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.txOn(0)
	f := rig.Padded(rig.NewFlow(9).Build(t))
	r.data(f[:30], 0x02000000, 0)
	r.doorbell()
	if got, h := b.frames(), b.read(emreg.TDH); len(got) != 0 || h != 0 {
		t.Fatalf("%d frames, head %d before the end of the packet", len(got), h)
	}
	r.data(f[30:], 0x0b000000, 0)
	r.doorbell()
	if diff := cmp.Diff([][]byte{f}, b.frames()); diff != "" {
		t.Error(diff)
	}
}

func TestContextAloneIsReported(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.txOn(0)
	r.put(0x0021180e, 0x00003222, 0x2b000000, 0) // RS
	r.doorbell()
	if r.status(0) != 1 || b.read(emreg.TDH) != 1 {
		t.Errorf("status %x, head %d", r.status(0), b.read(emreg.TDH))
	}
}

func TestForbiddenTransmitIsRefusedAndNamed(t *testing.T) {
	good := func(r *ring) { r.data(make([]byte, 60), 0x0b000000, 0) }
	for _, tc := range []struct {
		name string
		do   func(b *board, r *ring)
	}{
		{"tail outside the ring (TDT, 10.2.6.5)", func(b *board, r *ring) { good(r); b.write(emreg.TDT, ringCount) }},
		{"head outside the ring (TDH, 10.2.6.4)", func(b *board, r *ring) { good(r); b.write(emreg.TDH, 99); b.write(emreg.TDT, 1) }},
		{"tail written while TCTL.EN is 0 (TDT, 10.2.6.5)", func(b *board, r *ring) { b.write(emreg.TCTL, 0); good(r); r.doorbell() }},
		{"ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)", func(b *board, r *ring) {
			b.write(emreg.TDLEN, 16) // case 51
			if v := b.read(emreg.TDLEN); v != 0 {
				t.Errorf("TDLEN reads %d, want 0", v)
			}
			good(r)
			r.doorbell()
		}},
		{"context descriptor inside a packet (7.2.5)", func(b *board, r *ring) {
			r.data(make([]byte, 30), 0x02000000, 0)
			r.put(0x0021180e, 0x00003222, 0x23000000, 0)
			good(r)
			r.doorbell()
		}},
		{"offload asked for without a context (7.2.5)", func(b *board, r *ring) { r.data(make([]byte, 60), 0x2b100000, 0x200); r.doorbell() }},
		{"unknown transmit descriptor type (7.2.4)", func(b *board, r *ring) { r.data(make([]byte, 60), 0x2b300000, 0); good(r); r.doorbell() }},
		{"packet is not HDRLEN + PAYLEN bytes long, or too long to segment (7.2.5)", func(b *board, r *ring) {
			r.put(0x0021180e, 0x00003222, 0x27000010, 300<<16|54<<8)
			r.data(make([]byte, 60), 0x2f100000, 0x300)
			r.doorbell()
		}},
		{"checksum, tag or segment outside the packet (7.2.10)", func(b *board, r *ring) { r.data(make([]byte, 60), 0x0fff0000, 0); r.doorbell() }},
	} {
		b := newBoard(t, "82574L")
		r := b.txOn(0)
		tc.do(b, r)
		if got := b.frames(); len(got) != 0 {
			t.Errorf("%s: %d frames sent", tc.name, len(got))
		}
		if b.count(tc.name) == 0 {
			t.Errorf("%s: not counted", tc.name)
		}
		if n := strings.Count(b.out.String(), tc.name); n != 1 {
			t.Errorf("%s: named %d times: %s", tc.name, n, b.out)
		}
	}
}

func TestRefusedPacketIsStillReported(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.txOn(0)
	r.put(0, 0x7fff0000, 0x0b00003c, 0) // a buffer far outside memory
	r.data(rig.Padded(rig.NewFlow(0).Build(t)), 0x0b000000, 0)
	r.doorbell()
	if got := len(b.frames()); got != 1 || r.status(0) != 1 || r.status(1) != 1 {
		t.Errorf("%d frames, status %x %x", got, r.status(0), r.status(1))
	}
	if b.count("DMA faults") != 1 || b.count("transmit packets refused") != 1 {
		t.Errorf("DMA faults %d, refused %d", b.count("DMA faults"), b.count("transmit packets refused"))
	}
}

// The last context loaded by either queue of 82574 counts (spec 1g 3.1).
func TestContextsAreSharedByTheQueuesOf82574(t *testing.T) {
	b := newBoard(t, "82574L")
	r0, r1 := b.txOn(0), b.txOn(1)
	f := rig.NewFlow(50)
	r0.put(0x0021180e, 0x00003222, 0x23000000, 0)
	r0.doorbell()
	r1.data(f.Unsummed(t, false), 0x2b100000, 0x300)
	r1.doorbell()
	if diff := cmp.Diff([][]byte{f.Build(t)}, b.frames()); diff != "" {
		t.Error(diff)
	}
}

// A UDP checksum of 0 would mean none: it goes out as all ones.
func TestUDPChecksumOfZero(t *testing.T) {
	f := rig.NewFlow(2)
	f.UDP = true
	f.Payload[0], f.Payload[1] = 0, 0
	sum := f.Build(t)[40:42]
	copy(f.Payload, sum) // adding what the checksum was makes it 0
	b := newBoard(t, "82574L")
	r := b.txOn(0)
	r.put(0x0021180e, 0x00002822, 0x22000000, 0)
	r.data(f.Unsummed(t, false), 0x2b100000, 0x300)
	r.doorbell()
	got := b.frames()
	if len(got) != 1 || got[0][40] != 0xff || got[0][41] != 0xff {
		t.Errorf("frames %x", got)
	}
}

func TestTransmitWaitsForTheLink(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.CTRL, b.read(emreg.CTRL)&^emreg.CtrlSLU)
	r := b.txOn(0)
	r.data(rig.Padded(rig.NewFlow(1).Build(t)), 0x0b000000, 0)
	r.doorbell()
	if n := len(b.frames()); n != 0 || b.read(emreg.TDH) != 0 {
		t.Errorf("%d frames without a link, head %d", n, b.read(emreg.TDH))
	}
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlSLU)
	if n := len(b.frames()); n != 1 || b.read(emreg.TDH) != 1 {
		t.Errorf("%d frames with the link, head %d", n, b.read(emreg.TDH))
	}
}

func TestResetForgetsContexts(t *testing.T) {
	for _, chip := range someChips() {
		b := newBoard(t, chip)
		r := b.txOn(0)
		r.put(0x0021180e, 0x00003222, 0x23000000, 0)
		r.doorbell()
		b.write(emreg.CTRL, emreg.CtrlRST)
		r = b.txOn(0)
		r.data(rig.NewFlow(60).Unsummed(t, false), 0x2b100000, 0x300)
		r.doorbell()
		if n := len(b.frames()); n != 0 || b.count("offload asked for without a context (7.2.5)") != 1 {
			t.Errorf("%s: %d frames by a context of before", chip, n)
		}
	}
}
