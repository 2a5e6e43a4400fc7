package busdma

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMisalignedPiecesAreBounced(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "em0")
	mp := m.tag(TagConfig{Align: 16, NSegments: 8}).NewMap()
	p := m.packet(frag{64, 40}, frag{1001, 5000}, frag{8192, 3})
	segs := make([]Seg, 8)
	n, err := mp.tag.LoadMbuf(mp, p, segs, ToDevice)
	if err != nil {
		t.Fatal(err)
	}
	// Two pages for the middle piece, which may follow each other in memory.
	if mp.Bounced() != 2 || segs[0] != m.segAt(64, 40) || segs[n-1] != m.segAt(8192, 3) {
		t.Errorf("%d pages, segments %v", mp.Bounced(), segs[:n])
	}
	if !bytes.Equal(gather(t, v, segs[:n]), contents(p)) {
		t.Error("the device does not read the packet")
	}
	want := Stats{Maps: 1, Loaded: 1, BouncePages: 2, ActivePages: 2, Bounced: 2}
	if d := cmp.Diff(want, ReadStats(m.k)); d != "" {
		t.Error(d)
	}
	mp.Unload()
	for name, want := range map[string]string{
		"hw.busdma.total_bounced": "2", "hw.busdma.total_bpages": "2", "hw.busdma.active_bpages": "0",
		"hw.busdma.zone0.total_bpages": "2", "hw.busdma.zone0.free_bpages": "2", "hw.busdma.zone0.active_bpages": "0",
		"hw.busdma.zone0.total_bounced": "2", "hw.busdma.zone0.alignment": "4096",
		"hw.busdma.zone0.lowaddr": "0xffffffffffffffff", "hw.busdma.maps": "1", "hw.busdma.check": "1",
	} {
		if got := m.text(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestSyncCopiesByDirection(t *testing.T) {
	m := newMachine(t, false)
	v := NewView(m.k, "em0")
	tag := m.tag(TagConfig{Align: 8})
	mp := tag.NewMap()
	p := m.packet(frag{1, 4})
	segs := make([]Seg, 1)
	load := func(dir Dir) {
		t.Helper()
		copy(p.Bytes(), "orig")
		if n, err := tag.LoadMbuf(mp, p, segs, dir); n != 1 || err != nil || mp.Bounced() != 1 {
			t.Fatalf("LoadMbuf = %d, %v with %d pages", n, err, mp.Bounced())
		}
	}
	page := func() []byte {
		b, err := v.Slice(segs[0].Addr, 4, Bidirectional)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	check := func(step, wantPage, wantBuffer string) {
		t.Helper()
		if string(page()) != wantPage || string(p.Bytes()) != wantBuffer {
			t.Errorf("%s: page %q buffer %q, want %q and %q", step, page(), p.Bytes(), wantPage, wantBuffer)
		}
	}
	load(ToDevice)
	check("loaded to device", "orig", "orig")
	copy(p.Bytes(), "newb")
	check("buffer changed", "orig", "newb")
	mp.Sync(PreWrite)
	check("PreWrite", "newb", "newb")
	copy(page(), "junk")
	mp.Sync(PostWrite | PostRead)
	check("PostWrite", "junk", "newb")
	mp.Unload()
	check("unloaded", "junk", "newb")

	load(FromDevice)
	copy(page(), "wire")
	mp.Sync(PreWrite)
	check("PreWrite from device", "wire", "orig")
	mp.Sync(PostRead)
	check("PostRead", "wire", "wire")
	copy(p.Bytes(), "mine")
	mp.Unload()
	check("unloaded after PostRead", "wire", "mine")

	load(FromDevice)
	copy(page(), "next")
	mp.Sync(PostRead)
	mp.Sync(PreRead)
	copy(page(), "last")
	mp.Unload()
	check("unloaded with no PostRead since PreRead", "last", "last")
	mp.Unload()
	mp.Sync(PostRead)
	check("nothing loaded", "last", "last")
}

func TestNarrowDeviceIsGivenLowPages(t *testing.T) {
	m := newMachine(t, true)
	v := NewView(m.k, "nic0")
	const width = 23 // 8 MiB of 16
	high, err := m.k.Mem.Alloc(testMemory/2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.k.Mem.Free(high)
	a := high + testMemory/2 - 64
	if uint64(a) < 1<<width {
		t.Fatalf("buffer at %#x is within reach", a)
	}
	mp := m.tag(TagConfig{Name: "nic0 rx", Width: width}).NewMap()
	segs := make([]Seg, 2)
	n, err := mp.tag.LoadBuffer(mp, a, 64, segs, FromDevice)
	if err != nil || n != 1 || uint64(segs[0].Addr)+segs[0].Len > 1<<width {
		t.Fatalf("LoadBuffer = %v, %v", segs[:n], err)
	}
	scatter(t, v, segs[:n], bytes.Repeat([]byte{7}, 64))
	mp.Unload()
	if got := m.k.Mem.Bytes(a, 64); !bytes.Equal(got, bytes.Repeat([]byte{7}, 64)) {
		t.Errorf("buffer holds % x", got)
	}
	if got := m.text("hw.busdma.zone0.lowaddr"); got != "0x800000" {
		t.Errorf("lowaddr is %s", got)
	}
}

func TestBouncePagesAreBounded(t *testing.T) {
	m := newMachine(t, false)
	tag := m.tag(TagConfig{Align: 4})
	segs := make([]Seg, 1)
	inUse := m.k.Mem.InUse()
	var maps []*Map
	for range MaxBouncePages {
		mp := tag.NewMap()
		if _, err := tag.LoadBuffer(mp, m.arena+1, 8, segs, ToDevice); err != nil {
			t.Fatalf("load %d: %v", len(maps), err)
		}
		maps = append(maps, mp)
	}
	mp := tag.NewMap()
	if _, err := tag.LoadBuffer(mp, m.arena+1, 8, segs, ToDevice); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("load beyond the pool: %v, want ENOMEM", err)
	}
	maps[0].Unload()
	if _, err := tag.LoadBuffer(mp, m.arena+1, 8, segs, ToDevice); err != nil {
		t.Errorf("load after an unload: %v", err)
	}
	for _, mp := range append(maps, mp) {
		mp.Unload()
		if err := mp.Destroy(); err != nil {
			t.Fatal(err)
		}
	}
	if err := tag.Destroy(); err != nil {
		t.Fatal(err)
	}
	if got := m.k.Mem.InUse(); got != inUse {
		t.Errorf("%d bytes of memory in use after the tag, %d before", got, inUse)
	}
	if _, err := m.k.Sysctl.Lookup("hw.busdma.zone0"); err == nil {
		t.Error("hw.busdma.zone0 outlives its tags")
	}
}

func TestTagsWithTheSameDemandsShareAZone(t *testing.T) {
	m := newMachine(t, false)
	a, b := m.tag(TagConfig{Align: 4}), m.tag(TagConfig{Align: 64})
	if a.zone != b.zone {
		t.Error("two zones for pages of the same kind")
	}
	if err := a.Destroy(); err != nil {
		t.Fatal(err)
	}
	if got := m.text("hw.busdma.zone0.total_bpages"); got != "0" {
		t.Errorf("total_bpages is %s", got)
	}
	if c := m.tag(TagConfig{Width: 64, Boundary: 4096}); c.zone != nil {
		t.Error("a zone for a tag that reaches everything")
	}
}
