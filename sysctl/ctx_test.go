package sysctl_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/sysctl"
)

func TestRemovalRefusals(t *testing.T) {
	m := newMachine(t)
	n := m.c.Node(m.hw, "n", sysctl.RD, "")
	leaf := m.c.ConstInt(n, "leaf", sysctl.RD, 1, "")
	if err := m.t.Remove(nil, false); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("nil: %v, want EINVAL", err)
	}
	if err := m.t.Remove(m.hw, true); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("static: %v, want EINVAL", err)
	}
	if err := m.t.Remove(n, false); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("with a child: %v, want ENOTEMPTY", err)
	}
	if err := m.t.Remove(n, true); err != nil {
		t.Errorf("recursive: %v", err)
	}
	if err := m.t.Remove(leaf, false); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("twice: %v, want EINVAL", err)
	}
	if _, err := m.t.ReadOID(leaf); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("reading what was removed: %v, want ENOENT", err)
	}
	m.wantLog("Warning: can't remove non-dynamic nodes (hw)!\n" +
		"Warning: failed attempt to remove oid n with child leaf\n" +
		"Warning: bad oid_refcnt=0 (leaf)!\n")
}

func TestSharedNodeLivesUntilItsLastOwner(t *testing.T) {
	m := newMachine(t)
	a, b := m.t.NewCtx(), m.t.NewCtx()
	na, nb := a.Node(m.hw, "n", sysctl.RD, ""), b.Node(m.hw, "n", sysctl.RD, "")
	if na != nb {
		t.Fatal("the second adder made a node of its own")
	}
	b.ConstInt(nb, "x", sysctl.RD, 7, "")
	if err := a.Free(); err != nil {
		t.Fatal(err)
	}
	if got := m.text("hw.n.x"); got != "7" {
		t.Errorf("value %s, want 7", got)
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.t.Lookup("hw.n"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("node after the last free: %v, want ENOENT", err)
	}
}

func TestFailedFreePutsEverythingBackInPlace(t *testing.T) {
	m := newMachine(t, "hw.n.k=4")
	a, b := m.t.NewCtx(), m.t.NewCtx()
	n := a.Node(m.hw, "n", sysctl.RD, "")
	var k atomic.Int32
	a.Int(n, "k", sysctl.RWTUN, &k, "")
	b.ConstInt(n, "foreign", sysctl.RD, 1, "")
	a.ConstInt(n, "last", sysctl.RD, 1, "")
	_ = m.env.Set("hw.n.k", "5")
	before := snapshot(m.hw)
	if err := a.Free(); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("free below a foreign leaf: %v, want EBUSY", err)
	}
	if diff := cmp.Diff(before, snapshot(m.hw)); diff != "" {
		t.Errorf("tree changed:\n%s", diff)
	}
	if k.Load() != 4 {
		t.Errorf("k = %d: fetched again at re-registration", k.Load())
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if err := a.Free(); err != nil {
		t.Errorf("free after the obstacle went: %v", err)
	}
}

func TestFailedFreeReturnsSharedReferences(t *testing.T) {
	m := newMachine(t)
	a, b := m.t.NewCtx(), m.t.NewCtx()
	q := a.Node(m.hw, "q", sysctl.RD, "")
	a.Node(m.hw, "shared", sysctl.RD, "")
	b.Node(m.hw, "shared", sysctl.RD, "")
	b.ConstInt(q, "foreign", sysctl.RD, 1, "")
	if err := a.Free(); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("free: %v, want EBUSY", err)
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.t.Lookup("hw.shared"); err != nil {
		t.Errorf("the other owner's free took the node away: %v", err)
	}
	if err := a.Free(); err != nil {
		t.Errorf("last free: %v", err)
	}
}

// Contexts share nodes and hang leaves below each other's; freeing never changes
// the tree unless it succeeds, and once all are freed it is as at the start.
func TestContextsFreeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t)
		base := snapshot(m.t.Root())
		ctxs := []*sysctl.Ctx{m.t.NewCtx(), m.t.NewCtx(), m.t.NewCtx()}
		nodes := []*sysctl.OID{m.hw}
		for i := range rapid.IntRange(0, 30).Draw(rt, "adds") {
			c := rapid.SampledFrom(ctxs).Draw(rt, "ctx")
			parent := rapid.SampledFrom(nodes).Draw(rt, "parent")
			if rapid.Bool().Draw(rt, "leaf") {
				c.ConstInt(parent, fmt.Sprint("leaf", i), sysctl.RD, 1, "")
			} else if n := c.Node(parent, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "name"), sysctl.RD, ""); n != nil {
				nodes = append(nodes, n)
			}
		}
		left := slices.Clone(ctxs)
		for round := 0; len(left) > 0; round++ {
			progress := false
			for _, c := range slices.Clone(rapid.Permutation(left).Draw(rt, "order")) {
				before := snapshot(m.t.Root())
				err := c.Free()
				switch {
				case err == nil:
					progress = true
					left = slices.DeleteFunc(left, func(o *sysctl.Ctx) bool { return o == c })
				case !errors.Is(err, syscall.EBUSY):
					rt.Fatalf("free: %v, want EBUSY", err)
				default:
					if diff := cmp.Diff(before, snapshot(m.t.Root())); diff != "" {
						rt.Fatalf("failed free changed the tree:\n%s", diff)
					}
				}
			}
			if !progress {
				return // two contexts hold each other's nodes, as they can in FreeBSD
			}
		}
		if diff := cmp.Diff(base, snapshot(m.t.Root())); diff != "" {
			rt.Fatalf("tree after all frees:\n%s", diff)
		}
	})
}

// The numbering rule against a model of spec ifnet 1.1 that walks numbers one by one.
func TestNumberingFollowsTheCollisionRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t)
		parent := m.c.Node(m.hw, "p", sysctl.RD, "")
		used := map[int32]bool{}
		auto := parent.Number()
		pool := rapid.SampledFrom([]int32{0, 1, 2, 254, 255, 256, 257, 2147483646, 2147483647, auto - 1, auto - 2, auto - 4})
		for i := range rapid.IntRange(1, 40).Draw(rt, "adds") {
			spec := sysctl.Spec{Name: fmt.Sprint("n", i), Kind: sysctl.KindNode, Static: rapid.Bool().Draw(rt, "static")}
			want := auto - 1
			if spec.Static {
				spec.Number = pool.Draw(rt, "number")
				want = spec.Number
			} else {
				auto--
			}
			for used[want] {
				if want < 256 || want == 2147483647 {
					want = 256
				} else {
					want++
				}
			}
			used[want] = true
			if got := m.c.Add(parent, spec).Number(); got != want {
				rt.Fatalf("entry %d has number %d, want %d", i, got, want)
			}
		}
		if !slices.IsSortedFunc(parent.Children(), func(a, b *sysctl.OID) int { return int(a.Number()) - int(b.Number()) }) {
			rt.Fatal("children are not in order of number")
		}
	})
}

func TestFreeWaitsForARunningHandler(t *testing.T) {
	m := newMachine(t)
	c := m.t.NewCtx()
	entered, leave := make(chan struct{}), make(chan struct{})
	c.Proc(m.hw, "slow", sysctl.RD|sysctl.MPSafe, sysctl.KindInt, "I", func(r *sysctl.Request) error {
		entered <- struct{}{}
		<-leave
		_, _, err := r.HandleInt(1)
		return err
	}, "")
	o, err := m.t.Lookup("hw.slow")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = m.t.Sysctl(o.Path(), nil, nil, sysctl.Cred{}) })
	<-entered
	var freed atomic.Bool
	wg.Go(func() {
		if err := c.Free(); err != nil {
			t.Error(err)
		}
		freed.Store(true)
	})
	for {
		if _, err := m.t.Lookup("hw.slow"); err != nil {
			break
		}
		runtime.Gosched()
	}
	if freed.Load() {
		t.Error("Free returned while the handler ran")
	}
	close(leave)
	wg.Wait()
}

func TestWaitingForAHandlerYieldsToTheScheduler(t *testing.T) {
	m := newMachine(t)
	c := m.t.NewCtx()
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	o := c.Proc(m.hw, "slow", sysctl.RD|sysctl.MPSafe, sysctl.KindInt, "I", func(*sysctl.Request) error {
		close(entered)
		<-leave
		return syscall.EBUSY
	}, "")
	path, yields := o.Path(), 0
	m.t.SetYield(func() {
		if yields++; yields == 1 {
			close(leave)
			<-left
		}
	})
	go func() {
		_, _ = m.t.Sysctl(path, nil, nil, sysctl.Cred{})
		close(left)
	}()
	<-entered
	if err := c.Free(); err != nil || yields != 1 {
		t.Errorf("free: %v after %d yields, want nil after 1", err, yields)
	}
}

func TestHandlersWithoutMPSafeRunOneAtATime(t *testing.T) {
	m := newMachine(t)
	inside, most := 0, 0 // guarded by Giant, which the race detector checks
	h := func(r *sysctl.Request) error {
		inside++
		most = max(most, inside)
		runtime.Gosched()
		inside--
		_, _, err := r.HandleInt(0)
		return err
	}
	m.c.Proc(m.hw, "a", sysctl.RD, sysctl.KindInt, "I", h, "")
	m.c.Proc(m.hw, "b", sysctl.RD|sysctl.MPSafe|sysctl.NeedGiant, sysctl.KindInt, "I", h, "")
	var wg sync.WaitGroup
	for _, name := range []string{"hw.a", "hw.b", "hw.a", "hw.b"} {
		wg.Go(func() {
			for range 50 {
				_, _ = m.t.Text(name)
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d handlers at once, want 1", most)
	}
}

func TestConcurrentAttachDetachReadAndWrite(t *testing.T) {
	m := newMachine(t)
	var knob atomic.Int32
	var wg sync.WaitGroup
	for unit := range 2 {
		wg.Go(func() {
			for range 100 {
				c := m.t.NewCtx()
				n := c.Node(c.Node(m.t.Dev(), "em", sysctl.RD, ""), fmt.Sprint(unit), sysctl.RD, "")
				c.Int(n, "knob", sysctl.RWTUN, &knob, "")
				if err := c.Free(); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range 100 {
				_ = m.t.SetText(fmt.Sprintf("dev.em.%d.knob", unit), fmt.Sprint(i))
				for o := m.t.Next(m.t.Root(), true); o != nil; o = m.t.Next(o, true) {
					_, _ = m.t.ReadOID(o)
				}
			}
		})
	}
	wg.Wait()
	if got := names(m.t.Dev().Children()); got != "" {
		t.Errorf("left over below dev: %q", got)
	}
}
