package pktgen8

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const memSize = 64 << 20

// patience bounds what a test waits for.
const patience = 20 * time.Second

// hints of two NICs that are wired to each other, and of one on a null port.
const (
	wired = "hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"2\"\n"
	alone = "hint.em.0.port=\"null\"\nhint.ifsim.0.ncpu=\"2\"\n"
)

// rig is a machine and its Pktgen.
type rig struct {
	*Pktgen
	t      testing.TB
	manual bool
}

// boot boots a machine, all links up.
func boot(t testing.TB, clock kern.ClockKind, loader, hints string) rig {
	t.Helper()
	r := bootWith(t, machine.Config{Clock: clock}, loader, hints)
	r.awaitLinks()
	return r
}

// bootWith boots a machine of a configuration.
func bootWith(t testing.TB, cfg machine.Config, loader, hints string) rig {
	t.Helper()
	fsys := fstest.MapFS{
		"boot/loader.conf":  {Data: []byte(loader)},
		"boot/device.hints": {Data: []byte(hints)},
		"etc/rc.conf":       {Data: []byte("ifconfig_em0=\"up\"\nifconfig_em1=\"up\"\nifconfig_igb0=\"up\"\n")},
	}
	cfg.Files, cfg.MemSize, cfg.Invariants, cfg.Console = fsys, memSize, true, io.Discard
	m, err := machine.Boot(cfg)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return rig{New(m), t, cfg.Clock == kern.ManualClock}
}

func (r rig) awaitLinks() {
	r.t.Helper()
	for _, name := range r.m.Devices() {
		ifp := r.m.Ifnet(name)
		r.eventually("link state", func() uint64 { return uint64(ifp.LinkState()) }, uint64(ifnet.LinkStateUp))
	}
}

// do is a run that must succeed.
func (r rig) do(p Params) Result {
	r.t.Helper()
	res, err := r.Do(r.t.Context(), p, nil, nil)
	must(r.t, err)
	return res
}

// job is a checked one.
func (r rig) job(p Params) *job {
	r.t.Helper()
	j, err := r.newJob(p)
	must(r.t, err)
	return j
}

// counter is one of an interface's counters.
func (r rig) counter(name string, c ifnet.Counter) func() uint64 {
	return func() uint64 { return r.m.Ifnet(name).GetCounter(c) }
}

// running is a run that goes on.
type running struct {
	r      rig
	cancel context.CancelFunc
	ended  chan struct{}
	res    Result
	err    error
}

// start begins a run that the test ends, and waits until it has the interface.
func (r rig) start(p Params) *running {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	run := &running{r: r, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(run.ended)
		run.res, run.err = r.Do(ctx, p, nil, nil)
	}()
	r.t.Cleanup(func() { cancel(); <-run.ended })
	if p.Mode != client.PktgenModeTx && p.Mode != "" {
		ifp := r.m.Ifnet(p.Interface)
		r.eventually("taps", func() uint64 { return toNumber(ifp.TapOn()) }, 1)
	}
	return run
}

// wait is the result of a run that ends by itself.
func (r *running) wait() (Result, error) {
	r.r.t.Helper()
	r.r.eventually("the end of the run", r.over, 1)
	return r.res, r.err
}

// over is 1 when the run has ended.
func (r *running) over() uint64 {
	select {
	case <-r.ended:
		return 1
	default:
		return 0
	}
}

func toNumber(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// eventually waits for what the machine does in its own time; a manual clock goes on meanwhile.
func (r rig) eventually(what string, get func() uint64, want uint64) {
	t := r.t
	t.Helper()
	const step = 20 * time.Millisecond
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); get() != want; <-tick.C {
		if r.manual {
			r.m.Kernel().Delay(step)
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %d, want %d", what, get(), want)
		}
	}
}

// wire keeps the frames that an interface receives.
type wire struct {
	mu     sync.Mutex
	frames [][]byte
}

func (w *wire) tap(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
	if m.Pkt.RcvIf != ifp {
		return
	}
	b := make([]byte, m.Pkt.Len)
	m.CopyData(0, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, b)
}

func (w *wire) count() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64(len(w.frames))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
