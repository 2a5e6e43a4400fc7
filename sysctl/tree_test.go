package sysctl_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/sysctl"
)

func TestRDTunIntTakesSuffixedHexFromEnvironment(t *testing.T) {
	m := newMachine(t, "hw.a=0x10k")
	var a atomic.Int32
	m.c.Int(m.hw, "a", sysctl.RDTUN, &a, "")
	if a.Load() != 16384 {
		t.Errorf("a = %d, want 16384", a.Load())
	}
	m.wantLog("")
}

func TestUnfitTunablesKeepDefaultSilently(t *testing.T) {
	m := newMachine(t, "hw.a=12q", "hw.b=-1", "hw.c=300", "hw.d=true", "hw.e=", "hw.f=1 2k,x")
	var a, f atomic.Int32
	var b, c atomic.Uint32
	var d atomic.Bool
	var e atomic.Int64
	a.Store(7)
	b.Store(8)
	c.Store(9)
	e.Store(10)
	f.Store(11)
	m.c.Int(m.hw, "a", sysctl.RDTUN, &a, "")
	m.c.Uint(m.hw, "b", sysctl.RDTUN, &b, "")
	m.c.U8(m.hw, "c", sysctl.RWTUN, &c, "")
	m.c.Bool(m.hw, "d", sysctl.RDTUN, &d, "")
	m.c.S64(m.hw, "e", sysctl.RDTUN, &e, "")
	m.c.Int(m.hw, "f", sysctl.RDTUN, &f, "")
	got := fmt.Sprint(a.Load(), b.Load(), c.Load(), d.Load(), e.Load(), f.Load())
	if want := "7 8 9 false 10 11"; got != want {
		t.Errorf("values %s, want %s", got, want)
	}
	m.wantLog("")
}

func TestArrayTunableGivesAnIntItsFirstElement(t *testing.T) {
	m := newMachine(t, "hw.a=5,6")
	var a atomic.Int32
	m.c.Int(m.hw, "a", sysctl.RDTUN, &a, "")
	if a.Load() != 5 {
		t.Errorf("a = %d, want 5", a.Load())
	}
}

func TestHandlerRefusingItsTunableIsReported(t *testing.T) {
	m := newMachine(t, "hw.q=99")
	m.c.Proc(m.hw, "q", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindInt, "I", func(r *sysctl.Request) error {
		v, written, err := r.HandleInt(3)
		if err == nil && written && v > 10 {
			return syscall.EINVAL
		}
		return err
	}, "")
	m.wantLog("Setting sysctl hw.q failed: 22\n")
}

func TestTunableIsReadWhenReattachedAndNotInBetween(t *testing.T) {
	m := newMachine(t, "dev.em.0.fc=1")
	em := m.c.Node(m.t.Dev(), "em", sysctl.RD, "")
	attach := func() (*sysctl.Ctx, int32) {
		var fc atomic.Int32
		c := m.t.NewCtx()
		c.Int(c.Node(em, "0", sysctl.RD, ""), "fc", sysctl.RDTUN, &fc, "")
		_ = m.env.Set("dev.em.0.fc", "2")
		return c, fc.Load()
	}
	c, v := attach()
	if v != 1 {
		t.Errorf("first attach read %d, want 1", v)
	}
	if err := c.Free(); err != nil {
		t.Fatal(err)
	}
	if _, v = attach(); v != 2 {
		t.Errorf("second attach read %d, want 2", v)
	}
}

func TestLongTunablePathIsNotFetched(t *testing.T) {
	long := strings.Repeat("x", 93) // "hw." makes 96
	m := newMachine(t, "hw."+long+"=5", "hw."+long[1:]+"=6")
	var a, b atomic.Int32
	m.c.Int(m.hw, long, sysctl.RDTUN, &a, "")
	m.c.Int(m.hw, long[1:], sysctl.RDTUN, &b, "")
	if a.Load() != 0 || b.Load() != 6 {
		t.Errorf("a %d b %d, want 0 6", a.Load(), b.Load())
	}
	m.wantLog("OID path exceeds 96 bytes\n")
}

func TestVNetTunableFollowsTheEnvironment(t *testing.T) {
	m := newMachine(t)
	var a atomic.Int32
	a.Store(3)
	vnet := m.c.Int(m.hw, "a", sysctl.RWTUN|sysctl.VNet, &a, "")
	once := m.c.Int(m.hw, "once", sysctl.RWTUN, &a, "")
	if vnet.Flags()&sysctl.NoFetch != 0 || once.Flags()&sysctl.NoFetch == 0 {
		t.Errorf("flags %#x and %#x: NoFetch belongs to the second only", vnet.Flags(), once.Flags())
	}
	_ = m.env.Set("hw.a", "9")
	if a.Load() != 9 {
		t.Errorf("after set %d, want 9", a.Load())
	}
	_ = m.env.Unset("hw.a")
	if a.Load() != 3 {
		t.Errorf("after unset %d, want the initial 3", a.Load())
	}
}

func TestAutomaticSiblingsListInReverse(t *testing.T) {
	m := newMachine(t)
	n := m.c.Node(m.hw, "n", sysctl.RD, "")
	for _, name := range []string{"%desc", "foo", "bar"} {
		m.c.ConstInt(n, name, sysctl.RD, 1, "")
	}
	if got, want := names(n.Children()), "bar foo %desc"; got != want {
		t.Errorf("children %q, want %q", got, want)
	}
}

func TestFirstAutomaticNumbersCountDownFromTheMaximum(t *testing.T) {
	m := newMachine(t)
	// compat, security, dev and kern.features took the first four.
	o := m.c.ConstInt(m.hw, "a", sysctl.RD, 1, "")
	if got, want := o.Number(), int32(2147483647-4); got != want {
		t.Errorf("number %d, want %d", got, want)
	}
	if got := m.t.Dev().Number(); got != 2147483645 {
		t.Errorf("dev has number %d, want 2147483645", got)
	}
}

func TestStaticTopLevelNumbers(t *testing.T) {
	m := newMachine(t)
	want := "sysctl kern vm vfs net debug hw machdep user p1003_1b dev security compat"
	if got := names(m.t.Root().Children()); got != want {
		t.Errorf("top level %q, want %q", got, want)
	}
	for name, want := range map[string]string{"net.link.generic": "[4 18 0]", "net.link.vlan": "[4 18 135]",
		"net.link.ether": "[4 18 6]", "kern.ipc": "[1 30]"} {
		o, err := m.t.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.Path()); got != want {
			t.Errorf("%s has path %s, want %s", name, got, want)
		}
	}
}

func TestTakenStaticNumberMovesTo256AndWarns(t *testing.T) {
	m := newMachine(t)
	spec := sysctl.Spec{Kind: sysctl.KindNode, Static: true, Number: 7}
	for i, want := range []int32{7, 256, 257} {
		spec.Name = fmt.Sprint("n", i)
		if got := m.c.Add(m.hw, spec).Number(); got != want {
			t.Errorf("entry %d has number %d, want %d", i, got, want)
		}
	}
	m.wantLog("sysctl: OID number(7) is already in use for 'n1'\nsysctl: OID number(7) is already in use for 'n2'\n")
}

func TestTakenMaximumRestartsAt256(t *testing.T) {
	m := newMachine(t)
	spec := sysctl.Spec{Kind: sysctl.KindNode, Static: true, Number: 2147483647}
	for i, want := range []int32{2147483647, 256, 257} {
		spec.Name = fmt.Sprint("n", i)
		if got := m.c.Add(m.hw, spec).Number(); got != want {
			t.Errorf("entry %d has number %d, want %d", i, got, want)
		}
	}
	m.wantLog("")
}

func TestDotInDynamicNameBecomesPercent25(t *testing.T) {
	m := newMachine(t)
	o := m.c.Node(m.hw, "em0.10", sysctl.RD, "")
	if got := o.FullName(); got != "hw.em0%2510" {
		t.Errorf("name %q, want hw.em0%%2510", got)
	}
}

func TestLeafCannotBeReused(t *testing.T) {
	m := newMachine(t)
	m.c.ConstInt(m.hw, "a", sysctl.RD, 1, "")
	if o := m.c.ConstInt(m.hw, "a", sysctl.RD, 2, ""); o != nil {
		t.Error("second leaf of one name was accepted")
	}
	if got := m.text("hw.a"); got != "1" {
		t.Errorf("value %s, want the first leaf's 1", got)
	}
	m.wantLog("sysctl_warn_reuse: can't re-use a leaf (hw.a)!\n")
}

func TestErrorsOfAccessComeInFreeBSDsOrder(t *testing.T) {
	m := newMachine(t)
	var v atomic.Int32
	rw := m.c.Int(m.hw, "rw", sysctl.RW, &v, "").Path()
	ro := m.c.Int(m.hw, "ro", sysctl.RDTUN, &v, "").Path()
	sec := m.c.Int(m.hw, "sec", sysctl.RW|sysctl.Secure2, &v, "").Path()
	all := m.c.Int(m.hw, "any", sysctl.RW|sysctl.AnyBody, &v, "").Path()
	konst := m.c.ConstInt(m.hw, "const", sysctl.RW, 4, "").Path()
	dormant := m.c.Int(m.hw, "dormant", sysctl.RW|sysctl.Dormant, &v, "").Path()
	hollow := m.c.Add(m.hw, sysctl.Spec{Name: "hollow", Kind: sysctl.KindInt, Flags: sysctl.RW}).Path()
	m.t.SetSecureLevel(2)
	four := []byte{9, 0, 0, 0}
	user, capsicum := sysctl.Cred{Unprivileged: true}, sysctl.Cred{Capability: true}
	tests := []struct {
		what string
		path []int32
		new  []byte
		cred sysctl.Cred
		want error
	}{
		{"short path", []int32{6}, nil, sysctl.Cred{}, syscall.EINVAL},
		{"long path", make([]int32, 25), nil, sysctl.Cred{}, syscall.EINVAL},
		{"missing", []int32{6, 99}, nil, sysctl.Cred{}, syscall.ENOENT},
		{"below a leaf", append(rw, 1), nil, sysctl.Cred{}, syscall.ENOTDIR},
		{"node", []int32{4, 18}, nil, sysctl.Cred{}, syscall.EISDIR},
		{"dormant", dormant, nil, sysctl.Cred{}, syscall.ENOENT},
		{"read only", ro, four, sysctl.Cred{}, syscall.EPERM},
		{"constant", konst, four, sysctl.Cred{}, syscall.EPERM},
		{"secure level", sec, four, sysctl.Cred{}, syscall.EPERM},
		{"no handler", hollow, four, sysctl.Cred{}, syscall.EINVAL},
		{"unprivileged", rw, four, user, syscall.EPERM},
		{"unprivileged read", rw, nil, user, nil},
		{"anybody", all, four, user, nil},
		{"jailed", rw, four, sysctl.Cred{Jailed: true}, syscall.EPERM},
		{"capability mode", rw, nil, capsicum, syscall.EPERM},
		{"short value", rw, four[:3], sysctl.Cred{}, syscall.EINVAL},
		{"long value", rw, append(four, 1, 2), sysctl.Cred{}, nil},
	}
	for _, tt := range tests {
		if _, err := m.t.Sysctl(tt.path, nil, tt.new, tt.cred); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.what, err, tt.want)
		}
	}
	if v.Load() != 9 {
		t.Errorf("value %d, want 9", v.Load())
	}
}

func TestSmallBufferIsFilledAndENOMEM(t *testing.T) {
	m := newMachine(t)
	var s atomic.Pointer[string]
	m.c.String(m.hw, "s", sysctl.RW, &s, 8, "")
	if err := m.t.SetText("hw.s", "abcdefgh"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("8 bytes into 8: %v, want EINVAL", err)
	}
	if err := m.t.SetText("hw.s", "abcdefg"); err != nil {
		t.Errorf("7 bytes into 8: %v", err)
	}
	o, _ := m.t.Lookup("hw.s")
	if n, err := m.t.Sysctl(o.Path(), nil, nil, sysctl.Cred{}); n != 8 || err != nil {
		t.Errorf("length query: %d, %v, want 8", n, err)
	}
	buf := make([]byte, 3)
	n, err := m.t.Sysctl(o.Path(), buf, nil, sysctl.Cred{})
	if n != 3 || string(buf) != "abc" || !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("small buffer: %d %q %v, want 3 \"abc\" ENOMEM", n, buf, err)
	}
	if n, err = m.t.SysctlByName("hw.s", buf, nil, sysctl.Cred{}); n != 0 || !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("small buffer by name: %d %v, want 0 ENOMEM", n, err)
	}
}

func TestNamesResolveAsInTheKernel(t *testing.T) {
	m := newMachine(t)
	m.c.ConstInt(m.hw, "a", sysctl.RD, 1, "")
	for name, want := range map[string]error{"hw.a": nil, "hw.": nil, "hw.a.": nil, "hw..a": syscall.ENOENT, "": syscall.ENOENT,
		".": syscall.ENOENT, "hw.a.b": syscall.ENOENT, "sysctl.name.x": syscall.ENOENT,
		strings.Repeat("x", 1024): syscall.ENAMETOOLONG, strings.Repeat("x", 1023): syscall.ENOENT} {
		if _, err := m.t.Lookup(name); !errors.Is(err, want) {
			t.Errorf("Lookup(%q) = %v, want %v", name, err, want)
		}
	}
	for n, want := range map[int]error{0: syscall.EINVAL, 1024: syscall.ENAMETOOLONG, 1025: syscall.EINVAL} {
		if _, err := m.t.SysctlByName(strings.Repeat("x", n), nil, nil, sysctl.Cred{}); !errors.Is(err, want) {
			t.Errorf("by name, %d bytes: %v, want %v", n, err, want)
		}
	}
}

func TestHandlersEAGAINRepeatsTheRequest(t *testing.T) {
	m := newMachine(t)
	calls := 0
	m.c.Proc(m.hw, "p", sysctl.RD|sysctl.MPSafe, sysctl.KindInt, "I", func(r *sysctl.Request) error {
		if calls++; calls%3 != 0 {
			_, _, _ = r.HandleInt(1)
			return syscall.EAGAIN
		}
		_, _, err := r.HandleInt(int64(calls))
		return err
	}, "")
	buf := make([]byte, 16)
	n, err := m.t.SysctlByName("hw.p", buf, nil, sysctl.Cred{})
	if n != 4 || err != nil || buf[0] != 3 {
		t.Errorf("n %d err %v value %d, want 4 nil 3", n, err, buf[0])
	}
}

func TestRenameKeepsThePlaceAndMoveDoesNot(t *testing.T) {
	m := newMachine(t)
	a := m.c.Node(m.hw, "a", sysctl.RD, "")
	x := m.c.Node(a, "x", sysctl.RD, "")
	m.c.Node(a, "y", sysctl.RD, "")
	m.t.Rename(x, "z")
	if got := names(a.Children()); got != "y z" {
		t.Errorf("after rename %q, want \"y z\"", got)
	}
	b := m.c.Node(m.hw, "b", sysctl.RD, "")
	m.c.Node(b, "y", sysctl.RD, "")
	if err := m.t.Move(x, b); err != nil || names(b.Children()) != "z y" || names(a.Children()) != "y" {
		t.Errorf("move: %v, b %q a %q", err, names(b.Children()), names(a.Children()))
	}
	if err := m.t.Move(a.Children()[0], b); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("move onto a name: %v, want EEXIST", err)
	}
	if err := m.t.Move(b, x); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("move below itself: %v, want EINVAL", err)
	}
}
