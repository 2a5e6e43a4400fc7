package busdma

import (
	"errors"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
)

func TestCheckingModeFaultsOutsideLoadedMaps(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "em0")
	mp := m.tag(TagConfig{}).NewMap()
	segs := make([]Seg, 1)
	mustLoad := func(dir Dir) {
		t.Helper()
		if _, err := mp.tag.LoadBuffer(mp, m.arena+4096, 1024, segs, dir); err != nil {
			t.Fatal(err)
		}
	}
	access := func(off, n int, dir Dir, ok bool) {
		t.Helper()
		if _, err := v.Slice(m.arena+physmem.Addr(off), uint64(n), dir); (err == nil) != ok {
			t.Errorf("%v of %d bytes at %d: %v, want allowed %v", dir, n, off, err, ok)
		}
	}
	access(4096, 1, ToDevice, false)
	mustLoad(ToDevice)
	access(4096, 1024, ToDevice, true)
	access(4096, 1024, FromDevice, false)
	access(4096, 1024, Bidirectional, false)
	access(4095, 2, ToDevice, false)
	access(4096, 1025, ToDevice, false)
	access(0, 0, ToDevice, true)
	mp.Unload()
	access(4096, 1024, ToDevice, false)
	mustLoad(FromDevice)
	access(5119, 1, FromDevice, true)
	access(4096, 1024, ToDevice, false)
	mp.Unload()
	mustLoad(Bidirectional)
	access(4096, 1024, Bidirectional, true)
	mp.Unload()
	access(4096, 1024, Bidirectional, false)
	if got := m.text("hw.busdma.faults"); got != "8" {
		t.Errorf("hw.busdma.faults is %s, want 8", got)
	}
}

// TestLoadingAPacketOpensNoOtherPacket loads one of many mbufs, small and with
// clusters, and looks at the others.
func TestLoadingAPacketOpensNoOtherPacket(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "em0")
	var packets []*mbuf.Mbuf
	for i := range 32 {
		get := m.cache.GetHdr
		if i%2 == 1 {
			get = func() *mbuf.Mbuf { return m.cache.GetCl(mbuf.FlagPktHdr) }
		}
		p := get()
		p.SetLen(p.Size())
		packets = append(packets, p)
		defer m.cache.FreeChain(p)
	}
	mp := m.tag(TagConfig{}).NewMap()
	for i, p := range packets {
		if _, err := mp.tag.LoadMbuf(mp, p, make([]Seg, 1), ToDevice); err != nil {
			t.Fatal(err)
		}
		for j, q := range packets {
			for _, off := range []int{0, q.Len() - 1} {
				_, err := v.Slice(q.BusAddr()+physmem.Addr(off), 1, ToDevice)
				if (err == nil) != (i == j) {
					t.Errorf("packet %d loaded, byte %d of packet %d: %v", i, off, j, err)
				}
			}
		}
		mp.Unload()
	}
}

func TestMemoryLoadedTwiceStaysUntilBothUnload(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "em0")
	tag := m.tag(TagConfig{})
	a, b := tag.NewMap(), tag.NewMap()
	segs := make([]Seg, 1)
	for _, mp := range []*Map{a, b} {
		if _, err := tag.LoadBuffer(mp, m.arena, 64, segs, ToDevice); err != nil {
			t.Fatal(err)
		}
	}
	a.Unload()
	if _, err := v.Slice(m.arena, 64, ToDevice); err != nil {
		t.Errorf("one of two maps unloaded: %v", err)
	}
	b.Unload()
	if _, err := v.Slice(m.arena, 64, ToDevice); err == nil {
		t.Error("both maps unloaded: no fault")
	}
}

func TestFaultNamesWhatTheDeviceDid(t *testing.T) {
	m := newMachine(t, true)
	var events []probe.Event
	m.k.Probes.Enable(func(e probe.Event) { events = append(events, e) })
	v := NewView(m.k, "igb1")
	for _, c := range []struct {
		access func() error
		want   Fault
		text   string
	}{
		{
			func() error { _, err := v.Slice(0x200000, 60, ToDevice); return err },
			Fault{"igb1", 0x200000, 60, ToDevice, NotLoaded},
			"igb1: DMA fault: read of 60 bytes at 0x200000: not in a map loaded for it",
		},
		{
			func() error { _, err := v.Slice(testMemory, 2048, FromDevice); return err },
			Fault{"igb1", testMemory, 2048, FromDevice, OutsideMemory},
			"igb1: DMA fault: write of 2048 bytes at 0x1000000: outside memory",
		},
		{
			func() error { _, err := v.Words64(0x200004, 2, Bidirectional); return err },
			Fault{"igb1", 0x200004, 16, Bidirectional, Misaligned},
			"igb1: DMA fault: read and write of 16 bytes at 0x200004: misaligned words",
		},
		{
			func() error { _, err := v.Words32(0x200002, 1, ToDevice); return err },
			Fault{"igb1", 0x200002, 4, ToDevice, Misaligned},
			"igb1: DMA fault: read of 4 bytes at 0x200002: misaligned words",
		},
		{
			func() error { _, err := v.Words32(0x200000, -1, ToDevice); return err },
			Fault{"igb1", 0x200000, 0, ToDevice, OutsideMemory},
			"igb1: DMA fault: read of 0 bytes at 0x200000: outside memory",
		},
	} {
		events = nil
		var f *Fault
		err := c.access()
		if !errors.As(err, &f) {
			t.Errorf("%v is no fault, want %q", err, c.text)
			continue
		}
		if d := cmp.Diff(c.want, *f); d != "" {
			t.Error(d)
		}
		if f.Error() != c.text {
			t.Errorf("text %q, want %q", f, c.text)
		}
		if len(events) != 1 || events[0].ID != probeFault || events[0].Dev != "igb1" ||
			events[0].Args[0] != uint64(c.want.Addr) {
			t.Errorf("trace %v", events)
		}
	}
}

func TestWithoutCheckingADeviceReachesAllMemory(t *testing.T) {
	m := newMachine(t, false)
	if Checking(m.k) {
		t.Error("checking without hw.busdma.check")
	}
	v := NewView(m.k, "em0")
	if b, err := v.Slice(0, testMemory, Bidirectional); err != nil || len(b) != testMemory {
		t.Errorf("all of memory: %d bytes, %v", len(b), err)
	}
	if _, err := v.Slice(testMemory-1, 2, ToDevice); err == nil {
		t.Error("no fault outside memory")
	}
	if got := m.text("hw.busdma.faults"); got != "1" {
		t.Errorf("hw.busdma.faults is %s, want 1", got)
	}
}

func TestAllocatedMemoryIsAlwaysAccessible(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "em0")
	tag := m.tag(TagConfig{Name: "em0 ring", Align: 4096, Boundary: 1 << 16, MaxSize: 16384})
	mem, err := Alloc(tag)
	if err != nil {
		t.Fatal(err)
	}
	if mem.Size != 16384 || mem.Addr%4096 != 0 || len(mem.Bytes()) != 16384 {
		t.Errorf("%d bytes at %#x", mem.Size, mem.Addr)
	}
	words, err := v.Words64(mem.Addr+16, 2, Bidirectional)
	if err != nil {
		t.Fatal(err)
	}
	words[1] = 0x1122334455667788
	if got := mem.Words64()[3]; got != words[1] {
		t.Errorf("the driver sees %#x", got)
	}
	half, err := v.Words32(mem.Addr+24, 1, ToDevice)
	if err != nil || half[0] != 0x55667788 {
		t.Errorf("as 32-bit words: %#x, %v", half, err)
	}
	if err := tag.Destroy(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Destroy of a tag with memory: %v, want EBUSY", err)
	}
	a := mem.Addr
	mem.Free()
	mem.Free()
	if _, err := v.Slice(a, 64, ToDevice); err == nil {
		t.Error("freed memory is accessible")
	}
	if st := ReadStats(m.k); st.Mem != 0 {
		t.Errorf("%d pieces in use", st.Mem)
	}
	for _, cfg := range []TagConfig{{}, {MaxSize: 4096, MaxSegSize: 2048}, {MaxSize: 4096, Boundary: 2048}} {
		if _, err := Alloc(m.tag(cfg)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("Alloc with %+v: %v, want EINVAL", cfg, err)
		}
	}
	if _, err := Alloc(m.tag(TagConfig{MaxSize: 2 * testMemory})); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("Alloc of more than there is: %v, want ENOMEM", err)
	}
}

// TestOwnersAndDevicesShareTheTable loads and unloads from several goroutines
// while devices look. What a device is allowed to see it sees whole.
func TestOwnersAndDevicesShareTheTable(t *testing.T) {
	m := newMachine(t, true)
	tag := m.tag(TagConfig{Align: 8})
	var owners, devices sync.WaitGroup
	stop := make(chan struct{})
	for id := range 4 {
		owners.Go(func() {
			mp := tag.NewMap()
			segs := make([]Seg, 2)
			for i := range 2000 {
				off := physmem.Addr(id*4096 + i%3) // two of three are bounced
				if _, err := tag.LoadBuffer(mp, m.arena+off, 1000, segs, ToDevice); err != nil {
					t.Error(err)
					return
				}
				mp.Unload()
			}
			if err := mp.Destroy(); err != nil {
				t.Error(err)
			}
		})
		devices.Go(func() {
			v := NewView(m.k, "em0")
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := v.Slice(m.arena+physmem.Addr(id*4096), 1000, FromDevice); err == nil {
					t.Error("a device may write what is loaded for reading")
					return
				}
			}
		})
	}
	owners.Wait()
	close(stop)
	devices.Wait()
	for i := range stateOf(m.k).table.granules {
		if n := stateOf(m.k).table.granules[i].Load(); n != 0 {
			t.Fatalf("granule %d still counts %#x", i, n)
		}
	}
	if st := ReadStats(m.k); st.Maps != 0 || st.Loaded != 0 || st.ActivePages != 0 {
		t.Errorf("left over: %+v", st)
	}
}
