package sysctl_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/sysctl"
)

func TestKenvKeepsOrderAndReplacesInPlace(t *testing.T) {
	e := sysctl.NewKenv()
	for _, pair := range []string{"a=1", "b=2", "c=3", "b=4"} {
		name, value, _ := strings.Cut(pair, "=")
		if err := e.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Unset("a"); err != nil {
		t.Error(err)
	}
	if err := e.Unset("a"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("unset twice: %v, want ENOENT", err)
	}
	if diff := cmp.Diff([]string{"b=4", "c=3"}, e.All()); diff != "" {
		t.Error(diff)
	}
}

func TestKenvLimits(t *testing.T) {
	e := sysctl.NewKenv()
	long := strings.Repeat("x", 129)
	for _, tt := range []struct {
		name, value string
		want        error
	}{{"", "v", syscall.EINVAL}, {"a=b", "v", syscall.EINVAL}, {long, "v", syscall.ENAMETOOLONG}, {"a", long, syscall.ENAMETOOLONG},
		{long[1:], long[1:], nil}} {
		if err := e.Set(tt.name, tt.value); !errors.Is(err, tt.want) {
			t.Errorf("Set(%.5q, %.5q): %v, want %v", tt.name, tt.value, err, tt.want)
		}
	}
	for i := range 511 {
		if err := e.Set(fmt.Sprint("n", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Set("more", ""); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("entry 513: %v, want ENOSPC", err)
	}
	if err := e.Set("n3", "again"); err != nil {
		t.Errorf("replacing in a full table: %v", err)
	}
	want := []string{"WARNING: too many kenv strings, ignoring x=1"}
	if diff := cmp.Diff(want, e.Merge([]string{"n3=no", "x=1"})); diff != "" {
		t.Error(diff)
	}
}

func TestFirstValueWinsInAMerge(t *testing.T) {
	e := sysctl.NewKenv()
	long := "a=" + strings.Repeat("x", 256)
	warnings := e.Merge([]string{"a=1", "a=2", "junk", "=x", "b=" + strings.Repeat("y", 200), long[:0] + "c" + long[1:]})
	want := []string{"WARNING: malformed static env value, ignoring junk", "WARNING: malformed static env value, ignoring =x",
		"WARNING: too long kenv string, ignoring c" + long[1:]}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if v, _ := e.Get("a"); v != "1" {
		t.Errorf("a = %q, want 1", v)
	}
	if v, ok := e.Get("b"); !ok || len(v) != 200 {
		t.Errorf("b has %d bytes, want 200: boot bounds only the whole string", len(v))
	}
}

func TestExplicitFetchesTruncate(t *testing.T) {
	m := newMachine(t, "i=0x100000005", "k=2k", "bad=2kb", "neg=-1", "s=abcdef", "yes=TRUE", "no=0", "odd=on")
	var i, k int
	bad := 7
	var u uint64
	var s string
	var yes, no, odd bool
	no = true
	ok := fmt.Sprint(m.env.FetchInt("i", &i), m.env.FetchInt("k", &k), m.env.FetchInt("bad", &bad), m.env.FetchInt("none", &bad),
		m.env.FetchUint64("neg", &u), m.env.FetchString("s", &s, 4), m.env.FetchBool("yes", &yes), m.env.FetchBool("no", &no), m.env.FetchBool("odd", &odd))
	if want := "true true false false true true true true false"; ok != want {
		t.Errorf("found %s, want %s", ok, want)
	}
	if got, want := fmt.Sprint(i, k, bad, u, s, yes, no, odd), "5 2048 7 18446744073709551615abctrue false false"; got != want {
		t.Errorf("values %s, want %s", got, want)
	}
	m.wantLog("Environment variable odd has non-boolean value \"on\"\n")
}

func TestHints(t *testing.T) {
	e := sysctl.NewKenv()
	e.Merge([]string{"hint.em.1.irq=0x10", "hint.em.0.at=pci0:2:0:0", "hint.em.-1.flags=5", "hint.em.0.flags=010", "hint.em.0.junk=1x",
		"hint.igb.3.device=I210 (Copper)", "hint.bad=1", "hint.em.x.y=1", "hint.em.2.empty="})
	for _, tt := range []struct {
		driver   string
		unit     int
		resource string
		want     int
		err      error
	}{{"em", 1, "irq", 16, nil}, {"em", 0, "flags", 8, nil}, {"em", 7, "flags", 5, nil}, {"em", 0, "junk", 0, sysctl.EFTYPE},
		{"em", 0, "none", 0, syscall.ENOENT}} {
		got, err := e.HintInt(tt.driver, tt.unit, tt.resource)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s %d %s: %d %v, want %d %v", tt.driver, tt.unit, tt.resource, got, err, tt.want, tt.err)
		}
	}
	if v, _ := e.Hint("igb", 3, "device"); v != "I210 (Copper)" {
		t.Errorf("device %q", v)
	}
	if got := fmt.Sprint(e.Hints("em"), e.HintDrivers()); got != "[0 1] [em igb]" {
		t.Errorf("units and drivers %s, want [0 1] [em igb]", got)
	}
	want := []string{"CONFIG: invalid hint 'hint.bad=1'", "CONFIG: invalid hint 'hint.em.x.y=1'", "CONFIG: invalid hint 'hint.em.2.empty='"}
	if diff := cmp.Diff(want, e.InvalidHints()); diff != "" {
		t.Error(diff)
	}
}

func TestErrnoTextsAndNumbersAreFreeBSDs(t *testing.T) {
	for _, tt := range []struct {
		err    error
		number int
		text   string
	}{{nil, 0, "No error: 0"}, {syscall.ENXIO, 6, "Device not configured"}, {syscall.EAGAIN, 35, "Resource temporarily unavailable"},
		{fmt.Errorf("x: %w", syscall.EOPNOTSUPP), 45, "Operation not supported"}, {syscall.ENOBUFS, 55, "No buffer space available"},
		{sysctl.EFTYPE, 79, "Inappropriate file type or format"}, {syscall.EBUSY, 16, "Device busy"}, {errors.New("other"), -1, "other"},
		{syscall.EBADSLT, -1, "Unknown error: 57"}} {
		if n, text := sysctl.Number(tt.err), sysctl.Strerror(tt.err); n != tt.number || text != tt.text {
			t.Errorf("%v: %d %q, want %d %q", tt.err, n, text, tt.number, tt.text)
		}
	}
}
