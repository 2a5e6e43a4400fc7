package busdma

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/physmem"
)

func TestPacketsThatFitAreLoadedWhereTheyLie(t *testing.T) {
	m := newMachine(t, false)
	segs := make([]Seg, 8)
	for _, c := range []struct {
		name  string
		cfg   TagConfig
		frags []frag
		want  []Seg
	}{
		{"one", TagConfig{}, []frag{{100, 60}}, []Seg{m.segAt(100, 60)}},
		{"two", TagConfig{}, []frag{{100, 42}, {4096, 1300}}, []Seg{m.segAt(100, 42), m.segAt(4096, 1300)}},
		{"empty mbufs are skipped", TagConfig{}, []frag{{0, 0}, {100, 42}, {900, 0}, {4096, 9}, {64, 0}},
			[]Seg{m.segAt(100, 42), m.segAt(4096, 9)}},
		{"nothing", TagConfig{}, []frag{{0, 0}}, nil},
		{"neighbours join", TagConfig{}, []frag{{100, 28}, {128, 72}, {200, 1}}, []Seg{m.segAt(100, 101)}},
		{"reversed neighbours do not", TagConfig{}, []frag{{128, 72}, {100, 28}},
			[]Seg{m.segAt(128, 72), m.segAt(100, 28)}},
		{"neighbours join up to the segment size", TagConfig{MaxSegSize: 100}, []frag{{0, 60}, {60, 40}, {100, 1}},
			[]Seg{m.segAt(0, 100), m.segAt(100, 1)}},
		{"neighbours do not join across a boundary", TagConfig{Boundary: 128}, []frag{{100, 28}, {128, 72}},
			[]Seg{m.segAt(100, 28), m.segAt(128, 72)}},
		{"long data is split", TagConfig{MaxSegSize: 1000}, []frag{{0, 2500}},
			[]Seg{m.segAt(0, 1000), m.segAt(1000, 1000), m.segAt(2000, 500)}},
		{"splits keep the alignment", TagConfig{MaxSegSize: 1000, Align: 16}, []frag{{0, 2001}},
			[]Seg{m.segAt(0, 992), m.segAt(992, 992), m.segAt(1984, 17)}},
		{"a whole segment of odd size is not split", TagConfig{MaxSegSize: 1000, Align: 16}, []frag{{0, 1000}},
			[]Seg{m.segAt(0, 1000)}},
		{"a boundary splits", TagConfig{Boundary: 4096}, []frag{{4000, 200}},
			[]Seg{m.segAt(4000, 96), m.segAt(4096, 104)}},
		{"data up to a boundary is whole", TagConfig{Boundary: 4096}, []frag{{4000, 96}}, []Seg{m.segAt(4000, 96)}},
		{"exactly all the tag allows", TagConfig{NSegments: 2, MaxSize: 30}, []frag{{0, 10}, {100, 20}},
			[]Seg{m.segAt(0, 10), m.segAt(100, 20)}},
		{"all that is reachable", TagConfig{Width: 24}, []frag{{0, 10}}, []Seg{m.segAt(0, 10)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mp := m.tag(c.cfg).NewMap()
			p := m.packet(c.frags...)
			n, err := mp.tag.LoadMbuf(mp, p, segs, ToDevice)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, append([]Seg(nil), segs[:n]...)); d != "" {
				t.Error(d)
			}
			if !mp.Loaded() || mp.Bounced() != 0 {
				t.Errorf("loaded %v with %d bounced, want true, 0", mp.Loaded(), mp.Bounced())
			}
			mp.Unload()
			if err := mp.Destroy(); err != nil {
				t.Error(err)
			}
			if err := mp.tag.Destroy(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := (ReadStats(m.k)); got != (Stats{}) {
		t.Errorf("left over: %+v", got)
	}
}

func TestLoadErrorsLeaveTheMapUnloaded(t *testing.T) {
	m := newMachine(t, true)
	for _, c := range []struct {
		name  string
		cfg   TagConfig
		room  int
		frags []frag
		errno syscall.Errno
		text  string
	}{
		{"segments of the tag", TagConfig{NSegments: 2}, 8, []frag{{0, 1}, {10, 1}, {20, 1}}, syscall.EFBIG,
			"busdma: loading em0 tx: more than 2 segments: file too large"},
		{"room of the caller", TagConfig{NSegments: 8}, 2, []frag{{0, 1}, {10, 1}, {20, 1}}, syscall.EFBIG, ""},
		{"no room", TagConfig{}, 0, []frag{{0, 1}}, syscall.EFBIG, ""},
		{"pieces of a split", TagConfig{NSegments: 2, MaxSegSize: 10}, 8, []frag{{0, 21}}, syscall.EFBIG, ""},
		{"bounced pieces", TagConfig{NSegments: 1, Align: 8}, 8, []frag{{0, 8}, {9, 8}}, syscall.EFBIG, ""},
		{"size", TagConfig{MaxSize: 30}, 8, []frag{{0, 10}, {100, 21}}, syscall.EINVAL,
			"busdma: loading em0 tx: more than 30 bytes: invalid argument"},
		{"size before segments", TagConfig{MaxSize: 30, NSegments: 1}, 8, []frag{{0, 10}, {100, 21}}, syscall.EINVAL, ""},
		{"size when split", TagConfig{MaxSize: 30, MaxSegSize: 10}, 8, []frag{{0, 31}}, syscall.EINVAL, ""},
		{"no page the device reaches", TagConfig{Width: 20}, 8, []frag{{0, 10}}, syscall.ENOMEM,
			"busdma: loading em0 tx: no bounce page: cannot allocate memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mp := m.tag(c.cfg).NewMap()
			n, err := mp.tag.LoadMbuf(mp, m.packet(c.frags...), make([]Seg, c.room), ToDevice)
			if n != 0 || !errors.Is(err, c.errno) {
				t.Fatalf("LoadMbuf = %d, %v; want 0, %v", n, err, c.errno)
			}
			if c.text != "" && err.Error() != c.text {
				t.Errorf("text %q, want %q", err, c.text)
			}
			if st := ReadStats(m.k); mp.Loaded() || st.Loaded != 0 || st.ActivePages != 0 {
				t.Errorf("map loaded %v; %+v", mp.Loaded(), st)
			}
			// The same map takes what fits.
			if c.cfg.Width == 0 && c.room > 0 {
				if _, err := mp.tag.LoadMbuf(mp, m.packet(frag{0, 8}), make([]Seg, 1), ToDevice); err != nil {
					t.Error(err)
				}
				mp.Unload()
			}
		})
	}
}

func TestLoadBuffer(t *testing.T) {
	m := newMachine(t, false)
	mp := m.tag(TagConfig{MaxSize: 4096, MaxSegSize: 2048, NSegments: 2}).NewMap()
	segs := make([]Seg, 4)
	for _, c := range []struct {
		a    physmem.Addr
		n    int
		want []Seg
		err  error
	}{
		{m.arena, 4096, []Seg{m.segAt(0, 2048), m.segAt(2048, 2048)}, nil},
		{m.arena + 1, 7, []Seg{m.segAt(1, 7)}, nil},
		{m.arena, 0, nil, nil},
		{m.arena, -1, nil, syscall.EINVAL},
		{m.arena, 4097, nil, syscall.EINVAL},
		{testMemory - 8, 9, nil, syscall.EFAULT},
		{1 << 63, 9, nil, syscall.EFAULT},
	} {
		n, err := mp.tag.LoadBuffer(mp, c.a, c.n, segs, FromDevice)
		if !errors.Is(err, c.err) || mp.Loaded() != (c.err == nil) {
			t.Errorf("LoadBuffer(%#x, %d): %v, want %v", c.a, c.n, err, c.err)
		}
		if d := cmp.Diff(c.want, append([]Seg(nil), segs[:n]...)); d != "" {
			t.Errorf("LoadBuffer(%#x, %d): %s", c.a, c.n, d)
		}
		mp.Unload()
	}
}

func TestLoadingALoadedMapPanics(t *testing.T) {
	m := newMachine(t, false)
	mp := m.tag(TagConfig{}).NewMap()
	p, segs := m.packet(frag{0, 8}), make([]Seg, 1)
	if _, err := mp.tag.LoadMbuf(mp, p, segs, ToDevice); err != nil {
		t.Fatal(err)
	}
	if err := mp.Destroy(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Destroy of a loaded map: %v, want EBUSY", err)
	}
	if err := mp.tag.Destroy(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Destroy of a tag in use: %v, want EBUSY", err)
	}
	for _, load := range []func(){
		func() { mp.tag.LoadMbuf(mp, p, segs, ToDevice) },
		func() { mp.tag.LoadBuffer(mp, m.arena, 8, segs, ToDevice) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "busdma: a map of em0 tx is loaded while it is loaded"; got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			load()
		}()
	}
}

func TestFailpointRefusesLoads(t *testing.T) {
	m := newMachine(t, false)
	mp := m.tag(TagConfig{}).NewMap()
	segs := make([]Seg, 1)
	for _, c := range []struct {
		setting string
		want    error
	}{
		{"return(27)", syscall.EFBIG},
		{"return(12)", syscall.ENOMEM},
		{"return", syscall.EIO},
		{"off", nil},
	} {
		if err := m.k.Sysctl.SetText("debug.fail_point.busdma.load", c.setting); err != nil {
			t.Fatal(err)
		}
		_, err := mp.tag.LoadMbuf(mp, m.packet(frag{0, 8}), segs, ToDevice)
		mp.Unload()
		_, err2 := mp.tag.LoadBuffer(mp, m.arena, 8, segs, ToDevice)
		mp.Unload()
		if !errors.Is(err, c.want) || !errors.Is(err2, c.want) {
			t.Errorf("%s: %v and %v, want %v", c.setting, err, err2, c.want)
		}
	}
}

func TestTagRefusesContradictions(t *testing.T) {
	m := newMachine(t, false)
	for _, cfg := range []TagConfig{
		{Align: 3},
		{Align: 4 << 20},
		{Boundary: 3000},
		{Boundary: 8, Align: 16},
		{Width: -1},
		{Width: 65},
		{NSegments: -1},
		{MaxSegSize: 15, Align: 16},
	} {
		if _, err := NewTag(m.k, cfg); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("NewTag(%+v): %v, want EINVAL", cfg, err)
		}
	}
}

func TestLoadingDoesNotAllocate(t *testing.T) {
	m := newMachine(t, true)
	segs := make([]Seg, 4)
	plain := m.tag(TagConfig{NSegments: 4}).NewMap()
	bouncing := m.tag(TagConfig{NSegments: 4, Align: 8}).NewMap()
	p := m.packet(frag{100, 42}, frag{4097, 1300})
	for name, mp := range map[string]*Map{"plain": plain, "bouncing": bouncing} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := mp.tag.LoadMbuf(mp, p, segs, ToDevice); err != nil {
				t.Fatal(err)
			}
			mp.Unload()
		}); n != 0 {
			t.Errorf("%s: %v allocations a load", name, n)
		}
	}
}

// fuzzBytes reads a fuzzer's input as numbers; an exhausted input is zeros.
type fuzzBytes []byte

func (b *fuzzBytes) next() int {
	if len(*b) == 0 {
		return 0
	}
	v := (*b)[0]
	*b = (*b)[1:]
	return int(v)
}

func (b *fuzzBytes) next16() int { return b.next()<<8 | b.next() }

// fuzzTag returns demands that do not contradict each other.
func fuzzTag(b *fuzzBytes) TagConfig {
	cfg := TagConfig{Name: "fuzz", NSegments: b.next() % 40, Align: 1 << (b.next() % 14)}
	if v := b.next(); v%2 == 1 {
		cfg.Boundary = cfg.Align << (v / 2 % 8)
	}
	if v := b.next16(); v > 0 {
		cfg.MaxSegSize = max(uint64(v), cfg.Align)
	}
	if v := b.next(); v%4 == 1 {
		// Below 16 MiB of memory: the arena may be out of reach, pages below are not.
		cfg.Width = 21 + v/4%4
	}
	cfg.MaxSize = uint64(b.next16() * 2)
	return cfg
}

// fuzzFrags returns pieces of the arena that do not overlap.
func fuzzFrags(b *fuzzBytes) (frags []frag) {
	off := b.next16() % 4096
	for len(*b) > 0 && len(frags) < 16 {
		size := min(b.next16()%9000, arenaSize-off)
		frags = append(frags, frag{off, size})
		off = min(off+size+b.next()%128, arenaSize)
	}
	return append(frags, frag{0, 0})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add([]byte{8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 42, 5, 20, 7, 3, 200, 0}, byte(0))
	f.Add([]byte{20, 4, 17, 1, 0, 0, 80, 0, 0, 3, 0, 42, 5, 20, 7, 3, 200, 0, 30, 0}, byte(1))
	f.Add([]byte{39, 12, 1, 64, 0, 5, 0, 0, 0, 0, 35, 40, 0, 35, 40, 0}, byte(2))
	m := newMachine(f, true)
	v := NewView(m.k, "fuzz0")
	f.Fuzz(func(t *testing.T, data []byte, way byte) {
		in := fuzzBytes(data)
		cfg := fuzzTag(&in)
		tag, err := NewTag(m.k, cfg)
		if err != nil {
			t.Fatalf("NewTag(%+v): %v", cfg, err)
		}
		fm := &machine{tb: t, k: m.k, cache: m.cache, arena: m.arena}
		dir := [...]Dir{ToDevice, FromDevice, Bidirectional}[way%3]
		checkLoad(fm, tag, v, fuzzFrags(&in), dir)
		if err := tag.Destroy(); err != nil {
			t.Error(err)
		}
		if st := ReadStats(m.k); st.Maps != 0 || st.Loaded != 0 || st.BouncePages != 0 {
			t.Errorf("left over: %+v", st)
		}
	})
}

// checkLoad loads a packet, lets the device access it, and compares.
func checkLoad(m *machine, tag *Tag, v *View, frags []frag, dir Dir) {
	t := m.tb
	p := m.packet(frags...)
	before := contents(p)
	segs := make([]Seg, 64)
	mp := tag.NewMap()
	n, err := tag.LoadMbuf(mp, p, segs, dir)
	checkOutcome(m, tag.cfg, frags, len(segs), n, err)
	for _, s := range segs[:n] {
		checkSeg(t, tag.cfg, s)
	}
	if err == nil {
		want := before
		if dir&ToDevice != 0 && !bytes.Equal(gather(t, v, segs[:n]), before) {
			t.Fatal("the device does not read the packet")
		}
		if dir&FromDevice != 0 {
			want = bytes.Repeat([]byte{0xc3, 0x5a, 0x11}, len(before)/3+1)[:len(before)]
			scatter(t, v, segs[:n], want)
		}
		mp.Unload()
		if !bytes.Equal(contents(p), want) {
			t.Fatal("the packet does not hold what the device wrote")
		}
	}
	if err := mp.Destroy(); err != nil {
		t.Fatal(err)
	}
}

// checkOutcome compares the result of a load into room segments with what the
// demands imply.
func checkOutcome(m *machine, cfg TagConfig, frags []frag, room, n int, err error) {
	t := m.tb
	if cfg.NSegments != 0 {
		room = min(room, cfg.NSegments)
	}
	total, pieces, bounce := 0, 0, false
	for _, f := range frags {
		total += f.size
		p, b := naivePieces(cfg, uint64(m.arena)+uint64(f.off), uint64(f.size))
		pieces += p
		bounce = bounce || b
	}
	tooLong := cfg.MaxSize != 0 && uint64(total) > cfg.MaxSize
	switch {
	case tooLong != errors.Is(err, syscall.EINVAL):
		t.Fatalf("%d bytes with at most %d: %v", total, cfg.MaxSize, err)
	case tooLong:
	case errors.Is(err, syscall.ENOMEM) && !bounce:
		t.Fatalf("nothing to bounce: %v", err)
	case errors.Is(err, syscall.EFBIG) && pieces <= room:
		t.Fatalf("%d pieces with room for %d: %v", pieces, room, err)
	case err != nil && !errors.Is(err, syscall.EFBIG) && !errors.Is(err, syscall.ENOMEM):
		t.Fatal(err)
	case err == nil && (n > min(room, pieces) || n == 0 && total > 0):
		t.Fatalf("%d segments of %d pieces with room for %d", n, pieces, room)
	}
}

// naivePieces counts the segments of size bytes at a as if none could be joined,
// and says whether they are bounced.
func naivePieces(cfg TagConfig, a, size uint64) (pieces int, bounce bool) {
	chunk := uint64(arenaSize)
	if size > 0 && (a%cfg.Align != 0 || cfg.Width != 0 && (a+size-1)>>cfg.Width != 0) {
		a, chunk, bounce = 0, bouncePage, true // bounced to the start of a page
	}
	for left := min(size, chunk); size > 0; left = min(size, chunk) {
		for p := a; left > 0; pieces++ {
			n := left
			if cfg.Boundary != 0 {
				n = min(n, cfg.Boundary-p%cfg.Boundary)
			}
			if cfg.MaxSegSize != 0 && n > cfg.MaxSegSize {
				n = cfg.MaxSegSize / cfg.Align * cfg.Align
			}
			p, left, size = p+n, left-n, size-n
		}
	}
	return pieces, bounce
}

// checkSeg compares a segment with the demands.
func checkSeg(t testing.TB, cfg TagConfig, s Seg) {
	first, last := uint64(s.Addr), uint64(s.Addr)+s.Len-1
	switch {
	case s.Len == 0:
		t.Fatalf("%+v is empty", s)
	case first%cfg.Align != 0:
		t.Fatalf("%+v is not aligned to %d", s, cfg.Align)
	case cfg.Boundary != 0 && first/cfg.Boundary != last/cfg.Boundary:
		t.Fatalf("%+v crosses a multiple of %d", s, cfg.Boundary)
	case cfg.MaxSegSize != 0 && s.Len > cfg.MaxSegSize:
		t.Fatalf("%+v is longer than %d", s, cfg.MaxSegSize)
	case cfg.Width != 0 && last>>cfg.Width != 0:
		t.Fatalf("%+v needs more than %d address bits", s, cfg.Width)
	}
}

func BenchmarkLoadMbuf2(b *testing.B) {
	for name, check := range map[string]bool{"plain": false, "checking": true} {
		b.Run(name, func(b *testing.B) {
			m := newMachine(b, check)
			mp := m.tag(TagConfig{Width: 64, NSegments: 40, MaxSize: 65536, MaxSegSize: 16384, Boundary: 1 << 20}).NewMap()
			p := m.packet(frag{100, 42}, frag{4096, 1300})
			segs := make([]Seg, 40)
			b.ReportAllocs()
			for b.Loop() {
				if n, err := mp.tag.LoadMbuf(mp, p, segs, ToDevice); n != 2 || err != nil {
					b.Fatal(n, err)
				}
				mp.Unload()
			}
		})
	}
}
