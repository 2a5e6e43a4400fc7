package emhw_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// buffer is what the device wrote to the buffer at a.
func (b *board) buffer(a uint64, n int) []byte { return b.k.Mem.Bytes(physmem.Addr(a), uint64(n)) }

func TestLegacyReceiveWriteBack(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(f *rig.Flow)
		bad  int    // byte to damage, 0 for none
		d3   uint32 // special, errors, status
	}{
		{"tcp4", func(*rig.Flow) {}, 0, 0x00000063},
		{"udp4", func(f *rig.Flow) { f.UDP = true }, 0, 0x00000073},
		{"tcp6 is not checked without IPV6OFL", func(f *rig.Flow) { f.V6 = true }, 0, 0x00000003},
		{"bad IP", func(*rig.Flow) {}, 22, 0x00004063},
		{"bad TCP", func(*rig.Flow) {}, 60, 0x00002063},
		{"tag", func(f *rig.Flow) { f.VLAN = 0xa064 }, 0, 0xa064006b},
		{"priority tag", func(f *rig.Flow) { f.VLAN = 0 }, 0, 0x0000006b},
	} {
		b := newBoard(t, "82540EM")
		b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
		b.write(emreg.RXCSUM, 0x300)
		r := b.rxOn(0, 0)
		addr := r.words[0]
		f := rig.NewFlow(100)
		tc.make(&f)
		p := f.Build(t)
		if tc.bad != 0 {
			p[tc.bad] ^= 0x10
		}
		want := p
		if f.VLAN >= 0 {
			want = append(append([]byte(nil), p[:12]...), p[16:]...)
		}
		b.arrive(p)
		if r.words[0] != addr {
			t.Errorf("%s: the address was overwritten", tc.name)
		}
		if w := uint64(tc.d3)<<32 | uint64(len(want)); r.words[1] != w {
			t.Errorf("%s: descriptor %016x, want %016x", tc.name, r.words[1], w)
		}
		if !bytes.Equal(b.buffer(addr, len(want)), want) {
			t.Errorf("%s: buffer differs from the frame", tc.name)
		}
		if h := b.read(emreg.RDH); h != 1 {
			t.Errorf("%s: head %d, want 1", tc.name, h)
		}
	}
}

func TestExtendedReceiveWriteBack(t *testing.T) {
	for _, tc := range []struct {
		name   string
		make   func(f *rig.Flow)
		bad    int
		d2     uint32
		vlan   uint32
		rxcsum uint32
	}{
		{"tcp4", func(*rig.Flow) {}, 0, 0x00000063, 0, 0x300},
		{"udp6", func(f *rig.Flow) { f.V6, f.UDP = true, true }, 0, 0x00000033, 0, 0x300},
		{"bad both", func(*rig.Flow) {}, 24, 0x40000063, 0, 0x300},
		{"bad TCP", func(*rig.Flow) {}, 60, 0x20000063, 0, 0x300},
		{"tag", func(f *rig.Flow) { f.VLAN = 5 }, 0, 0x0000006b, 5, 0x300},
		{"checksums off", func(*rig.Flow) {}, 60, 0x00000007, 0, 0},
	} {
		b := newBoard(t, "82574L")
		b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
		b.write(emreg.RFCTL, emreg.RFCTLEXTEN)
		b.write(emreg.RXCSUM, tc.rxcsum)
		r := b.rxOn(0, 0)
		f := rig.NewFlow(100)
		tc.make(&f)
		p := f.Build(t)
		if tc.bad != 0 {
			p[tc.bad] ^= 0x10
		}
		n := len(p)
		if f.VLAN >= 0 {
			n -= 4
		}
		b.arrive(p)
		if w := uint64(tc.vlan<<16|uint32(n))<<32 | uint64(tc.d2); r.words[0] != 0 || r.words[1] != w {
			t.Errorf("%s: descriptor %016x %016x, want 0 %016x", tc.name, r.words[0], r.words[1], w)
		}
	}
}

func TestShortFrameIsPaddedAndFCSKept(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.rxOn(0, 0)
	b.write(emreg.RCTL, emreg.RCTLEN) // SECRC off
	f := rig.NewFlow(3).Build(t)
	addr := r.words[0]
	b.arrive(f)
	want := rig.Padded(append([]byte(nil), f...))
	want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(want))
	if got := b.buffer(addr, 64); !bytes.Equal(got, want) || uint16(r.words[1]) != 64 {
		t.Errorf("%d bytes: %x\nwant %x", uint16(r.words[1]), got, want)
	}
}

func TestFrameIsSpreadOverBuffers(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.RFCTL, emreg.RFCTLEXTEN)
	r := b.rxOn(0, emreg.RCTLSz512)
	addr := [3]uint64{r.words[0], r.words[2], r.words[6]}
	r.words[4] = 0 // a null address is skipped
	p := rig.NewFlow(1100).Build(t)
	b.arrive(p)
	for i, want := range []uint64{512<<32 | 1, 512<<32 | 1, 1, 130<<32 | 0x63} {
		if r.words[2*i+1] != want {
			t.Errorf("descriptor %d: %016x, want %016x", i, r.words[2*i+1], want)
		}
	}
	var got []byte
	for i, n := range []int{512, 512, 130} {
		got = append(got, b.buffer(addr[i], n)...)
	}
	if !bytes.Equal(got, p) {
		t.Error("the pieces are not the frame")
	}
}

func TestLengthLimits(t *testing.T) {
	long := func(n int) []byte { return rig.NewFlow(n - 54).Build(t) }
	tagged := func(n int) []byte { f := rig.NewFlow(n - 58); f.VLAN = 1; return f.Build(t) }
	for _, tc := range []struct {
		name string
		rctl uint32
		p    []byte
		ok   bool
	}{
		{"1518", 0, long(1514), true}, {"1519", 0, long(1515), false},
		{"tagged 1522", 0, tagged(1518), true}, {"tagged 1523", 0, tagged(1519), false},
		{"16384 with LPE", emreg.RCTLLPE, long(16380), true}, {"16385 with LPE", emreg.RCTLLPE, long(16381), false},
	} {
		b := newBoard(t, "82540EM")
		r := b.rxOn(0, tc.rctl)
		b.arrive(tc.p)
		roc := b.read(emreg.ROC)
		if got := r.words[1] != 0; got != tc.ok || (roc == 1) == tc.ok {
			t.Errorf("%s: received %v, ROC %d", tc.name, got, roc)
		}
	}
}

// Cases 19 and 48 are in this table.
func TestReceiveFilters(t *testing.T) {
	group := [6]byte{1, 0, 0x5e, 0, 0x12, 0x34} // MO 0: (0x12>>4 | 0x34<<4) = 0x341; 1: 0x682; 2: 0xd04; 3: 0x412
	mta := func(hash uint64) func(*board) {
		return func(b *board) { b.write(emreg.MTA+hash/32*4, 1<<(hash%32)) }
	}
	vfta := func(v uint64) func(*board) {
		return func(b *board) { b.write(emreg.VFTA+v/32*4, 1<<(v%32)) }
	}
	rar5 := func(b *board) { b.write(emreg.RAL+40, 0x00000002); b.write(emreg.RAH+40, 0x80009900) }
	none := func(*board) {}
	for _, tc := range []struct {
		name string
		dst  [6]byte
		vlan int
		rctl uint32
		set  func(*board)
		ok   bool
		pif  bool
	}{
		{"own", macHW, -1, 0, none, true, false},
		{"other", macOther, -1, 0, none, false, false},
		{"other with UPE", macOther, -1, emreg.RCTLUPE, none, true, true},
		{"other with MPE", macOther, -1, emreg.RCTLMPE, none, false, false},
		{"other in RAR 5", macOther, -1, 0, rar5, true, false},
		{"other in RAR 5 without AV", macOther, -1, 0, func(b *board) { rar5(b); b.write(emreg.RAH+40, 0x9900) }, false, false},
		{"broadcast", bcast, -1, 0, none, false, false},
		{"broadcast with BAM", bcast, -1, emreg.RCTLBAM, none, true, false},
		{"group", group, -1, 0, none, false, false},
		{"group with MPE", group, -1, emreg.RCTLMPE, none, true, true},
		{"group with UPE", group, -1, emreg.RCTLUPE, none, false, false},
		{"group in MTA, MO 0", group, -1, 0, mta(0x341), true, true},
		{"group in MTA, MO 1", group, -1, 1 << 12, mta(0x682), true, true},
		{"group in MTA, MO 2", group, -1, 2 << 12, mta(0xd04), true, true},
		{"group in MTA, MO 3", group, -1, 3 << 12, mta(0x412), true, true},
		{"group in MTA of another MO", group, -1, 1 << 12, mta(0x341), false, false},
		{"tag without VFE", macHW, 100, 0, none, true, false},
		{"tag not in VFTA", macHW, 100, emreg.RCTLVFE, vfta(101), false, false},
		{"tag in VFTA", macHW, 100, emreg.RCTLVFE, vfta(100), true, false},
		{"priority does not count", macHW, 0xe064, emreg.RCTLVFE, vfta(100), true, false},
		{"untagged with VFE", macHW, -1, emreg.RCTLVFE, none, true, false},
		{"VLAN 0 not in VFTA", macHW, 0, emreg.RCTLVFE, none, false, false},
		{"VLAN 0 in VFTA", macHW, 0, emreg.RCTLVFE, vfta(0), true, false},
		{"VFE with UPE still filters tags", macHW, 100, emreg.RCTLVFE | emreg.RCTLUPE, none, false, false},
	} {
		for _, chip := range emhw.Chips()[:2] { // one of each class
			b := newBoard(t, chip)
			tc.set(b)
			r := b.rxOn(0, tc.rctl)
			f := rig.NewFlow(60)
			f.Dst, f.VLAN = tc.dst, tc.vlan
			b.arrive(f.Build(t))
			status := uint32(r.words[1] >> 32) // legacy format on both
			if (status&1 != 0) != tc.ok || (status&0x80 != 0) != tc.pif {
				t.Errorf("%s on %s: status %x, want received %v, PIF %v", tc.name, chip, status, tc.ok, tc.pif)
			}
			want := uint32(0)
			if tc.ok {
				want = 1
			}
			if n := b.read(emreg.GPRC); n != want {
				t.Errorf("%s on %s: GPRC %d, want %d", tc.name, chip, n, want)
			}
		}
	}
}

// Case 21: a frame keeps its tag as soon as CTRL.VME is off.
func TestTagStaysWithoutVLANMode(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.rxOn(0, 0)
	addr := r.words[0]
	f := rig.NewFlow(60)
	f.VLAN = 1001
	p := f.Build(t)
	b.arrive(p)
	if r.words[1]>>32&0x8 != 0 || !bytes.Equal(b.buffer(addr, len(p)), p) {
		t.Errorf("descriptor %x", r.words[1])
	}
}

func TestNoBufferIsCountedAndRaised(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.rxOn(0, 0)
	b.write(emreg.RDT, 1)
	for range 3 {
		b.arrive(rig.NewFlow(60).Build(t))
	}
	if mpc, rnbc := b.read(emreg.MPC), b.read(emreg.RNBC); mpc != 2 || rnbc != 2 {
		t.Errorf("MPC %d, RNBC %d, want 2", mpc, rnbc)
	}
	if icr := b.read(emreg.ICR); icr&(emreg.ICRRXO|emreg.ICRRXT0|emreg.ICRRXDMT0) != emreg.ICRRXO|emreg.ICRRXT0|emreg.ICRRXDMT0 {
		t.Errorf("ICR %x", icr)
	}
	b.write(emreg.RDT, 2)
	b.arrive(rig.NewFlow(60).Build(t))
	if r.words[3]>>32&3 != 3 {
		t.Error("no reception after a refill")
	}
	if icr := b.read(emreg.ICR); icr&emreg.ICRRXO != 0 {
		t.Errorf("ICR %x: overrun raised again", icr)
	}
}

func TestLowDescriptorsAreRaisedAtTheThreshold(t *testing.T) {
	for _, tc := range []struct {
		rdmts uint32
		at    int // frames until free <= 8, 4, 2
	}{{0, 7}, {1, 11}, {2, 13}} {
		b := newBoard(t, "82574L")
		b.rxOn(0, tc.rdmts<<emreg.RCTLRDMTSShift)
		b.read(emreg.ICR)
		for i := 1; i <= tc.at; i++ {
			if icr := b.read(emreg.ICR); icr&emreg.ICRRXDMT0 != 0 {
				t.Errorf("RDMTS %d: RXDMT0 after %d frames", tc.rdmts, i-1)
			}
			b.arrive(rig.NewFlow(60).Build(t))
		}
		if icr := b.read(emreg.ICR); icr&emreg.ICRRXDMT0 == 0 {
			t.Errorf("RDMTS %d: no RXDMT0 after %d frames", tc.rdmts, tc.at)
		}
	}
}

func TestReceiveRingWraps(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.RFCTL, emreg.RFCTLEXTEN)
	r := b.rxOn(0, 0)
	for i := range uint32(3 * ringCount) {
		at := i % ringCount
		addr := r.words[2*at]
		p := rig.NewFlow(100 + int(i)).Build(t)
		b.arrive(p)
		if uint32(r.words[2*at+1]) != 0x63 || !bytes.Equal(b.buffer(addr, len(p)), p) {
			t.Fatalf("frame %d: descriptor %x", i, r.words[2*at+1])
		}
		r.refill(at)
		b.write(emreg.RDT, at)
	}
}

func TestDMAFaultMarksTheFrameBad(t *testing.T) {
	b := newBoard(t, "82540EM")
	r := b.rxOn(0, 0)
	r.words[0] = 0x7fff_0000_0000
	b.arrive(rig.NewFlow(60).Build(t))
	if d3 := uint32(r.words[1] >> 32); d3&0x8003 != 0x8003 {
		t.Errorf("status and errors %x, want DD, EOP, RXE", d3)
	}
	if b.count("DMA faults") != 1 || b.read(emreg.GPRC) != 0 || b.read(emreg.RXERRC) != 1 {
		t.Error("the fault is not counted as one")
	}
}

func TestReceptionNeedsEnableAndLink(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.rxOn(0, 0)
	b.write(emreg.RCTL, 0)
	b.arrive(rig.NewFlow(60).Build(t))
	b.write(emreg.RCTL, emreg.RCTLEN)
	b.write(emreg.CTRL, b.read(emreg.CTRL)&^emreg.CtrlSLU)
	b.arrive(rig.NewFlow(60).Build(t))
	if r.words[1] != 0 || b.count("received while disabled") != 2 {
		t.Errorf("descriptor %x, %d lost", r.words[1], b.count("received while disabled"))
	}
}

var rssKey = []byte{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa}

// The vectors are those of spec ifnet 11.2.
func TestRSSHashTypeAndQueue(t *testing.T) {
	for _, tc := range []struct {
		mrqc   uint32
		reta   uint32 // the entry of the hash
		rxcsum uint32
		d0     uint32
		hash   uint32
		queue  uint64
	}{
		{0x00030001, 0x80, 0x2300, 0x101, 0x51ccc178, 1},
		{0x00030001, 0x7f, 0x2300, 0x001, 0x51ccc178, 0},
		{0x00020001, 0x80, 0x2300, 0x102, 0x323e8fc2, 1},
		{0x00030001, 0x80, 0x0300, 0x100, 0, 1}, // without PCSD not reported
		{0x00300001, 0x80, 0x2300, 0x000, 0, 0}, // IPv6 only
		{0x00030000, 0x80, 0x2300, 0x000, 0, 0}, // RSS off
	} {
		b := newBoard(t, "82574L")
		for i := range uint64(10) {
			b.write(emreg.RSSRK+4*i, binary.LittleEndian.Uint32(rssKey[4*i:]))
		}
		i := uint64(0x51ccc178 & 127)
		if tc.mrqc == 0x00020001 {
			i = 0x323e8fc2 & 127
		}
		b.write(emreg.RETA+i/4*4, tc.reta<<(i%4*8))
		b.write(emreg.MRQC, tc.mrqc)
		b.write(emreg.RXCSUM, tc.rxcsum)
		b.write(emreg.RFCTL, emreg.RFCTLEXTEN)
		rings := [2]*ring{b.rxOn(0, 0), b.rxOn(1, 0)}
		f := rig.NewFlow(10)
		f.Src4, f.Dst4, f.SPort, f.DPort = net.IP{66, 9, 149, 187}, net.IP{161, 142, 100, 80}, 2794, 1766
		b.arrive(f.Build(t))
		r := rings[tc.queue]
		if want := uint64(tc.hash)<<32 | uint64(tc.d0); r.words[0] != want || r.words[1]&1 == 0 {
			t.Errorf("%+v: %016x %016x, want %016x", tc, r.words[0], r.words[1], want)
		}
	}
}

func TestPauseFramesAreCountedAndKept(t *testing.T) {
	pause := func(quanta byte) []byte {
		return rig.Padded([]byte{1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 0, 1, quanta, 0})
	}
	b := newBoard(t, "82574L")
	r := b.rxOn(0, emreg.RCTLMPE)
	b.arrive(pause(1))
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlRFCE)
	b.arrive(pause(1), pause(0), pause(0))
	if got := [3]uint32{b.read(emreg.FCRUC), b.read(emreg.XOFFRXC), b.read(emreg.XONRXC)}; got != [3]uint32{1, 1, 2} {
		t.Errorf("FCRUC, XOFFRXC, XONRXC %v", got)
	}
	if r.words[1] != 0 {
		t.Error("a pause frame reached the host without PMCF")
	}
}
