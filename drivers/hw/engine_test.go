package hw

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/internal/kern"
)

type nopClient struct{}

func (nopClient) TxReady(int)           {}
func (nopClient) RxReady(int)           {}
func (nopClient) LinkChanged(port.Link) {}

type namedPort struct {
	fakePort
	name string
}

func (p *namedPort) Name() string { return p.name }

func TestParseEngineAndItsDefault(t *testing.T) {
	for _, c := range []struct {
		s, spec string
		want    EngineMode
	}{
		{"", "null", EngineInline}, {"", "pair:w,depth=4", EngineInline}, {"", "packet:eth0", EngineThread},
		{"thread", "null", EngineThread}, {"inline", "tap:x", EngineInline},
	} {
		m, err := ParseEngine(c.s)
		if got := m.For(&namedPort{name: c.spec}); err != nil || got != c.want || m.String() != c.s {
			t.Errorf("%q on %q: %v, %v", c.s, c.spec, got, err)
		}
	}
	if _, err := ParseEngine("fast"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("error %v", err)
	}
	if got := EngineDefault.For(nil); got != EngineInline {
		t.Errorf("without a port %v", got)
	}
}

func TestEngineRunsAgainAfterAKickDuringTheRun(t *testing.T) {
	k := newKernel(t, stepped(0))
	var e *Engine
	runs, depth := 0, 0
	e = NewEngine(Config{Kernel: k, Name: "em0"}, 2, func(q int) {
		if depth++; depth != 1 || q != 1 {
			t.Fatalf("queue %d at depth %d", q, depth)
		}
		if runs++; runs <= 3 {
			e.Kick(1)
			e.Kick(1)
		}
		depth--
	})
	e.Kick(1)
	if runs != 4 {
		t.Errorf("%d runs, want 4", runs)
	}
}

func TestEnginePauseKeepsKicksForResume(t *testing.T) {
	for _, mode := range []EngineMode{EngineInline, EngineThread} {
		k := newKernel(t, stepped(0))
		runs := 0
		e := NewEngine(Config{Kernel: k, Name: "em0", Engine: mode}, 1, func(int) { runs++ })
		e.Pause(0)
		e.Kick(0)
		e.Kick(0)
		k.RunUntilIdle()
		if runs != 0 {
			t.Fatalf("%v: ran while paused", mode)
		}
		e.Resume(0)
		k.RunUntilIdle()
		if runs != 1 {
			t.Fatalf("%v: %d runs after Resume, want 1", mode, runs)
		}
		e.Resume(0)
		k.RunUntilIdle()
		if runs != 1 {
			t.Fatalf("%v: a Resume without a kick ran the queue", mode)
		}
	}
}

// Every kick is followed by a run that begins after it, whoever kicks.
func TestEngineLosesNoKick(t *testing.T) {
	for _, mode := range []EngineMode{EngineInline, EngineThread} {
		k := newKernel(t, kern.Config{})
		const kickers, kicks = 4, 5000
		var posted, seen atomic.Int64
		inside := atomic.Int32{}
		e := NewEngine(Config{Kernel: k, Name: "em0", Engine: mode}, 1, func(int) {
			if inside.Add(1) != 1 {
				t.Error("two runs at a time")
			}
			seen.Store(posted.Load())
			inside.Add(-1)
		})
		var wg sync.WaitGroup
		for range kickers {
			wg.Go(func() {
				for i := range kicks {
					posted.Add(1)
					e.Doorbell(0)
					if i%500 == 0 {
						e.Pause(0)
						e.Resume(0)
						k.SchedPoint()
					}
				}
			})
			wg.Go(func() {
				for range kicks {
					posted.Add(1)
					e.Defer(0)
				}
			})
			wg.Wait() // one pauser at a time
		}
		e.Doorbell(0)
		for seen.Load() != posted.Load() {
			k.Delay(pausePoll) // a thread engine's run may still be under way
		}
		e.Close()
		e.Close()
	}
}

func TestWorkListRunsInOrderAndNeverInside(t *testing.T) {
	l := NewWorkList()
	var order []int
	depth := 0
	var a, b, c Work
	enter := func(n int, more ...*Work) func() {
		return func() {
			if depth++; depth != 1 {
				t.Fatal("a work ran inside another")
			}
			order = append(order, n)
			if len(order) < 6 {
				for _, w := range more {
					l.Add(w)
				}
			}
			l.Drain() // must not run anything: this goroutine drains already
			depth--
		}
	}
	a.Run, b.Run, c.Run = enter(1, &b, &a, &a), enter(2, &c), enter(3)
	l.Add(&a)
	l.Add(&a)
	if l.Empty() || len(order) != 0 {
		t.Fatal("Add ran something")
	}
	l.Drain()
	if want := []int{1, 2, 1, 3, 2, 1, 3}; !slices.Equal(order, want) || !l.Empty() {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestWorkListDrainIsBounded(t *testing.T) {
	l := NewWorkList()
	runs, woken := 0, 0
	var w Work
	w = Work{Run: func() { runs++; l.Add(&w) }, Wake: func() { woken++ }}
	l.Add(&w)
	if woken != 1 {
		t.Errorf("woken %d times for work from outside", woken)
	}
	l.Drain()
	if runs != drainBudget || woken != 2 || l.Empty() {
		t.Errorf("%d runs, woken %d times", runs, woken)
	}
}

// miniNIC is a NIC in short: it sends what is queued and answers each frame as often as
// its first byte says.
type miniNIC struct {
	t     *testing.T
	e     *Engine
	port  port.Port
	tx    *TxBatch
	rx    *RxSource
	mu    sync.Mutex
	out   [][]byte // guarded by mu
	depth *atomic.Int32
	got   atomic.Int64
}

const (
	miniTx = iota
	miniRx
)

func newMiniNIC(t *testing.T, k *kern.Kernel, name string, p port.Port, l *WorkList, mode EngineMode, depth *atomic.Int32) *miniNIC {
	n := &miniNIC{t: t, port: p, depth: depth, rx: NewRxSource(p, 0)}
	n.e = NewEngine(Config{Kernel: k, Name: name, Engine: mode, Work: l}, 2, n.work)
	n.tx = NewTxBatch(TxConfig{Kernel: k, Name: name, Port: p, Faults: NewFaults(k, name), Kick: func() { n.e.Doorbell(miniTx) }})
	t.Cleanup(n.tx.Close)
	must(t, p.Bind(n))
	return n
}

func (n *miniNIC) TxReady(int)           { n.e.Defer(miniTx) }
func (n *miniNIC) RxReady(int)           { n.e.Defer(miniRx) }
func (n *miniNIC) LinkChanged(port.Link) {}
func (n *miniNIC) CompleteTx(Completion) {}

func (n *miniNIC) FetchTx(b *TxBatch) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.out) == 0 {
		return false
	}
	b.Append(n.out[0])
	must(n.t, b.End(nil, 0))
	n.out = n.out[1:]
	return true
}

func (n *miniNIC) work(q int) {
	if n.depth != nil {
		if n.depth.Add(1) != 1 {
			n.t.Error("engine inside engine")
		}
		defer n.depth.Add(-1)
	}
	if q == miniTx {
		n.tx.Run(n)
		return
	}
	answered := false
	for f := n.rx.Peek(); f != nil; f = n.rx.Peek() {
		n.got.Add(1)
		if f.Data[0] != 0 {
			answer := append([]byte(nil), f.Data...)
			answer[0]--
			n.mu.Lock()
			n.out = append(n.out, answer)
			n.mu.Unlock()
			answered = true
		}
		n.rx.Next()
	}
	n.rx.Flush()
	if answered {
		n.e.Defer(miniTx)
	}
}

func (n *miniNIC) send(frames ...[]byte) {
	n.mu.Lock()
	n.out = append(n.out, frames...)
	n.mu.Unlock()
	n.e.Doorbell(miniTx)
}

func newPair(t *testing.T) (a, b port.Port) {
	fab := port.NewFabric(pair.Kind())
	a, err := fab.Open("pair:w,depth=16")
	must(t, err)
	b, err = fab.Open("pair:w,depth=16")
	must(t, err)
	t.Cleanup(func() {
		must(t, a.Close())
		must(t, b.Close())
	})
	return a, b
}

func TestPairedNICsNeverRunInsideEachOther(t *testing.T) {
	k := newKernel(t, stepped(0))
	var depth atomic.Int32
	pa, pb := newPair(t)
	l := NewWorkList()
	a := newMiniNIC(t, k, "em0", pa, l, EngineInline, &depth)
	b := newMiniNIC(t, k, "em1", pb, l, EngineInline, &depth)
	frame := pattern(60)
	frame[0] = 100
	a.send(slices.Repeat([][]byte{frame}, 50)...)
	k.RunUntilIdle() // what the budget has left to a task
	if got, want := a.got.Load()+b.got.Load(), int64(50*101); got != want || !l.Empty() {
		t.Errorf("%d frames received, want %d", got, want)
	}
}

// Whatever the order of threads, a paused queue does not run, and a kick during the
// pause is served after it.
func TestEnginePauseExcludesRunsInEveryOrder(t *testing.T) {
	for seed := range uint64(60) {
		k := newKernel(t, stepped(seed))
		inside, paused, runs, posted, seen := false, false, 0, 0, 0
		e := NewEngine(Config{Kernel: k, Name: "em0"}, 1, func(int) {
			if inside || paused {
				t.Fatalf("seed %d: run inside a run (%v) or a pause (%v)", seed, inside, paused)
			}
			inside = true
			seen = posted
			for range 3 {
				k.SchedPoint()
			}
			runs++
			inside = false
		})
		for range 2 {
			k.Spawn("sender", func() {
				for range 5 {
					posted++
					e.Kick(0)
					k.SchedPoint()
				}
			})
		}
		k.Spawn("control", func() {
			for range 3 {
				e.Pause(0)
				paused = true
				for range 4 {
					k.SchedPoint()
				}
				paused = false
				e.Resume(0)
			}
		})
		for range 20 {
			k.RunUntilIdle()
			k.Advance(ms)
		}
		if seen != 10 || runs < 1 {
			t.Fatalf("seed %d: the last run saw %d kicks of 10, %d runs", seed, seen, runs)
		}
	}
}

// A frame from outside any register access is served by a task.
func TestInlineEngineServesFramesFromOutside(t *testing.T) {
	k := newKernel(t, stepped(0))
	pa, pb := newPair(t)
	a := newMiniNIC(t, k, "em0", pa, NewWorkList(), EngineInline, nil)
	must(t, pb.Bind(nopClient{}))
	pb.Send(0, []port.Frame{{Segs: [][]byte{append([]byte{0}, pattern(59)...)}}})
	if a.got.Load() != 0 {
		t.Fatal("the callback ran the engine")
	}
	k.RunUntilIdle()
	if a.got.Load() != 1 {
		t.Errorf("%d frames received, want 1", a.got.Load())
	}
}

func TestPairedNICsLoseNothingInEveryMode(t *testing.T) {
	for _, modes := range [][2]EngineMode{{EngineInline, EngineInline}, {EngineThread, EngineThread}, {EngineInline, EngineThread}} {
		k := newKernel(t, kern.Config{})
		pa, pb := newPair(t)
		l := NewWorkList()
		a := newMiniNIC(t, k, "em0", pa, l, modes[0], nil)
		b := newMiniNIC(t, k, "em1", pb, l, modes[1], nil)
		const rounds, bounces = 300, 3
		frame := pattern(60)
		frame[0] = bounces
		var wg sync.WaitGroup
		for _, n := range []*miniNIC{a, b} {
			wg.Go(func() {
				for range rounds {
					n.send(frame, frame, frame)
				}
			})
		}
		wg.Wait()
		for a.got.Load()+b.got.Load() != 2*rounds*3*(bounces+1) {
			k.Delay(pausePoll)
		}
		a.e.Close()
		b.e.Close()
	}
}

func BenchmarkEngineKickInline(b *testing.B) {
	k := newKernel(b, stepped(0))
	n := 0
	e := NewEngine(Config{Kernel: k, Name: "em0"}, 4, func(int) { n++ })
	b.ReportAllocs()
	for b.Loop() {
		e.Kick(1)
	}
}

func BenchmarkEngineDoorbellInline(b *testing.B) {
	k := newKernel(b, stepped(0))
	n := 0
	e := NewEngine(Config{Kernel: k, Name: "em0"}, 4, func(int) { n++ })
	b.ReportAllocs()
	for b.Loop() {
		e.Doorbell(1)
	}
}
