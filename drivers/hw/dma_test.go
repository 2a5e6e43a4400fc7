package hw

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

func TestDMAChecksEveryAddress(t *testing.T) {
	k := newKernel(t, stepped(0))
	d := NewDMA(k, "em0", 21, NewFaults(k, "em0")) // 2 of the 4 MiB
	a, err := k.Mem.Alloc(4096, 64)
	must(t, err)
	must(t, d.Store64(a, 0x1122334455667788))
	if v, err := d.Load64(a); err != nil || v != 0x1122334455667788 {
		t.Errorf("Load64 = %#x, %v", v, err)
	}
	must(t, d.Store32(a+8, 7))
	b, err := d.Slice(a, 12, busdma.ToDevice)
	must(t, err)
	if b[0] != 0x88 || b[8] != 7 {
		t.Errorf("memory % x", b)
	}
	var fault *busdma.Fault
	for name, try := range map[string]func() error{
		"beyond memory":     func() error { _, err := d.Slice(5<<20, 1, busdma.ToDevice); return err },
		"beyond the width":  func() error { _, err := d.Slice(1<<21, 1, busdma.ToDevice); return err },
		"wraps":             func() error { _, err := d.Slice(a, ^uint64(0), busdma.FromDevice); return err },
		"highest address":   func() error { return d.Store64(^physmem.Addr(0), 1) },
		"misaligned load":   func() error { _, err := d.Load64(a + 4); return err },
		"misaligned store":  func() error { return d.Store32(a+2, 1) },
		"ring of nonsense":  func() error { _, err := d.Ring(a, 1<<40); return err },
		"negative ring":     func() error { _, err := d.Ring(a, -1); return err },
		"ring beyond width": func() error { _, err := d.Ring(1<<21-8, 2); return err },
	} {
		if err := try(); !errors.As(err, &fault) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for range 3 {
		d.Fault(2, 17, fault)
	}
	d.Fault(3, 1, fault)
	if n := strings.Count(k.Dmesg(), "em0: queue 2 descriptor 17: "); n != 1 || d.Faults() != 4 || !strings.Contains(k.Dmesg(), "em0: queue 3 ") {
		t.Errorf("%d faults counted, log\n%s", d.Faults(), k.Dmesg())
	}
}

func TestDMAErrorFault(t *testing.T) {
	k := newKernel(t, stepped(0))
	f := NewFaults(k, "em0")
	d := NewDMA(k, "em0", 0, f)
	must(t, f.DMAError.Set("1*return(1)"))
	if _, err := d.Slice(physmem.ReservedSize, 64, busdma.ToDevice); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v, want EIO", err)
	}
	if _, err := d.Slice(physmem.ReservedSize, 64, busdma.ToDevice); err != nil {
		t.Errorf("second access: %v", err)
	}
}

// Case 52: the registers of a ring are written in any order.
func TestRingFollowsItsRegisters(t *testing.T) {
	k := newKernel(t, stepped(0))
	d := NewDMA(k, "em0", 0, NewFaults(k, "em0"))
	a, err := k.Mem.Alloc(8192, 64)
	must(t, err)
	var r Ring
	if _, err := r.Words(d, 0x3, 64); err == nil {
		t.Error("a misaligned ring was accepted")
	}
	w, err := r.Words(d, a, 64)
	must(t, err)
	must(t, d.Store64(a+8*63, 5))
	if len(w) != 64 || w[63] != 5 {
		t.Errorf("%d words, last %d", len(w), w[63])
	}
	if w, err = r.Words(d, a+4096, 32); err != nil || len(w) != 32 || w[0] != 0 {
		t.Errorf("after a change: %d words, %v", len(w), err)
	}
	r.Forget()
	if r.valid {
		t.Error("Forget kept the view")
	}
}

func TestRingIsCheckedAnewInCheckingMode(t *testing.T) {
	env := sysctl.NewKenv()
	must(t, env.Set("hw.busdma.check", "1"))
	cfg := stepped(0)
	cfg.Env = env
	k := newKernel(t, cfg)
	tag, err := busdma.NewTag(k, busdma.TagConfig{Name: "ring", Align: 128, MaxSize: 4096, NSegments: 1, MaxSegSize: 4096})
	must(t, err)
	mem, err := busdma.Alloc(tag)
	must(t, err)
	d := NewDMA(k, "em0", 0, NewFaults(k, "em0"))
	var r Ring
	_, err = r.Words(d, mem.Addr, 512)
	must(t, err)
	mem.Free()
	var fault *busdma.Fault
	if _, err = r.Words(d, mem.Addr, 512); !errors.As(err, &fault) || fault.Reason != busdma.NotLoaded {
		t.Errorf("a freed ring: %v", err)
	}
	must(t, tag.Destroy())
}

func TestFaultsCorruptWords(t *testing.T) {
	k := newKernel(t, stepped(0))
	f := NewFaults(k, "em0")
	if f.Writeback(5) != 5 || f.NVMWord(6) != 6 {
		t.Error("corrupted without a fault")
	}
	must(t, k.Sysctl.SetText("debug.fail_point.hw.em0.corrupt_writeback", "1*return(1)->1*return(0)"))
	must(t, f.EEPROM.Set("return(255)"))
	if a, b := f.Writeback(5), f.Writeback(5); a != 4 || b != ^uint64(5) {
		t.Errorf("%#x and %#x", a, b)
	}
	if got := f.NVMWord(0x1234); got != 0x12cb {
		t.Errorf("NVM word %#x", got)
	}
}

func TestMMIODelaysAboutAsLongAsSaid(t *testing.T) {
	m := NewMMIO(&Config{MMIOWriteNs: 2000})
	start := time.Now()
	const n = 1000
	for range n {
		m.Write()
		m.Read() // free
	}
	if d := time.Since(start); d < n*1000*time.Nanosecond {
		t.Errorf("%d writes of 2 us took %v", n, d)
	}
	if m := NewMMIO(&Config{MMIOReadNs: -5}); m.read != 0 || m.write != 0 {
		t.Error("a delay out of nothing")
	}
}

func TestGatherCopiesAcrossPieces(t *testing.T) {
	frame := build(t, flow{vlan: 77, payload: pattern(10)})
	var g Gather
	g.Reset(frame)
	if _, ok := g.Strip(TPID8021AD); ok {
		t.Fatal("stripped a tag of another type")
	}
	tci, ok := g.Strip(TPID8021Q)
	if !ok || tci != 77 || g.Len() != len(frame)-4 {
		t.Fatalf("tag %d %v, %d bytes left", tci, ok, g.Len())
	}
	g.Append(Pad(g.Len() - 4))
	g.Append([]byte{1, 2, 3, 4})
	want := append(append(append([]byte(nil), frame[:12]...), frame[16:]...), 1, 2, 3, 4)
	var got []byte
	for g.Len() > 0 {
		buf := make([]byte, 7)
		got = append(got, buf[:g.Copy(buf)]...)
	}
	diffFrames(t, "gather", [][]byte{got}, [][]byte{want})
	if g.Copy(make([]byte, 1)) != 0 {
		t.Error("bytes out of an empty gather")
	}
}

func BenchmarkDMASlice(b *testing.B) {
	k := newKernel(b, stepped(0))
	d := NewDMA(k, "em0", 0, NewFaults(k, "em0"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Slice(physmem.ReservedSize, 1500, busdma.ToDevice); err != nil {
			b.Fatal(err)
		}
	}
}
