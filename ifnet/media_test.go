package ifnet

import (
	"slices"
	"syscall"
	"testing"
)

func TestMediaWordsAreFreeBSDs(t *testing.T) {
	for _, tt := range []struct {
		word     MediaWord
		number   MediaWord
		name     string
		baudrate uint64
	}{
		{MediaAuto, 0, "autoselect", 0}, {MediaNone, 2, "none", 0},
		{Media10T, 3, "10baseT/UTP", 10e6}, {Media100TX, 6, "100baseTX", 100e6},
		{Media1000T, 16, "1000baseT", 1e9}, {Media10GSR, 19, "10Gbase-SR", 10e9},
		{Media10GKX4, 0x800, "10GBase-KX4", 10e9}, {Media10GKR, 0x801, "10GBase-KR", 10e9},
		{Media2500T, 0x805, "2500Base-T", 2500e6}, {Media25GLR, 0x81a, "25GBase-LR", 25e9},
		{Media25GT, 0x1001, "25GBase-T", 25e9}, {Media40GXLAUI, 0x1008, "40G-XLAUI", 40e9},
		{Media200GLR4, 0x180a, "200GBase-LR4", 200e9}, {MediaOther, 31, "Other", 0},
		{0x7800, 0x7800, "<unknown subtype>", 0},
	} {
		if tt.word != tt.number || tt.word.SubtypeName() != tt.name || tt.word.Baudrate() != tt.baudrate {
			t.Errorf("%#x: number %#x, name %q, baudrate %d", tt.word, tt.number, tt.word.SubtypeName(), tt.word.Baudrate())
		}
	}
	w := MediaEther | Media10GKR | MediaFDX | MediaTxPause | MediaRxPause | MediaFlow | 3<<28
	if got := w.Name(); got != "10GBase-KR <full-duplex,flowcontrol,rxpause,txpause>" || w.Instance() != 3 {
		t.Errorf("name %q instance %d", got, w.Instance())
	}
	if w.Subtype() != Media10GKR {
		t.Errorf("options reach into the subtype: %#x", w.Subtype())
	}
}

func TestMediaNamesAreUniqueAndParse(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range mediaSubtypes {
		if seen[s.name] {
			t.Errorf("%q twice", s.name)
		}
		seen[s.name] = true
		if w, ok := ParseMediaSubtype(s.name); !ok || w != MediaEther|s.word {
			t.Errorf("%q parses as %#x", s.name, w)
		}
	}
	for name, want := range map[string]MediaWord{"auto": MediaAuto, "1000baseTX": Media1000T, "1000TX": Media1000T,
		"10baseT": Media10T, "100tx": Media100TX} {
		if w, ok := ParseMediaSubtype(name); !ok || w != MediaEther|want {
			t.Errorf("alias %q parses as %#x", name, w)
		}
	}
	if _, ok := ParseMediaSubtype("token"); ok {
		t.Error("an unknown subtype parses")
	}
	if w, ok := ParseMediaOption("hw-loopback"); !ok || w != MediaLoop {
		t.Errorf("option %#x", w)
	}
	if _, ok := ParseMediaOption("turbo"); ok {
		t.Error("an unknown option parses")
	}
}

// media is an object with the media of a gigabit part and a record of its callbacks.
type mediaRig struct {
	*Media
	changes int
	fail    error
	active  MediaWord
}

func newMedia(dontcare MediaWord) *mediaRig {
	r := &mediaRig{}
	r.Media = NewMedia(dontcare, func() error { r.changes++; return r.fail }, func(req *MediaReq) {
		req.Status = MediaAValid
		if r.active != 0 {
			req.Status |= MediaActive
			req.Active = r.active
		}
	})
	r.Add(MediaEther|Media100TX, 0)
	r.Add(MediaEther|Media1000T|MediaFDX, 1)
	r.Add(MediaEther|MediaAuto, 2)
	return r
}

func TestMediaSetRules(t *testing.T) {
	m := newMedia(0)
	for _, tt := range []struct {
		name    string
		data    any
		fail    error
		want    syscall.Errno
		changes int
		cur     MediaWord
	}{
		{"nothing chosen, unlisted", MediaEther | Media10GSR, nil, syscall.ENXIO, 0, MediaNone},
		{"listed", MediaEther | Media100TX, nil, 0, 1, MediaEther | Media100TX},
		{"unchanged", MediaEther | Media100TX, nil, 0, 1, MediaEther | Media100TX},
		{"options count", MediaEther | Media1000T, nil, syscall.ENXIO, 1, MediaEther | Media100TX},
		{"driver fails", MediaEther | MediaAuto, syscall.EIO, syscall.EIO, 2, MediaEther | Media100TX},
		{"auto", MediaEther | MediaAuto, nil, 0, 3, MediaEther | MediaAuto},
		{"auto is always a change", MediaEther | MediaAuto, nil, 0, 4, MediaEther | MediaAuto},
		{"another type", 5, nil, syscall.EINVAL, 4, MediaEther | MediaAuto},
	} {
		m.fail = tt.fail
		wantErr(t, tt.name, m.Ioctl(IoctlSetMedia, tt.data), tt.want)
		if m.changes != tt.changes || m.Current() != tt.cur {
			t.Errorf("%s: %d changes, current %#x", tt.name, m.changes, m.Current())
		}
	}
	if e, ok := m.Entry(); !ok || e.Data != 2 {
		t.Errorf("entry %+v %v", e, ok)
	}
}

func TestMediaMaskAndLastMatch(t *testing.T) {
	m := newMedia(MediaFDX | MediaFlow)
	wantErr(t, "set", m.Ioctl(IoctlSetMedia, MediaEther|Media1000T|MediaFlow), 0)
	if m.Current() != MediaEther|Media1000T|MediaFDX || m.Requested() != MediaEther|Media1000T|MediaFlow {
		t.Errorf("current %#x, requested %#x", m.Current(), m.Requested())
	}
	m.Add(MediaEther|Media1000T, 9) // newest, so first in the list
	wantErr(t, "set", m.Ioctl(IoctlSetMedia, MediaEther|Media1000T), 0)
	if m.Current() != MediaEther|Media1000T|MediaFDX {
		t.Errorf("the first match won: %#x", m.Current())
	}
}

func TestMediaQueryRules(t *testing.T) {
	m := newMedia(0)
	req := MediaReq{}
	wantErr(t, "count", m.Ioctl(IoctlGetMedia, &req), 0)
	if req.Count != 3 || req.List != nil || req.Current != MediaNone || req.Active != MediaNone || req.Status != MediaAValid {
		t.Errorf("reply %+v", req)
	}
	list := []MediaWord{MediaEther | MediaAuto, MediaEther | Media1000T | MediaFDX, MediaEther | Media100TX}
	wantErr(t, "list", m.Ioctl(IoctlGetMedia, &req), 0)
	if !slices.Equal(req.List, list) {
		t.Errorf("list %#x, want the reverse of adding %#x", req.List, list)
	}
	req = MediaReq{Count: 2}
	wantErr(t, "short", m.Ioctl(IoctlGetMedia, &req), syscall.E2BIG)
	if req.Count != 3 || !slices.Equal(req.List, list[:2]) {
		t.Errorf("short reply %+v", req)
	}
	wantErr(t, "negative", m.Ioctl(IoctlGetMedia, &MediaReq{Count: -1}), syscall.EINVAL)
	wantErr(t, "another request", m.Ioctl(IoctlGetMTU, new(int)), syscall.EINVAL)
	wantErr(t, "another type", m.Ioctl(IoctlGetMedia, 1), syscall.EINVAL)

	m.Add(MediaEther|Media10GKR|MediaFDX, 0)
	m.Set(MediaEther | Media10GKR | MediaFDX)
	m.active = MediaEther | Media25GLR | MediaFDX
	req = MediaReq{}
	wantErr(t, "fold", m.Ioctl(IoctlGetMedia, &req), 0)
	if want := MediaEther | MediaOther | MediaFDX; req.Current != want || req.Active != want || req.Status != MediaAValid|MediaActive {
		t.Errorf("folded %+v", req)
	}
	wantErr(t, "extended", m.Ioctl(IoctlGetXMedia, &req), 0)
	if req.Current != MediaEther|Media10GKR|MediaFDX || req.Active != m.active {
		t.Errorf("extended %+v", req)
	}
	m.RemoveAll()
	if m.Current() != MediaNone || len(m.Entries()) != 0 || m.Requested() != MediaNone {
		t.Error("not empty after RemoveAll")
	}
}
