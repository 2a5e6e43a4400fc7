package sysctl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/sysctl"
)

// ask queries {0, op, path...} and returns the answer as text.
func (m *machine) ask(op int32, path ...int32) (string, error) {
	buf := make([]byte, 256)
	n, err := m.t.Sysctl(append([]int32{0, op}, path...), buf, nil, sysctl.Cred{Unprivileged: true})
	return string(buf[:n]), err
}

func TestQueriesBelowZero(t *testing.T) {
	m := newMachine(t)
	o := m.c.Add(m.hw, sysctl.Spec{Name: "x", Kind: sysctl.KindInt, Flags: sysctl.RW, Descr: "an x", Label: "label"})
	num := o.Number()
	plain := m.c.Node(m.hw, "n", sysctl.RD, "").Number()
	tests := []struct {
		op   int32
		path []int32
		want string
		err  error
	}{
		{sysctl.QueryName, []int32{6, num}, "hw.x\x00", nil},
		{sysctl.QueryName, []int32{6, 77, 8}, "hw.77.8\x00", nil},
		{sysctl.QueryName, []int32{6, num, 5}, "hw.x.5\x00", nil},
		{sysctl.QueryName, []int32{99, 1}, "99.1\x00", nil},
		{sysctl.QueryFormat, []int32{6, num}, "\x02\x00\x00\xc2I\x00", nil},
		{sysctl.QueryFormat, []int32{6, 77}, "", syscall.ENOENT},
		{sysctl.QueryDescr, []int32{6, num}, "an x\x00", nil},
		{sysctl.QueryDescr, []int32{6, plain}, "\x00", nil},
		{sysctl.QueryLabel, []int32{6, num}, "label\x00", nil},
		{sysctl.QueryLabel, []int32{6, plain}, "", syscall.ENOENT},
		{sysctl.QueryNext, []int32{6, num}, "", syscall.ENOENT},
	}
	for _, tt := range tests {
		got, err := m.ask(tt.op, tt.path...)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("{0,%d} %v: %q, %v, want %q, %v", tt.op, tt.path, got, err, tt.want, tt.err)
		}
	}
}

func TestNameToOIDTakesTheNameAsNewValue(t *testing.T) {
	m := newMachine(t)
	buf := make([]byte, 96)
	user := sysctl.Cred{Unprivileged: true}
	n, err := m.t.Sysctl([]int32{0, 3}, buf, []byte("net.link.vlan"), user)
	want := []byte{4, 0, 0, 0, 18, 0, 0, 0, 135, 0, 0, 0}
	if err != nil || !bytes.Equal(buf[:n], want) {
		t.Errorf("% x, %v, want % x", buf[:n], err, want)
	}
	for name, want := range map[string]error{"": syscall.ENOENT, "no.such": syscall.ENOENT, strings.Repeat("x", 1024): syscall.ENAMETOOLONG} {
		if _, err := m.t.Sysctl([]int32{0, 3}, buf, []byte(name), user); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", name, err, want)
		}
	}
}

// walk lists what query op gives, from the root on.
func (m *machine) walk(op int32) (names []string) {
	path := []int32{0, op, 0, sysctl.QueryNextNoSkip} // behind the queries themselves
	buf := make([]byte, 96)
	for {
		n, err := m.t.Sysctl(path, buf, nil, sysctl.Cred{})
		if err != nil {
			return names
		}
		path = path[:2]
		for b := buf[:n]; len(b) > 0; b = b[4:] {
			path = append(path, int32(binary.LittleEndian.Uint32(b)))
		}
		name, _ := m.ask(sysctl.QueryName, path[2:]...)
		names = append(names, strings.TrimSuffix(name, "\x00"))
	}
}

// listing is the walk of spec ifnet 1.7 written as a recursion.
func listing(o *sysctl.OID, noSkip bool) (names []string) {
	for _, c := range o.Children() {
		if c.Name() == "sysctl" || c.Flags()&sysctl.Dormant != 0 || !noSkip && c.Flags()&sysctl.Skip != 0 {
			continue
		}
		if noSkip || c.Kind() != sysctl.KindNode {
			names = append(names, c.FullName())
		}
		names = append(names, listing(c, noSkip)...)
	}
	return names
}

func TestWalksVisitDepthFirstAndHonourSkip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t)
		nodes := []*sysctl.OID{m.hw}
		for i := range rapid.IntRange(0, 25).Draw(rt, "adds") {
			parent := rapid.SampledFrom(nodes).Draw(rt, "parent")
			flags := sysctl.RD | rapid.SampledFrom([]sysctl.Flag{0, 0, 0, sysctl.Skip}).Draw(rt, "skip")
			if rapid.Bool().Draw(rt, "leaf") {
				flags |= rapid.SampledFrom([]sysctl.Flag{0, 0, sysctl.Dormant}).Draw(rt, "dormant")
				m.c.ConstInt(parent, fmt.Sprint("leaf", i), flags, 1, "")
			} else if n := m.c.Node(parent, fmt.Sprint("node", i), flags, ""); len(n.Path()) < 20 {
				nodes = append(nodes, n)
			}
		}
		if diff := cmp.Diff(listing(m.t.Root(), false), m.walk(sysctl.QueryNext)); diff != "" {
			rt.Fatalf("walk honouring Skip (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(listing(m.t.Root(), true), m.walk(sysctl.QueryNextNoSkip)); diff != "" {
			rt.Fatalf("walk of everything (-want +got):\n%s", diff)
		}
	})
}

func TestWalkFromInsideASkippedNodeGoesOnBehindIt(t *testing.T) {
	m := newMachine(t)
	behind := m.c.ConstInt(m.hw, "behind", sysctl.RD, 1, "")
	skip := m.c.Node(m.hw, "skip", sysctl.RD|sysctl.Skip, "")
	m.c.ConstInt(skip, "second", sysctl.RD, 1, "")
	first := m.c.ConstInt(skip, "first", sysctl.RD, 1, "")
	for _, from := range []*sysctl.OID{skip, first} {
		if got := m.t.Next(from, false); got != behind {
			t.Errorf("after %s comes %v, want hw.behind", from.FullName(), got)
		}
	}
}

func TestNodeWithAHandlerActsAsALeaf(t *testing.T) {
	m := newMachine(t)
	var args []int32
	o := m.c.Add(m.hw, sysctl.Spec{Name: "q", Kind: sysctl.KindNode, Flags: sysctl.RD | sysctl.MPSafe,
		Handler: func(r *sysctl.Request) error {
			args = r.Args()
			return r.Out([]byte("hello"))
		}})
	buf := make([]byte, 8)
	n, err := m.t.Sysctl(append(o.Path(), 7, 8), buf, nil, sysctl.Cred{})
	if err != nil || string(buf[:n]) != "hello" || fmt.Sprint(args) != "[7 8]" {
		t.Errorf("%q, %v, args %v", buf[:n], err, args)
	}
	if got := m.t.Next(m.hw, false); got != o {
		t.Errorf("walk gives %v, want the node", got)
	}
	if m.c.ConstInt(o, "below", sysctl.RD, 1, "") != nil {
		t.Error("an OID was added below a node with a handler")
	}
}
