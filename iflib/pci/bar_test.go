package pci_test

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/sysctl"
)

func TestDisabledDecodingReadsAllOnes(t *testing.T) {
	n := newNIC()
	_, f := plugged(t, stepped(0), n)
	mem, io := mapBAR(t, f, pci.BARReg(0)), mapBAR(t, f, pci.BARReg(2))
	if got := f.ReadConfig16(pci.RegCommand); got != pci.CmdMem|pci.CmdIO {
		t.Fatalf("command %#x after mapping", got)
	}
	mem.Write32(8, 0x12345678)
	f.WriteConfig16(pci.RegCommand, pci.CmdIO)
	mem.Write32(8, 1)
	block := make([]byte, 3)
	mem.ReadBlock(8, block)
	if mem.Read8(8) != 0xff || mem.Read16(8) != 0xffff || mem.Read32(8) != 0xffffffff || mem.Read64(8) != 1<<64-1 || !cmp.Equal(block, []byte{255, 255, 255}) {
		t.Error("memory answers while it is not decoded")
	}
	if got := io.Read32(8); got != 0x12345678 {
		t.Errorf("I/O reads %#x", got)
	}
	f.WriteConfig16(pci.RegCommand, pci.CmdMem)
	if got := mem.Read32(8); got != 0x12345678 {
		t.Errorf("memory reads %#x: the write while off was not lost", got)
	}
	if got := io.Read32(8); got != 0xffffffff {
		t.Errorf("I/O reads %#x while it is not decoded", got)
	}
}

func TestAccessBeyondTheBARIsAborted(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	b := mapBAR(t, f, pci.BARReg(0))
	for _, off := range []uint64{barSize - 3, barSize, 1 << 40, 1<<64 - 1, 1<<64 - 4} {
		b.Write32(off, 7)
		if got := b.Read32(off); got != 0xffffffff {
			t.Errorf("%#x reads %#x", off, got)
		}
	}
	b.WriteBlock(0, make([]byte, barSize+1))
	b.Write64(barSize-8, 1)
	if got := b.Read64(barSize - 8); got != 1 {
		t.Errorf("last register reads %#x", got)
	}
}

func TestMapBARErrors(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	for _, rid := range []int{0, pci.BARReg(1), pci.BARReg(5), 0x11, 0x30} {
		if _, err := f.MapBAR(rid); !errors.Is(err, syscall.ENXIO) {
			t.Errorf("BAR %#x: %v, want ENXIO", rid, err)
		}
	}
	failpoint(t, k, "pci.map_bar", "1*return(12)")
	if _, err := f.MapBAR(pci.BARReg(0)); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("failpoint: %v, want ENOMEM", err)
	}
	mapBAR(t, f, pci.BARReg(0))
	if err := f.UnmapBAR(pci.BARReg(0)); err != nil {
		t.Error(err)
	}
	if err := f.UnmapBAR(pci.BARReg(0)); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("second unmap: %v, want ENXIO", err)
	}
}

// Whatever the width and alignment, Regs32 is a little-endian array of bytes.
func TestRegs32IsLittleEndianMemory(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := newNIC()
		b := pci.Regs32{Registers32: n}
		var want [barSize]byte
		le := binary.LittleEndian
		for range rapid.IntRange(1, 30).Draw(r, "ops") {
			off := rapid.Uint64Range(0, barSize-16).Draw(r, "off")
			v := rapid.Uint64().Draw(r, "v")
			switch rapid.IntRange(0, 4).Draw(r, "width") {
			case 0:
				b.Write8(off, uint8(v))
				want[off] = uint8(v)
			case 1:
				b.Write16(off, uint16(v))
				le.PutUint16(want[off:], uint16(v))
			case 2:
				b.Write32(off, uint32(v))
				le.PutUint32(want[off:], uint32(v))
			case 3:
				b.Write64(off, v)
				le.PutUint64(want[off:], v)
			case 4:
				p := rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(r, "block")
				b.WriteBlock(off, p)
				copy(want[off:], p)
			}
			at := rapid.Uint64Range(0, barSize-8).Draw(r, "at")
			if b.Read8(at) != want[at] || b.Read16(at) != le.Uint16(want[at:]) || b.Read32(at) != le.Uint32(want[at:]) || b.Read64(at) != le.Uint64(want[at:]) {
				r.Fatalf("reads at %d differ", at)
			}
		}
		got := make([]byte, barSize)
		b.ReadBlock(0, got)
		if !cmp.Equal(got, want[:]) {
			r.Fatalf("block differs: %s", cmp.Diff(want[:], got))
		}
	})
}

// A register whose reading has effects is read once, and a word write reads nothing.
func TestRegs32ReadsEachWordOnce(t *testing.T) {
	n := newNIC()
	b := pci.Regs32{Registers32: n}
	for _, tc := range []struct {
		name string
		do   func()
		want []uint64
	}{
		{"Read8", func() { b.Read8(7) }, []uint64{4}},
		{"Read16 across", func() { b.Read16(7) }, []uint64{4, 8}},
		{"Read16 within", func() { b.Read16(4) }, []uint64{4}},
		{"Read64", func() { b.Read64(8) }, []uint64{8, 12}},
		{"ReadBlock", func() { b.ReadBlock(6, make([]byte, 7)) }, []uint64{4, 8, 12}},
		{"Write32", func() { b.Write32(8, 1) }, nil},
		{"Write64", func() { b.Write64(8, 1) }, nil},
		{"Write8", func() { b.Write8(9, 1) }, []uint64{8}},
		{"WriteBlock", func() { b.WriteBlock(6, make([]byte, 7)) }, []uint64{4, 12}},
	} {
		n.reads = nil
		tc.do()
		if !cmp.Equal(n.reads, tc.want) {
			t.Errorf("%s reads %v, want %v", tc.name, n.reads, tc.want)
		}
	}
}

func TestMMIOCostsTimeWhenAsked(t *testing.T) {
	const cost = 200 * time.Microsecond
	_, f := plugged(t, stepped(0), newNIC(), pci.WithMMIOCost(pci.MMIOCost{Write: cost}))
	b := mapBAR(t, f, pci.BARReg(0))
	start := time.Now()
	b.Write32(0, 5)
	b.Write64(8, 5)
	b.WriteBlock(16, make([]byte, 9)) // two beats
	if d := time.Since(start); d < 4*cost {
		t.Errorf("four posted writes took %v, want at least %v", d, 4*cost)
	}
	if b.Read32(0) != 5 || b.Read64(8) != 5 {
		t.Error("a write was lost")
	}
}

func TestMMIOCostFromHints(t *testing.T) {
	env := sysctl.NewKenv()
	for k, v := range map[string]string{"hint.em.0.mmio_ns": "150", "hint.em.0.mmio_read_ns": "900", "hint.em.2.mmio_ns": "x", "hint.em.3.mmio_read_ns": "1000001"} {
		if err := env.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	got, err := pci.MMIOCostFromHints(env, "em", 0)
	if want := (pci.MMIOCost{Write: 150, Read: 900}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := pci.MMIOCostFromHints(env, "em", 1); err != nil || got != (pci.MMIOCost{}) {
		t.Errorf("without hints: %+v, %v", got, err)
	}
	if _, err := pci.MMIOCostFromHints(env, "em", 2); err == nil {
		t.Error("no error for a hint that is no number")
	}
	if _, err := pci.MMIOCostFromHints(env, "em", 3); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("above 1 ms: %v, want EINVAL", err)
	}
}

func BenchmarkWindowWrite32(b *testing.B) {
	_, f := plugged(b, stepped(0), newNIC())
	bar := mapBAR(b, f, f.MSIXTableBAR())
	b.ReportAllocs()
	for b.Loop() {
		bar.Write32(8, 1)
	}
}
